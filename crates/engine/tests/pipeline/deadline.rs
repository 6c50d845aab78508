//! No request takes longer than the deadline.

use std::time::Duration;

use frontdesk_engine::desk::DeskSettings;

use crate::support::{KEEPER, READER, SETTINGS, TestDesk, eventually};
use frontdesk_testkit::memory_store::InjectedFault;

const SLOW: &str = "This took too long. Try again, or ask for less.";
const LATE: &str = "This took too long. A write may still have happened: repeat it with the same idempotency key.";

fn hasty_house() -> TestDesk {
    TestDesk::with(DeskSettings { deadline: Duration::from_millis(40), ..SETTINGS }).stock()
}

fn unavailable(message: &str, at: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"{message}","data":{{"fault":"unavailable","at":"{at}","retry_after":1}}}}}}"#
    )
}

#[tokio::test]
async fn a_slow_tool_is_unavailable() {
    let test = hasty_house();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    assert_eq!(test.call(READER, "book.get", r#"{"id":"b1"}"#).await, unavailable(SLOW, "tool book.get"));
    assert_eq!(test.ask(READER, "resources/list", "{}").await, unavailable(SLOW, "method"));
    assert_eq!(test.calls.outcomes(), ["unavailable"; 2]);
}

#[tokio::test]
async fn a_tool_in_time_is_not() {
    let test = TestDesk::with(DeskSettings { deadline: Duration::from_secs(60), ..SETTINGS }).stock();
    test.store.inject(|faults| faults.reads = InjectedFault::Delay(Duration::from_millis(5)));
    assert!(test.call(READER, "book.get", r#"{"id":"b1"}"#).await.contains(r#""result""#));
}

#[tokio::test]
async fn a_write_that_is_late_commits_all_the_same() {
    let test = hasty_house();
    let gate = test.store.hold_commits();
    let lend = r#"{"id":"b2","request_key":"k1"}"#;
    assert_eq!(test.call(KEEPER, "book.lend", lend).await, unavailable(LATE, "tool book.lend"));
    gate.add_permits(1);
    eventually(|| test.store.inspect(|state| state.commits > 0)).await;
    assert_eq!(
        test.call(KEEPER, "book.lend", lend).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}}"#
    );
    assert_eq!(test.store.inspect(|state| state.audit.len()), 1);
}

#[tokio::test]
async fn a_late_write_without_a_key_is_no_invitation_to_repeat_it() {
    let test = hasty_house();
    let gate = test.store.hold_commits();
    assert_eq!(
        test.call(KEEPER, "book.lend", r#"{"id":"b2"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"It is not known yet whether this was done. Look before you repeat it, and send an idempotency key next time.","data":{"fault":"outcome_unknown","at":"tool book.lend"}}}"#
    );
    assert_eq!(test.calls.outcomes(), ["outcome_unknown"]);
    gate.add_permits(1);
    eventually(|| test.store.inspect(|state| state.commits > 0)).await;
}

#[tokio::test]
async fn a_credential_that_cannot_be_judged_in_time_is_unavailable() {
    let test = hasty_house();
    test.callers.sleep();
    assert_eq!(
        test.ask(READER, "ping", "{}").await,
        unavailable("The service cannot do this right now; nothing was changed. Try again.", "transport")
            .replace(r#""id":1"#, r#""id":null"#)
    );
    assert_eq!(test.calls.causes(), ["the credential was not checked within the deadline"]);
}
