//! A delivery as it is stored: what is sent, how often that was tried and what came of it. What is sent may be business data,
//! so it is sealed.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::advance::StoredCursor;
use super::rules::DeliveryContent;
use crate::desk::id_of_hash;
use crate::model::caller::TenantId;
use crate::model::row_check::require_same;
use crate::model::table::{Cell, ColumnSpec, ColumnType, Row, RowIndex, StoredRow, TableSpec};
use crate::model::timestamp::Millis;
use crate::seal::sha256;

/// The deliveries. A contract that has any lists all three tables among its own.
pub static DELIVERY: TableSpec = TableSpec {
    name: "delivery",
    columns: &[
        ColumnSpec { name: ENDPOINT, column_type: ColumnType::Text },
        ColumnSpec { name: OPEN, column_type: ColumnType::Text },
        ColumnSpec { name: STATUS, column_type: ColumnType::Text },
        ColumnSpec { name: SEQ, column_type: ColumnType::Integer },
        ColumnSpec { name: DUE_AT, column_type: ColumnType::Integer },
        ColumnSpec { name: DELIVERY_EXPIRES_AT, column_type: ColumnType::Integer },
    ],
    unique: &[],
    sorted: &[SEQ, DUE_AT, DELIVERY_EXPIRES_AT],
    filtered: &[ENDPOINT, OPEN, STATUS],
    searched: &[],
    index: None,
    check: Some(check_delivery),
};

/// The ids of all deliveries that were ever made. The deliveries themselves are deleted some time after they have arrived;
/// these rows stay, so that a subject is never owed again.
pub static DELIVERY_MARK: TableSpec = TableSpec {
    name: "delivery_mark",
    columns: &[],
    unique: &[],
    sorted: &[],
    filtered: &[],
    searched: &[],
    index: None,
    check: Some(check_mark),
};

/// How far the events of the tenant have been read, one row for each reader.
pub static DELIVERY_CURSOR: TableSpec = TableSpec {
    name: "delivery_cursor",
    columns: &[],
    unique: &[],
    sorted: &[],
    filtered: &[],
    searched: &[],
    index: None,
    check: Some(check_cursor),
};

pub fn delivery_tables() -> [&'static TableSpec; 3] {
    [&DELIVERY, &DELIVERY_MARK, &DELIVERY_CURSOR]
}

/// The endpoint with its contract.
pub(super) const ENDPOINT: &str = "endpoint";
/// The same while the delivery is to be sent; null once it has arrived or is a dead letter.
pub(super) const OPEN: &str = "open_for";
pub(super) const STATUS: &str = "status";
/// The number of the event.
pub(super) const SEQ: &str = "event_seq";
/// When it is tried next, or when the lease of the node that sends it ends.
pub(super) const DUE_AT: &str = "due_at";
/// From then on its row may be deleted.
pub const DELIVERY_EXPIRES_AT: &str = "expires_at";

const ID_PREFIX: &str = "dlv";
const CURSOR_PREFIX: &str = "cur";

/// How long a delivery is kept after it has arrived, and a dead letter after its last attempt.
const DELIVERED_DAYS: i64 = 30;
const DEAD_DAYS: i64 = 365;
const DAY_MILLIS: i64 = 86_400_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// To be sent, for the first time or again.
    Pending,
    /// To be sent again, and the operator is needed: the endpoint does not accept our signature.
    Alarmed,
    Delivered,
    /// Given up after the last attempt. It can be replayed.
    Dead,
}

impl DeliveryStatus {
    pub const ALL: [DeliveryStatus; 4] =
        [DeliveryStatus::Pending, DeliveryStatus::Alarmed, DeliveryStatus::Delivered, DeliveryStatus::Dead];

    pub fn as_str(self) -> &'static str {
        match self {
            DeliveryStatus::Pending => "pending",
            DeliveryStatus::Alarmed => "alarmed",
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Dead => "dead",
        }
    }

    pub fn is_open(self) -> bool {
        match self {
            DeliveryStatus::Pending | DeliveryStatus::Alarmed => true,
            DeliveryStatus::Delivered | DeliveryStatus::Dead => false,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct DeliveryRecord {
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) created_at: i64,
    pub(super) state: DeliveryState,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DeliveryState {
    pub(super) endpoint: String,
    pub(super) subject: String,
    pub(super) body: String,
    pub(super) seq: i64,
    pub(super) status: DeliveryStatus,
    /// Attempts that were begun.
    pub(super) tries: u32,
    pub(super) due_at: i64,
    /// What came of the last attempt: a status of HTTP, or why there is none.
    pub(super) last_result: Option<String>,
    pub(super) tried_at: Option<i64>,
    pub(super) finished_at: Option<i64>,
}

/// An endpoint's name in the database, where several contracts may have one of the same name.
pub(super) fn endpoint_key(contract: &str, endpoint: &str) -> String {
    format!("{contract}/{endpoint}")
}

/// The same for the same subject, whoever computes it.
pub(super) fn delivery_id(contract: &str, content: &DeliveryContent) -> String {
    id_of_hash(ID_PREFIX, &hash(&[contract, &content.endpoint, &content.subject]))
}

pub(super) fn cursor_id(contract: &str, consumer: &str) -> String {
    id_of_hash(CURSOR_PREFIX, &hash(&[contract, consumer]))
}

/// Each part with its length, so that no two lists have one hash.
fn hash(parts: &[&str]) -> [u8; 32] {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part.as_bytes());
    }
    sha256(&bytes)
}

impl DeliveryRecord {
    pub(super) fn new(contract: &str, content: DeliveryContent, seq: i64, now: Millis) -> DeliveryRecord {
        let id = delivery_id(contract, &content);
        let DeliveryContent { endpoint, subject, body } = content;
        let state = DeliveryState {
            endpoint,
            subject,
            body,
            seq,
            status: DeliveryStatus::Pending,
            tries: 0,
            due_at: now.0,
            last_result: None,
            tried_at: None,
            finished_at: None,
        };
        DeliveryRecord { id, version: 1, created_at: now.0, state }
    }

    pub(super) fn content(&self) -> DeliveryContent {
        let DeliveryState { endpoint, subject, body, .. } = &self.state;
        DeliveryContent { endpoint: endpoint.clone(), subject: subject.clone(), body: body.clone() }
    }

    pub(super) fn row(&self, contract: &str, now: Millis) -> Option<Row> {
        let DeliveryState { endpoint, subject, seq, status, tries, due_at, last_result, tried_at, finished_at, .. } =
            &self.state;
        let key = endpoint_key(contract, endpoint);
        let open = if status.is_open() { Cell::Text(key.clone()) } else { Cell::Null };
        let time = |at: i64| Millis(at).to_rfc3339();
        let body = json!({
            "id": self.id,
            "endpoint": endpoint,
            "subject": subject,
            "status": status,
            "tries": tries,
            "created_at": time(self.created_at),
            "next_try_at": status.is_open().then(|| time(*due_at)),
            "last_result": last_result,
            "tried_at": tried_at.map(time),
            "finished_at": finished_at.map(time),
            "version": self.version,
        });
        Some(Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at,
            updated_at: now.0,
            cells: vec![
                (ENDPOINT, Cell::Text(key)),
                (OPEN, open),
                (STATUS, Cell::Text(status.as_str().to_owned())),
                (SEQ, Cell::Integer(*seq)),
                (DUE_AT, Cell::Integer(*due_at)),
                (DELIVERY_EXPIRES_AT, Cell::Integer(self.expires_at())),
            ],
            search_terms: Vec::new(),
            body: body.to_string(),
            masked: None,
            personal: None,
            secret: Some(serde_json::to_string(&self.state).ok()?),
        })
    }

    /// Of a row that was opened to be changed.
    pub(super) fn from_row(row: StoredRow) -> Option<DeliveryRecord> {
        let state = serde_json::from_str(&row.secret?).ok()?;
        Some(DeliveryRecord { id: row.id, version: row.version, created_at: row.created_at, state })
    }

    /// One that is still to be sent does not expire.
    fn expires_at(&self) -> i64 {
        let days = match self.state.status {
            DeliveryStatus::Pending | DeliveryStatus::Alarmed => return i64::MAX,
            DeliveryStatus::Delivered => DELIVERED_DAYS,
            DeliveryStatus::Dead => DEAD_DAYS,
        };
        self.state.finished_at.map_or(i64::MAX, |at| at.saturating_add(days * DAY_MILLIS))
    }
}

/// A row that has nothing but its id and a text.
pub(super) fn plain_row(id: String, version: i64, now: Millis, body: String) -> Row {
    Row {
        id,
        version,
        created_at: now.0,
        updated_at: now.0,
        cells: Vec::new(),
        search_terms: Vec::new(),
        body,
        masked: None,
        personal: None,
        secret: None,
    }
}

/// As `CheckFn` says. The columns name the contract, which the row does not.
fn check_delivery(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let record = DeliveryRecord::from_row(row.clone()).ok_or("its write-only part is no delivery")?;
    let written = record.row("", Millis(0)).ok_or("it cannot be written again")?;
    require_same(tenant, row, &written).map(|()| None)
}

fn check_mark(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let written = plain_row(row.id.clone(), row.version, Millis(0), "{}".to_owned());
    require_same(tenant, row, &written).map(|()| None)
}

fn check_cursor(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let cursor: StoredCursor = serde_json::from_str(&row.body).map_err(|_| "it is no cursor")?;
    let body = serde_json::to_string(&cursor).map_err(|_| "it cannot be written again")?;
    require_same(tenant, row, &plain_row(row.id.clone(), row.version, Millis(0), body)).map(|()| None)
}
