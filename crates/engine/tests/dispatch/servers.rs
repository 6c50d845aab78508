//! Servers that share a tenant and a store: what one was sent is nothing to the other, and nobody waits for its neighbour.

use std::sync::Arc;

use frontdesk_engine::desk::Mount;
use frontdesk_engine::dispatch::{DeskSource, DispatchLimits, DispatchMode, OnQueueFull, TaskQueue};
use frontdesk_engine::{Desk, FaultKind};

use super::{Clerk, all_done, calls, letter, sent, tasks};
use crate::support::{CLERK, KEEPER, LIMITS, TestDesk, eventually};
use frontdesk_testkit::memory_store::InjectedFault;

/// Two servers of one desk, the second with the mount of another test.
struct Street {
    test: Arc<TestDesk>,
    other: Mount,
}

impl DeskSource for Street {
    fn desk(&self) -> &Desk {
        &self.test.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        vec![&self.test.mount, &self.other]
    }
}

fn neighbours(when: DispatchMode) -> [TestDesk; 2] {
    let first = TestDesk::stocked().taking("/one/desk", when, OnQueueFull::Refuse);
    let second = TestDesk::stocked().taking("/two/desk", when, OnQueueFull::Refuse).sharing(&first);
    let random = Arc::clone(&first.desk.random);
    [first, TestDesk { desk: Desk { random, ..second.desk }, ..second }]
}

#[tokio::test]
async fn two_servers_each_run_the_same_message() {
    let [first, second] = neighbours(DispatchMode::Now);
    for test in [&first, &second] {
        let answer = sent(test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
        assert!(answer.body.contains("Emma") && answer.body.contains(r#""reused":false"#), "{answer:?}");
    }
    assert_eq!((calls(&first, "book.get"), calls(&second, "book.get"), tasks(&first).len()), (1, 1, 2));
}

#[tokio::test]
async fn a_task_is_run_by_the_server_that_accepted_it_and_by_no_other() {
    let [first, second] = neighbours(DispatchMode::Later);
    let (first, second) = (Arc::new(first), Arc::new(second));
    sent(&first, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    first.clock.advance(60_000);
    {
        let _clerk = Clerk::of(&second);
        let looks = first.store.inspect(|state| state.pages);
        eventually(|| first.store.inspect(|state| state.pages) > looks + 3).await;
        assert_eq!(calls(&second, "book.get"), 0);
    }
    let _clerk = Clerk::of(&first);
    all_done(&first).await;
    assert_eq!((calls(&first, "book.get"), calls(&second, "book.get")), (1, 0));
}

#[tokio::test]
async fn a_server_whose_tasks_hang_holds_up_no_other() {
    let [slow, other] = neighbours(DispatchMode::Later);
    slow.store.inject(|faults| faults.reads_of = Some(("book", InjectedFault::Hang)));
    let get = |key: &str| letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#);
    // As many as run at once, and as many as wait for them.
    for key in ["a", "b"] {
        assert_eq!(sent(&slow, get(key)).await.status, 202);
    }
    let mount = TestDesk::stocked().taking("/two/desk", DispatchMode::Later, OnQueueFull::Refuse).mount;
    let street = Arc::new(Street { test: Arc::new(slow), other: mount });
    let _clerk = Clerk::of(&street);
    let running = || tasks(&street.test).iter().filter(|row| row.body.contains(r#""state":"running""#)).count();
    eventually(|| running() == 2).await;
    for key in ["c", "d"] {
        assert_eq!(sent(&street.test, get(key)).await.status, 202);
    }
    assert!(sent(&street.test, get("e")).await.body.contains("no_room"));
    let member = || letter(KEEPER, "m", "member.get", r#"{"id":"m1"}"#);
    assert_eq!(sent(&other, member()).await.status, 202);
    let done =
        || tasks(&street.test).iter().any(|row| row.body.contains(r#""state":"completed","server":"/two/desk""#));
    eventually(done).await;
    assert!(sent(&other, member()).await.body.contains("ada@example.org"));
}

#[tokio::test]
async fn no_caller_and_no_tenant_has_more_kept_than_there_is_room_for() {
    let kept = |limits: DispatchLimits| {
        let test = TestDesk::stocked().taking("desk", DispatchMode::Now, OnQueueFull::Refuse);
        TestDesk { desk: Desk { task_queue: TaskQueue::new(limits), ..test.desk }, ..test }
    };
    let get = |who: &str, key: &str| letter(who, key, "book.get", r#"{"id":"b1"}"#);
    let test = kept(DispatchLimits { kept_for_one: 2, ..LIMITS });
    for key in ["a", "b"] {
        assert!(sent(&test, get(KEEPER, key)).await.body.contains("Emma"));
    }
    let third = sent(&test, get(KEEPER, "c")).await;
    assert!(third.body.contains(FaultKind::RateLimited.as_str()), "{third:?}");
    assert!(third.body.contains("As many of your answers are kept here as may be."), "{third:?}");
    // What is kept can be asked for, and others are not concerned.
    assert!(sent(&test, get(KEEPER, "a")).await.body.contains(r#""reused":true"#));
    assert!(sent(&test, get(CLERK, "c")).await.body.contains("Emma"));

    let test = kept(DispatchLimits { kept: 1, ..LIMITS });
    assert!(sent(&test, get(KEEPER, "a")).await.body.contains("Emma"));
    // Counting is dear, so it is not done each time.
    let mut refused = 0;
    for key in 0..64 {
        refused += usize::from(sent(&test, get(KEEPER, &key.to_string())).await.body.contains("no_room"));
    }
    assert_eq!((refused, tasks(&test).len()), (1, 64));
}
