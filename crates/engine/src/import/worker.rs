//! Runs accepted imports, one at a time on each node: checks every row, applies them chunk by chunk, and stores how far it
//! is, so that a node that starts again, or another one, continues where this one stopped.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use super::duplicates::DuplicateRows;
use super::job::{ImportCounts, ImportJob, ImportStatus, OnBadRows};
use super::job_store::{JobStore, JobWrite};
use super::session::{CHUNK_ROWS, ImportSession, RowResult, RowVerdict};
use super::spec::{FeedText, ImportRow, ImportRules, ReadRow};
use crate::desk::{Desk, Mount};
use crate::dispatch::DeskSource;
use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::tool::Future;

/// How often the store is searched for imports whose node has gone.
const SEARCH_INTERVAL: Duration = Duration::from_secs(15);
/// How many imports of a tenant are run in one round.
const MAX_FOUND: usize = 16;

/// A server whose tenants have imports.
pub trait ImportHost: DeskSource {
    fn tenants(&self) -> Future<'_, Result<Vec<TenantId>, Fault>>;
    /// Whether no other node can be running an import of this database.
    fn is_alone(&self) -> bool;
}

/// Runs imports for as long as it is polled. `current` gives the server under the present configuration.
pub async fn run_imports<P: ImportHost>(current: impl Fn() -> Arc<P> + Send + Sync) {
    let queue = current().desk().import_queue.clone();
    let mut searches = interval(SEARCH_INTERVAL);
    searches.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lease = if current().is_alone() { Lease::Ignored } else { Lease::Respected };
    loop {
        let (tenants, round) = tokio::select! {
            tenant = queue.next() => (vec![tenant], Round::Accepted),
            // A store that is unavailable is asked again in the next round.
            _ = searches.tick() => (current().tenants().await.unwrap_or_default(), Round::Search),
        };
        for tenant in tenants {
            let host = current();
            for mount in host.mounts().into_iter().filter(|mount| !mount.contract.imports.is_empty()) {
                run_due(host.desk(), mount, &tenant, lease).await;
            }
        }
        // What an earlier process left open is taken over by the first search.
        if round == Round::Search {
            lease = Lease::Respected;
        }
    }
}

/// Why imports are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// One was accepted here.
    Accepted,
    Search,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lease {
    Respected,
    Ignored,
}

async fn run_due(desk: &Desk, mount: &Mount, tenant: &TenantId, lease: Lease) {
    let jobs = JobStore { desk, mount, tenant };
    let until = match lease {
        Lease::Respected => desk.now().0,
        Lease::Ignored => i64::MAX,
    };
    for id in jobs.due(until, MAX_FOUND).await.unwrap_or_default() {
        // The import's record has its state; a fault here is one of the store, which logs it, and the import is found
        // again when its lease has ended.
        let _: Result<(), Fault> = run_job(&jobs, &id, until).await;
    }
}

async fn run_job(jobs: &JobStore<'_>, id: &str, until: i64) -> Result<(), Fault> {
    let Some(job) = jobs.get(id).await?.filter(|job| job.state.status.is_open() && job.state.due_at <= until) else {
        return Ok(());
    };
    let caller = Arc::new(job.caller(jobs.tenant));
    let resource = job.state.resource.clone();
    let session = ImportSession::new(jobs.desk, jobs.mount, &resource, caller, jobs.tenant, id)?;
    let JobWrite::Done(job) = jobs.take(job, session.trace()).await? else {
        return Ok(());
    };
    let mut run = JobRun {
        jobs,
        session,
        job: *job,
        rows: Vec::new(),
        skipped: HashSet::new(),
        matched: HashSet::new(),
        done_before: ImportCounts::default(),
    };
    match run.run().await {
        Ok(()) | Err(Stop::Lost) => Ok(()),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Ended(status, reason)) => {
            run.job.state.reason = reason;
            match run.save(status).await {
                Err(Stop::Fault(fault)) => Err(fault),
                Ok(()) | Err(Stop::Lost | Stop::Ended(..)) => Ok(()),
            }
        }
    }
}

/// Why a run does not go on.
enum Stop {
    /// Another node has the import.
    Lost,
    Ended(ImportStatus, Option<String>),
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

struct JobRun<'a> {
    jobs: &'a JobStore<'a>,
    session: ImportSession<'a>,
    job: ImportJob,
    rows: Vec<ImportRow>,
    /// Lines that were rejected and are left out.
    skipped: HashSet<u64>,
    /// Records that rows are about.
    matched: HashSet<String>,
    /// What an interrupted run had done.
    done_before: ImportCounts,
}

impl JobRun<'_> {
    async fn run(&mut self) -> Result<(), Stop> {
        let feed = self.jobs.feed(&self.job.id).await?;
        let feed = feed.ok_or_else(|| Stop::Fault(Fault::internal("an open import has no feed")))?;
        let resumed = self.job.state.status == ImportStatus::Applying;
        self.done_before = self.job.state.counts;
        self.job.state.counts = ImportCounts::default();
        self.job.state.problems.clear();
        self.read(feed).await?;
        self.check().await?;
        let mode = self.job.state.mode;
        let is_refused = self.job.state.counts.rejected > 0 && mode.bad_rows == OnBadRows::Refuse;
        // Rows of an interrupted run were accepted before; meanwhile they may have come to conflict with other changes.
        if is_refused && !resumed {
            // They count what was done, and nothing was.
            self.job.state.counts = ImportCounts { created: 0, updated: 0, ..self.job.state.counts };
            return Err(Stop::Ended(ImportStatus::Rejected, None));
        }
        if mode.dry_run {
            return Err(Stop::Ended(ImportStatus::Completed, None));
        }
        let missing = self.missing().await?;
        let rejected = self.job.state.counts.rejected;
        self.job.state.counts = if resumed {
            self.done_before
        } else {
            ImportCounts { rejected, rows: rejected, ..ImportCounts::default() }
        };
        self.apply().await?;
        self.withdraw_records(&missing).await?;
        Err(Stop::Ended(ImportStatus::Completed, None))
    }

    async fn read(&mut self, feed: FeedText) -> Result<(), Stop> {
        let rules = Arc::clone(&self.session.spec().rules);
        // Parsing a large feed takes longer than a call may hold up others.
        let read =
            spawn_blocking(move || rules.read_feed(&feed).map(|rows| without_duplicates(rules.as_ref(), rows))).await;
        let rows = match read {
            Ok(Ok(rows)) => rows,
            Ok(Err(reason)) => return Err(Stop::Ended(ImportStatus::Rejected, Some(reason))),
            Err(_) => return Err(Stop::Fault(Fault::internal("reading a feed panicked"))),
        };
        for ReadRow { line, arguments } in rows {
            match arguments {
                Ok(arguments) => self.rows.push(ImportRow { line, arguments, key: None, is_new: false }),
                Err(problems) => {
                    self.note(&[RowResult { line, verdict: RowVerdict::Rejected(problems), id: None }]);
                }
            }
        }
        Ok(())
    }

    /// Every row, before the first one is applied.
    async fn check(&mut self) -> Result<(), Stop> {
        let rows = std::mem::take(&mut self.rows);
        let mut new = HashSet::new();
        for chunk in rows.chunks(CHUNK_ROWS) {
            let results = self.session.check(chunk).await?;
            self.note(&results);
            new.extend(results.iter().filter(|row| row.verdict == RowVerdict::Created).map(|row| row.line));
            self.renew().await?;
        }
        let left = rows.into_iter().filter(|row| !self.skipped.contains(&row.line));
        self.rows = left.map(|row| ImportRow { is_new: new.contains(&row.line), ..row }).collect();
        Ok(())
    }

    async fn apply(&mut self) -> Result<(), Stop> {
        let rows = std::mem::take(&mut self.rows);
        let mut left = rows_after(&rows, self.job.state.applied_line);
        while !left.is_empty() {
            let (chunk, rest) = left.split_at(left.len().min(self.session.chunk_rows()));
            left = rest;
            let results = self.session.apply(chunk).await?;
            self.note(&results);
            self.job.state.applied += chunk.len() as u64;
            self.job.state.applied_line = chunk.last().map_or(0, |row| row.line);
            self.save(ImportStatus::Applying).await?;
        }
        self.rows = rows;
        Ok(())
    }

    /// The records to be withdrawn, because no row is about them. It is decided before anything is applied.
    async fn missing(&self) -> Result<Vec<String>, Stop> {
        let Some(percent) = self.job.state.mode.withdraw_percent else {
            return Ok(Vec::new());
        };
        let (mut missing, mut all, mut after) = (Vec::new(), 0_usize, None);
        while let Some(page) = self.session.listed(after).await? {
            all += page.rows.len();
            missing.extend(page.rows.into_iter().filter(|id| !self.matched.contains(id)));
            match page.next {
                Some(key) => after = Some(key),
                None => break,
            }
        }
        match too_many(missing.len(), all, percent) {
            Some(reason) => Err(Stop::Ended(ImportStatus::Rejected, Some(reason))),
            None => Ok(missing),
        }
    }

    async fn withdraw_records(&mut self, missing: &[String]) -> Result<(), Stop> {
        for chunk in missing.chunks(CHUNK_ROWS) {
            self.session.withdraw_records(chunk).await?;
            self.job.state.counts.withdrawn += chunk.len() as u64;
            self.save(ImportStatus::Applying).await?;
        }
        Ok(())
    }

    fn note(&mut self, results: &[RowResult]) {
        for result in results {
            self.job.state.counts.add(result);
            self.matched.extend(result.id.clone());
            if let RowVerdict::Rejected(problems) = &result.verdict {
                self.skipped.insert(result.line);
                self.job.add_problems(result.line, problems);
            }
        }
    }

    /// Keeps the lease while rows are checked, without a write for every chunk. The status stays: a run that is resumed has
    /// applied rows already, and is not to be taken for a new one if it is interrupted again.
    async fn renew(&mut self) -> Result<(), Stop> {
        let remaining = self.job.state.due_at.saturating_sub(self.jobs.desk.now().0);
        if remaining > RENEW_BEFORE {
            return Ok(());
        }
        // What was counted while checking is not what was done.
        let checked = std::mem::replace(&mut self.job.state.counts, self.done_before);
        self.save(self.job.state.status).await?;
        self.job.state.counts = checked;
        Ok(())
    }

    async fn save(&mut self, status: ImportStatus) -> Result<(), Stop> {
        match self.jobs.change(&self.job, status, self.session.trace()).await? {
            JobWrite::Done(job) => {
                self.job = *job;
                Ok(())
            }
            JobWrite::Conflict => Err(Stop::Lost),
        }
    }
}

/// The rows behind a line. Rows are in the order of their lines.
fn rows_after(rows: &[ImportRow], line: u64) -> &[ImportRow] {
    rows.get(rows.partition_point(|row| row.line <= line)..).unwrap_or_default()
}

/// Marks the rows that repeat an earlier one.
fn without_duplicates(rules: &dyn ImportRules, rows: Vec<ReadRow>) -> Vec<ReadRow> {
    let mut duplicates = DuplicateRows::default();
    let marked = rows.into_iter().map(|ReadRow { line, arguments }| {
        let arguments = arguments.and_then(|arguments| {
            let noted = duplicates.add(rules, line, &arguments);
            noted.map(|()| arguments).map_err(|problem| vec![problem])
        });
        ReadRow { line, arguments }
    });
    marked.collect()
}

/// The lease is renewed when less than this many milliseconds are left.
const RENEW_BEFORE: i64 = 7_500;

/// A feed that was cut short must not empty the stock.
pub fn too_many(missing: usize, all: usize, percent: u8) -> Option<String> {
    (missing * 100 > all * usize::from(percent)).then(|| {
        format!(
            "{missing} of {all} records are not in the feed, more than {percent} %. Nothing was changed: check that the feed \
             is complete, or allow a larger share."
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::{ImportRow, rows_after};

    #[test]
    fn a_row_that_is_rejected_on_resume_makes_no_other_be_missed() {
        let row = |line| ImportRow { line, arguments: Map::new(), key: None, is_new: false };
        // Lines 2 to 4 were applied; when the run is resumed, line 3 is no longer accepted.
        let rows = [row(2), row(4), row(5), row(6)];
        let lines: Vec<u64> = rows_after(&rows, 4).iter().map(|row| row.line).collect();
        assert_eq!(lines, [5, 6]);
        assert_eq!(rows_after(&rows, 0).len(), 4);
        assert!(rows_after(&rows, 6).is_empty());
    }
}
