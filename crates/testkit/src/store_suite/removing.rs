//! Removing a row: nothing finds it any more, and it happens once or not at all.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{Change, OnConflict, Step};
use frontdesk_engine::model::table::{Cell, Row};
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure};

use super::boats::{
    BOAT, MOVED_ON, add, boat, claim, done, ended, event, fault, ids, insert, personal, plain, plan, query,
    take_berths, with,
};
use super::{StoreUnderTest, north, south};

pub async fn a_removed_row_is_found_by_nothing(subject: &StoreUnderTest) {
    let store = &*subject.store;
    add(store, &north(), [boat("b1", 7), boat("b2", 8)]).await;
    add(store, &south(), [boat("b1", 7)]).await;
    let commit = plan("scrap", &north(), vec![remove("b1", 1)]);
    done(store, Commit { events: vec![event("e1", "b1", Change::Deleted)], ..commit }).await;
    for disclosure in [Disclosure::Masked, Disclosure::Full, Disclosure::ToChange] {
        assert!(store.get(&north(), &BOAT, "b1", disclosure).await.unwrap().is_none());
    }
    assert!(store.find(&north(), &BOAT, "hull", Cell::Text("H-b1".to_owned())).await.unwrap().is_none());
    let filters = [
        Vec::new(),
        vec![Filter::Equals("harbour", Cell::Text("kiel".to_owned()))],
        vec![Filter::Equals("owner", Cell::Digest("ada@example.com".to_owned()))],
        vec![Filter::SearchTerms(vec![plain("sail")])],
        vec![Filter::SearchTerms(vec![personal("lovelace")])],
    ];
    for filter in filters {
        assert_eq!(ids(store, &north(), filter.clone()).await, ["b2"], "{filter:?}");
        assert_eq!(ids(store, &south(), filter.clone()).await, ["b1"], "of another tenant, {filter:?}");
    }
    assert_eq!(store.page(&north(), query(Vec::new())).await.unwrap().rows.len(), 1);
    // Its words do not come back with a row of the same id.
    add(store, &north(), [Row { search_terms: vec![plain("motor")], ..boat("b1", 7) }]).await;
    assert_eq!(ids(store, &north(), vec![Filter::SearchTerms(vec![plain("sail")])]).await, ["b2"]);
    assert_eq!(subject.peek.outbox("north"), ["1 e1 boat b1 deleted"]);
    assert_eq!(subject.peek.audit("north"), [r#"{"plan":"seed"}"#, r#"{"plan":"scrap"}"#, r#"{"plan":"seed"}"#]);
}

pub async fn unique_values_of_a_removed_row_are_free(subject: &StoreUnderTest) {
    let store = &*subject.store;
    add(store, &north(), [boat("b1", 7)]).await;
    let twin = || with(boat("b2", 8), "hull", Cell::Text("H-b1".to_owned()));
    let too_early = store.commit(plan("twin", &north(), vec![insert(twin()), remove("b1", 1)])).await;
    assert_eq!(ended(&too_early), "boat_taken");
    done(store, plan("replace", &north(), vec![remove("b1", 1), insert(twin())])).await;
    assert_eq!(ids(store, &north(), Vec::new()).await, ["b2"]);
    // And so is its id.
    add(store, &north(), [boat("b1", 7)].map(|row| with(row, "hull", Cell::Null))).await;
}

pub async fn a_removal_needs_the_version_it_expects(subject: &StoreUnderTest) {
    let store = &*subject.store;
    add(store, &north(), [Row { version: 3, ..boat("b1", 7) }]).await;
    add(store, &south(), [boat("b1", 7), boat("b2", 8)]).await;
    let cases = [
        ("b1", 1, OnConflict::Retry, "stale"),
        ("b1", 4, OnConflict::Fail(fault(MOVED_ON)), "boat_changed"),
        ("gone", 1, OnConflict::Retry, "stale"),
        ("b2", 1, OnConflict::Fail(fault(MOVED_ON)), "boat_changed"),
    ];
    for (id, expect_version, on_conflict, expected) in cases {
        let step = Step::Remove { table: &BOAT, id: id.to_owned(), expect_version, on_conflict };
        let outcome = store.commit(plan("scrap", &north(), vec![step])).await;
        assert_eq!(ended(&outcome), expected, "{id} at {expect_version}");
    }
    for filter in [Vec::new(), vec![Filter::SearchTerms(vec![plain("sail")])]] {
        assert_eq!(ids(store, &north(), filter.clone()).await, ["b1"]);
        assert_eq!(ids(store, &south(), filter).await, ["b1", "b2"]);
    }
    done(store, plan("scrap", &north(), vec![remove("b1", 3)])).await;
    assert_eq!(ids(store, &north(), Vec::new()).await, [""; 0]);
}

pub async fn a_failing_plan_with_a_removal_leaves_no_trace(subject: &StoreUnderTest) {
    let store = &*subject.store;
    add(store, &north(), [boat("b1", 7), boat("b2", 8)]).await;
    let last_steps = [
        (take_berths("b2", 5), "no_berth_left"),
        (insert(boat("b2", 7)), "boat_taken"),
        (remove("b2", 9), "stale"),
        (remove("b1", 1), "stale"),
        (take_berths("b1", 1), "no_berth_left"),
    ];
    for (last, expected) in last_steps {
        let commit = Commit {
            events: vec![event("e1", "b1", Change::Deleted)],
            claim: Some(scrapping("k")),
            ..plan("bad", &north(), vec![remove("b1", 1), last])
        };
        assert_eq!(ended(&store.commit(commit).await), expected);
        for filter in [Vec::new(), vec![Filter::SearchTerms(vec![plain("sail"), personal("lovelace")])]] {
            assert_eq!(ids(store, &north(), filter).await, ["b1", "b2"], "after {expected}");
        }
        assert_eq!(subject.peek.outbox("north"), [""; 0], "after {expected}");
        assert_eq!(subject.peek.audit("north"), [r#"{"plan":"seed"}"#], "after {expected}");
        assert_eq!(store.find_claim(&north(), &scrapping("k")).await.unwrap(), None, "after {expected}");
    }
}

pub async fn equal_keys_remove_once(subject: &StoreUnderTest) {
    let store = &*subject.store;
    add(store, &north(), [boat("b1", 7)]).await;
    let scrap = || Commit {
        events: vec![event("e1", "b1", Change::Deleted)],
        claim: Some(scrapping("k")),
        ..plan("scrap", &north(), vec![remove("b1", 1)])
    };
    done(store, scrap()).await;
    // A new boat of the same id stays: the repeated call gets its answer and removes nothing.
    add(store, &north(), [boat("b1", 9)]).await;
    let Ok(Committed::AlreadyClaimed(stored)) = store.commit(scrap()).await else {
        panic!("the key was not claimed");
    };
    assert_eq!((stored.answer.id.as_str(), stored.answer.version), ("scrap", 1));
    assert_eq!(ids(store, &north(), Vec::new()).await, ["b1"]);
    assert_eq!(subject.peek.outbox("north"), ["1 e1 boat b1 deleted"]);
}

fn remove(id: &str, expect_version: i64) -> Step {
    Step::Remove { table: &BOAT, id: id.to_owned(), expect_version, on_conflict: OnConflict::Retry }
}

fn scrapping(key: &str) -> Claim {
    Claim { tool: "boats.remove", ..claim(key, 1) }
}
