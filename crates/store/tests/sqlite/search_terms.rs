//! Search terms are deleted with their rows, and a rejected change deletes none.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Store;

use crate::test_store::TestStore;
use frontdesk_store::Backend as _;
use frontdesk_testkit::store_suite::boats::{BOAT, MOVED_ON, add, boat, done, ended, fault, ids, plain, plan, update};
use frontdesk_testkit::store_suite::{north, south};

/// Updates the boat; this word becomes its only search term.
fn renamed(id: &str, word: &str, expect_version: i64) -> Step {
    let row = Row { version: expect_version + 1, search_terms: vec![plain(word)], ..boat(id, 7) };
    update(row, expect_version, OnConflict::Fail(fault(MOVED_ON)))
}

async fn found(store: &dyn Store, word: &str) -> Vec<String> {
    ids(store, &north(), vec![Filter::SearchTerms(vec![plain(word)])]).await
}

#[tokio::test]
async fn terms_of_changed_and_expired_rows_are_deleted() {
    let test = TestStore::new().await;
    let store = &*test.store;
    for tenant in [north(), south()] {
        let without_terms = Row { search_terms: Vec::new(), ..boat("b4", 10) };
        add(store, &tenant, [boat("b1", 7), boat("b2", 8), boat("b3", 9), without_terms]).await;
    }
    assert_eq!(found(store, "sail").await, ["b1", "b2", "b3"]);
    done(store, plan("b2", &north(), vec![renamed("b2", "motor", 1)])).await;
    assert_eq!(found(store, "sail").await, ["b1", "b3"]);
    assert_eq!(found(store, "motor").await, ["b2"]);
    store.delete_expired_rows(&BOAT, "length", Millis(8)).await.unwrap();
    assert_eq!(found(store, "sail").await, ["b3"]);
    let left: i64 = test
        .raw()
        .query_row("SELECT count(*) FROM boat_word WHERE tenant = 'north' AND id = 'b1'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_rejected_update_deletes_no_terms() {
    let test = TestStore::new().await;
    add(&*test.store, &north(), [boat("b1", 7)]).await;
    done(&*test.store, plan("b1", &north(), vec![renamed("b1", "motor", 1)])).await;
    let late = test.store.commit(plan("b1", &north(), vec![renamed("b1", "oar", 1)])).await;
    assert_eq!(ended(&late), "boat_changed");
    assert_eq!(found(&*test.store, "motor").await, ["b1"]);
    assert_eq!(found(&*test.store, "oar").await, [""; 0]);
}

/// A term may be any text, and a row may have more of them than one statement inserts.
#[tokio::test]
async fn terms_of_any_characters_and_number_are_deleted() {
    let test = TestStore::new().await;
    for count in [1, 7, 8, 9, 20] {
        let id = format!("b{count}");
        let words = (1..count).map(|number| plain(&format!("w{number}")));
        let words: Vec<_> = words.chain([plain("say \"a\\b\", [é\u{7}]")]).collect();
        add(&*test.store, &north(), [Row { search_terms: words, ..boat(&id, count) }]).await;
    }
    assert_eq!(found(&*test.store, "say \"a\\b\", [é\u{7}]").await, ["b1", "b7", "b8", "b9", "b20"]);
    assert_eq!(found(&*test.store, "w8").await, ["b9", "b20"]);
    for count in [1, 7, 8, 9, 20] {
        done(&*test.store, plan("bare", &north(), vec![renamed(&format!("b{count}"), "bare", 1)])).await;
    }
    let left: Vec<String> = test
        .raw()
        .prepare("SELECT DISTINCT word FROM boat_word")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(left, ["bare"]);
}
