//! Counts: exactly the rows that pass the filters, and never more than asked for.

use frontdesk_engine::model::page::{CountQuery, Filter};
use frontdesk_engine::model::table::{Cell, Row};
use frontdesk_engine::ports::Store;

use super::boats::{BOAT, add, boat, personal, plain};
use super::{StoreUnderTest, north, south};

pub async fn a_count_is_that_of_the_rows_that_pass_the_filters(subject: &StoreUnderTest) {
    let rows = (1..=5).map(|number| Row {
        search_terms: vec![plain(if number < 3 { "red" } else { "blue" }), personal("lovelace")],
        ..boat(&format!("b{number}"), number)
    });
    add(&*subject.store, &north(), rows).await;
    add(&*subject.store, &south(), [boat("b1", 3)]).await;
    let cases = [
        (Vec::new(), 5),
        (vec![Filter::AtLeast("length", 4)], 2),
        (vec![Filter::AtLeast("length", 2), Filter::AtMost("length", 4)], 3),
        (vec![Filter::AnyOf("length", vec![Cell::Integer(1), Cell::Integer(5), Cell::Integer(9)])], 2),
        (vec![Filter::AnyOf("length", Vec::new())], 0),
        (vec![Filter::SearchTerms(vec![plain("red")])], 2),
        (vec![Filter::SearchTerms(vec![plain("blue"), personal("lovelace")]), Filter::AtMost("length", 3)], 1),
        (vec![Filter::SearchTerms(vec![plain("lovelace")])], 0),
        (vec![Filter::Equals("harbour", Cell::Text("' OR '1'='1".to_owned()))], 0),
    ];
    for (filters, expected) in cases {
        assert_eq!(count(&*subject.store, filters.clone(), 100).await, expected, "{filters:?}");
    }
}

pub async fn a_count_stops_at_its_maximum(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), (1..=5).map(|number| boat(&format!("b{number}"), number))).await;
    for (max, expected) in [(0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (usize::MAX, 5)] {
        assert_eq!(count(&*subject.store, Vec::new(), max).await, expected, "{max}");
    }
    assert_eq!(count(&*subject.store, vec![Filter::AtLeast("length", 3)], 2).await, 2);
}

async fn count(store: &dyn Store, filters: Vec<Filter>, max: usize) -> usize {
    store.count(&north(), CountQuery { table: &BOAT, filters, max }).await.unwrap()
}
