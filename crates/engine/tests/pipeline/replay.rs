//! Stage 8, idempotency: the same key with the same meaning answers as the first time.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::StoredAnswer;

use crate::support::requests::{call, keyed, post};
use crate::support::{KEEPER, SOUTHERNER, TRAVELLER, TestDesk, eventually};
use frontdesk_testkit::memory_store::InjectedFault;

const REUSED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This idempotency key was used before with other arguments. Use a new key for a new request.","data":{"fault":"key_reused","at":"tool book.add"}}}"#;

async fn add(test: &TestDesk, who: &str, arguments: &str) -> String {
    test.call(who, "book.add", arguments).await
}

fn commits(test: &TestDesk) -> usize {
    test.store.inspect(|state| state.audit.len())
}

#[tokio::test]
async fn equal_requests_replay_however_they_are_written() {
    let test = TestDesk::new();
    let first = add(&test, KEEPER, r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#).await;
    test.clock.advance(5000);
    for again in [
        r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#,
        r#"{"request_key":"k1","copies":1,"genre":"novel","title":"Emma"}"#,
        "{ \"title\" : \"Emma\",\n\"genre\":\"novel\", \"copies\":1,\t\"request_key\":\"k1\" }",
        r#"{"title":"\u0045mma","genre":"novel","copies":1,"request_key":"k1"}"#,
        r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1","branch":"north"}"#,
    ] {
        assert_eq!(add(&test, KEEPER, again).await, first);
    }
    assert_eq!(commits(&test), 1);
}

#[tokio::test]
async fn a_key_in_the_header_is_the_same_as_one_in_the_arguments() {
    let test = TestDesk::new();
    let first = add(&test, KEEPER, r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#).await;
    let body = call("1", "book.add", r#"{"title":"Emma","genre":"novel","copies":1}"#);
    assert_eq!(test.serve(keyed("k1", post(KEEPER, &body))).await.body, first);
    assert_eq!(commits(&test), 1);
}

#[tokio::test]
async fn another_meaning_under_the_same_key_is_refused() {
    let test = TestDesk::new();
    add(&test, KEEPER, r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#).await;
    for other in [
        r#"{"title":"Emma","genre":"novel","copies":2,"request_key":"k1"}"#,
        r#"{"title":"emma","genre":"novel","copies":1,"request_key":"k1"}"#,
        r#"{"title":"Emma","genre":"novel","copies":1,"shelfmark":"A1","request_key":"k1"}"#,
    ] {
        assert_eq!(add(&test, KEEPER, other).await, REUSED);
    }
    assert_eq!(commits(&test), 1);
}

#[tokio::test]
async fn without_a_key_every_call_is_a_new_one() {
    let test = TestDesk::new();
    let arguments = r#"{"title":"Emma","genre":"novel","copies":1}"#;
    assert_ne!(add(&test, KEEPER, arguments).await, add(&test, KEEPER, arguments).await);
    assert_eq!(commits(&test), 2);
}

#[tokio::test]
async fn a_key_belongs_to_its_tenant_client_and_tool() {
    let test = TestDesk::stocked();
    let add_in = |branch: &str| {
        format!(r#"{{"title":"Emma","genre":"novel","copies":1,"request_key":"k1","branch":"{branch}"}}"#)
    };
    let mut answers = vec![
        add(&test, TRAVELLER, &add_in("north")).await,
        add(&test, TRAVELLER, &add_in("south")).await,
        add(&test, KEEPER, &add_in("north")).await,
        add(&test, SOUTHERNER, &add_in("south")).await,
        test.call(KEEPER, "book.lend", r#"{"id":"b1","request_key":"k1"}"#).await,
    ];
    assert!(answers.iter().all(|answer| answer.contains(r#""result""#)), "{answers:#?}");
    answers.sort();
    answers.dedup();
    assert_eq!((answers.len(), commits(&test)), (5, 5));
}

#[tokio::test]
async fn a_fault_claims_no_key() {
    let test = TestDesk::stocked();
    let lend = r#"{"id":"b4","request_key":"k1"}"#;
    assert!(test.call(KEEPER, "book.lend", lend).await.contains("not_found"));
    test.store.put(
        "north",
        &crate::support::library::BOOK,
        crate::support::tools::book("b4", "Lear", "novel", 1, 1, 9),
    );
    assert_eq!(
        test.call(KEEPER, "book.lend", lend).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b4","title":"Lear","genre":"novel","copies":0}}}"#
    );
}

#[tokio::test]
async fn a_step_that_did_not_hold_claims_no_key_either() {
    let test = TestDesk::new();
    let taken = r#"{"title":"Emma","genre":"novel","copies":1,"shelfmark":"A1","request_key":"k1"}"#;
    add(&test, KEEPER, r#"{"title":"Dune","genre":"novel","copies":1,"shelfmark":"A1"}"#).await;
    assert!(add(&test, KEEPER, taken).await.contains("book.taken"));
    let free = r#"{"title":"Emma","genre":"novel","copies":1,"shelfmark":"A2","request_key":"k1"}"#;
    assert!(add(&test, KEEPER, free).await.contains(r#""title":"Emma""#));
}

#[tokio::test]
async fn a_fault_after_the_first_call_committed_replays_instead() {
    let test = TestDesk::stocked();
    let lend = r#"{"id":"b2","request_key":"k1"}"#;
    let first = test.call(KEEPER, "book.lend", lend).await;
    // The second call looks before the first has committed, and plans after: the last copy is gone.
    test.store.inject(|faults| faults.hidden_claims = 1);
    assert_eq!(test.call(KEEPER, "book.lend", lend).await, first);
    let other = r#"{"id":"b3","request_key":"k1"}"#;
    test.store.inject(|faults| faults.hidden_claims = 1);
    assert_eq!(test.call(KEEPER, "book.lend", other).await, REUSED.replace("book.add", "book.lend"));
}

#[tokio::test]
async fn a_key_claimed_before_the_commit_replays_the_other_call() {
    let test = TestDesk::stocked();
    add(&test, KEEPER, r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#).await;
    let (meaning, first) = test.store.inspect(|state| {
        let claimed = state.claims.values().next().unwrap();
        (claimed.request_hash, claimed.answer.id.clone())
    });
    let rival = StoredAnswer {
        request_hash: meaning,
        answer: Item {
            id: first.clone(),
            version: 1,
            body: format!(r#"{{"id":"{first}"}}"#),
            masked: None,
            personal: None,
        },
    };
    test.store.inject(|faults| {
        faults.hidden_claims = 1;
        faults.rival_claim = Some(rival);
    });
    let answer = add(&test, KEEPER, r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#).await;
    assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"item":{{"id":"{first}"}}}}}}"#));
    assert_eq!(
        test.records(),
        [format!(
            r#"{{"at":"2026-01-01T00:00:00Z","trace":"t1","contract":"library","client":"keeper","address":"192.0.2.1","method":"tools/call","tool":"book.add","tenant":"north","outcome":"ok","ids":["{first}"]}}"#
        )]
    );
}

#[tokio::test]
async fn an_unknown_commit_asks_to_retry_with_the_same_key() {
    let test = TestDesk::stocked();
    let lend = r#"{"id":"b2","request_key":"k1"}"#;
    test.store.inject(|faults| {
        faults.unknown_commit = true;
        faults.commits = InjectedFault::Delay(Duration::from_millis(20));
    });
    assert_eq!(
        test.call(KEEPER, "book.lend", lend).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The first request with this idempotency key is still being worked on. Repeat it with the same key.","data":{"fault":"key_in_flight","at":"tool book.lend","retry_after":1}}}"#
    );
    eventually(|| commits(&test) == 1).await;
    assert_eq!(
        test.call(KEEPER, "book.lend", lend).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}}"#
    );
    assert_eq!(commits(&test), 1);
}

#[tokio::test]
async fn two_hundred_equal_calls_at_once_make_one() {
    let test = Arc::new(TestDesk::new());
    test.store.inject(|faults| faults.commits = InjectedFault::Delay(Duration::from_millis(5)));
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let test = Arc::clone(&test);
            tokio::spawn(async move {
                add(&test, KEEPER, r#"{"title":"Emma","genre":"novel","copies":1,"request_key":"k1"}"#).await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!((commits(&test), test.store.inspect(|state| state.rows.len())), (1, 1));
}

#[tokio::test]
async fn a_tool_with_a_replay_of_its_own_answers_with_the_present() {
    let test = TestDesk::stocked();
    let first = test.call(KEEPER, "book.add_anew", r#"{"id":"b1","request_key":"k1"}"#).await;
    assert!(first.contains(r#""copies":1"#), "{first}");
    test.call(KEEPER, "book.lend", r#"{"id":"b1"}"#).await;
    assert_eq!(
        test.call(KEEPER, "book.add_anew", r#"{"id":"b1","request_key":"k1"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":0}}}"#
    );
}
