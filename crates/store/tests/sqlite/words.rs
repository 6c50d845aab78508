//! What rows remember of the words they are found by: it is made for files that have none of it yet, and a change that
//! does not hold takes none away.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Store;

use crate::house::{House, open};
use frontdesk_testkit::store_suite::boats::{BOAT, MOVED_ON, add, boat, done, ended, fault, ids, plain, plan};
use frontdesk_testkit::store_suite::{north, south};

/// What a file looked like before: no list of words in a row, and an index by row instead.
const BEFORE: &str = "ALTER TABLE boat DROP COLUMN words; CREATE INDEX boat_word_of ON boat_word (tenant, id)";

/// Writes the boat anew, found by this word alone.
fn renamed(id: &str, word: &str, expect_version: i64) -> Step {
    let row = Row { version: expect_version + 1, search_terms: vec![plain(word)], ..boat(id, 7) };
    Step::Update { table: &BOAT, row, expect_version, on_conflict: OnConflict::Fail(fault(MOVED_ON)) }
}

async fn found(store: &dyn Store, word: &str) -> Vec<String> {
    ids(store, &north(), vec![Filter::SearchTerms(vec![plain(word)])]).await
}

#[tokio::test]
async fn a_file_from_before_opens_with_every_word_and_takes_away_those_of_changed_and_forgotten_rows() {
    let house = House::new().await;
    for tenant in [north(), south()] {
        let wordless = Row { search_terms: Vec::new(), ..boat("b4", 10) };
        add(&*house.store, &tenant, [boat("b1", 7), boat("b2", 8), boat("b3", 9), wordless]).await;
    }
    let House { store, folder, .. } = house;
    drop(store);
    let raw = rusqlite::Connection::open(folder.database()).unwrap();
    raw.execute_batch(BEFORE).unwrap();

    let store = open(&folder.database(), &[&BOAT], [7; 32]).unwrap();
    let lists = "SELECT json_array_length(words) FROM boat WHERE tenant = 'north' ORDER BY id";
    let mut statement = raw.prepare(lists).unwrap();
    let counts: Vec<i64> = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(counts, [2, 2, 2, 0]);
    let old: i64 =
        raw.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'boat_word_of'", [], |row| row.get(0)).unwrap();
    assert_eq!(old, 0, "the index is not needed any more");
    assert_eq!(found(&store, "sail").await, ["b1", "b2", "b3"]);
    done(&store, plan("b2", &north(), vec![renamed("b2", "motor", 1)])).await;
    assert_eq!(found(&store, "sail").await, ["b1", "b3"]);
    assert_eq!(found(&store, "motor").await, ["b2"]);
    store.forget_rows(&BOAT, "length", Millis(8)).await.unwrap();
    assert_eq!(found(&store, "sail").await, ["b3"]);
    let left: i64 = raw
        .query_row("SELECT count(*) FROM boat_word WHERE tenant = 'north' AND id = 'b1'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
    // It is done once.
    drop(store);
    let store = open(&folder.database(), &[&BOAT], [7; 32]).unwrap();
    assert_eq!(found(&store, "sail").await, ["b3"]);
}

#[tokio::test]
async fn a_change_that_comes_too_late_takes_no_word_away() {
    let house = House::new().await;
    add(&*house.store, &north(), [boat("b1", 7)]).await;
    done(&*house.store, plan("b1", &north(), vec![renamed("b1", "motor", 1)])).await;
    let late = house.store.commit(plan("b1", &north(), vec![renamed("b1", "oar", 1)])).await;
    assert_eq!(ended(&late), "boat_changed");
    assert_eq!(found(&*house.store, "motor").await, ["b1"]);
    assert_eq!(found(&*house.store, "oar").await, [""; 0]);
}

/// A word may be any text, and there may be more of them than one statement takes.
#[tokio::test]
async fn words_of_any_letters_and_number_are_taken_away_again() {
    let house = House::new().await;
    for count in [1, 7, 8, 9, 20] {
        let id = format!("b{count}");
        let words = (1..count).map(|number| plain(&format!("w{number}")));
        let words: Vec<_> = words.chain([plain("say \"a\\b\", [é\u{7}]")]).collect();
        add(&*house.store, &north(), [Row { search_terms: words, ..boat(&id, count) }]).await;
    }
    assert_eq!(found(&*house.store, "say \"a\\b\", [é\u{7}]").await, ["b1", "b7", "b8", "b9", "b20"]);
    assert_eq!(found(&*house.store, "w8").await, ["b9", "b20"]);
    for count in [1, 7, 8, 9, 20] {
        done(&*house.store, plan("bare", &north(), vec![renamed(&format!("b{count}"), "bare", 1)])).await;
    }
    let left: Vec<String> = house
        .raw()
        .prepare("SELECT DISTINCT word FROM boat_word")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(left, ["bare"]);
}
