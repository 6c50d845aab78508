//! What a `MemoryStore` holds, and what steps, filters and pages mean.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use frontdesk_engine::model::page::{CountQuery, Direction, Filter, Page, PageKey, Projection, Query, Start};
use frontdesk_engine::model::plan::{Event, OnConflict, Step};
use frontdesk_engine::model::table::{Cell, Row, StoredRow, TableSpec, joined};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginRecord, LoginRecordKind};
use frontdesk_engine::ports::registry::{Client, ErasureReport, Tenant, Token};
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, OutboxEvent, StoredAnswer};
use frontdesk_engine::{Fault, FaultKind};

/// Tenant, table and id.
type RowKey = (String, &'static str, String);

#[derive(Default)]
pub struct MemoryState {
    pub tenants: Vec<Tenant>,
    pub clients: Vec<Client>,
    pub tokens: Vec<Token>,
    /// By kind and id.
    pub login_records: BTreeMap<(LoginRecordKind, String), LoginRecord>,
    pub rows: BTreeMap<RowKey, Row>,
    /// By tenant, client, tool and key.
    pub claims: BTreeMap<[String; 4], StoredAnswer>,
    pub events: Vec<StoredEvent>,
    /// Tenant and record of every tenant's audit chain.
    pub audit: Vec<(String, String)>,
    /// This node's audit chain of reads.
    pub records: Vec<(String, Durability)>,
    /// This node's audit chain of administration.
    pub administration: Vec<String>,
    /// What was erased of a tenant whose erasure has not ended.
    pub erasures: BTreeMap<String, ErasureReport>,
    /// The methods of `Registry` that were called, in order.
    pub registry_calls: Vec<&'static str>,
    /// Commits that were tried.
    pub commits: usize,
    /// Pages that were read.
    pub pages: usize,
    /// Counts that were made.
    pub counts: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub tenant: String,
    pub sequence: usize,
    pub id: String,
    pub event: Event,
    pub at: Millis,
}

impl MemoryState {
    pub(super) fn has_tenant(&self, id: &str) -> bool {
        self.tenants.iter().any(|tenant| tenant.id.as_str() == id)
    }

    /// As the databases say it.
    pub(super) fn require_not_erased(&self, id: &str) -> Result<(), Fault> {
        let is_erased = |tenant: &Tenant| tenant.id.as_str() == id && tenant.erasing_since.is_some();
        if self.tenants.iter().any(is_erased) {
            let message = "This token does not belong to the tenant that was named.";
            return Err(Fault::new(FaultKind::TenantForbidden, message));
        }
        Ok(())
    }

    pub(super) fn claim(&self, tenant: &str, claim: &Claim) -> Option<&StoredAnswer> {
        self.claims.get(&claim_key(tenant, claim))
    }

    pub(super) fn find(&self, tenant: &str, table: &TableSpec, column: &str, value: &Cell) -> Option<Row> {
        self.rows_of(tenant, table).find(|row| equals(cell(row, column), value)).cloned()
    }

    fn rows_of(&self, tenant: &str, table: &TableSpec) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |(key, _)| key.0 == tenant && key.1 == table.name).map(|(_, row)| row)
    }

    pub(super) fn events_after(&self, tenant: &str, after: i64, limit: usize) -> Vec<OutboxEvent> {
        let of_tenant = self.events.iter().filter(|stored| stored.tenant == tenant);
        let events = of_tenant.map(|StoredEvent { sequence, id, event, at, .. }| OutboxEvent {
            seq: i64::try_from(*sequence).unwrap(),
            event_id: id.clone(),
            kind: event.kind.to_owned(),
            id: event.id.clone(),
            change: event.change,
            at: *at,
        });
        events.filter(|event| event.seq > after).take(limit).collect()
    }

    /// Everything or nothing.
    pub(super) fn commit(&mut self, commit: Commit) -> Result<Committed, Fault> {
        self.commits += 1;
        let tenant = commit.tenant.as_str();
        if !self.has_tenant(tenant) {
            return Err(unknown_tenant(tenant));
        }
        self.require_not_erased(tenant)?;
        if let Some(claimed) = commit.claim.as_ref().and_then(|claim| self.claim(tenant, claim)) {
            return Ok(Committed::AlreadyClaimed(claimed.clone()));
        }
        let committed = self.apply(tenant, commit.steps)?;
        if matches!(committed, Committed::Done) {
            if let Some(claim) = commit.claim {
                let claimed = StoredAnswer { request_hash: claim.request_hash, answer: commit.answer };
                self.claims.insert(claim_key(tenant, &claim), claimed);
            }
            let before = self.events.iter().filter(|event| event.tenant == tenant).count();
            self.events.extend((before + 1..).zip(commit.events).map(|(sequence, (id, event))| StoredEvent {
                tenant: tenant.to_owned(),
                sequence,
                id,
                event,
                at: commit.at,
            }));
            self.audit.push((tenant.to_owned(), commit.audit));
        }
        Ok(committed)
    }

    /// Applies all steps, or none if one does not hold.
    pub(super) fn apply(&mut self, tenant: &str, steps: Vec<Step>) -> Result<Committed, Fault> {
        let before = self.rows.clone();
        for step in steps {
            match self.apply_one(tenant, step) {
                Ok(None) => {}
                Ok(Some(objection)) => {
                    self.rows = before;
                    return Ok(objection);
                }
                Err(fault) => {
                    self.rows = before;
                    return Err(fault);
                }
            }
        }
        Ok(Committed::Done)
    }

    fn apply_one(&mut self, tenant: &str, step: Step) -> Result<Option<Committed>, Fault> {
        match step {
            Step::Insert { table, row, on_duplicate } => {
                let key = row_key(tenant, table, &row.id);
                if self.rows.contains_key(&key) || self.is_taken(tenant, table, &row) {
                    return Ok(Some(Committed::Refused(on_duplicate)));
                }
                self.rows.insert(key, row);
            }
            Step::Update { table, row, expect_version, on_conflict, on_duplicate } => {
                let key = row_key(tenant, table, &row.id);
                if self.version(&key) != Some(expect_version) {
                    return Ok(Some(conflict(on_conflict)));
                }
                if self.is_taken(tenant, table, &row) {
                    return Ok(Some(Committed::Refused(on_duplicate)));
                }
                self.rows.insert(key, row);
            }
            Step::Adjust { table, id, column, by, floor, on_underflow } => {
                let row = self.rows.get_mut(&row_key(tenant, table, &id));
                let value = row.and_then(|row| row.cells.iter_mut().find(|(name, _)| *name == column));
                match value {
                    Some((_, Cell::Integer(number))) if *number + by >= floor => *number += by,
                    Some(_) | None => return Ok(Some(Committed::Refused(on_underflow))),
                }
            }
            Step::Remove { table, id, expect_version, on_conflict } => {
                let key = row_key(tenant, table, &id);
                if self.version(&key) != Some(expect_version) {
                    return Ok(Some(conflict(on_conflict)));
                }
                self.rows.remove(&key);
            }
            Step::Require { table, id, expect_version, on_conflict } => {
                if self.version(&row_key(tenant, table, &id)) != Some(expect_version) {
                    return Ok(Some(conflict(on_conflict)));
                }
            }
            Step::RequireAbsent { table, id } => {
                if self.rows.contains_key(&row_key(tenant, table, &id)) {
                    return Ok(Some(Committed::VersionConflict));
                }
            }
        }
        Ok(None)
    }

    fn version(&self, key: &RowKey) -> Option<i64> {
        self.rows.get(key).map(|row| row.version)
    }

    /// Whether another row has a unique value of this one.
    fn is_taken(&self, tenant: &str, table: &TableSpec, row: &Row) -> bool {
        let clashes = |other: &Row| {
            let same = |column: &&str| cell(row, column).is_some_and(|value| equals(cell(other, column), value));
            other.id != row.id && table.unique.iter().any(same)
        };
        !table.unique.is_empty() && self.rows_of(tenant, table).any(clashes)
    }

    pub(super) fn count(&mut self, tenant: &str, query: &CountQuery) -> usize {
        self.counts += 1;
        let matches = |row: &&Row| query.filters.iter().all(|filter| is_match(query.table, row, filter));
        self.rows_of(tenant, query.table).filter(matches).take(query.max).count()
    }

    pub(super) fn page(&mut self, tenant: &str, query: &Query) -> Page {
        self.pages += 1;
        let sort_value = |row: &Row| number(query.table, row, query.order.column).unwrap_or_default();
        let matches = |row: &&Row| query.filters.iter().all(|filter| is_match(query.table, row, filter));
        let mut rows: Vec<(i64, &Row)> =
            self.rows_of(tenant, query.table).filter(matches).map(|row| (sort_value(row), row)).collect();
        rows.sort_by(|one, other| compare(query.order.direction, (one.0, &one.1.id), (other.0, &other.1.id)));
        let mut first = 0;
        match &query.window.start {
            Start::First => {}
            Start::After(key) => rows.retain(|(value, row)| {
                compare(query.order.direction, (*value, &row.id), (key.value, &key.id)) == Ordering::Greater
            }),
            Start::Offset(offset) => first = usize::try_from(*offset).unwrap_or(usize::MAX),
        }
        let mut page = Page::default();
        let mut bytes = 0;
        for (value, row) in rows.iter().skip(first) {
            let text = match query.projection {
                Projection::Rows => joined(&row.body, row.masked.as_deref()),
                Projection::Ids => row.id.clone(),
            };
            bytes += text.len();
            if page.rows.len() >= query.window.limit || (bytes > query.window.bytes && !page.rows.is_empty()) {
                return page;
            }
            if query.projection == Projection::Rows && row.masked.is_some() {
                page.ids.push(row.id.clone());
            }
            page.rows.push(text);
            page.next = Some(PageKey { value: *value, id: row.id.clone() });
        }
        Page { next: None, ..page }
    }
}

pub(super) fn row_key(tenant: &str, table: &TableSpec, id: &str) -> RowKey {
    (tenant.to_owned(), table.name, id.to_owned())
}

fn claim_key(tenant: &str, claim: &Claim) -> [String; 4] {
    [tenant, claim.client.as_str(), claim.tool, claim.key.as_str()].map(str::to_owned)
}

pub(super) fn unknown_tenant(tenant: &str) -> Fault {
    Fault::internal(format!("unknown tenant {tenant}"))
}

fn conflict(on_conflict: OnConflict) -> Committed {
    match on_conflict {
        OnConflict::Fail(fault) => Committed::Refused(fault),
        OnConflict::Retry => Committed::VersionConflict,
    }
}

pub(super) fn stored_row(row: Row, disclosure: Disclosure) -> StoredRow {
    let (personal, secret) = match disclosure {
        Disclosure::Masked => (None, None),
        Disclosure::Full => (row.personal, None),
        Disclosure::ToChange => (row.personal, row.secret),
    };
    let Row { id, version, created_at, body, masked, .. } = row;
    StoredRow { id, version, created_at, body, masked, personal, secret }
}

fn cell<'a>(row: &'a Row, column: &str) -> Option<&'a Cell> {
    row.cells.iter().find(|(name, _)| *name == column).map(|(_, cell)| cell)
}

/// As in SQL, nothing equals null.
fn equals(cell: Option<&Cell>, value: &Cell) -> bool {
    *value != Cell::Null && cell == Some(value)
}

/// As in the databases, a column that lists are sorted by holds zero where a row has no value.
pub(super) fn number(table: &TableSpec, row: &Row, column: &str) -> Option<i64> {
    match (column, cell(row, column)) {
        ("created_at", None) => Some(row.created_at),
        ("updated_at", None) => Some(row.updated_at),
        ("version", None) => Some(row.version),
        (_, Some(Cell::Integer(number))) => Some(*number),
        (_, Some(Cell::Null) | None) if table.sorted.contains(&column) => Some(0),
        (_, Some(Cell::Null | Cell::Text(_) | Cell::Digest(_)) | None) => None,
    }
}

fn is_match(table: &TableSpec, row: &Row, filter: &Filter) -> bool {
    match filter {
        Filter::Equals(column, value) => equals(cell(row, column), value),
        Filter::AnyOf(column, values) => values.iter().any(|value| equals(cell(row, column), value)),
        Filter::AtLeast(column, min) => number(table, row, column).is_some_and(|number| number >= *min),
        Filter::AtMost(column, max) => number(table, row, column).is_some_and(|number| number <= *max),
        Filter::AbsentOrAbove(column, below) => number(table, row, column).is_none_or(|number| number > *below),
        Filter::Either(lists) => lists.iter().any(|list| list.iter().all(|filter| is_match(table, row, filter))),
        Filter::SearchTerms(words) => words.iter().all(|word| row.search_terms.contains(word)),
    }
}

/// The column first, the id second, both in one direction.
fn compare(direction: Direction, one: (i64, &String), other: (i64, &String)) -> Ordering {
    match direction {
        Direction::Ascending => one.cmp(&other),
        Direction::Descending => other.cmp(&one),
    }
}
