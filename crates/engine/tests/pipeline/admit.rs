//! Stage 5: the scope, then the budget of calls.

use frontdesk_engine::ClientId;
use frontdesk_engine::desk::DeskSettings;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::limits::tally::{TallyCount, TallyKey};

use crate::support::requests::{call, post};
use crate::support::{KEEPER, READER, SETTINGS, TestDesk, heard};

const B1: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}}"#;

/// Two calls at once, then one every twenty seconds.
fn slow_house() -> TestDesk {
    TestDesk::with(DeskSettings { calls: Budget { per_minute: 3, burst: 2 }, ..SETTINGS }).stock()
}

async fn get(test: &TestDesk, who: &str) -> String {
    test.call(who, "book.get", r#"{"id":"b1"}"#).await
}

fn limited(seconds: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"Too many calls; wait before the next one.","data":{{"fault":"rate_limited","at":"tool book.get","retry_after":{seconds}}}}}}}"#
    )
}

#[tokio::test]
async fn a_missing_scope_is_named_at_the_tool_it_is_missing_for() {
    let test = TestDesk::stocked();
    assert_eq!(
        test.serve(post(READER, &call("1", "book.lend", r#"{"id":"b1"}"#))).await,
        heard(403, r#"{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}"#)
    );
    assert_eq!(
        test.open(READER, "lib://north/member/m1").await,
        r#"{"fault":"forbidden","at":"resource lib://north/member/m1","needed":"members:read"}"#
    );
}

#[tokio::test]
async fn the_scope_is_judged_before_the_arguments() {
    let test = TestDesk::stocked();
    assert_eq!(
        test.call(READER, "book.lend", r#"{"canary":1}"#).await,
        r#"{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}"#
    );
}

#[tokio::test]
async fn a_refused_call_costs_no_budget() {
    let test = slow_house();
    for _ in 0..10 {
        test.call(READER, "book.lend", r#"{"id":"b1"}"#).await;
        test.call(READER, "book.burn", "{}").await;
    }
    assert_eq!(get(&test, READER).await, B1);
    assert_eq!(get(&test, READER).await, B1);
}

#[tokio::test]
async fn waiting_exactly_as_long_as_told_is_enough_and_less_is_not() {
    let test = slow_house();
    assert_eq!(get(&test, READER).await, B1);
    assert_eq!(get(&test, READER).await, B1);
    assert_eq!(get(&test, READER).await, limited(20));
    test.clock.advance(19_999);
    assert_eq!(get(&test, READER).await, limited(1));
    test.clock.advance(1);
    assert_eq!(get(&test, READER).await, B1);
    assert_eq!(get(&test, READER).await, limited(20));
}

#[tokio::test]
async fn asking_while_limited_does_not_make_it_longer() {
    let test = slow_house();
    for _ in 0..50 {
        get(&test, READER).await;
    }
    assert_eq!(get(&test, READER).await, limited(20));
}

#[tokio::test]
async fn one_clients_flood_leaves_another_its_budget() {
    let test = slow_house();
    for _ in 0..20 {
        get(&test, READER).await;
    }
    assert_eq!(get(&test, READER).await, limited(20));
    assert_eq!(get(&test, KEEPER).await, B1);
}

#[tokio::test]
async fn lists_and_greetings_are_taken_from_the_same_budget() {
    let test = slow_house();
    test.ask(READER, "tools/list", "{}").await;
    test.ask(READER, "resources/list", "{}").await;
    assert_eq!(
        test.ask(READER, "ping", "{}").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Too many calls; wait before the next one.","data":{"fault":"rate_limited","at":"method","retry_after":20}}}"#
    );
}

#[tokio::test]
async fn a_clock_set_back_does_not_lock_anybody_out() {
    let test = slow_house();
    get(&test, READER).await;
    test.clock.step(-3_600_000);
    assert_eq!(get(&test, READER).await, B1);
    assert_eq!(get(&test, READER).await, limited(20));
    test.clock.advance(20_000);
    assert_eq!(get(&test, READER).await, B1);
}

#[tokio::test]
async fn a_clock_set_forward_gives_nobody_a_fresh_budget() {
    let test = slow_house();
    get(&test, READER).await;
    get(&test, READER).await;
    assert_eq!(get(&test, READER).await, limited(20));
    test.clock.step(3_600_000);
    assert_eq!(get(&test, READER).await, limited(20));
}

#[tokio::test]
async fn a_notice_costs_like_a_call() {
    let test = slow_house();
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(test.serve(post(READER, notice)).await, heard(202, ""));
    assert_eq!(test.serve(post(READER, notice)).await, heard(202, ""));
    assert_eq!(get(&test, READER).await, limited(20));
    assert_ne!(test.serve(post(READER, notice)).await, heard(202, ""));
}

#[tokio::test]
async fn refusals_have_their_own_budget() {
    let test = slow_house();
    let refused = r#"{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}"#;
    for _ in 0..2 {
        assert_eq!(test.call(READER, "book.lend", r#"{"id":"b1"}"#).await, refused);
    }
    let limited = limited(20).replace("book.get", "book.lend");
    for _ in 0..3 {
        assert_eq!(test.call(READER, "book.lend", r#"{"id":"b1"}"#).await, limited);
    }
    assert_eq!(test.records().len(), 2);
    let client = TallyKey::Client(ClientId::new(READER));
    assert_eq!(test.desk.tally.take(), [TallyCount { who: client, outcome: "forbidden", times: 3 }]);
    assert_eq!(get(&test, READER).await, B1, "what was refused costs nothing of what is allowed");
}
