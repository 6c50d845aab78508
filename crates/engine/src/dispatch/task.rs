//! A task: a message under its key, its progress and its answer. The progress is stored in clear, because it is
//! searched for; everything else is sealed.

use serde::{Deserialize, Serialize};

use super::queued_request::QueuedRequest;
use super::reply::CallAnswer;
use crate::model::caller::TenantId;
use crate::model::row_check::require_same;
use crate::model::table::{Cell, ColumnSpec, ColumnType, Row, RowIndex, StoredRow, TableSpec};

/// The table of dispatched messages. A contract that takes them lists it among its tables.
pub static TASK: TableSpec = TableSpec {
    name: "dispatch_task",
    columns: &[
        ColumnSpec { name: SLOT, column_type: ColumnType::Digest },
        ColumnSpec { name: OWNER, column_type: ColumnType::Digest },
        ColumnSpec { name: OPEN, column_type: ColumnType::Text },
        ColumnSpec { name: DUE_AT, column_type: ColumnType::Integer },
        ColumnSpec { name: EXPIRES_AT, column_type: ColumnType::Integer },
    ],
    unique: &[SLOT],
    sorted: &[EXPIRES_AT],
    filtered: &[OPEN, OWNER],
    searched: &[],
    index: None,
    check: Some(check_task),
};

/// The idempotency key within its scope.
pub(crate) const SLOT: &str = "slot";
/// The caller within the server.
pub(crate) const OWNER: &str = "owner";
/// The server that must still run it; null once it is done.
pub(crate) const OPEN: &str = "open_for";
pub(crate) const DUE_AT: &str = "due_at";
/// From then on the task is treated as deleted.
pub const EXPIRES_AT: &str = "expires_at";

/// A task that was interrupted so often is not started again: it may be what ends the process.
pub const MAX_ATTEMPTS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskState {
    Waiting,
    Running,
    Completed,
    Failed,
}

#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) state: TaskState,
    pub(crate) server: String,
    /// Runs that were started and interrupted.
    pub(crate) attempts: u32,
    /// How often it was rescheduled.
    pub(crate) pauses: u32,
    /// While it is open: when its lease ends and any node may take it.
    pub(crate) due_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) changed_at: i64,
    pub(crate) request: QueuedRequest,
    pub(crate) answer: Option<CallAnswer>,
}

#[derive(Serialize, Deserialize)]
struct Clear {
    state: TaskState,
    server: String,
    attempts: u32,
    pauses: u32,
    due_at: i64,
    expires_at: i64,
    changed_at: i64,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(rename = "letter")]
    request: QueuedRequest,
    answer: Option<CallAnswer>,
}

impl Task {
    pub(crate) fn is_open(&self) -> bool {
        match self.state {
            TaskState::Waiting | TaskState::Running => true,
            TaskState::Completed | TaskState::Failed => false,
        }
    }

    /// `None` for a task without a key, which is never stored.
    pub(crate) fn row(&self, now: i64) -> Option<Row> {
        let clear = Clear {
            state: self.state,
            server: self.server.clone(),
            attempts: self.attempts,
            pauses: self.pauses,
            due_at: self.due_at,
            expires_at: self.expires_at,
            changed_at: now,
        };
        let sealed = Sealed { request: self.request.clone(), answer: self.answer.clone() };
        Some(Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at,
            updated_at: now,
            cells: vec![
                (SLOT, Cell::Digest(self.request.key_slot()?)),
                (OWNER, Cell::Digest(self.request.owner())),
                (OPEN, if self.is_open() { Cell::Text(self.server.clone()) } else { Cell::Null }),
                (DUE_AT, Cell::Integer(self.due_at)),
                (EXPIRES_AT, Cell::Integer(self.expires_at)),
            ],
            search_terms: Vec::new(),
            body: serde_json::to_string(&clear).ok()?,
            masked: None,
            personal: Some(serde_json::to_string(&sealed).ok()?),
            secret: None,
        })
    }

    pub(crate) fn from_row(row: StoredRow) -> Option<Task> {
        let clear: Clear = serde_json::from_str(&row.body).ok()?;
        let sealed: Sealed = serde_json::from_str(&row.personal?).ok()?;
        Some(Task {
            id: row.id,
            version: row.version,
            created_at: row.created_at,
            state: clear.state,
            server: clear.server,
            attempts: clear.attempts,
            pauses: clear.pauses,
            due_at: clear.due_at,
            expires_at: clear.expires_at,
            changed_at: clear.changed_at,
            request: sealed.request,
            answer: sealed.answer,
        })
    }
}

/// As `CheckFn` says.
fn check_task(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let task = Task::from_row(row.clone()).ok_or("it is no task")?;
    let written = task.row(task.changed_at).ok_or("it is a task without a key")?;
    require_same(tenant, row, &written)?;
    Ok(Some(RowIndex { cells: written.cells, search_terms: Vec::new() }))
}
