//! An import that was accepted to be run later: what was asked, how far it is and what came of it. The record is public
//! for callers of its tenant; the feed, which may hold personal data, is sealed in a row of its own until the import ends.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::session::{RowResult, RowVerdict};
use super::spec::{FeedText, RowProblem};
use crate::model::caller::{Caller, ClientId, Scopes, TenantId};
use crate::model::row_check::{object, require_same};
use crate::model::table::{Cell, ColumnSpec, ColumnType, Row, RowIndex, StoredRow, TableSpec};
use crate::model::timestamp::Millis;

/// The imports. A contract that has any lists both tables among its own.
pub static IMPORT: TableSpec = TableSpec {
    name: "import",
    columns: &[
        ColumnSpec { name: RESOURCE, column_type: ColumnType::Text },
        ColumnSpec { name: STATUS, column_type: ColumnType::Text },
        ColumnSpec { name: OPEN, column_type: ColumnType::Text },
        ColumnSpec { name: DUE_AT, column_type: ColumnType::Integer },
        ColumnSpec { name: IMPORT_EXPIRES_AT, column_type: ColumnType::Integer },
    ],
    unique: &[],
    sorted: &[IMPORT_EXPIRES_AT],
    filtered: &[STATUS, OPEN],
    searched: &[],
    index: None,
    check: Some(check_job),
};

/// What is to be imported, under the id of its import; removed when that has ended.
pub static IMPORT_FEED: TableSpec = TableSpec {
    name: "import_feed",
    columns: &[],
    unique: &[],
    sorted: &[],
    filtered: &[],
    searched: &[],
    index: None,
    check: Some(check_feed),
};

pub(super) const RESOURCE: &str = "resource";
pub(super) const STATUS: &str = "status";
/// The contract whose worker must still run it; null once it has ended.
pub(super) const OPEN: &str = "open_for";
/// When the lease of the node that runs it ends.
pub(super) const DUE_AT: &str = "due_at";
/// From then on its record may be deleted.
pub const IMPORT_EXPIRES_AT: &str = "expires_at";
pub(super) const ID_PREFIX: &str = "imp";

/// How long the record of an ended import is kept. That of an operator's import says that a file has been imported, and is
/// kept longer than any feed is repeated.
const RETAINED_DAYS: i64 = 90;
const OPERATOR_RETAINED_DAYS: i64 = 3650;
const DAY_MILLIS: i64 = 86_400_000;

/// How many problems are kept; all of them are counted.
const MAX_PROBLEMS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportStatus {
    Queued,
    /// Every row is checked before the first is applied.
    Checking,
    Applying,
    Completed,
    /// Rows were rejected, so nothing was applied.
    Rejected,
    /// It stopped by itself: the reason is given.
    Failed,
}

impl ImportStatus {
    /// In the order in which an import passes them.
    pub const WORDS: &'static [&'static str] = &["queued", "checking", "applying", "completed", "rejected", "failed"];

    pub fn as_str(self) -> &'static str {
        match self {
            ImportStatus::Queued => "queued",
            ImportStatus::Checking => "checking",
            ImportStatus::Applying => "applying",
            ImportStatus::Completed => "completed",
            ImportStatus::Rejected => "rejected",
            ImportStatus::Failed => "failed",
        }
    }

    pub fn is_open(self) -> bool {
        match self {
            ImportStatus::Queued | ImportStatus::Checking | ImportStatus::Applying => true,
            ImportStatus::Completed | ImportStatus::Rejected | ImportStatus::Failed => false,
        }
    }
}

/// What happens if a row is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnBadRows {
    /// Nothing is applied.
    Refuse,
    /// The other rows are.
    Skip,
}

impl OnBadRows {
    pub const WORDS: &'static [&'static str] = &["refuse", "skip"];
}

/// How an import is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportMode {
    /// Whether rows are only checked.
    pub dry_run: bool,
    pub bad_rows: OnBadRows,
    /// Withdraws the records that the feed does not list, unless they are more than this many percent of all.
    pub withdraw_percent: Option<u8>,
}

/// How many rows came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportCounts {
    pub rows: u64,
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    pub rejected: u64,
    pub withdrawn: u64,
}

impl ImportCounts {
    pub fn add(&mut self, result: &RowResult) {
        self.rows += 1;
        match result.verdict {
            RowVerdict::Created => self.created += 1,
            RowVerdict::Updated => self.updated += 1,
            RowVerdict::Unchanged => self.unchanged += 1,
            RowVerdict::Rejected(_) => self.rejected += 1,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LineProblem {
    pub(super) line: u64,
    #[serde(flatten)]
    pub(super) problem: RowProblem,
}

/// The stored record of an import.
#[derive(Debug, Clone)]
pub(super) struct ImportJob {
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) created_at: i64,
    pub(super) state: JobState,
}

/// Who runs an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ImportOrigin {
    /// The worker, for a caller that has pushed a feed.
    Pushed,
    /// A command of the operator.
    Operator,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JobState {
    pub(super) resource: String,
    pub(super) status: ImportStatus,
    pub(super) mode: ImportMode,
    pub(super) counts: ImportCounts,
    pub(super) problems: Vec<LineProblem>,
    /// Why it failed.
    pub(super) reason: Option<String>,
    /// How many rows have been applied.
    pub(super) applied: u64,
    /// The line of the last of them: where an interrupted run continues. By its number a row could be missed, because
    /// one that was accepted at first can be rejected when the run is resumed.
    #[serde(default)]
    pub(super) applied_line: u64,
    pub(super) due_at: i64,
    pub(super) finished_at: Option<i64>,
    pub(super) origin: ImportOrigin,
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: String,
}

impl ImportJob {
    pub(super) fn new(id: String, now: Millis, resource: &str, mode: ImportMode, caller: &Caller) -> ImportJob {
        let state = JobState {
            resource: resource.to_owned(),
            status: ImportStatus::Queued,
            mode,
            counts: ImportCounts::default(),
            problems: Vec::new(),
            reason: None,
            applied: 0,
            applied_line: 0,
            due_at: now.0,
            finished_at: None,
            origin: ImportOrigin::Pushed,
            client: caller.client.as_str().to_owned(),
            subject: caller.subject.to_string(),
            scopes: caller.scopes.to_string(),
        };
        ImportJob { id, version: 1, created_at: now.0, state }
    }

    /// Who the rows are applied for: the caller as it was when the import was accepted.
    pub(super) fn caller(&self, tenant: &TenantId) -> Caller {
        Caller {
            client: ClientId::new(self.state.client.as_str()),
            subject: self.state.subject.as_str().into(),
            tenants: vec![tenant.clone()],
            scopes: Scopes::parse(&self.state.scopes).unwrap_or_default(),
            authenticated_at: None,
        }
    }

    /// One that has not ended does not expire.
    fn expires_at(&self) -> i64 {
        let days = match self.state.origin {
            ImportOrigin::Pushed => RETAINED_DAYS,
            ImportOrigin::Operator => OPERATOR_RETAINED_DAYS,
        };
        self.state.finished_at.map_or(i64::MAX, |at| at.saturating_add(days * DAY_MILLIS))
    }

    pub(super) fn add_problems(&mut self, line: u64, problems: &[RowProblem]) {
        let room = MAX_PROBLEMS.saturating_sub(self.state.problems.len());
        let more = problems.iter().take(room).map(|problem| LineProblem { line, problem: problem.clone() });
        self.state.problems.extend(more);
    }

    /// The public object without the tenant: the caller's name for a tenant is that of the contract.
    pub(super) fn answer(&self, tenant: (&'static str, &TenantId), now: Millis) -> String {
        let JobState { resource, status, mode, counts, problems, reason, finished_at, .. } = &self.state;
        let mut members = vec![
            ("id", json!(self.id)),
            ("type", json!("import")),
            (tenant.0, json!(tenant.1.as_str())),
            ("resource", json!(resource)),
            ("status", json!(status)),
            ("dry_run", json!(mode.dry_run)),
            ("rows", json!(counts.rows)),
            ("created", json!(counts.created)),
            ("updated", json!(counts.updated)),
            ("unchanged", json!(counts.unchanged)),
            ("rejected", json!(counts.rejected)),
            ("withdrawn", json!(counts.withdrawn)),
            ("problems", json!(problems)),
        ];
        members.extend(reason.as_ref().map(|reason| ("reason", json!(reason))));
        members.extend([
            ("version", json!(self.version)),
            ("created_at", json!(Millis(self.created_at).to_rfc3339())),
            ("updated_at", json!(now.to_rfc3339())),
        ]);
        members.extend(finished_at.map(|at| ("finished_at", json!(Millis(at).to_rfc3339()))));
        // Written member by member, because a map would sort them.
        let written: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", written.join(","))
    }

    /// The state is kept beside the answer, in a part of the row that callers never see.
    pub(super) fn row(&self, contract: &str, tenant: (&'static str, &TenantId), now: Millis) -> Option<Row> {
        let JobState { resource, status, due_at, .. } = &self.state;
        let open = if status.is_open() { Cell::Text(contract.to_owned()) } else { Cell::Null };
        Some(Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at,
            updated_at: now.0,
            cells: vec![
                (RESOURCE, Cell::Text(resource.clone())),
                (STATUS, Cell::Text(status.as_str().to_owned())),
                (OPEN, open),
                (DUE_AT, Cell::Integer(*due_at)),
                (IMPORT_EXPIRES_AT, Cell::Integer(self.expires_at())),
            ],
            search_terms: Vec::new(),
            body: self.answer(tenant, now),
            masked: None,
            personal: None,
            secret: Some(serde_json::to_string(&self.state).ok()?),
        })
    }

    /// Of a row that was opened to be changed.
    pub(super) fn from_row(row: StoredRow) -> Option<ImportJob> {
        let state = serde_json::from_str(&row.secret?).ok()?;
        Some(ImportJob { id: row.id, version: row.version, created_at: row.created_at, state })
    }
}

/// As `CheckFn` says. The columns name the contract, which the row does not.
fn check_job(tenant: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let job = ImportJob::from_row(row.clone()).ok_or("its write-only part is no import")?;
    let body = object("public", &row.body)?;
    let changed = body.get("updated_at").and_then(Value::as_str).and_then(Millis::parse).ok_or("it has no time")?;
    let written = job.row("", ("tenant", tenant), changed).ok_or("it cannot be written again")?;
    require_same(tenant, row, &written).map(|()| None)
}

fn check_feed(_: &TenantId, row: &StoredRow) -> Result<Option<RowIndex>, String> {
    let is_feed = row.secret.as_deref().is_some_and(|text| serde_json::from_str::<FeedText>(text).is_ok());
    if row.body == "{}" && row.masked.is_none() && row.personal.is_none() && is_feed {
        Ok(None)
    } else {
        Err("it is no feed of an import".to_owned())
    }
}
