//! A site on PostgreSQL. Every session is read-only, and one that fails or is late is thrown away.

use std::future::Future as _;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};
use std::time::Duration;

use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Name, Select, SiteCell, SiteDb, SiteRow};
use frontdesk_engine::{Fault, FaultKind};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, NoTls, Row};

use super::ArchiveSettings;
use super::dialect::Dialect;
use super::error::{ArchiveError, Failure};
use super::pool::{Allowance, Pool};
use super::prepared::Prepared;
use super::render::{Bound, Statement};
use super::schema::{Column, Described, Found, Holds, LANDMARK, Letters, Schema};
use super::texts;
use crate::StoreError;
use crate::postgres::address::{Address, Dial, Encryption};
use crate::postgres::flight::fly_enclosed;
use crate::postgres::texts::{BEGIN_LIST, BEGIN_READ, COMMIT, PLAN_ANEW};
use crate::postgres::tls::Connector;

/// The server ends a statement at its deadline; so much later we stop waiting for it to say so.
const GRACE: Duration = Duration::from_millis(500);
/// So many rows are taken at a time.
const AT_ONCE: i32 = 64;
/// Long texts are first asked for up to such a share of what the answer may hold, and never less than this.
const LEAST_SHARE: usize = 1024;
const CONNECT: Duration = Duration::from_secs(3);

pub(crate) struct PostgresArchive {
    dial: Dial,
    prefix: String,
    found: Found,
    deadline: Duration,
    pub(super) pool: Pool<Session>,
}

pub(super) struct Session {
    pub(super) client: Client,
    statements: Prepared<tokio_postgres::Statement>,
    turn: Mutex<()>,
    plans: Plans,
}

/// Whether the server can be told to plan a list for the values it is asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plans {
    Told,
    /// It is older than that.
    AsItLikes,
}

impl Plans {
    /// Version 12 is the first that can be told.
    pub(super) fn of(version: Option<&str>) -> Plans {
        let number = version.and_then(|version| version.split(|letter: char| !letter.is_ascii_digit()).next());
        match number.and_then(|number| number.parse::<u32>().ok()) {
            Some(12..) => Plans::Told,
            Some(_) | None => Plans::AsItLikes,
        }
    }

    /// A single row is found by its id, for which one plan is as good as another.
    fn begin(self, select: &Select) -> &'static str {
        match (self, select.limit) {
            (Plans::Told, 2..) => BEGIN_LIST,
            (Plans::Told, 0 | 1) | (Plans::AsItLikes, _) => BEGIN_READ,
        }
    }
}

/// Names and types of the columns that this role may read: those under the prefix, and those that a site is known by.
const DESCRIBE: &str = "SELECT c.relname::text, a.attname::text, t.typname::text, a.attnotnull, a.atttypmod \
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
     WHERE n.nspname = ANY(current_schemas(false)) AND c.relkind IN ('r', 'v', 'm', 'p', 'f') \
     AND (left(c.relname::text, length($1::text)) = $1 OR right(c.relname::text, length($2::text)) = $2) \
     AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT') \
     AND pg_catalog.pg_table_is_visible(c.oid)";

impl PostgresArchive {
    pub(crate) async fn open(address: Address, settings: &ArchiveSettings) -> Result<PostgresArchive, ArchiveError> {
        let milliseconds = u32::try_from(settings.deadline.as_millis()).unwrap_or(u32::MAX).max(1);
        let mut dial = address.with_limit(milliseconds);
        let given = dial.config.get_options().unwrap_or_default().to_owned();
        // Every transaction says so itself as well.
        dial.config.options(format!("{given} -c default_transaction_read_only=on -c standard_conforming_strings=on"));
        let (session, schema) = look(&dial, &settings.prefix, settings.deadline).await?;
        let pool = Pool::new(settings.connections);
        pool.put_back(session);
        let (prefix, found) = (settings.prefix.clone(), Found::new(schema));
        Ok(PostgresArchive { dial, prefix, found, deadline: settings.deadline, pool })
    }

    pub(super) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        texts::statement(Dialect::Postgres, &self.found.now(), select, share(select).saturating_add(1))
    }

    async fn rows(&self, select: &Select) -> Result<Vec<SiteRow>, Fault> {
        let _turn = self.pool.turn().await?;
        match self.ask(select).await {
            Err(Failure::Changed(_)) => {
                self.pool.forget();
                let looked = look(&self.dial, &self.prefix, self.deadline).await;
                let (session, schema) = looked.map_err(Failure::from)?;
                self.pool.put_back(session);
                self.found.replace(schema);
                Ok(self.ask(select).await?)
            }
            done => Ok(done?),
        }
    }

    async fn ask(&self, select: &Select) -> Result<Vec<SiteRow>, Failure> {
        let late = || Failure::Unavailable("the site's database took too long".to_owned());
        let statement = self.statement(select)?;
        let work = async {
            match self.read(&statement, select, AT_ONCE).await? {
                // A text was longer than its share: whole, and one row at a time.
                rows if is_cut(&rows, share(select)) => {
                    let widest = select.bytes.saturating_add(1);
                    let statement = texts::statement(Dialect::Postgres, &self.found.now(), select, widest)?;
                    self.read(&statement, select, 1).await
                }
                rows => Ok(rows),
            }
        };
        tokio::time::timeout(self.deadline + GRACE, work).await.unwrap_or_else(|_| Err(late()))
    }

    async fn read(&self, statement: &Statement, select: &Select, at_once: i32) -> Result<Vec<SiteRow>, Failure> {
        if let Some(session) = self.pool.take() {
            match self.read_on(session, statement, select, at_once).await {
                // The server may have been restarted since.
                Err(Failure::Gone(_)) => self.pool.forget(),
                done => return done,
            }
        }
        let session = connect(&self.dial).await.map_err(|error| Failure::Gone(error.to_string()))?;
        self.read_on(session, statement, select, at_once).await
    }

    /// The session comes back only after a whole answer.
    async fn read_on(
        &self,
        mut session: Session,
        statement: &Statement,
        select: &Select,
        at_once: i32,
    ) -> Result<Vec<SiteRow>, Failure> {
        let records = session.rows(statement, select, at_once).await?;
        self.pool.put_back(session);
        Ok(records)
    }
}

/// How many letters of a long text may come with the first answer, so that all of them together are not much more than
/// an answer may hold. A power of two: few shares make few statements.
fn share(select: &Select) -> usize {
    let texts = usize::try_from(select.limit).unwrap_or(usize::MAX).saturating_mul(select.columns.len()).max(1);
    let even = (select.bytes / texts).max(LEAST_SHARE);
    (even + 1).next_power_of_two() / 2
}

fn is_cut(rows: &[SiteRow], share: usize) -> bool {
    rows.iter().flatten().any(|cell| match cell {
        SiteCell::Text(text) => text.len() > share && text.chars().count() > share,
        SiteCell::Null | SiteCell::Integer(_) => false,
    })
}

impl Session {
    async fn rows(&mut self, statement: &Statement, select: &Select, at_once: i32) -> Result<Vec<SiteRow>, Failure> {
        let prepared = match self.statements.find(&statement.text) {
            Some(prepared) => prepared,
            None => {
                let prepared = self.client.prepare(&statement.text).await.map_err(failure)?;
                // Those that are let go close themselves.
                drop(self.statements.outgrown());
                self.statements.keep(&statement.text, prepared.clone());
                prepared
            }
        };
        let values: Vec<&(dyn ToSql + Sync)> = statement.values.iter().map(value).collect();
        let taken = Taken { allowance: Allowance(select.bytes), columns: statement.columns, records: Vec::new() };
        match select.limit <= at_once.unsigned_abs().into() {
            true => self.in_one_flight(self.plans.begin(select), &prepared, &values, taken).await,
            false => self.by_pieces(&prepared, &values, taken, at_once).await,
        }
    }

    /// So few rows that there is nothing to gain from pieces: the transaction is sent whole, and waited for once.
    async fn in_one_flight(
        &self,
        begin: &'static str,
        prepared: &tokio_postgres::Statement,
        values: &[&(dyn ToSql + Sync)],
        mut taken: Taken,
    ) -> Result<Vec<SiteRow>, Failure> {
        let client = &self.client;
        let (open, close) = (client.batch_execute(begin), client.batch_execute(COMMIT));
        let question = client.query(prepared, values);
        let rows = fly_enclosed(&self.turn, open, std::future::ready(()), question, close).await.map_err(failure)?;
        taken.take(&rows)?;
        Ok(taken.records)
    }

    /// A few rows at a time, so that little more of them waits here than an answer may hold.
    async fn by_pieces(
        &mut self,
        prepared: &tokio_postgres::Statement,
        values: &[&(dyn ToSql + Sync)],
        mut taken: Taken,
        at_once: i32,
    ) -> Result<Vec<SiteRow>, Failure> {
        let transaction = self.client.build_transaction().read_only(true).start().await.map_err(failure)?;
        match self.plans {
            // On its way before what it is for; nobody has to wait for the answer.
            Plans::Told => {
                drop(pin!(transaction.batch_execute(PLAN_ANEW)).poll(&mut Context::from_waker(Waker::noop())))
            }
            Plans::AsItLikes => {}
        }
        let portal = transaction.bind(prepared, values).await.map_err(failure)?;
        loop {
            let rows = transaction.query_portal(&portal, at_once).await.map_err(failure)?;
            taken.take(&rows)?;
            if rows.len() < usize::try_from(at_once).unwrap_or_default() {
                break;
            }
        }
        transaction.commit().await.map_err(failure)?;
        Ok(taken.records)
    }
}

/// What has been read of an answer.
struct Taken {
    allowance: Allowance,
    columns: usize,
    records: Vec<SiteRow>,
}

impl Taken {
    fn take(&mut self, rows: &[Row]) -> Result<(), Failure> {
        self.records.reserve(rows.len());
        for row in rows {
            let mut record = Vec::with_capacity(self.columns);
            for column in 0..self.columns {
                record.push(self.allowance.spend(cell(row, column)?)?);
            }
            self.records.push(record);
        }
        Ok(())
    }
}

impl SiteDb for PostgresArchive {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        Box::pin(std::future::ready(Ok(self.found.now().table(table).is_some())))
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(self.rows(select))
    }
}

/// A new session, and what the database has. Somebody who accepts connections and says nothing is not waited for.
async fn look(dial: &Dial, prefix: &str, deadline: Duration) -> Result<(Session, Schema), ArchiveError> {
    let looked = async {
        let session = connect(dial).await?;
        let rows = session.client.query(DESCRIBE, &[&prefix, &LANDMARK]).await;
        let rows = rows.map_err(|error| failure(error).at_opening())?;
        let described: Result<Vec<Described>, Error> = rows.iter().map(described).collect();
        let described = described.map_err(|error| ArchiveError::Unreachable(error.to_string()))?;
        Ok((session, Schema::of(described, prefix)?))
    };
    let looked = tokio::time::timeout(CONNECT + deadline + GRACE, looked).await;
    looked.unwrap_or_else(|_| Err(ArchiveError::Down("it does not answer".to_owned())))
}

pub(super) async fn connect(dial: &Dial) -> Result<Session, ArchiveError> {
    let (client, plans) = match &dial.encryption {
        Encryption::Verified { authority: Some(authority) } => {
            let connector = Connector::trusting(authority)
                .map_err(|why| ArchiveError::Unreachable(StoreError::Untrusted(why.0).to_string()))?;
            let connected = dial.config.connect(connector).await;
            let (client, connection) = connected.map_err(unreached)?;
            let plans = Plans::of(connection.parameter("server_version"));
            tokio::spawn(async move { drop(connection.await) });
            (client, plans)
        }
        Encryption::None | Encryption::Verified { authority: None } => {
            let connected = dial.config.connect(NoTls).await;
            let (client, connection) = connected.map_err(unreached)?;
            let plans = Plans::of(connection.parameter("server_version"));
            tokio::spawn(async move { drop(connection.await) });
            (client, plans)
        }
    };
    Ok(Session { client, statements: Prepared::default(), turn: Mutex::default(), plans })
}

/// A refusal of the server's own is final; where nobody answers, somebody may later.
fn unreached(error: Error) -> ArchiveError {
    let is_about_the_user = error.code().is_some_and(|code| code.code().starts_with("28"));
    let is_down = error.code().is_none_or(|code| is_about_the_server(code.code()) || code.code().starts_with("53"));
    match (StoreError::unreachable(error), is_down) {
        (StoreError::Unreachable(why), true) => ArchiveError::Down(why),
        (StoreError::Unreachable(why), false) => ArchiveError::Unreachable(match is_about_the_user {
            true => format!("{why}. Check its user and password"),
            false => format!("{why}. Check its address"),
        }),
        (error, _) => ArchiveError::Unreachable(error.to_string()),
    }
}

fn described(row: &Row) -> Result<Described, Error> {
    let kind: String = row.try_get(2)?;
    let (holds, has_length) = (holds(&kind), row.try_get::<_, i32>(4)? >= 0);
    let is_wide = match holds {
        Holds::Whole | Holds::Truth => false,
        Holds::Text => !has_length,
        Holds::Other => true,
    };
    let is = Column { holds, is_filled: row.try_get(3)?, is_wide, letters: Letters::All };
    Ok(Described { table: row.try_get(0)?, column: row.try_get(1)?, is })
}

fn holds(kind: &str) -> Holds {
    match kind {
        "int2" | "int4" | "int8" => Holds::Whole,
        "bool" => Holds::Truth,
        "text" | "varchar" | "bpchar" => Holds::Text,
        _ => Holds::Other,
    }
}

fn value(bound: &Bound) -> &(dyn ToSql + Sync) {
    match bound {
        Bound::Integer(number) => number,
        Bound::Text(text) => text,
        Bound::Key(key) => key,
    }
}

fn cell(row: &Row, column: usize) -> Result<SiteCell, Failure> {
    let wrong = |error: Error| Failure::Refused(error.to_string());
    let is_whole = row.columns().get(column).is_some_and(|column| *column.type_() == Type::INT8);
    let cell = if is_whole {
        row.try_get::<_, Option<i64>>(column).map_err(wrong)?.map(SiteCell::Integer)
    } else {
        row.try_get::<_, Option<String>>(column).map_err(wrong)?.map(SiteCell::Text)
    };
    Ok(cell.unwrap_or(SiteCell::Null))
}

fn failure(error: Error) -> Failure {
    let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
    let is_gone = error.is_closed() || error.as_db_error().is_none() || is_about_the_server(&code);
    let passes = ["40", "53", "55"].iter().any(|class| code.starts_with(class));
    let why = StoreError::Postgres(error).to_string();
    match code.as_str() {
        // At its deadline.
        "57014" => Failure::Unavailable(why),
        // No such column or table, or a statement that was prepared before they changed.
        "42703" | "42P01" | "0A000" => Failure::Changed(why),
        "22P05" => Fault::new(
            FaultKind::InvalidArgument,
            "A text has a character that the site's database cannot hold, so nothing there has it. Leave it out.",
        )
        .into(),
        _ if passes => Failure::Unavailable(why),
        _ if is_gone => Failure::Gone(why),
        _ => Failure::Refused(why),
    }
}

/// It was shut down, or the connection was cut.
fn is_about_the_server(code: &str) -> bool {
    code.starts_with("08") || code.starts_with("57P")
}
