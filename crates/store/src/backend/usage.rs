//! What tenants and their clients have stored, and what they may. It is counted in the transaction of every change, in the
//! row of the tenant's event counter, which that transaction reads and locks anyway.
//!
//! Records and stored answers count, with their texts and a fixed amount for the rest of a row. Audit records, events and
//! indexes do not. A client's share is what it has added by creates and stored answers; a removal gives the client that
//! removes one record of average size back. It is a bound on what one client can fill, not a statement of who owns what.

use std::collections::BTreeMap;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::{Fault, FaultKind};

use crate::StoreError;
use crate::sql::session::{SqlRow, SqlSession, StoredValue};

/// What is stored with the texts of a row: its key, its times, its columns.
pub(crate) const ROW_BYTES: i64 = 128;

/// Until when this runs out, in seconds, is for the operator to say.
const NO_ROOM_SECONDS: u64 = 60;

/// What may be stored. Zero is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageLimits {
    pub tenant: UsageLimit,
    pub client: UsageLimit,
    /// Callers add nothing while the disk of an embedded database has less room than this, so that reads, deletions and
    /// their records still have some.
    pub min_free_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageLimit {
    pub rows: i64,
    pub bytes: i64,
}

/// What is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub rows: i64,
    pub bytes: i64,
}

/// What a tenant has stored, and of it what each client has added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredUsage {
    pub tenant: Usage,
    /// By their ids.
    pub clients: Vec<(String, Usage)>,
}

/// What a plan adds, or removes if it is negative.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsageChange {
    /// Records that are inserted.
    pub(crate) inserted: Usage,
    /// Stored answers, and what updates and removals change.
    pub(crate) other: Usage,
    pub(crate) removals: i64,
    /// Of a stored answer, which is part of `other`.
    answer: i64,
    /// Whether a record is written. Plans that only remove are never refused.
    pub(crate) writes: bool,
}

/// A tenant's usage while a transaction changes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct TenantUsage {
    stored: Usage,
    added: Usage,
    clients: BTreeMap<String, (i64, i64)>,
    /// Not before an upgrade has counted what there is.
    is_counted: bool,
    is_changed: bool,
}

pub(crate) const GET_USAGE: &str = "SELECT stored_rows, stored_bytes, client_usage FROM fd_counter WHERE tenant = $1";

/// Adds to what is stored; what was not counted yet stays so.
pub(crate) const ADD_USAGE: &str = "INSERT INTO fd_counter (tenant, event_seq, stored_rows, stored_bytes, client_usage) \
    VALUES ($1, 0, $2, $3, $4) ON CONFLICT (tenant) DO UPDATE SET \
    stored_rows = fd_counter.stored_rows + excluded.stored_rows, \
    stored_bytes = fd_counter.stored_bytes + excluded.stored_bytes, client_usage = excluded.client_usage";

/// Stored answers have become shorter by `$2`.
pub(crate) const SUBTRACT_BYTES: &str =
    "UPDATE fd_counter SET stored_bytes = stored_bytes - $2 WHERE tenant = $1 AND stored_bytes IS NOT NULL";

/// The bytes of a row.
pub(crate) fn row_size() -> String {
    let parts = ["masked", "sealed", "sealed_secret"].map(|part| format!("COALESCE(octet_length({part}), 0)"));
    format!("CAST(octet_length(body) + {} + {ROW_BYTES} AS BIGINT)", parts.join(" + "))
}

/// The bytes of the row `$2` of tenant `$1`.
pub(crate) fn size_of(table: &TableSpec) -> String {
    format!("SELECT {} FROM {} WHERE tenant = $1 AND id = $2", row_size(), table.name)
}

/// Before the row `$2` of tenant `$1` becomes one of `$3` bytes, or before it is removed if that is 0.
pub(crate) fn before_change(table: &TableSpec) -> String {
    let (size, name) = (row_size(), table.name);
    format!(
        "UPDATE fd_counter SET stored_bytes = stored_bytes + CAST($3 AS BIGINT) - (SELECT COALESCE(sum({size}), 0) \
         FROM {name} WHERE tenant = $1 AND id = $2) WHERE tenant = $1"
    )
}

/// Counts what tenant `$1` has stored.
pub(crate) fn count(tables: &[&'static TableSpec]) -> String {
    let mut parts: Vec<String> = tables
        .iter()
        .map(|table| {
            let (size, name) = (row_size(), table.name);
            format!("SELECT count(*) AS n, COALESCE(sum({size}), 0) AS b FROM {name} WHERE tenant = $1")
        })
        .collect();
    parts.push(format!(
        "SELECT 0 AS n, COALESCE(sum(octet_length(sealed_answer) + {ROW_BYTES}), 0) AS b FROM fd_claim WHERE tenant = $1"
    ));
    format!(
        "INSERT INTO fd_counter (tenant, event_seq, stored_rows, stored_bytes) \
         SELECT CAST($1 AS TEXT), 0, CAST(sum(n) AS BIGINT), CAST(sum(b) AS BIGINT) FROM ({}) AS own WHERE 1 = 1 \
         ON CONFLICT (tenant) DO UPDATE SET stored_rows = excluded.stored_rows, stored_bytes = excluded.stored_bytes",
        parts.join(" UNION ALL ")
    )
}

/// Whether the tenants of this database were counted, which is remembered beside what tables are indexed for.
pub(crate) async fn is_counted<S: SqlSession>(session: &S) -> Result<bool, StoreError> {
    Ok(!session.query("SELECT 1 FROM fd_index WHERE table_name = 'fd_counter'", &[]).await?.is_empty())
}

pub(crate) async fn mark_counted<S: SqlSession>(session: &S) -> Result<(), StoreError> {
    let text = "INSERT INTO fd_index (table_name, indexed, at_tenant) VALUES ('fd_counter', 'usage', '') \
                ON CONFLICT (table_name) DO NOTHING";
    session.execute(text, &[]).await.map(|_| ())
}

/// Retention has deleted these answers, each with its client, and records.
pub(crate) async fn subtract<S: SqlSession>(
    session: &S,
    tenant: &str,
    records: Usage,
    answers: &[(String, i64)],
) -> Result<(), StoreError> {
    let rows = session.query(GET_USAGE, &[tenant.into()]).await?;
    let Some(row) = rows.first() else {
        return Ok(());
    };
    let mut usage = TenantUsage::read(Some(row))?;
    usage.add_to_tenant(Usage { rows: -records.rows, bytes: -records.bytes });
    for (client, bytes) in answers {
        usage.add_to_tenant(Usage { rows: 0, bytes: -bytes });
        usage.add_to_client(client, Usage { rows: 0, bytes: -bytes });
    }
    session.execute(ADD_USAGE, &usage.params(tenant)).await.map(|_| ())
}

impl TenantUsage {
    /// From a row of `GET_USAGE`. A tenant without one has nothing yet.
    pub(crate) fn read(row: Option<&SqlRow>) -> Result<TenantUsage, StoreError> {
        match row {
            None => Ok(TenantUsage { is_counted: true, ..TenantUsage::default() }),
            Some(row) => Ok(TenantUsage::of(row.optional_integer(0)?, row.optional_integer(1)?, row.optional_text(2)?)),
        }
    }

    pub(crate) fn of(rows: Option<i64>, bytes: Option<i64>, clients: Option<&str>) -> TenantUsage {
        TenantUsage {
            stored: Usage { rows: rows.unwrap_or_default(), bytes: bytes.unwrap_or_default() },
            clients: clients.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
            is_counted: rows.is_some() && bytes.is_some(),
            ..TenantUsage::default()
        }
    }

    pub(crate) fn total(&self) -> Usage {
        Usage { rows: self.stored.rows + self.added.rows, bytes: self.stored.bytes + self.added.bytes }
    }

    pub(crate) fn counted(&self) -> Option<StoredUsage> {
        let clients = self.clients().map(|(client, usage)| (client.to_owned(), usage)).collect();
        self.is_counted.then(|| StoredUsage { tenant: self.total(), clients })
    }

    fn clients(&self) -> impl Iterator<Item = (&str, Usage)> {
        self.clients.iter().map(|(client, (rows, bytes))| (client.as_str(), Usage { rows: *rows, bytes: *bytes }))
    }

    /// Whether a caller may make this change. What the server itself does about a call is never refused.
    pub(crate) fn check(
        &self,
        change: &UsageChange,
        client: Option<&str>,
        limits: &StorageLimits,
    ) -> Result<(), Fault> {
        let (Some(client), true, true) = (client, change.writes, self.is_counted) else {
            return Ok(());
        };
        let total = self.total();
        // A client cannot have more than there is.
        let (rows, bytes) = self.clients.get(client).copied().unwrap_or_default();
        let share = Usage { rows: rows.min(total.rows), bytes: bytes.min(total.bytes) };
        if is_over(total, change.inserted, limits.tenant) {
            return Err(quota_exceeded("The quota of stored records is used up"));
        }
        if is_over(share, change.inserted, limits.client) {
            return Err(quota_exceeded("This client's quota of stored records is used up"));
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, change: &UsageChange, client: Option<&str>) {
        let total = self.total();
        self.add_to_tenant(change.inserted);
        self.add_to_tenant(change.other);
        if let Some(client) = client {
            let average = total.bytes / total.rows.max(1);
            let removed = Usage { rows: change.removals, bytes: change.removals.saturating_mul(average) };
            let added = Usage {
                rows: change.inserted.rows - removed.rows,
                bytes: change.inserted.bytes + change.answer - removed.bytes,
            };
            self.add_to_client(client, added);
        }
    }

    fn add_to_tenant(&mut self, change: Usage) {
        self.added.rows += change.rows;
        self.added.bytes += change.bytes;
        self.is_changed |= change != Usage::default();
    }

    fn add_to_client(&mut self, client: &str, change: Usage) {
        let (rows, bytes) = self.clients.get(client).copied().unwrap_or_default();
        let next = ((rows + change.rows).max(0), (bytes + change.bytes).max(0));
        if next == (0, 0) {
            self.clients.remove(client);
        } else {
            self.clients.insert(client.to_owned(), next);
        }
        self.is_changed |= change != Usage::default();
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// The parameters of `ADD_USAGE`.
    pub(crate) fn params(&self, tenant: &str) -> [StoredValue; 4] {
        let clients = serde_json::to_string(&self.clients).unwrap_or_default();
        [tenant.into(), self.added.rows.into(), self.added.bytes.into(), clients.into()]
    }
}

impl UsageChange {
    pub(crate) fn insert(&mut self, bytes: i64) {
        self.inserted.rows += 1;
        self.inserted.bytes += bytes;
        self.writes = true;
    }

    /// A row becomes longer or shorter by so many bytes.
    pub(crate) fn update(&mut self, bytes: i64) {
        self.other.bytes += bytes;
        self.writes = true;
    }

    pub(crate) fn remove(&mut self, bytes: i64) {
        self.other.rows -= 1;
        self.other.bytes -= bytes;
        self.removals += 1;
    }

    pub(crate) fn store_answer(&mut self, answer: &[u8]) {
        self.answer += length(answer.len()) + ROW_BYTES;
        self.other.bytes += length(answer.len()) + ROW_BYTES;
    }
}

/// A change that adds nothing is within every limit that holds already.
fn is_over(stored: Usage, added: Usage, limit: UsageLimit) -> bool {
    let over = |stored: i64, added: i64, limit: i64| limit > 0 && stored.saturating_add(added) > limit;
    (added.rows > 0 && over(stored.rows, added.rows, limit.rows)) || over(stored.bytes, added.bytes, limit.bytes)
}

fn quota_exceeded(what: &'static str) -> Fault {
    let message = format!(
        "{what}; nothing was changed. Delete what is no longer needed, or ask the operator for more. Reading goes on."
    );
    Fault::new(FaultKind::QuotaExceeded, message)
}

/// Less than `min_free_bytes` is left.
pub(crate) fn no_room() -> Fault {
    let message = "Storage is nearly full, so nothing is added; nothing was changed. Reading and deleting go on. \
                   Try again when the operator has made room.";
    let fault = Fault::unavailable("less free space than limits.min_free_bytes").retry_after(NO_ROOM_SECONDS);
    Fault { message: message.into(), ..fault }
}

pub(crate) fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(tenant: UsageLimit, client: UsageLimit) -> StorageLimits {
        StorageLimits { tenant, client, min_free_bytes: 0 }
    }

    fn inserts(rows: i64, bytes: i64) -> UsageChange {
        let mut change = UsageChange::default();
        (0..rows).for_each(|_| change.insert(bytes));
        change
    }

    #[test]
    fn a_quota_holds_up_to_its_last_row_and_byte() {
        let mut usage = TenantUsage::read(None).unwrap();
        let limits = limits(UsageLimit { rows: 3, bytes: 1_000 }, UsageLimit { rows: 2, bytes: 0 });
        let refused = |usage: &TenantUsage, change, client| {
            usage.check(&change, Some(client), &limits).err().map(|fault| (fault.kind, fault.message.into_owned()))
        };
        assert_eq!(refused(&usage, inserts(2, 500), "a"), None);
        usage.add(&inserts(2, 300), Some("a"));
        let of_client = "This client's quota of stored records is used up; nothing was changed. Delete what is no longer \
                         needed, or ask the operator for more. Reading goes on.";
        assert_eq!(refused(&usage, inserts(1, 1), "a"), Some((FaultKind::QuotaExceeded, of_client.to_owned())));
        assert_eq!(refused(&usage, inserts(1, 400), "b"), None);
        let of_tenant = "The quota of stored records is used up; nothing was changed. Delete what is no longer needed, or \
                         ask the operator for more. Reading goes on.";
        assert_eq!(refused(&usage, inserts(1, 401), "b"), Some((FaultKind::QuotaExceeded, of_tenant.to_owned())));
        assert_eq!(refused(&usage, inserts(2, 1), "b"), Some((FaultKind::QuotaExceeded, of_tenant.to_owned())));
        // The server's own rows are not refused, nor is a removal.
        assert!(usage.check(&inserts(9, 9_999), None, &limits).is_ok());
        let mut removal = UsageChange::default();
        removal.remove(300);
        assert_eq!(refused(&usage, removal, "a"), None);
        usage.add(&removal, Some("a"));
        assert_eq!(refused(&usage, inserts(1, 1), "a"), None);
        assert_eq!(
            (usage.total(), usage.clients().collect::<Vec<_>>()),
            (Usage { rows: 1, bytes: 300 }, vec![("a", Usage { rows: 1, bytes: 300 })])
        );
    }

    #[test]
    fn what_was_not_counted_yet_refuses_nobody() {
        let usage = TenantUsage::of(None, None, None);
        let limits = limits(UsageLimit { rows: 1, bytes: 1 }, UsageLimit::default());
        assert!(usage.check(&inserts(5, 5), Some("a"), &limits).is_ok());
    }
}
