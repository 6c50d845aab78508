//! A plan is committed whole or not at all, and its events are numbered without a gap.

use std::sync::Arc;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{Change, OnConflict, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::ports::{Commit, Disclosure};
use tokio::task::JoinSet;

use super::boats::{BOAT, add, boat, claim, done, ended, event, ids, insert, plain, plan, take_berths, update};
use super::{StoreUnderTest, north, south};

pub async fn a_plan_of_an_unknown_tenant_is_not_committed(subject: &StoreUnderTest) {
    let nobody = TenantId::parse("nobody").unwrap();
    let outcome = subject.store.commit(plan("lost", &nobody, vec![insert(boat("b1", 7))])).await;
    assert_eq!(ended(&outcome), "internal");
    assert!(subject.store.get(&nobody, &BOAT, "b1", Disclosure::Masked).await.unwrap().is_none());
    assert_eq!(subject.peek.audit("nobody"), [""; 0]);
}

pub async fn a_failing_plan_leaves_no_trace(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let guard = |stale| Step::Require { table: &BOAT, id: "b1".to_owned(), expect_version: 9, on_conflict: stale };
    let last_steps = [
        (insert(boat("b1", 7)), "boat_taken"),
        (take_berths("b1", 5), "no_berth_left"),
        (guard(OnConflict::Retry), "stale"),
        (guard(OnConflict::Fail(super::boats::fault(super::boats::MOVED_ON))), "boat_changed"),
        (update(boat("b1", 8), 9, OnConflict::Retry), "stale"),
    ];
    for (last, expected) in last_steps {
        let outcome = subject.store.commit(full("bad", "b2", vec![take_berths("b1", 1), last])).await;
        assert_eq!(ended(&outcome), expected);
        assert_eq!(ids(&*subject.store, &north(), Vec::new()).await, ["b1"], "no row after {expected}");
        let untouched = vec![Filter::Equals("berths", Cell::Integer(4))];
        assert_eq!(ids(&*subject.store, &north(), untouched).await, ["b1"], "no berth taken after {expected}");
        assert_eq!(subject.peek.outbox("north"), [""; 0], "no event after {expected}");
        assert_eq!(subject.peek.audit("north"), [r#"{"plan":"seed"}"#], "no record after {expected}");
        assert_eq!(subject.store.find_claim(&north(), &claim("bad", 1)).await.unwrap(), None, "no claim");
    }
    let worded = vec![Filter::SearchTerms(vec![plain("sail")])];
    assert_eq!(ids(&*subject.store, &north(), worded).await, ["b1"]);
    done(&*subject.store, full("good", "b2", Vec::new())).await;
    assert_eq!(subject.peek.outbox("north"), ["1 good-first boat b2 created", "2 good-second boat b2 updated"]);
}

pub async fn failing_plans_among_others_leave_no_gap(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let mut all = JoinSet::new();
    for number in 0..120 {
        let name = format!("p{number:03}");
        let more = match number % 3 {
            0 => vec![insert(boat("b1", 7))],
            _ => Vec::new(),
        };
        let (store, commit) = (Arc::clone(&subject.store), full(&name, &name, more));
        all.spawn(async move { (name, store.commit(commit).await) });
    }
    let mut good = Vec::new();
    while let Some(finished) = all.join_next().await {
        let (name, outcome) = finished.unwrap();
        match ended(&outcome) {
            "done" => good.push(name),
            other => assert_eq!(other, "boat_taken", "{name}"),
        }
    }
    good.sort();
    assert_eq!(good.len(), 80);

    let mut rows = ids(&*subject.store, &north(), Vec::new()).await;
    rows.retain(|id| id != "b1");
    rows.sort();
    assert_eq!(rows, good);

    let outbox = subject.peek.outbox("north");
    assert_eq!(outbox.len(), 160);
    for (position, line) in outbox.iter().enumerate() {
        assert!(line.starts_with(&format!("{} ", position + 1)), "{line} stands at {position}");
    }
    // A plan's events stand together and in order.
    for pair in outbox.chunks(2) {
        let names: Vec<&str> = pair.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
        let plan = names.first().unwrap().strip_suffix("-first").unwrap();
        assert_eq!(names.last().unwrap().strip_suffix("-second"), Some(plan));
        assert!(good.contains(&plan.to_owned()), "{plan} was refused");
    }
    let mut audit = subject.peek.audit("north");
    audit.retain(|record| record != r#"{"plan":"seed"}"#);
    audit.sort();
    assert_eq!(audit, good.iter().map(|name| format!(r#"{{"plan":"{name}"}}"#)).collect::<Vec<_>>());
    for number in 0..120 {
        let name = format!("p{number:03}");
        let claimed = subject.store.find_claim(&north(), &claim(&name, 1)).await.unwrap();
        assert_eq!(claimed.is_some(), good.contains(&name), "{name}");
    }
}

pub async fn events_of_one_plan_keep_their_order(subject: &StoreUnderTest) {
    let mut commit = plan("busy", &north(), vec![insert(boat("b1", 7))]);
    commit.events = vec![
        event("e9", "b1", Change::Created),
        event("e1", "b7", Change::Deleted),
        event("e5", "b1", Change::Updated),
    ];
    done(&*subject.store, commit).await;
    let expected = ["1 e9 boat b1 created", "2 e1 boat b7 deleted", "3 e5 boat b1 updated"];
    assert_eq!(subject.peek.outbox("north"), expected);
}

pub async fn each_tenant_counts_its_own_events(subject: &StoreUnderTest) {
    for (name, tenant) in [("a", north()), ("b", south()), ("c", south()), ("d", north())] {
        let mut commit = plan(name, &tenant, vec![insert(boat(name, 7))]);
        commit.events = vec![event(name, name, Change::Created)];
        done(&*subject.store, commit).await;
    }
    assert_eq!(subject.peek.outbox("north"), ["1 a boat a created", "2 d boat d created"]);
    assert_eq!(subject.peek.outbox("south"), ["1 b boat b created", "2 c boat c created"]);
    assert_eq!(subject.peek.audit("south"), [r#"{"plan":"b"}"#, r#"{"plan":"c"}"#]);
}

pub async fn two_hundred_takers_of_the_last_three_units_get_three(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [super::boats::with(boat("b1", 7), "berths", Cell::Integer(3))]).await;
    let mut all = JoinSet::new();
    for number in 0..200 {
        let store = Arc::clone(&subject.store);
        let commit = plan(&format!("p{number}"), &north(), vec![take_berths("b1", 1)]);
        all.spawn(async move { store.commit(commit).await });
    }
    let ends: Vec<&str> = all.join_all().await.iter().map(ended).collect();
    assert_eq!(ends.iter().filter(|end| **end == "done").count(), 3);
    assert_eq!(ends.iter().filter(|end| **end == "no_berth_left").count(), 197);
}

/// A plan with everything: a new boat, two events, a key of its own name, then the steps given.
fn full(name: &str, id: &str, more: Vec<Step>) -> Commit {
    let mut steps = vec![insert(boat(id, 9))];
    steps.extend(more);
    Commit {
        events: vec![
            event(&format!("{name}-first"), id, Change::Created),
            event(&format!("{name}-second"), id, Change::Updated),
        ],
        claim: Some(claim(name, 1)),
        ..plan(name, &north(), steps)
    }
}
