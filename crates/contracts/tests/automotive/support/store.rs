//! A store in memory with what these tests need.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use frontdesk_engine::model::page::{Direction, Filter, Page, PageKey, Projection, Query, Start};
use frontdesk_engine::model::plan::{Event, OnConflict, Step};
use frontdesk_engine::model::table::{Cell, Row, StoredRow, TableSpec};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use frontdesk_wire::json::splice;

#[derive(Default)]
pub(crate) struct MemoryStore(Mutex<State>);

type RowKey = (String, &'static str, String);

#[derive(Default)]
struct State {
    rows: BTreeMap<RowKey, Row>,
    claims: HashMap<(String, &'static str, String), StoredAnswer>,
    events: Vec<Event>,
}

impl MemoryStore {
    pub(crate) fn fill(&self, tenant: &str, steps: Vec<Step>) {
        let mut state = self.0.lock().unwrap();
        for step in steps {
            state.apply(tenant, step);
        }
    }

    /// The events since the demo data, as `kind change`.
    pub(crate) fn events(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        state.events.iter().map(|event| format!("{} {}", event.kind, event.change.as_str())).collect()
    }

    /// All stored data, as one text.
    pub(crate) fn contents(&self) -> String {
        let state = self.0.lock().unwrap();
        format!("{:?} {:?} {}", state.rows, state.events, state.claims.len())
    }

    pub(crate) fn row(&self, tenant: &str, kind: &'static TableSpec, id: &str) -> Option<Row> {
        self.0.lock().unwrap().rows.get(&row_key(tenant, kind, id)).cloned()
    }
}

impl State {
    fn apply(&mut self, tenant: &str, step: Step) {
        match step {
            Step::Insert { table: kind, row, .. } | Step::Update { table: kind, row, .. } => {
                self.rows.insert(row_key(tenant, kind, &row.id), row);
            }
            Step::Adjust { .. } | Step::Require { .. } => {}
        }
    }

    fn conflict(&self, tenant: &str, step: &Step) -> Option<Committed> {
        match step {
            Step::Insert { table: kind, row, on_duplicate: taken } => {
                let there = self.rows.contains_key(&row_key(tenant, kind, &row.id));
                there.then(|| Committed::Refused(taken.clone()))
            }
            Step::Update { table: kind, row, expect_version, on_conflict: stale } => {
                let found = self.rows.get(&row_key(tenant, kind, &row.id));
                match (found.map(|found| found.version) == Some(*expect_version), stale) {
                    (true, _) => None,
                    (false, OnConflict::Fail(fault)) => Some(Committed::Refused(fault.clone())),
                    (false, OnConflict::Retry) => Some(Committed::VersionConflict),
                }
            }
            Step::Adjust { .. } | Step::Require { .. } => None,
        }
    }
}

fn row_key(tenant: &str, kind: &'static TableSpec, id: &str) -> RowKey {
    (tenant.to_owned(), kind.name, id.to_owned())
}

fn cell<'a>(row: &'a Row, column: &str) -> Option<&'a Cell> {
    row.cells.iter().find(|(name, _)| *name == column).map(|(_, cell)| cell)
}

fn number(row: &Row, column: &str) -> i64 {
    match cell(row, column) {
        Some(Cell::Integer(number)) => *number,
        Some(_) => panic!("{column} holds no number"),
        None => row.created_at,
    }
}

fn fits(row: &Row, filter: &Filter) -> bool {
    match filter {
        Filter::Equals(column, value) => cell(row, column).unwrap() == value,
        Filter::AnyOf(column, values) => values.contains(cell(row, column).unwrap()),
        Filter::AtLeast(column, least) => number(row, column) >= *least,
        Filter::AtMost(column, most) => number(row, column) <= *most,
        Filter::SearchTerms(words) => words.iter().all(|word| row.search_terms.contains(word)),
    }
}

impl Store for MemoryStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        let row = self.row(tenant.as_str(), kind, id);
        let found = row.map(|row| StoredRow {
            id: row.id,
            version: row.version,
            created_at: row.created_at,
            body: row.body,
            masked: row.masked,
            personal: match disclosure {
                Disclosure::Full => row.personal,
                Disclosure::Masked => None,
            },
        });
        Box::pin(async { Ok(found) })
    }

    fn find<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'static TableSpec,
        _: &'static str,
        _: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        let state = self.0.lock().unwrap();
        let mine = |(owner, kind, _): &RowKey| owner == tenant.as_str() && *kind == query.table.name;
        let mut rows: Vec<(i64, &Row)> = state
            .rows
            .iter()
            .filter(|(key, row)| mine(key) && query.filters.iter().all(|filter| fits(row, filter)))
            .map(|(_, row)| (number(row, query.order.column), row))
            .collect();
        rows.sort_by(|left, right| (left.0, &left.1.id).cmp(&(right.0, &right.1.id)));
        if query.order.direction == Direction::Descending {
            rows.reverse();
        }
        if let Start::After(key) = &query.window.start {
            let last = (key.value, &key.id);
            rows.retain(|(value, row)| match query.order.direction {
                Direction::Ascending => (*value, &row.id) > last,
                Direction::Descending => (*value, &row.id) < last,
            });
        }
        let more = rows.len() > query.window.limit;
        rows.truncate(query.window.limit);
        let next = rows.last().filter(|_| more).map(|(value, row)| PageKey { value: *value, id: row.id.clone() });
        let text = |row: &Row| match (query.projection, &row.masked) {
            (Projection::Ids, _) => row.id.clone(),
            (Projection::Rows, Some(masked)) => splice(&row.body, masked),
            (Projection::Rows, None) => row.body.clone(),
        };
        let rows = rows.into_iter().map(|(_, row)| text(row)).collect();
        Box::pin(async { Ok(Page { rows, ids: Vec::new(), next }) })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        let key = (tenant.as_str().to_owned(), claim.tool, claim.key.clone());
        let claimed = self.0.lock().unwrap().claims.get(&key).cloned();
        Box::pin(async { Ok(claimed) })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        let mut state = self.0.lock().unwrap();
        let tenant = commit.tenant.as_str();
        let conflict = commit.steps.iter().find_map(|step| state.conflict(tenant, step));
        let committed = conflict.unwrap_or(Committed::Done);
        if matches!(committed, Committed::Done) {
            for step in commit.steps {
                state.apply(tenant, step);
            }
            state.events.extend(commit.events.into_iter().map(|(_, event)| event));
            if let Some(claim) = commit.claim {
                let answer = StoredAnswer { request_hash: claim.request_hash, answer: commit.answer };
                state.claims.insert((tenant.to_owned(), claim.tool, claim.key), answer);
            }
        }
        Box::pin(async { Ok(committed) })
    }

    fn append_audit<'a>(&'a self, _: String, _: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async { Ok(()) })
    }

    fn append_audit_detached(&self, _: String) {}
}
