//! Events are read in the order of their commits, behind a number, and only those of one tenant.

use std::sync::Arc;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::OutboxEvent;
use tokio::task::JoinSet;

use super::boats::{boat, done, event, insert, plan};
use super::{StoreUnderTest, north, south};

async fn commit(subject: &StoreUnderTest, tenant: &TenantId, name: &str, change: Change) {
    let mut commit = plan(name, tenant, vec![insert(boat(name, 7))]);
    commit.events = vec![event(&format!("evt-{name}"), name, change)];
    done(&*subject.store, commit).await;
}

async fn seqs(subject: &StoreUnderTest, tenant: &TenantId, after: i64, limit: usize) -> Vec<i64> {
    let events = subject.store.events(tenant, after, limit).await.unwrap();
    events.iter().map(|event| event.seq).collect()
}

pub async fn events_are_read_in_order_behind_a_number(subject: &StoreUnderTest) {
    assert_eq!(subject.store.events(&north(), 0, 10).await.unwrap(), []);
    commit(subject, &north(), "a", Change::Created).await;
    commit(subject, &north(), "b", Change::Updated).await;
    commit(subject, &north(), "c", Change::Deleted).await;
    let event = |seq, name: &str, change| OutboxEvent {
        seq,
        event_id: format!("evt-{name}"),
        kind: "boat".to_owned(),
        id: name.to_owned(),
        change,
        at: Millis(5_000),
    };
    let all = [event(1, "a", Change::Created), event(2, "b", Change::Updated), event(3, "c", Change::Deleted)];
    assert_eq!(subject.store.events(&north(), 0, 10).await.unwrap(), all);
    assert_eq!(seqs(subject, &north(), 1, 10).await, [2, 3]);
    assert_eq!(seqs(subject, &north(), 0, 2).await, [1, 2], "no more than asked for");
    assert_eq!(seqs(subject, &north(), 3, 10).await, [0; 0]);
    assert_eq!(seqs(subject, &north(), -1, usize::MAX).await, [1, 2, 3]);
}

pub async fn events_of_another_tenant_are_not_read(subject: &StoreUnderTest) {
    commit(subject, &north(), "a", Change::Created).await;
    commit(subject, &south(), "b", Change::Created).await;
    let names = |events: Vec<OutboxEvent>| events.into_iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(names(subject.store.events(&north(), 0, 10).await.unwrap()), ["a"]);
    assert_eq!(names(subject.store.events(&south(), 0, 10).await.unwrap()), ["b"]);
    assert_eq!(seqs(subject, &TenantId::parse("nobody").unwrap(), 0, 10).await, [0; 0]);
}

/// What a reader has seen is complete up to its last number, whatever is committed meanwhile.
pub async fn a_reader_misses_no_event_while_others_commit(subject: &StoreUnderTest) {
    let mut all = JoinSet::new();
    for number in 0..100 {
        let store = Arc::clone(&subject.store);
        let name = format!("b{number}");
        let mut commit = plan(&name, &north(), vec![insert(boat(&name, 7))]);
        commit.events = vec![event(&name, &name, Change::Created)];
        all.spawn(async move { store.commit(commit).await });
    }
    let mut seen = 0;
    while seen < 100 {
        for event in subject.store.events(&north(), seen, 7).await.unwrap() {
            assert_eq!(event.seq, seen + 1, "an event came after a later one");
            seen = event.seq;
        }
        while all.try_join_next().is_some() {}
        tokio::task::yield_now().await;
    }
}
