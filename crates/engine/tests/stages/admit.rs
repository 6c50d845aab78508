//! Stage 5: the scope, then the budget of calls.

use frontdesk_engine::ClientId;
use frontdesk_engine::desk::DeskSettings;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::limits::tally::{TallyCount, TallyKey};

use crate::support::requests::{call, post};
use crate::support::{House, KEEPER, READER, SETTINGS, heard};

const B1: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}}"#;

/// Two calls at once, then one every twenty seconds.
fn slow_house() -> House {
    House::with(DeskSettings { calls: Budget { per_minute: 3, burst: 2 }, ..SETTINGS }).stock()
}

async fn get(house: &House, who: &str) -> String {
    house.call(who, "book.get", r#"{"id":"b1"}"#).await
}

fn limited(seconds: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"Too many calls; wait before the next one.","data":{{"fault":"rate_limited","at":"tool book.get","retry_after":{seconds}}}}}}}"#
    )
}

#[tokio::test]
async fn a_missing_scope_is_named_at_the_tool_it_is_missing_for() {
    let house = House::stocked();
    assert_eq!(
        house.serve(post(READER, &call("1", "book.lend", r#"{"id":"b1"}"#))).await,
        heard(403, r#"{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}"#)
    );
    assert_eq!(
        house.open(READER, "lib://north/member/m1").await,
        r#"{"fault":"forbidden","at":"resource lib://north/member/m1","needed":"members:read"}"#
    );
}

#[tokio::test]
async fn the_scope_is_judged_before_the_arguments() {
    let house = House::stocked();
    assert_eq!(
        house.call(READER, "book.lend", r#"{"canary":1}"#).await,
        r#"{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}"#
    );
}

#[tokio::test]
async fn a_refused_call_costs_no_budget() {
    let house = slow_house();
    for _ in 0..10 {
        house.call(READER, "book.lend", r#"{"id":"b1"}"#).await;
        house.call(READER, "book.burn", "{}").await;
    }
    assert_eq!(get(&house, READER).await, B1);
    assert_eq!(get(&house, READER).await, B1);
}

#[tokio::test]
async fn waiting_exactly_as_long_as_told_is_enough_and_less_is_not() {
    let house = slow_house();
    assert_eq!(get(&house, READER).await, B1);
    assert_eq!(get(&house, READER).await, B1);
    assert_eq!(get(&house, READER).await, limited(20));
    house.clock.forward(19_999);
    assert_eq!(get(&house, READER).await, limited(1));
    house.clock.forward(1);
    assert_eq!(get(&house, READER).await, B1);
    assert_eq!(get(&house, READER).await, limited(20));
}

#[tokio::test]
async fn asking_while_limited_does_not_make_it_longer() {
    let house = slow_house();
    for _ in 0..50 {
        get(&house, READER).await;
    }
    assert_eq!(get(&house, READER).await, limited(20));
}

#[tokio::test]
async fn one_clients_flood_leaves_another_its_budget() {
    let house = slow_house();
    for _ in 0..20 {
        get(&house, READER).await;
    }
    assert_eq!(get(&house, READER).await, limited(20));
    assert_eq!(get(&house, KEEPER).await, B1);
}

#[tokio::test]
async fn lists_and_greetings_are_taken_from_the_same_budget() {
    let house = slow_house();
    house.ask(READER, "tools/list", "{}").await;
    house.ask(READER, "resources/list", "{}").await;
    assert_eq!(
        house.ask(READER, "ping", "{}").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Too many calls; wait before the next one.","data":{"fault":"rate_limited","at":"method","retry_after":20}}}"#
    );
}

#[tokio::test]
async fn a_clock_set_back_does_not_lock_anybody_out() {
    let house = slow_house();
    get(&house, READER).await;
    house.clock.forward(-3_600_000);
    assert_eq!(get(&house, READER).await, limited(20));
    house.clock.forward(20_000);
    assert_eq!(get(&house, READER).await, B1);
}

#[tokio::test]
async fn a_notice_costs_like_a_call() {
    let house = slow_house();
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(house.serve(post(READER, notice)).await, heard(202, ""));
    assert_eq!(house.serve(post(READER, notice)).await, heard(202, ""));
    assert_eq!(get(&house, READER).await, limited(20));
    assert_ne!(house.serve(post(READER, notice)).await, heard(202, ""));
}

#[tokio::test]
async fn refusals_have_a_budget_of_their_own_and_are_counted_beyond_it() {
    let house = slow_house();
    let refused = r#"{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}"#;
    for _ in 0..2 {
        assert_eq!(house.call(READER, "book.lend", r#"{"id":"b1"}"#).await, refused);
    }
    let limited = limited(20).replace("book.get", "book.lend");
    for _ in 0..3 {
        assert_eq!(house.call(READER, "book.lend", r#"{"id":"b1"}"#).await, limited);
    }
    assert_eq!(house.store.records().len(), 2);
    let client = TallyKey::Client(ClientId::new(READER));
    assert_eq!(house.desk.tally.take(), [TallyCount { who: client, outcome: "forbidden", times: 3 }]);
    assert_eq!(get(&house, READER).await, B1, "what was refused costs nothing of what is allowed");
}
