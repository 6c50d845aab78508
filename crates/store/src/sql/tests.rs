//! The texts as they reach a database.

use frontdesk_engine::model::page::{Direction, Filter, Order, PageKey, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, SearchTerm, TableSpec};

use super::*;

static BOAT: TableSpec = TableSpec {
    name: "boat",
    columns: &[
        ColumnSpec { name: "hull", column_type: ColumnType::Text },
        ColumnSpec { name: "length", column_type: ColumnType::Integer },
    ],
    unique: &["hull"],
    sorted: &["length"],
    filtered: &[],
    searched: &[],
    index: None,
    check: None,
};

#[test]
fn a_filtered_page_binds_values_and_names_declared_columns() {
    let query = Query {
        projection: Projection::Rows,
        table: &BOAT,
        filters: vec![
            Filter::Equals("hull", Cell::Text("'; DROP TABLE boat".to_owned())),
            Filter::AtLeast("length", 5),
            Filter::SearchTerms(vec![SearchTerm::Plain("red".to_owned())]),
            Filter::AnyOf("hull", Vec::new()),
        ],
        order: Order { column: "length", direction: Direction::Descending },
        window: Window { start: Start::After(PageKey { value: 9, id: "b_1".to_owned() }), limit: 25, bytes: 1000 },
    };
    let made = page("t", &query, None);
    assert_eq!(
        made.text,
        "SELECT id, length, body, masked, version, created_at, updated_at, sealed, sealed_secret, mac FROM boat \
         WHERE tenant = $1 AND hull = $2 AND length >= $3 \
         AND EXISTS (SELECT 1 FROM boat_word w WHERE w.tenant = $1 AND w.word = $4 AND w.id = boat.id) \
         AND 1 = 0 AND (length, id) < ($5, $6) ORDER BY length DESC, id DESC LIMIT $7"
    );
    assert_eq!(made.values.len(), 7);
    assert_eq!(made.values.last(), Some(&QueryParam::Integer(26)));
}

#[test]
fn a_count_binds_its_filters_and_its_maximum() {
    let query = CountQuery {
        table: &BOAT,
        filters: vec![
            Filter::Equals("hull", Cell::Text("'; DROP TABLE boat".to_owned())),
            Filter::SearchTerms(vec![SearchTerm::Plain("red".to_owned())]),
        ],
        max: usize::MAX,
    };
    let made = count("t", &query, None);
    assert_eq!(
        made.text,
        "SELECT COUNT(*) FROM (SELECT 1 FROM boat WHERE tenant = $1 AND hull = $2 \
         AND EXISTS (SELECT 1 FROM boat_word w WHERE w.tenant = $1 AND w.word = $3 AND w.id = boat.id) \
         LIMIT $4) AS counted"
    );
    assert_eq!(made.values.last(), Some(&QueryParam::Integer(i64::MAX)));
}

#[test]
fn an_update_holds_only_for_the_expected_version() {
    assert_eq!(
        update(&BOAT, FIXED_COLUMNS),
        "UPDATE boat SET version = $3, created_at = $4, updated_at = $5, body = $6, masked = $7, sealed = $8, \
         sealed_secret = $9, mac = $10, words = $11, hull = $12, length = $13 \
         WHERE tenant = $1 AND id = $2 AND version = $14"
    );
    assert!(insert(&BOAT).ends_with("VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"));
}

#[test]
fn numbers_keep_their_meaning_in_sqlite() {
    assert_eq!(for_sqlite("a = $2 AND b = $1"), "a = ?2 AND b = ?1");
}
