//! Relayed calls in the store. Each change is a commit that expects the version it has read, so that one of several nodes
//! sends a call.

use std::net::IpAddr;
use std::sync::Arc;

use super::record::{DUE_AT, OPEN, RELAY, RelayRecord};
use crate::desk::Desk;
use crate::model::caller::{Caller, TenantId};
use crate::model::fault::Fault;
use crate::model::observation::Observation;
use crate::model::page::{Direction, Filter, Order, Projection, Query, Start, Window};
use crate::model::plan::{OnConflict, Step};
use crate::model::table::Cell;
use crate::model::tool::Item;
use crate::model::trace::Trace;
use crate::ports::{Commit, Committed, Disclosure};

pub(super) struct RelayStore<'a> {
    pub(super) desk: &'a Desk,
    pub(super) contract: &'static str,
    pub(super) tenant: &'a TenantId,
    /// What the records of its changes say: on whose behalf, from where.
    pub(super) caller: Option<Arc<Caller>>,
    pub(super) trace: Trace,
    pub(super) address: IpAddr,
}

/// What happens to a record, as audit records name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelayStep {
    Sent,
    Unknown,
    Ended,
    Repeated,
    Failed,
}

impl RelayStep {
    fn as_str(self) -> &'static str {
        match self {
            RelayStep::Sent => "relay_sent",
            RelayStep::Unknown => "relay_unknown",
            RelayStep::Ended => "relay_ended",
            RelayStep::Repeated => "relay_repeated",
            RelayStep::Failed => "relay_failed",
        }
    }
}

/// Whether a change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelayWrite {
    Done,
    /// Somebody else has changed it first.
    Conflict,
}

impl RelayStore<'_> {
    /// Ids of the calls of this contract that the worker must repeat, the oldest first.
    pub(super) async fn due(&self, limit: usize) -> Result<Vec<String>, Fault> {
        let query = Query {
            projection: Projection::Ids,
            table: &RELAY,
            filters: vec![
                Filter::Equals(OPEN, Cell::Text(self.contract.to_owned())),
                Filter::AtMost(DUE_AT, self.desk.now().0),
            ],
            order: Order { column: "created_at", direction: Direction::Ascending },
            window: Window { start: Start::First, limit, bytes: usize::MAX },
        };
        Ok(self.desk.store.page(self.tenant, query).await?.rows)
    }

    pub(super) async fn get(&self, id: &str) -> Result<Option<RelayRecord>, Fault> {
        let row = self.desk.store.get(self.tenant, &RELAY, id, Disclosure::ToChange).await?;
        row.map(|row| RelayRecord::from_row(row).ok_or_else(unreadable)).transpose()
    }

    pub(super) async fn insert(&self, record: &RelayRecord) -> Result<RelayWrite, Fault> {
        let row = record.row(self.contract, self.desk.now()).ok_or_else(unreadable)?;
        let on_duplicate = Fault::internal("this call is being sent already");
        let steps = vec![Step::RequireAbsent { table: &RELAY, id: record.id.clone() }];
        let insert = Step::Insert { table: &RELAY, row, on_duplicate };
        self.commit(steps.into_iter().chain([insert]).collect(), &record.id, RelayStep::Sent).await
    }

    /// Puts a record in the place of the version before it.
    pub(super) async fn replace(&self, record: &RelayRecord, step: RelayStep) -> Result<RelayWrite, Fault> {
        let update = Step::Update {
            table: &RELAY,
            row: record.row(self.contract, self.desk.now()).ok_or_else(unreadable)?,
            expect_version: record.version.saturating_sub(1),
            on_conflict: OnConflict::Retry,
            on_duplicate: Fault::internal("two relayed calls have one id"),
        };
        self.commit(vec![update], &record.id, step).await
    }

    pub(super) async fn remove(&self, record: &RelayRecord, step: RelayStep) -> Result<RelayWrite, Fault> {
        self.commit(vec![removal(record)], &record.id, step).await
    }

    async fn commit(&self, steps: Vec<Step>, id: &str, step: RelayStep) -> Result<RelayWrite, Fault> {
        let commit = Commit {
            client: None,
            tenant: self.tenant.clone(),
            at: self.desk.now(),
            steps,
            events: Vec::new(),
            claim: None,
            answer: Item { id: id.to_owned(), version: 0, body: "{}".to_owned(), masked: None, personal: None },
            audit: self.audit_line(id, step),
        };
        match self.desk.store.commit(commit).await? {
            Committed::Done => Ok(RelayWrite::Done),
            Committed::VersionConflict | Committed::Refused(_) | Committed::AlreadyClaimed(_) => {
                Ok(RelayWrite::Conflict)
            }
            Committed::Unknown => Err(Fault::unavailable("the record of a relayed call was not written in time")),
        }
    }

    fn audit_line(&self, id: &str, step: RelayStep) -> String {
        let observation = Observation::new(self.desk.now(), self.trace.clone(), self.contract, self.address);
        Observation {
            caller: self.caller.clone(),
            method: Some("relay"),
            tenant: Some(self.tenant.clone()),
            ids: vec![id.to_owned()],
            outcome: step.as_str(),
            ..observation
        }
        .to_line()
    }
}

/// Ends a call whose outcome is known.
pub(super) fn removal(record: &RelayRecord) -> Step {
    Step::Remove {
        table: &RELAY,
        id: record.id.clone(),
        expect_version: record.version,
        on_conflict: OnConflict::Retry,
    }
}

fn unreadable() -> Fault {
    Fault::internal("a stored relayed call cannot be read")
}
