//! The boats of a later release: it looks them up by a sail number, their power, their skipper and their name, all of
//! which rows of the earlier release have in their texts only.

use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query};
use frontdesk_engine::model::table::{
    Cell, ColumnSpec, ColumnType, Row, RowIndex, SearchTerm, StoredRow, TableSpec, search_terms,
};
use frontdesk_engine::ports::{Disclosure, Store};
use frontdesk_engine::{Fault, TenantId};
use serde_json::Value;

use super::boats::{boat, query};

/// A constant, so that a test can declare it with another function.
pub const GROWN_SPEC: TableSpec = TableSpec {
    name: "boat",
    columns: &[
        ColumnSpec { name: "hull", column_type: ColumnType::Text },
        ColumnSpec { name: "length", column_type: ColumnType::Integer },
        ColumnSpec { name: "berths", column_type: ColumnType::Integer },
        ColumnSpec { name: "harbour", column_type: ColumnType::Text },
        ColumnSpec { name: "owner", column_type: ColumnType::Digest },
        ColumnSpec { name: "sail_number", column_type: ColumnType::Text },
        ColumnSpec { name: "horsepower", column_type: ColumnType::Integer },
        ColumnSpec { name: "skipper", column_type: ColumnType::Digest },
    ],
    unique: &["hull", "sail_number"],
    sorted: &["length", "horsepower"],
    filtered: &["harbour", "skipper"],
    searched: &["name"],
    index: Some(index),
    check: None,
};

pub static GROWN: TableSpec = GROWN_SPEC;

/// A boat as the earlier release stores it. Boats have as many horsepower as `number`, and one in ten is a `Swan`.
pub fn older(id: &str, number: usize) -> Row {
    let name = if number.is_multiple_of(10) { "White Swan" } else { "Heron" };
    Row {
        body: format!(r#"{{"id":"{id}","name":"{name}","sail":"GER {id}","power":{number}}}"#),
        personal: Some(format!(r#"{{"owner":"Ada","skipper":"skipper{}@example.com"}}"#, number % 7)),
        secret: Some(r#"{"pin":"0451"}"#.to_owned()),
        ..boat(id, 7)
    }
}

/// Also proves that the row comes with its sealed parts.
pub fn index(row: &StoredRow) -> Result<RowIndex, Fault> {
    let read = |text: Option<&str>| -> Option<Value> { serde_json::from_str(text?).ok() };
    let parts = (read(Some(&row.body)), read(row.personal.as_deref()), read(row.secret.as_deref()));
    let (Some(body), Some(personal), Some(_)) = parts else {
        return Err(Fault::internal("a boat without its parts"));
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(RowIndex {
        cells: vec![
            // It does not know how many berths were taken since the row was written.
            ("berths", Cell::Integer(4)),
            ("sail_number", Cell::Text(text(&body["sail"]))),
            ("horsepower", Cell::Integer(body["power"].as_i64().unwrap_or_default())),
            ("skipper", Cell::Digest(text(&personal["skipper"]))),
        ],
        search_terms: search_terms(&text(&body["name"])).into_iter().map(SearchTerm::Plain).collect(),
    })
}

/// The boats of `older` with these ids and numbers are found by everything that is new, and otherwise as they were.
pub async fn check(store: &dyn Store, tenant: &TenantId, boats: &[(String, usize)]) {
    let ids = async |filters| {
        let order = Order { column: "horsepower", direction: Direction::Ascending };
        let wanted = Query { table: &GROWN, order, projection: Projection::Ids, ..query(filters) };
        store.page(tenant, wanted).await.unwrap().rows
    };
    let expected = |keep: &dyn Fn(usize) -> bool| -> Vec<String> {
        let mut kept: Vec<_> = boats.iter().filter(|(_, number)| keep(*number)).cloned().collect();
        kept.sort_by_key(|(id, number)| (*number, id.clone()));
        kept.into_iter().map(|(id, _)| id).collect()
    };
    assert_eq!(ids(Vec::new()).await, expected(&|_| true), "sorted by the new column");
    let skipper = Filter::Equals("skipper", Cell::Digest("skipper3@example.com".to_owned()));
    assert_eq!(ids(vec![skipper]).await, expected(&|number| number % 7 == 3));
    let word = |word: &str| vec![Filter::SearchTerms(vec![SearchTerm::Plain(word.to_owned())])];
    assert_eq!(ids(word("swan")).await, expected(&|number| number.is_multiple_of(10)));
    assert_eq!(ids(word("sail")).await, [""; 0], "the old words are gone");
    for (id, number) in boats.iter().step_by(50) {
        let sail = Cell::Text(format!("GER {id}"));
        assert_eq!(store.find(tenant, &GROWN, "sail_number", sail).await.unwrap().unwrap().id, *id);
        let found = store.get(tenant, &GROWN, id, Disclosure::ToChange).await.unwrap().unwrap();
        let row = older(id, *number);
        let kept = (found.version, found.body, found.personal, found.secret);
        assert_eq!(kept, (row.version, row.body, row.personal, row.secret), "{id}");
    }
}

/// The boats of a release in which two may have the same hull, if only one of them is afloat: `afloat_hull` is empty for
/// those without power.
pub static AFLOAT: TableSpec = TableSpec {
    name: "boat",
    columns: &[
        ColumnSpec { name: "hull", column_type: ColumnType::Text },
        ColumnSpec { name: "length", column_type: ColumnType::Integer },
        ColumnSpec { name: "berths", column_type: ColumnType::Integer },
        ColumnSpec { name: "harbour", column_type: ColumnType::Text },
        ColumnSpec { name: "owner", column_type: ColumnType::Digest },
        ColumnSpec { name: "afloat_hull", column_type: ColumnType::Text },
    ],
    unique: &["afloat_hull"],
    sorted: &["length"],
    filtered: &["harbour", "hull"],
    searched: &[],
    index: Some(index_afloat),
    check: None,
};

fn index_afloat(row: &StoredRow) -> Result<RowIndex, Fault> {
    let body: Value = serde_json::from_str(&row.body).map_err(|_| Fault::internal("a boat without a body"))?;
    let hull = if body["power"] == 0 { Cell::Null } else { Cell::Text(format!("H-{}", row.id)) };
    Ok(RowIndex { cells: vec![("afloat_hull", hull)], search_terms: Vec::new() })
}

/// A boat with this hull, or with it ashore.
pub fn with_hull(id: &str, hull: &str, afloat: Cell) -> Row {
    let row = super::boats::with(boat(id, 7), "hull", Cell::Text(hull.to_owned()));
    super::boats::with(row, "afloat_hull", afloat)
}
