//! A made-up business to try databases with: boats, with a unique hull, a length to sort by and an owner
//! who is personal. Nothing here is of any contract.

use frontdesk_engine::model::fault::Code;
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::page::{Direction, Filter, Order, Page, Projection, Query, Start, Window};
use frontdesk_engine::model::plan::{Change, Event, OnConflict, Step};
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, Row, SearchTerm, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::{Claim, Commit, Committed, Store};
use frontdesk_engine::{ClientId, Fault, TenantId};

pub static BOAT: TableSpec = TableSpec {
    name: "boat",
    columns: &[
        ColumnSpec { name: "hull", column_type: ColumnType::Text },
        ColumnSpec { name: "length", column_type: ColumnType::Integer },
        ColumnSpec { name: "berths", column_type: ColumnType::Integer },
        ColumnSpec { name: "harbour", column_type: ColumnType::Text },
        ColumnSpec { name: "owner", column_type: ColumnType::Digest },
    ],
    unique: &["hull"],
    sorted: &["length"],
    filtered: &["harbour"],
    searched: &[],
    index: None,
    check: None,
};

/// A boat of this length; its hull is `H-` and its id, its owner Ada, its berths four.
pub fn boat(id: &str, length: i64) -> Row {
    Row {
        id: id.to_owned(),
        version: 1,
        created_at: 1_000,
        updated_at: 1_000,
        cells: vec![
            ("hull", Cell::Text(format!("H-{id}"))),
            ("length", Cell::Integer(length)),
            ("berths", Cell::Integer(4)),
            ("harbour", Cell::Text("kiel".to_owned())),
            ("owner", Cell::Digest("ada@example.com".to_owned())),
        ],
        search_terms: vec![plain("sail"), personal("lovelace")],
        body: format!(r#"{{"id":"{id}","length":{length}}}"#),
        masked: Some(r#"{"owner":"A***"}"#.to_owned()),
        personal: Some(r#"{"owner":"Ada Lovelace"}"#.to_owned()),
        secret: None,
    }
}

/// The same row with another value in one column.
pub fn with(mut row: Row, column: &'static str, value: Cell) -> Row {
    row.cells.retain(|(name, _)| *name != column);
    row.cells.push((column, value));
    row
}

pub fn plain(word: &str) -> SearchTerm {
    SearchTerm::Plain(word.to_owned())
}

pub fn personal(word: &str) -> SearchTerm {
    SearchTerm::Personal(word.to_owned())
}

pub const TAKEN: Code = Code("boat_taken");
pub const BELOW: Code = Code("no_berth_left");
pub const MOVED_ON: Code = Code("boat_changed");

pub fn fault(code: Code) -> Fault {
    Fault::domain(code, "It does not hold.")
}

pub fn insert(row: Row) -> Step {
    Step::Insert { table: &BOAT, row, on_duplicate: fault(TAKEN) }
}

/// An update whose row must still have this version.
pub fn update(row: Row, expect_version: i64, on_conflict: OnConflict) -> Step {
    Step::Update { table: &BOAT, row, expect_version, on_conflict, on_duplicate: fault(TAKEN) }
}

pub fn take_berths(id: &str, count: i64) -> Step {
    Step::Adjust { table: &BOAT, id: id.to_owned(), column: "berths", by: -count, floor: 0, on_underflow: fault(BELOW) }
}

/// A commit of these steps with no events and no key, recorded as its first argument.
pub fn plan(name: &str, tenant: &TenantId, steps: Vec<Step>) -> Commit {
    Commit {
        client: None,
        tenant: tenant.clone(),
        at: Millis(5_000),
        steps,
        events: Vec::new(),
        claim: None,
        answer: Item {
            id: name.to_owned(),
            version: 1,
            body: format!(r#"{{"id":"{name}"}}"#),
            masked: None,
            personal: None,
        },
        audit: format!(r#"{{"plan":"{name}"}}"#),
    }
}

pub fn event(name: &str, id: &str, change: Change) -> (String, Event) {
    let event = Event { kind: "boat", id: id.to_owned(), change };
    (name.to_owned(), event)
}

pub fn claim(key: &str, meaning: u8) -> Claim {
    Claim {
        client: ClientId::new("agent"),
        tool: "boats.create",
        key: IdempotencyKey::parse(key).unwrap(),
        request_hash: [meaning; 32],
    }
}

/// Commits what must succeed.
pub async fn done(store: &dyn Store, commit: Commit) {
    let committed = store.commit(commit).await.unwrap();
    assert!(matches!(committed, Committed::Done), "not done: {committed:?}");
}

pub async fn add(store: &dyn Store, tenant: &TenantId, rows: impl IntoIterator<Item = Row>) {
    let steps = rows.into_iter().map(insert).collect();
    done(store, plan("seed", tenant, steps)).await;
}

/// How a commit ended, in one word: a refusal by its code, an error by its kind.
pub fn ended(outcome: &Result<Committed, Fault>) -> &'static str {
    match outcome {
        Ok(Committed::Done) => "done",
        Ok(Committed::AlreadyClaimed(_)) => "claimed",
        Ok(Committed::VersionConflict) => "stale",
        Ok(Committed::Unknown) => "unknown",
        Ok(Committed::Refused(fault)) | Err(fault) => fault.kind.as_str(),
    }
}

pub const BY_LENGTH: Order = Order { column: "length", direction: Direction::Ascending };

/// All boats that pass the filters, by length.
pub fn query(filters: Vec<Filter>) -> Query {
    Query {
        projection: Projection::Rows,
        table: &BOAT,
        filters,
        order: BY_LENGTH,
        window: Window { start: Start::First, limit: 1_000, bytes: 1_000_000 },
    }
}

pub async fn ids(store: &dyn Store, tenant: &TenantId, filters: Vec<Filter>) -> Vec<String> {
    let wanted = Query { projection: Projection::Ids, ..query(filters) };
    store.page(tenant, wanted).await.unwrap().rows
}

/// Follows `next` to the end and gives every page.
pub async fn walk(store: &dyn Store, tenant: &TenantId, first: Query) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let mut wanted = first;
    loop {
        let page = store.page(tenant, wanted.clone()).await.unwrap();
        let next = page.next.clone();
        pages.push(page);
        match next {
            Some(key) => wanted.window.start = Start::After(key),
            None => return pages,
        }
    }
}
