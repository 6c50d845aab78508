//! Imports in the store. Each change is a commit that expects the version it has read, so that one of several nodes runs
//! an import.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use super::job::{DUE_AT, IMPORT, IMPORT_FEED, ImportCounts, ImportJob, ImportOrigin, ImportStatus, OPEN};
use super::spec::FeedText;
use crate::desk::{Desk, Mount};
use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::observation::Observation;
use crate::model::page::{Direction, Filter, Order, Projection, Query, Start, Window};
use crate::model::plan::{Change, Event, OnConflict, Step};
use crate::model::table::{Cell, Row};
use crate::model::tool::Item;
use crate::model::trace::Trace;
use crate::ports::{Commit, Committed, Disclosure};

/// How long a node may be silent before another one takes its import over.
pub(super) const LEASE: Duration = Duration::from_secs(15);

pub(super) struct JobStore<'a> {
    pub(super) desk: &'a Desk,
    pub(super) mount: &'a Mount,
    pub(super) tenant: &'a TenantId,
}

/// Whether a change of an import was made.
pub(super) enum JobWrite {
    Done(Box<ImportJob>),
    /// Another node has changed it first.
    Conflict,
}

impl JobStore<'_> {
    /// Ids of the open imports of this contract whose lease has ended, the oldest first.
    pub(super) async fn due(&self, until: i64, limit: usize) -> Result<Vec<String>, Fault> {
        let query = Query {
            projection: Projection::Ids,
            table: &IMPORT,
            filters: vec![
                Filter::Equals(OPEN, Cell::Text(self.mount.contract.id.to_owned())),
                Filter::AtMost(DUE_AT, until),
            ],
            order: Order { column: "created_at", direction: Direction::Ascending },
            window: Window { start: Start::First, limit, bytes: usize::MAX },
        };
        Ok(self.desk.store.page(self.tenant, query).await?.rows)
    }

    pub(super) async fn get(&self, id: &str) -> Result<Option<ImportJob>, Fault> {
        let row = self.desk.store.get(self.tenant, &IMPORT, id, Disclosure::ToChange).await?;
        row.map(|row| ImportJob::from_row(row).ok_or_else(unreadable)).transpose()
    }

    pub(super) async fn feed(&self, id: &str) -> Result<Option<FeedText>, Fault> {
        let row = self.desk.store.get(self.tenant, &IMPORT_FEED, id, Disclosure::ToChange).await?;
        let Some(text) = row.and_then(|row| row.secret) else {
            return Ok(None);
        };
        serde_json::from_str(&text).map(Some).map_err(|_| unreadable())
    }

    /// Takes the lease.
    pub(super) async fn take(&self, job: ImportJob, trace: &Trace) -> Result<JobWrite, Fault> {
        let status = match job.state.status {
            ImportStatus::Queued => ImportStatus::Checking,
            status @ (ImportStatus::Checking
            | ImportStatus::Applying
            | ImportStatus::Completed
            | ImportStatus::Rejected
            | ImportStatus::Failed) => status,
        };
        self.change(&job, status, trace).await
    }

    /// Stores how far the import is, and takes the lease again. The feed goes with the last change.
    pub(super) async fn change(&self, job: &ImportJob, status: ImportStatus, trace: &Trace) -> Result<JobWrite, Fault> {
        let now = self.desk.now();
        let mut next = ImportJob { version: job.version.saturating_add(1), ..job.clone() };
        next.state.status = status;
        next.state.due_at = now.0.saturating_add(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX));
        next.state.finished_at = (!status.is_open()).then_some(now.0);
        let row = self.row(&next)?;
        let mut steps = vec![Step::Update {
            table: &IMPORT,
            row,
            expect_version: job.version,
            on_conflict: OnConflict::Retry,
            on_duplicate: Fault::internal("two imports have one id"),
        }];
        if !status.is_open() {
            steps.push(Step::Remove {
                table: &IMPORT_FEED,
                id: job.id.clone(),
                expect_version: 1,
                on_conflict: OnConflict::Retry,
            });
        }
        let change = if status.is_open() { None } else { Some(Change::Updated) };
        Ok(if self.commit(steps, change, &next, trace).await? {
            JobWrite::Done(Box::new(next))
        } else {
            JobWrite::Conflict
        })
    }

    /// Stores a completed import of the operator, in the place of an earlier run of the same one.
    pub(super) async fn record_completed(
        &self,
        job: ImportJob,
        counts: ImportCounts,
        trace: &Trace,
    ) -> Result<(), Fault> {
        let earlier = self.get(&job.id).await?;
        let now = self.desk.now();
        let mut next = ImportJob { version: earlier.as_ref().map_or(1, |job| job.version.saturating_add(1)), ..job };
        next.created_at = earlier.as_ref().map_or(now.0, |job| job.created_at);
        next.state.status = ImportStatus::Completed;
        next.state.origin = ImportOrigin::Operator;
        next.state.finished_at = Some(now.0);
        next.state.applied = counts.rows;
        next.state.counts = counts;
        let taken = || Fault::unavailable("another process runs the same import");
        let row = self.row(&next)?;
        let (step, change) = match earlier {
            Some(earlier) => (
                Step::Update {
                    table: &IMPORT,
                    row,
                    expect_version: earlier.version,
                    on_conflict: OnConflict::Retry,
                    on_duplicate: taken(),
                },
                Change::Updated,
            ),
            None => (Step::Insert { table: &IMPORT, row, on_duplicate: taken() }, Change::Created),
        };
        if self.commit(vec![step], Some(change), &next, trace).await? { Ok(()) } else { Err(taken()) }
    }

    /// Whether it was committed, and not outdated. Progress is polled; only a `change` of another kind is news.
    async fn commit(
        &self,
        steps: Vec<Step>,
        change: Option<Change>,
        job: &ImportJob,
        trace: &Trace,
    ) -> Result<bool, Fault> {
        let event = |change| (self.desk.new_id("evt"), Event { kind: IMPORT.name, id: job.id.clone(), change });
        let commit = Commit {
            client: None,
            tenant: self.tenant.clone(),
            at: self.desk.now(),
            steps,
            events: change.map(event).into_iter().collect(),
            claim: None,
            answer: Item { id: job.id.clone(), version: 0, body: "{}".to_owned(), masked: None, personal: None },
            audit: self.audit_line(job, trace),
        };
        match self.desk.store.commit(commit).await? {
            Committed::Done => Ok(true),
            Committed::VersionConflict | Committed::Refused(_) | Committed::AlreadyClaimed(_) => Ok(false),
            Committed::Unknown => Err(Fault::unavailable("the progress of an import was not written in time")),
        }
    }

    pub(super) fn row(&self, job: &ImportJob) -> Result<Row, Fault> {
        let tenant = (self.mount.contract.dialect.tenant_argument(), self.tenant);
        job.row(self.mount.contract.id, tenant, self.desk.now()).ok_or_else(unreadable)
    }

    fn audit_line(&self, job: &ImportJob, trace: &Trace) -> String {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let observation = Observation::new(self.desk.now(), trace.clone(), self.mount.contract.id, address);
        Observation {
            caller: Some(Arc::new(job.caller(self.tenant))),
            method: Some("import"),
            tenant: Some(self.tenant.clone()),
            ids: vec![job.id.clone()],
            count: usize::try_from(job.state.applied).ok(),
            outcome: job.state.status.as_str(),
            ..observation
        }
        .to_line()
    }
}

fn unreadable() -> Fault {
    Fault::internal("a stored import cannot be read")
}
