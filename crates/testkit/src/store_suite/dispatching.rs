//! Dispatched messages on a real database: one effect for each key, whoever runs them and whoever has gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use frontdesk_engine::dispatch::{DispatchMode, EXPIRES_AT, TASK};
use frontdesk_engine::model::page::{Direction, Order, Projection, Query};
use frontdesk_engine::model::timestamp::Millis;
use tokio::task::JoinSet;

use super::boats::{ids, query};
use super::node::{DispatchNode, completed};
use super::{StoreUnderTest, north};
use crate::TestClock;

pub async fn two_hundred_equal_messages_at_once_have_one_effect(subject: &StoreUnderTest) {
    let node = DispatchNode::open(Arc::clone(&subject.store), &clock(), DispatchMode::Now);
    let mut all = JoinSet::new();
    for _ in 0..200 {
        let node = Arc::clone(&node);
        all.spawn(async move { node.register("k1", "Ada").await });
    }
    // Whoever waited too long for its twin was told to ask again, and does.
    let mut bodies = Vec::new();
    for (status, body) in all.join_all().await {
        bodies.push(if status == 202 { completed(&node, "k1", "Ada").await } else { body });
    }
    let first = bodies.iter().filter(|body| body.contains(r#""reused":false"#)).count();
    let said: BTreeSet<String> =
        bodies.iter().map(|body| body.replace(r#""reused":true"#, r#""reused":false"#)).collect();
    assert_eq!((first, said.len()), (1, 1), "{said:?}");
    assert_eq!(ids(&*subject.store, &north(), Vec::new()).await.len(), 1);
}

pub async fn what_a_node_accepted_before_it_ended_is_run_by_another(subject: &StoreUnderTest) {
    let clock = clock();
    let first = DispatchNode::open(Arc::clone(&subject.store), &clock, DispatchMode::Later);
    let (status, accepted) = first.register("k1", "Ada").await;
    assert_eq!(status, 202);
    drop(first);
    let second = DispatchNode::open(Arc::clone(&subject.store), &clock, DispatchMode::Later);
    assert_eq!(second.register("k1", "Ada").await, (202, accepted.replace(r#""reused":false"#, r#""reused":true"#)));
    clock.advance(10_000);
    let worker = second.run_worker();
    let body = completed(&second, "k1", "Ada").await;
    worker.abort();
    let id = ids(&*subject.store, &north(), Vec::new()).await.remove(0);
    let result = format!(
        r#""result":{{"http_status":200,"session_id":"","trace_id":"t1","response":{{"id":"{id}","owner":"Ada"}}}}}}"#
    );
    let began = accepted.replace("accepted", "completed").replace(r#""reused":false}"#, r#""reused":true,"#);
    assert_eq!(body, format!("{began}{result}"));
}

pub async fn several_nodes_that_look_for_tasks_run_each_once(subject: &StoreUnderTest) {
    let clock = clock();
    let gone = DispatchNode::open(Arc::clone(&subject.store), &clock, DispatchMode::Later);
    for number in 0..40 {
        assert_eq!(gone.register(&format!("k{number}"), "Ada").await.0, 202);
    }
    clock.advance(10_000);
    let nodes = [(); 3].map(|()| DispatchNode::open(Arc::clone(&subject.store), &clock, DispatchMode::Later));
    let workers = nodes.each_ref().map(|node| node.run_worker());
    for number in 0..40 {
        completed(&nodes[0], &format!("k{number}"), "Ada").await;
    }
    workers.iter().for_each(tokio::task::JoinHandle::abort);
    assert_eq!(ids(&*subject.store, &north(), Vec::new()).await.len(), 40);
    // Accepted, begun and completed: no run was recorded twice.
    let audit = subject.peek.audit("north");
    let count = |word: &str| audit.iter().filter(|line| line.contains(&format!(r#""outcome":"{word}""#))).count();
    assert_eq!((count("accepted"), count("begun"), count("completed"), count("failed")), (40, 40, 40, 0));
}

pub async fn old_tasks_are_forgotten_and_young_ones_are_not(subject: &StoreUnderTest) {
    let clock = clock();
    let node = DispatchNode::open(Arc::clone(&subject.store), &clock, DispatchMode::Now);
    node.register("old", "Ada").await;
    clock.advance(1);
    node.register("young", "Ada").await;
    let order = Order { column: "created_at", direction: Direction::Ascending };
    let all = || Query { table: &TASK, projection: Projection::Ids, order, ..query(Vec::new()) };
    assert_eq!(subject.store.page(&north(), all()).await.unwrap().rows.len(), 2);
    // Tasks are kept for an hour here.
    let hour_later = Millis(1_767_225_600_000 + 3_600_000 + 1);
    (subject.delete_rows)(&TASK, EXPIRES_AT, hour_later).await.unwrap();
    assert_eq!(subject.store.page(&north(), all()).await.unwrap().rows.len(), 1);
    assert!(node.register("young", "Ada").await.1.contains(r#""reused":true"#));
    assert!(node.register("old", "Ada").await.1.contains(r#""reused":false"#));
}

fn clock() -> Arc<TestClock> {
    Arc::new(TestClock::default())
}
