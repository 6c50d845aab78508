//! A look at the tables from outside, on either database.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::databases::PostgresServer;

use super::order_log::{Order, OrderLog};

/// Where the desk keeps its rows.
pub(crate) enum Database {
    Embedded,
    Postgres(PostgresServer),
}

impl Database {
    pub(crate) fn server(&self) -> &PostgresServer {
        match self {
            Database::Embedded => panic!("the embedded database is no server"),
            Database::Postgres(server) => server,
        }
    }

    /// The first column of every row, as text. The desk must be running: whoever closes an SQLite file last tidies
    /// it up, and that is the desk's to do.
    pub(crate) fn rows(&self, desk: &TestApp, text: &str) -> Vec<String> {
        self.rows_in(&desk.data(), text)
    }

    /// The same, of a desk with this data folder.
    pub(crate) fn rows_in(&self, data: &Path, text: &str) -> Vec<String> {
        let server = match self {
            Database::Postgres(server) => return server.sql("desk", text),
            Database::Embedded => Connection::open_with_flags(
                data.join("frontdesk.db"),
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            ),
        };
        let file = server.unwrap();
        let mut statement = file.prepare(text).unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            found.push(match row.get_ref(0).unwrap() {
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                other @ (ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_)) => panic!("{other:?}"),
            });
        }
        found
    }

    /// Everything that is in the log goes into the database, and the log is as new.
    pub(crate) fn empty_log(&self, desk: &TestApp) {
        let file = Connection::open(desk.data().join("frontdesk.db")).unwrap();
        let busy: i64 = file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        assert_eq!(busy, 0, "somebody is at it");
    }

    /// Nobody else can write until this is dropped.
    pub(crate) fn lock(&self, desk: &TestApp) -> Connection {
        let file = Connection::open(desk.data().join("frontdesk.db")).unwrap();
        file.busy_timeout(Duration::from_secs(10)).unwrap();
        file.execute_batch("BEGIN IMMEDIATE").unwrap();
        file
    }

    fn count(&self, desk: &TestApp, text: &str) -> usize {
        self.rows(desk, text)[0].parse().unwrap()
    }

    /// How many vehicles of this tenant there are, and how many different VINs they have.
    pub(crate) fn stock(&self, desk: &TestApp, tenant: &str) -> (usize, usize) {
        // In one statement, because the server may still be at it.
        let both = "count(*) || ' ' || count(DISTINCT vin)";
        let found = self.rows(desk, &format!("SELECT {both} FROM vehicle WHERE tenant = '{tenant}'"));
        let (all, distinct) = found[0].split_once(' ').unwrap();
        (all.parse().unwrap(), distinct.parse().unwrap())
    }

    /// How many vehicles of this tenant were announced as new.
    pub(crate) fn announced(&self, desk: &TestApp, tenant: &str) -> usize {
        let condition = format!("tenant = '{tenant}' AND kind = 'vehicle' AND change = 'created'");
        self.count(desk, &format!("SELECT count(*) FROM fd_outbox WHERE {condition}"))
    }

    /// How many events this tenant has had; none while nobody can say. It is asked often, also while a command has the
    /// data to itself.
    pub(crate) fn events(&self, desk: &TestApp, tenant: &str) -> usize {
        let text = format!("SELECT event_seq FROM fd_counter WHERE tenant = '{tenant}'");
        if let Database::Postgres(server) = self {
            return server.sql("desk", &text).first().map_or(0, |number| number.parse().unwrap());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = Connection::open_with_flags(desk.data().join("frontdesk.db"), flags);
        let number = file.and_then(|file| file.query_row(&text, [], |row| row.get::<_, i64>(0)));
        number.map_or(0, |number| usize::try_from(number).unwrap())
    }

    pub(crate) fn has_no_gaps(&self, desk: &TestApp) -> bool {
        self.has_no_gaps_in(&desk.data())
    }

    pub(crate) fn has_no_gaps_in(&self, data: &Path) -> bool {
        self.rows_in(data, GAPS).is_empty() && self.rows_in(data, MISCOUNTED).is_empty()
    }

    /// How many keys have had their effect.
    pub(crate) fn claims(&self, desk: &TestApp) -> usize {
        self.count(desk, "SELECT count(*) FROM fd_claim")
    }
}

/// What there was before the first order.
pub(crate) struct Before {
    pub(crate) claims: usize,
    links: usize,
    leads: BTreeSet<String>,
    made: usize,
    changed: usize,
    told: usize,
    unseen: usize,
}

const LINKS: &str = "SELECT count(*) FROM fd_audit WHERE chain LIKE 'tenant:%'";
const LEADS: &str = "SELECT id || ' ' || version FROM lead";
/// Those of the demo's dealership that no caller of these tests belongs to.
const UNSEEN: &str = "SELECT count(*) FROM lead WHERE tenant = 'dlr_bengaluru'";
const MADE: &str = "SELECT count(*) FROM fd_outbox WHERE kind = 'lead' AND change = 'created'";
const CHANGED: &str = "SELECT count(*) FROM fd_outbox WHERE kind = 'lead' AND change = 'updated'";
const TOLD: &str = "SELECT count(*) FROM fd_outbox WHERE kind = 'customer' AND change = 'updated'";
const GAPS: &str = "SELECT tenant FROM fd_outbox GROUP BY tenant HAVING MIN(seq) <> 1 OR MAX(seq) <> COUNT(*)";
const MISCOUNTED: &str = "SELECT tenant FROM fd_counter WHERE event_seq <> \
                          (SELECT MAX(seq) FROM fd_outbox WHERE fd_outbox.tenant = fd_counter.tenant)";

impl Before {
    pub(crate) fn look(database: &Database, desk: &TestApp) -> Before {
        Before {
            claims: database.claims(desk),
            links: database.count(desk, LINKS),
            leads: database.rows(desk, LEADS).into_iter().collect(),
            made: database.count(desk, MADE),
            changed: database.count(desk, CHANGED),
            told: database.count(desk, TOLD),
            unseen: database.count(desk, UNSEEN),
        }
    }

    /// As many leads as callers must see by now.
    pub(crate) fn saw(&self, seen: usize, ledger: &OrderLog) {
        assert_eq!(seen + self.unseen, self.leads.len() + ledger.count(|order| order.tool == "leads.create"));
    }

    /// Every order of the ledger has been answered: then the tables hold what it says, each thing once, no more
    /// and no less, and every chain of the audit is whole.
    pub(crate) fn and_then(&self, ledger: &OrderLog, database: &Database, desk: &TestApp) {
        assert_eq!(ledger.answered(), ledger.sent());
        let creates = |order: &Order| order.tool == "leads.create";
        let tells = |order: &Order| order.arguments.get("customer_id").is_some();
        let leads: BTreeSet<String> = database.rows(desk, LEADS).into_iter().collect();
        let expected: BTreeSet<String> = self.leads.union(&ledger.leads()).cloned().collect();
        let wrong: Vec<_> = leads.symmetric_difference(&expected).collect();
        assert!(wrong.is_empty(), "leads that are there and were not answered, or the other way round: {wrong:?}");
        assert_eq!(leads.len(), self.leads.len() + ledger.count(creates), "a lead for each key");
        assert_eq!(database.claims(desk), self.claims + ledger.sent(), "a claim for each key");
        assert_eq!(database.count(desk, LINKS), self.links + ledger.sent(), "an audit link for each key");
        assert_eq!(database.count(desk, MADE), self.made + ledger.count(creates));
        assert_eq!(database.count(desk, CHANGED), self.changed + ledger.count(|order| !creates(order)));
        assert_eq!(database.count(desk, TOLD), self.told + ledger.count(tells), "customers who were told of a lead");
        assert_eq!(database.rows(desk, GAPS), [""; 0], "gaps in the events of");
        assert_eq!(database.rows(desk, MISCOUNTED), [""; 0], "wrong counters of");
        let (code, out, errors) = desk.command(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}{errors}");
        assert!(out.contains("valid   node:") && out.contains("valid   tenant:dlr_summit"), "{out}");
    }
}
