//! A store in memory that keeps what the port promises, with knobs for what can go wrong.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use frontdesk_engine::model::page::{Direction, Filter, Page, PageKey, Projection, Query, Start};
use frontdesk_engine::model::plan::{Event, OnConflict, Step};
use frontdesk_engine::model::table::{Cell, Row, StoredRow, TableSpec};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use tokio::sync::Semaphore;

#[derive(Default)]
pub(crate) struct Shelves {
    kept: Arc<Mutex<Kept>>,
    knobs: Mutex<Knobs>,
}

/// What is kept, readable by tests.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) rows: BTreeMap<(String, &'static str, String), Row>,
    pub(crate) claims: BTreeMap<[String; 4], StoredAnswer>,
    /// Each tenant's audit chain.
    pub(crate) audit: Vec<String>,
    pub(crate) events: Vec<(String, Event)>,
    /// This node's audit chain.
    /// Without what the clock has to do with.
    pub(crate) records: Vec<(String, Durability)>,
    /// The same, as they came.
    pub(crate) timed: Vec<String>,
    pub(crate) commits: usize,
    pub(crate) pages: usize,
}

#[derive(Default, Clone)]
pub(crate) struct Knobs {
    pub(crate) reads: Mood,
    /// Of books only.
    pub(crate) books: Mood,
    pub(crate) commits: Mood,
    /// Each commit waits for a permit.
    held: Option<Arc<Semaphore>>,
    /// After so many commits none holds.
    pub(crate) commits_left: Option<usize>,
    pub(crate) records: Mood,
    /// This many commits answer that a row has changed.
    pub(crate) stale: usize,
    /// This many look-ups of a key find nothing, as if another call had not committed yet.
    pub(crate) blind_lookups: usize,
    /// The next commit loses against a call that claimed its key with this.
    pub(crate) rival: Option<StoredAnswer>,
    /// The next commit is not finished in time.
    pub(crate) unknown: bool,
}

#[derive(Default, Clone, Copy, PartialEq)]
pub(crate) enum Mood {
    #[default]
    Well,
    Fails,
    Hangs,
    Slow(Duration),
}

impl Mood {
    async fn suffer(self) -> Result<(), Fault> {
        match self {
            Mood::Well => Ok(()),
            Mood::Fails => Err(Fault::unavailable("the cellar is under water")),
            Mood::Hangs => std::future::pending().await,
            Mood::Slow(time) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
        }
    }
}

impl Shelves {
    pub(crate) fn turn(&self, change: impl FnOnce(&mut Knobs)) {
        change(&mut self.knobs.lock().unwrap());
    }

    /// From now on a commit is made only once there are permits.
    pub(crate) fn hold_commits(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.turn(|knobs| knobs.held = Some(Arc::clone(&gate)));
        gate
    }

    pub(crate) fn look<T>(&self, at: impl FnOnce(&Kept) -> T) -> T {
        at(&self.kept.lock().unwrap())
    }

    pub(crate) fn put(&self, tenant: &str, kind: &'static TableSpec, row: Row) {
        self.kept.lock().unwrap().rows.insert((tenant.to_owned(), kind.name, row.id.clone()), row);
    }

    /// The lines of this node's chain.
    pub(crate) fn records(&self) -> Vec<String> {
        self.look(|kept| kept.records.iter().map(|(line, _)| line.clone()).collect())
    }

    fn knobs(&self) -> Knobs {
        self.knobs.lock().unwrap().clone()
    }
}

impl Store for Shelves {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            self.knobs().reads.suffer().await?;
            if kind.name == "book" {
                self.knobs().books.suffer().await?;
            }
            let key = (tenant.as_str().to_owned(), kind.name, id.to_owned());
            Ok(self.look(|kept| kept.rows.get(&key).map(|row| found(row, disclosure))))
        })
    }

    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            self.knobs().reads.suffer().await?;
            let is_it = |key: &(String, &str, String), row: &Row| {
                key.0 == tenant.as_str() && key.1 == kind.name && cell(row, column) == Some(&value)
            };
            Ok(self.look(|kept| {
                let found_row = kept.rows.iter().find(|(key, row)| is_it(key, row));
                found_row.map(|(_, row)| found(row, Disclosure::Masked))
            }))
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async move {
            self.knobs().reads.suffer().await?;
            self.kept.lock().unwrap().pages += 1;
            Ok(self.look(|kept| page(kept, tenant, &query)))
        })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async move {
            let blind = self.knobs().blind_lookups;
            self.turn(|knobs| knobs.blind_lookups = blind.saturating_sub(1));
            match blind {
                0 => Ok(self.look(|kept| kept.claims.get(&scoped(tenant, claim)).cloned())),
                _ => Ok(None),
            }
        })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async move {
            let knobs = self.knobs();
            self.turn(|knobs| {
                knobs.stale = knobs.stale.saturating_sub(1);
                knobs.rival = None;
                knobs.unknown = false;
                knobs.commits_left = knobs.commits_left.map(|left| left.saturating_sub(1));
            });
            if knobs.commits_left == Some(0) {
                return Err(Fault::unavailable("the pen is dry"));
            }
            if knobs.stale > 0 {
                self.kept.lock().unwrap().commits += 1;
                return Ok(Committed::VersionConflict);
            }
            if let Some(rival) = knobs.rival {
                return Ok(Committed::AlreadyClaimed(rival));
            }
            let kept = Arc::clone(&self.kept);
            // Handed over: it goes on whether or not anybody waits.
            let work = tokio::spawn(async move {
                if let Some(gate) = knobs.held {
                    let _ = gate.acquire().await;
                }
                knobs.commits.suffer().await?;
                Ok(apply(&mut kept.lock().unwrap(), commit))
            });
            match knobs.unknown {
                true => Ok(Committed::Unknown),
                false => work.await.unwrap(),
            }
        })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            let mood = self.knobs().records;
            if mood != Mood::Fails {
                let mut kept = self.kept.lock().unwrap();
                kept.records.push((timeless(&record), durability));
                kept.timed.push(record);
            }
            mood.suffer().await
        })
    }

    fn append_audit_detached(&self, record: String) {
        self.kept.lock().unwrap().records.push((record, Durability::Grouped));
    }
}

/// The line of a call without its status and duration.
fn timeless(record: &str) -> String {
    record.split_once(",\"status\":").map_or(record.to_owned(), |(line, _)| format!("{line}}}"))
}

fn apply(kept: &mut Kept, commit: Commit) -> Committed {
    kept.commits += 1;
    let tenant = commit.tenant.as_str().to_owned();
    if let Some(claim) = &commit.claim
        && let Some(earlier) = kept.claims.get(&scoped(&commit.tenant, claim))
    {
        return Committed::AlreadyClaimed(earlier.clone());
    }
    let mut rows = kept.rows.clone();
    for step in commit.steps {
        match step {
            Step::Insert { table: kind, row, on_duplicate: taken } => {
                let clash = |other: &Row, column: &&str| match cell(other, column) {
                    None | Some(Cell::Null) => false,
                    known @ Some(Cell::Text(_) | Cell::Digest(_) | Cell::Integer(_)) => known == cell(&row, column),
                };
                let same = |(key, other): (&(String, &str, String), &Row)| {
                    key.0 == tenant && key.1 == kind.name && kind.unique.iter().any(|column| clash(other, column))
                };
                if rows.iter().any(same) {
                    return Committed::Refused(taken);
                }
                rows.insert((tenant.clone(), kind.name, row.id.clone()), row);
            }
            Step::Update { table: kind, row, expect_version, on_conflict: stale } => {
                let key = (tenant.clone(), kind.name, row.id.clone());
                match (rows.get(&key), stale) {
                    (Some(known), _) if known.version == expect_version => rows.insert(key, row),
                    (_, OnConflict::Fail(fault)) => return Committed::Refused(fault),
                    (_, OnConflict::Retry) => return Committed::VersionConflict,
                };
            }
            Step::Adjust { .. } | Step::Require { .. } => panic!("the library never does this"),
        }
    }
    kept.rows = rows;
    if let Some(claim) = &commit.claim {
        let claimed = StoredAnswer { request_hash: claim.request_hash, answer: commit.answer };
        kept.claims.insert(scoped(&commit.tenant, claim), claimed);
    }
    kept.events.extend(commit.events);
    kept.audit.push(commit.audit);
    Committed::Done
}

fn scoped(tenant: &TenantId, claim: &Claim) -> [String; 4] {
    [tenant.as_str(), claim.client.as_str(), claim.tool, &claim.key].map(str::to_owned)
}

fn found(row: &Row, disclosure: Disclosure) -> StoredRow {
    StoredRow {
        id: row.id.clone(),
        version: row.version,
        created_at: row.created_at,
        body: row.body.clone(),
        masked: row.masked.clone(),
        personal: match disclosure {
            Disclosure::Full => row.personal.clone(),
            Disclosure::Masked => None,
        },
    }
}

fn cell<'a>(row: &'a Row, column: &str) -> Option<&'a Cell> {
    row.cells.iter().find(|(name, _)| *name == column).map(|(_, cell)| cell)
}

/// Everybody here sorts by `created_at`; only who looks for tasks does so the other way round, and on one page.
fn page(kept: &Kept, tenant: &TenantId, query: &Query) -> Page {
    assert_eq!(query.order.column, "created_at");
    let of_kind = |(key, _): &(&(String, &str, String), &Row)| key.0 == tenant.as_str() && key.1 == query.table.name;
    let mut rows: Vec<&Row> = kept.rows.iter().filter(of_kind).map(|(_, row)| row).collect();
    rows.retain(|row| query.filters.iter().all(|filter| fits(row, filter)));
    rows.sort_by_key(|row| std::cmp::Reverse((row.created_at, row.id.clone())));
    if query.order.direction == Direction::Ascending {
        rows.reverse();
    }
    match &query.window.start {
        Start::First => {}
        Start::After(key) => rows.retain(|row| (row.created_at, &row.id) < (key.value, &key.id)),
        Start::Offset(skipped) => drop(rows.drain(..rows.len().min(usize::try_from(*skipped).unwrap()))),
    }
    let more = rows.len() > query.window.limit;
    rows.truncate(query.window.limit);
    let last = rows.last().map(|row| PageKey { value: row.created_at, id: row.id.clone() });
    let text = |row: &&Row| match query.projection {
        Projection::Rows => row.body.clone(),
        Projection::Ids => row.id.clone(),
    };
    let ids = rows.iter().filter(|row| row.masked.is_some()).map(|row| row.id.clone()).collect();
    Page { rows: rows.iter().map(text).collect(), ids, next: last.filter(|_| more) }
}

fn fits(row: &Row, filter: &Filter) -> bool {
    match filter {
        Filter::Equals(column, value) => row.cells.iter().any(|(name, cell)| name == column && cell == value),
        Filter::SearchTerms(words) => words.iter().all(|word| row.search_terms.contains(word)),
        Filter::AtMost(column, most) => matches!(cell(row, column), Some(Cell::Integer(number)) if number <= most),
        Filter::AnyOf(..) | Filter::AtLeast(..) => panic!("the library never does this"),
    }
}
