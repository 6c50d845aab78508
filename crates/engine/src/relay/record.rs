//! The record of a call that was sent and whose outcome is not stored yet. It has everything that is needed to send the
//! call again, which may be personal, so all of it is sealed. It is removed when the outcome is known.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::caller::{Caller, ClientId, Scopes, TenantId};
use crate::model::row_check::require_same;
use crate::model::table::{Cell, ColumnSpec, ColumnType, Row, RowIndex, StoredRow, TableSpec};
use crate::model::timestamp::Millis;

/// A contract with tools that relay lists this table among its own.
pub static RELAY: TableSpec = TableSpec {
    name: "relay",
    columns: &[
        ColumnSpec { name: OPEN, column_type: ColumnType::Text },
        ColumnSpec { name: DUE_AT, column_type: ColumnType::Integer },
        ColumnSpec { name: RELAY_EXPIRES_AT, column_type: ColumnType::Integer },
    ],
    unique: &[],
    sorted: &[RELAY_EXPIRES_AT],
    filtered: &[OPEN],
    searched: &[],
    index: None,
    check: Some(check_relay),
};

/// The contract whose worker must still repeat it; null once the worker has given up.
pub(super) const OPEN: &str = "open_for";
/// When the worker repeats it.
pub(super) const DUE_AT: &str = "due_at";
/// From then on its record may be deleted.
pub const RELAY_EXPIRES_AT: &str = "expires_at";
pub(super) const ID_PREFIX: &str = "rly";

/// How long one sending may take. Every timeout of a relaying tool must be shorter.
pub(super) const LEASE_MILLIS: i64 = 15_000;
/// So often the worker repeats a call: for about five hours.
pub(super) const MAX_REPEATS: u32 = 12;
const FIRST_PAUSE_MILLIS: i64 = 15_000;
const MAX_PAUSE_MILLIS: i64 = 3_600_000;
/// How long a call that the worker has given up is kept for somebody to look at.
const RETAINED_MILLIS: i64 = 30 * 86_400_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RelayStatus {
    Open,
    /// The worker has given up. A caller may still repeat it.
    Failed,
}

/// The stored record of a call.
#[derive(Debug, Clone)]
pub(super) struct RelayRecord {
    /// Also the key that is sent.
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) created_at: i64,
    pub(super) state: RelayState,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RelayState {
    pub(super) status: RelayStatus,
    pub(super) destination: String,
    pub(super) tool: String,
    /// Until then nobody else may send it.
    pub(super) lease_until: i64,
    pub(super) due_at: i64,
    /// How often it was sent.
    pub(super) attempts: u32,
    /// How often the worker has repeated it.
    pub(super) repeats: u32,
    pub(super) failed_at: Option<i64>,
    pub(super) request_hash: [u8; 32],
    /// The caller's key, if it gave one.
    pub(super) key: Option<String>,
    pub(super) arguments: Map<String, Value>,
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: String,
}

impl RelayRecord {
    /// As it is when somebody begins to send it.
    pub(super) fn leased(&self, now: Millis) -> RelayRecord {
        let mut next = self.next();
        next.state.lease_until = now.0.saturating_add(LEASE_MILLIS);
        next.state.due_at = next.state.due_at.max(next.state.lease_until);
        next.state.attempts = next.state.attempts.saturating_add(1);
        next
    }

    /// As it is when a sending has ended without a known outcome.
    pub(super) fn released(&self, now: Millis) -> RelayRecord {
        let mut next = self.next();
        next.state.lease_until = now.0;
        next
    }

    /// As it is when the worker is about to repeat it: the next repetition is put off first, so that it is made even if
    /// this one ends with the process.
    pub(super) fn repeated(&self, now: Millis) -> RelayRecord {
        let mut next = self.next();
        if next.state.repeats >= MAX_REPEATS {
            next.state.status = RelayStatus::Failed;
            next.state.failed_at = Some(now.0);
        } else {
            next.state.due_at = now.0.saturating_add(pause(next.state.repeats));
            next.state.repeats += 1;
        }
        next
    }

    fn next(&self) -> RelayRecord {
        RelayRecord { version: self.version.saturating_add(1), ..self.clone() }
    }

    pub(super) fn is_leased(&self, now: Millis) -> bool {
        self.state.lease_until > now.0
    }

    /// For whom it was sent.
    pub(super) fn caller(&self, tenant: &TenantId) -> Caller {
        Caller {
            client: ClientId::new(self.state.client.as_str()),
            subject: self.state.subject.as_str().into(),
            tenants: vec![tenant.clone()],
            scopes: Scopes::parse(&self.state.scopes).unwrap_or_default(),
            authenticated_at: None,
        }
    }

    pub(super) fn row(&self, contract: &str, now: Millis) -> Option<Row> {
        let open = match self.state.status {
            RelayStatus::Open => Cell::Text(contract.to_owned()),
            RelayStatus::Failed => Cell::Null,
        };
        let expires_at = self.state.failed_at.map_or(i64::MAX, |at| at.saturating_add(RETAINED_MILLIS));
        Some(Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at,
            updated_at: now.0,
            cells: vec![
                (OPEN, open),
                (DUE_AT, Cell::Integer(self.state.due_at)),
                (RELAY_EXPIRES_AT, Cell::Integer(expires_at)),
            ],
            search_terms: Vec::new(),
            body: "{}".to_owned(),
            masked: None,
            personal: None,
            secret: Some(serde_json::to_string(&self.state).ok()?),
        })
    }

    /// Of a row that was opened to be changed.
    pub(super) fn from_row(row: StoredRow) -> Option<RelayRecord> {
        let state = serde_json::from_str(&row.secret?).ok()?;
        Some(RelayRecord { id: row.id, version: row.version, created_at: row.created_at, state })
    }
}

/// As `CheckFn` says. The columns name the contract, which the row does not.
fn check_relay(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let record = RelayRecord::from_row(row.clone()).ok_or("its write-only part is no relayed call")?;
    let written = record.row("", Millis(0)).ok_or("it cannot be written again")?;
    require_same(tenant, row, &written).map(|()| None)
}

/// Each pause is twice as long as the one before.
fn pause(repeats: u32) -> i64 {
    FIRST_PAUSE_MILLIS.saturating_mul(1 << repeats.min(20)).min(MAX_PAUSE_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::{MAX_REPEATS, pause};

    #[test]
    fn pauses_grow_from_seconds_to_an_hour() {
        let pauses: Vec<i64> = (0..MAX_REPEATS).map(|repeats| pause(repeats) / 1_000).collect();
        assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]);
        assert_eq!(pauses.iter().sum::<i64>() / 3600, 5);
        assert_eq!(pause(u32::MAX), 3_600_000);
    }
}
