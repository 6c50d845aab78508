//! Rows that are forgotten once an instant of theirs has passed.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;

use super::boats::{BOAT, add, boat, ids, plain};
use super::{StoreUnderTest, north, south};

pub async fn rows_before_the_instant_are_forgotten_with_their_words(subject: &StoreUnderTest) {
    let sails = || vec![Filter::SearchTerms(vec![plain("sail")])];
    for tenant in [north(), south()] {
        add(&*subject.store, &tenant, [boat("b1", 9), boat("b2", 10), boat("b3", 11)]).await;
    }
    (subject.delete_rows)(&BOAT, "length", Millis(10)).await.unwrap();
    for tenant in [north(), south()] {
        assert_eq!(ids(&*subject.store, &tenant, Vec::new()).await, ["b2", "b3"]);
        // The same boat may come again, and no word of the old one finds it.
        add(&*subject.store, &tenant, [Row { search_terms: Vec::new(), ..boat("b1", 12) }]).await;
        assert_eq!(ids(&*subject.store, &tenant, Vec::new()).await, ["b2", "b3", "b1"]);
        assert_eq!(ids(&*subject.store, &tenant, sails()).await, ["b2", "b3"]);
    }
}

pub async fn more_rows_than_one_piece_are_forgotten(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), (0..2_100).map(|number| boat(&format!("b{number}"), number))).await;
    (subject.delete_rows)(&BOAT, "length", Millis(2_099)).await.unwrap();
    assert_eq!(ids(&*subject.store, &north(), Vec::new()).await, ["b2099"]);
}
