//! The server is killed between the two halves of a create: the business's own system has the order, and nothing of it was
//! committed here. The same key comes again, and there is one order.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use frontdesk_testkit::app::receiver::ReceiverAnswer;
use tokio::task::JoinSet;

use crate::backend_stage::{BackendServer, Called};

/// Longer than a lease and a few repetitions take.
const PATIENCE: Duration = Duration::from_secs(90);

/// Repeats a create as TOMO does until it is answered.
async fn insist(server: &BackendServer, key: &str) -> String {
    let (mut caller, until) = (server.caller(), Instant::now() + PATIENCE);
    loop {
        match caller.book(key).await {
            Called::Payload(booked) => return booked["booking_ref"].as_str().unwrap().to_owned(),
            Called::Error(code) => assert_eq!(code, "RATE_LIMITED", "{key}"),
            Called::Cut => panic!("{key}: the server is gone"),
        }
        assert!(Instant::now() < until, "{key} is not answered");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test]
async fn t_102_a_create_killed_between_its_halves_is_one_order() {
    const CREATES: usize = 8;
    let server = BackendServer::start();
    assert!(matches!(server.caller().search().await, Called::Payload(_)));
    // All of them are done there, and none is answered.
    server.receiver.script(vec![ReceiverAnswer::Hang; CREATES]);
    let mut calls = JoinSet::new();
    for number in 0..CREATES {
        let mut caller = server.caller();
        calls.spawn(async move { caller.book(&format!("k-{number}")).await });
    }
    server.wait_for_keyed(CREATES).await;
    let server = server.kill();
    while let Some(cut) = calls.join_next().await {
        assert_eq!(cut.unwrap(), Called::Cut, "it was killed before it could answer");
    }
    assert_eq!(server.system.order_count(), CREATES);

    // Half of them are asked for again; the others are nobody's any more, and the server repeats them by itself.
    let mut references = BTreeSet::new();
    for number in 0..CREATES / 2 {
        references.insert(insist(&server, &format!("k-{number}")).await);
    }
    server.wait_for_keyed(2 * CREATES).await;
    for number in CREATES / 2..CREATES {
        references.insert(insist(&server, &format!("k-{number}")).await);
    }
    assert_eq!((references.len(), server.system.order_count()), (CREATES, CREATES), "one order for each key");
    for (request, keys) in server.system.keys() {
        let distinct: BTreeSet<&String> = keys.iter().collect();
        assert_eq!((distinct.len(), keys.len()), (1, 2), "{request} was sent twice under one key: {keys:?}");
    }
    // What is known here is answered from here.
    assert!(references.contains(&insist(&server, "k-0").await));
    assert_eq!(server.system.keys()["k-0"].len(), 2);
}

#[tokio::test]
async fn t_102_kills_at_any_moment_never_double_an_order() {
    const CREATES: usize = 6;
    let mut server = BackendServer::start();
    server.system.pause_millis.store(40, Ordering::SeqCst);
    for round in 0..2_u64 {
        // When it dies some have not been sent, some are done there only, and some are answered.
        let mut calls = JoinSet::new();
        for number in 0..CREATES {
            let mut caller = server.caller();
            calls.spawn(async move { caller.book(&format!("r{round}-{number}")).await });
        }
        server.wait_for_keyed(server.system.keys().values().map(Vec::len).sum::<usize>() + 1).await;
        tokio::time::sleep(Duration::from_millis(30 * round)).await;
        server = server.kill();
        while calls.join_next().await.is_some() {}
        let mut references = BTreeSet::new();
        for number in 0..CREATES {
            references.insert(insist(&server, &format!("r{round}-{number}")).await);
        }
        assert_eq!(references.len(), CREATES);
        assert_eq!(server.system.order_count(), CREATES * usize::try_from(round + 1).unwrap());
        for (request, keys) in server.system.keys() {
            assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 1, "{request}: {keys:?}");
        }
    }
}
