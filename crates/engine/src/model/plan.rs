//! What a writing tool decides: steps, events and the answer, committed by the engine as one
//! transaction with the idempotency claim and the audit record. A plan does nothing by itself.

use crate::model::fault::Fault;
use crate::model::table::{Row, TableSpec};
use crate::model::tool::Item;

#[derive(Debug, Clone)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub events: Vec<Event>,
    pub outcome: Item,
}

/// One change, with the fault it means when it does not hold.
#[derive(Debug, Clone)]
pub enum Step {
    Insert {
        table: &'static TableSpec,
        row: Row,
        /// A unique value is already taken.
        on_duplicate: Fault,
    },
    Update {
        table: &'static TableSpec,
        row: Row,
        expect_version: i64,
        on_conflict: OnConflict,
        /// A unique value is already taken.
        on_duplicate: Fault,
    },
    /// Changes a number in place, and never below its floor: the last unit is taken once.
    Adjust { table: &'static TableSpec, id: String, column: &'static str, by: i64, floor: i64, on_underflow: Fault },
    /// Removes a row with its search terms.
    Remove { table: &'static TableSpec, id: String, expect_version: i64, on_conflict: OnConflict },
    /// Guards a row that was only read.
    Require { table: &'static TableSpec, id: String, expect_version: i64, on_conflict: OnConflict },
    /// Guards the insert of a row that was looked for and not found: if it exists by now, the tool runs again.
    RequireAbsent { table: &'static TableSpec, id: String },
}

/// What a version that has moved on means.
#[derive(Debug, Clone)]
pub enum OnConflict {
    /// The caller named the version: say so.
    Fail(Fault),
    /// The tool read a row that changed meanwhile: run it again.
    Retry,
}

/// How a resource changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Created,
    Updated,
    Deleted,
}

impl Change {
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Updated => "updated",
            Change::Deleted => "deleted",
        }
    }

    pub fn parse(text: &str) -> Option<Change> {
        [Change::Created, Change::Updated, Change::Deleted].into_iter().find(|change| change.as_str() == text)
    }
}

/// Something happened to a resource. It names the resource and carries no personal data; its place
/// in the tenant's sequence is given when it is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub kind: &'static str,
    pub id: String,
    pub change: Change,
}
