//! What each step of a plan does, and what it says when it does not hold.

use frontdesk_engine::model::fault::FaultKind;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{Cell, Row};
use frontdesk_engine::ports::{Committed, Disclosure};

use super::boats::{BOAT, MOVED_ON, add, boat, done, ended, fault, ids, insert, plan, take_berths, update, with};
use super::{StoreUnderTest, north, south};

pub async fn an_insert_is_there_once_committed(subject: &StoreUnderTest) {
    let outcome = subject.store.commit(plan("launch", &north(), vec![insert(boat("b1", 7))])).await;
    assert_eq!(ended(&outcome), "done");
    assert!(subject.store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.unwrap().is_some());
    assert_eq!(subject.peek.audit("north"), [r#"{"plan":"launch"}"#]);
}

pub async fn an_update_needs_the_version_it_expects(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let cases = [
        ("b1", 9, OnConflict::Fail(fault(MOVED_ON)), "boat_changed"),
        ("b1", 9, OnConflict::Retry, "stale"),
        ("gone", 1, OnConflict::Fail(fault(MOVED_ON)), "boat_changed"),
        ("gone", 1, OnConflict::Retry, "stale"),
        ("b1", 1, OnConflict::Retry, "done"),
        ("b1", 1, OnConflict::Retry, "stale"),
    ];
    for (id, expect_version, stale, expected) in cases {
        let step = update(Row { version: 2, ..boat(id, 8) }, expect_version, stale);
        let outcome = subject.store.commit(plan("stretch", &north(), vec![step])).await;
        assert_eq!(ended(&outcome), expected, "{id} at {expect_version}");
    }
    assert_eq!(lengths(subject).await, ["b1 v2 {\"id\":\"b1\",\"length\":8}"]);
    // The refusal is the fault the step came with, word for word.
    let step = update(boat("b1", 8), 7, OnConflict::Fail(fault(MOVED_ON)));
    let Ok(Committed::Refused(refusal)) = subject.store.commit(plan("again", &north(), vec![step])).await else {
        panic!("a stale version was not refused");
    };
    assert_eq!((refusal.kind, refusal.message.as_ref()), (FaultKind::Domain(MOVED_ON), "It does not hold."));
}

pub async fn an_update_replaces_every_column(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let row = Row {
        version: 2,
        cells: vec![("hull", Cell::Text("H-new".to_owned())), ("length", Cell::Integer(8))],
        masked: None,
        personal: Some(r#"{"owner":"Bob"}"#.to_owned()),
        ..boat("b1", 8)
    };
    done(&*subject.store, plan("sell", &north(), vec![update(row, 1, OnConflict::Retry)])).await;
    let found = subject.store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!((found.version, found.masked, found.personal.as_deref()), (2, None, Some(r#"{"owner":"Bob"}"#)));
    let by = async |filter| ids(&*subject.store, &north(), vec![filter]).await;
    assert_eq!(by(Filter::Equals("hull", Cell::Text("H-new".to_owned()))).await, ["b1"]);
    assert_eq!(by(Filter::Equals("hull", Cell::Text("H-b1".to_owned()))).await, [""; 0]);
    assert_eq!(by(Filter::Equals("harbour", Cell::Text("kiel".to_owned()))).await, [""; 0]);
    assert_eq!(by(Filter::Equals("owner", Cell::Digest("ada@example.com".to_owned()))).await, [""; 0]);
}

pub async fn an_adjustment_never_goes_below_its_floor(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7), with(boat("b2", 8), "berths", Cell::Null)]).await;
    add(&*subject.store, &south(), [boat("b1", 7)]).await;
    let cases = [
        ("b1", 5, "no_berth_left", 4),
        ("b1", 3, "done", 1),
        ("b1", 2, "no_berth_left", 1),
        ("b1", 1, "done", 0),
        ("b1", 1, "no_berth_left", 0),
        ("b1", -2, "done", 2),
        ("b2", 1, "no_berth_left", 2),
        ("gone", 1, "no_berth_left", 2),
    ];
    for (id, count, expected, left) in cases {
        let outcome = subject.store.commit(plan("take", &north(), vec![take_berths(id, count)])).await;
        assert_eq!(ended(&outcome), expected, "{count} of {id}");
        let exactly = vec![Filter::Equals("berths", Cell::Integer(left))];
        assert_eq!(ids(&*subject.store, &north(), exactly).await, ["b1"], "after {count} of {id}");
    }
    let untouched = vec![Filter::Equals("berths", Cell::Integer(4))];
    assert_eq!(ids(&*subject.store, &south(), untouched).await, ["b1"]);
}

pub async fn a_requirement_guards_a_row_that_was_only_read(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    add(&*subject.store, &south(), [Row { version: 3, ..boat("b1", 7) }]).await;
    let cases = [
        ("b1", 3, OnConflict::Retry, "stale"),
        ("b1", 3, OnConflict::Fail(fault(MOVED_ON)), "boat_changed"),
        ("gone", 1, OnConflict::Retry, "stale"),
        ("b1", 1, OnConflict::Retry, "done"),
    ];
    for (number, (id, expect_version, stale, expected)) in cases.into_iter().enumerate() {
        let guard = Step::Require { table: &BOAT, id: id.to_owned(), expect_version, on_conflict: stale };
        let new = insert(boat(&format!("new{number}"), 9));
        let outcome = subject.store.commit(plan("read", &north(), vec![new, guard])).await;
        assert_eq!(ended(&outcome), expected, "{id} at {expect_version}");
    }
    assert_eq!(ids(&*subject.store, &north(), Vec::new()).await, ["b1", "new3"]);
}

pub async fn a_row_that_was_not_found_is_inserted_once(subject: &StoreUnderTest) {
    add(&*subject.store, &south(), [boat("b1", 7)]).await;
    let absent = || Step::RequireAbsent { table: &BOAT, id: "b1".to_owned() };
    let outcome = subject.store.commit(plan("first", &north(), vec![absent(), insert(boat("b1", 7))])).await;
    assert_eq!(ended(&outcome), "done", "the boat of another tenant is another one");
    let outcome = subject.store.commit(plan("second", &north(), vec![absent(), insert(boat("b1", 8))])).await;
    assert_eq!(ended(&outcome), "stale");
    assert_eq!(lengths(subject).await, ["b1 v1 {\"id\":\"b1\",\"length\":7}"]);
}

pub async fn a_taken_value_refuses_with_the_steps_own_fault(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let twin = with(boat("b2", 8), "hull", Cell::Text("H-b1".to_owned()));
    let outcome = subject.store.commit(plan("twin", &north(), vec![insert(twin)])).await;
    assert_eq!(ended(&outcome), "boat_taken");
    assert_eq!(lengths(subject).await, ["b1 v1 {\"id\":\"b1\",\"length\":7}"]);
}

pub async fn a_taken_id_refuses_with_the_steps_own_fault(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let twin = with(boat("b1", 8), "hull", Cell::Text("H-other".to_owned()));
    let outcome = subject.store.commit(plan("twin", &north(), vec![insert(twin)])).await;
    assert_eq!(ended(&outcome), "boat_taken");
    assert_eq!(lengths(subject).await, ["b1 v1 {\"id\":\"b1\",\"length\":7}"]);
}

pub async fn a_unique_value_is_unique_within_its_tenant_only(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let outcome = subject.store.commit(plan("same", &south(), vec![insert(boat("b1", 9))])).await;
    assert_eq!(ended(&outcome), "done");
    // Rows without the value do not take it from each other.
    let nameless = ["b2", "b3"].map(|id| with(boat(id, 8), "hull", Cell::Null));
    add(&*subject.store, &north(), nameless).await;
    assert_eq!(ids(&*subject.store, &north(), Vec::new()).await, ["b1", "b2", "b3"]);
}

pub async fn an_update_to_a_taken_value_is_refused(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7), boat("b2", 8)]).await;
    let row = with(Row { version: 2, ..boat("b2", 9) }, "hull", Cell::Text("H-b1".to_owned()));
    let outcome = subject.store.commit(plan("rename", &north(), vec![update(row, 1, OnConflict::Retry)])).await;
    assert_eq!(ended(&outcome), "boat_taken");
    assert_eq!(lengths(subject).await, ["b1 v1 {\"id\":\"b1\",\"length\":7}", "b2 v1 {\"id\":\"b2\",\"length\":8}"]);
    assert_eq!(subject.peek.audit("north"), [r#"{"plan":"seed"}"#]);
}

/// Every boat of the north as `id version body`.
async fn lengths(subject: &StoreUnderTest) -> Vec<String> {
    let mut all = Vec::new();
    for id in ids(&*subject.store, &north(), Vec::new()).await {
        let found = subject.store.get(&north(), &BOAT, &id, Disclosure::Masked).await.unwrap().unwrap();
        all.push(format!("{id} v{} {}", found.version, found.body));
    }
    all
}
