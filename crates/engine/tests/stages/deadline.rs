//! No request takes longer than the deadline.

use std::time::Duration;

use frontdesk_engine::desk::DeskSettings;

use crate::support::shelves::Mood;
use crate::support::{House, KEEPER, READER, SETTINGS, eventually};

const SLOW: &str = "This took too long. Try again, or ask for less.";
const LATE: &str = "This took too long. A write may still have happened: repeat it with the same idempotency key.";

fn hasty_house() -> House {
    House::with(DeskSettings { deadline: Duration::from_millis(40), ..SETTINGS }).stock()
}

fn unavailable(message: &str, at: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"{message}","data":{{"fault":"unavailable","at":"{at}","retry_after":1}}}}}}"#
    )
}

#[tokio::test]
async fn a_slow_tool_is_unavailable() {
    let house = hasty_house();
    house.store.turn(|knobs| knobs.reads = Mood::Hangs);
    assert_eq!(house.call(READER, "book.get", r#"{"id":"b1"}"#).await, unavailable(SLOW, "tool book.get"));
    assert_eq!(house.ask(READER, "resources/list", "{}").await, unavailable(SLOW, "method"));
    assert_eq!(house.guestbook.outcomes(), ["unavailable"; 2]);
}

#[tokio::test]
async fn a_tool_in_time_is_not() {
    let house = House::with(DeskSettings { deadline: Duration::from_secs(60), ..SETTINGS }).stock();
    house.store.turn(|knobs| knobs.reads = Mood::Slow(Duration::from_millis(5)));
    assert!(house.call(READER, "book.get", r#"{"id":"b1"}"#).await.contains(r#""result""#));
}

#[tokio::test]
async fn a_write_that_is_late_commits_all_the_same() {
    let house = hasty_house();
    let gate = house.store.hold_commits();
    let lend = r#"{"id":"b2","request_key":"k1"}"#;
    assert_eq!(house.call(KEEPER, "book.lend", lend).await, unavailable(LATE, "tool book.lend"));
    gate.add_permits(1);
    eventually(|| house.store.look(|kept| kept.commits > 0)).await;
    assert_eq!(
        house.call(KEEPER, "book.lend", lend).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}}"#
    );
    assert_eq!(house.store.look(|kept| kept.audit.len()), 1);
}

#[tokio::test]
async fn a_late_write_without_a_key_is_no_invitation_to_repeat_it() {
    let house = hasty_house();
    let gate = house.store.hold_commits();
    assert_eq!(
        house.call(KEEPER, "book.lend", r#"{"id":"b2"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"It is not known yet whether this was done. Look before you repeat it, and send an idempotency key next time.","data":{"fault":"outcome_unknown","at":"tool book.lend"}}}"#
    );
    assert_eq!(house.guestbook.outcomes(), ["outcome_unknown"]);
    gate.add_permits(1);
    eventually(|| house.store.look(|kept| kept.commits > 0)).await;
}

#[tokio::test]
async fn a_credential_that_cannot_be_judged_in_time_is_unavailable() {
    let house = hasty_house();
    house.callers.sleep();
    assert_eq!(
        house.ask(READER, "ping", "{}").await,
        unavailable("The service cannot do this right now; nothing was changed. Try again.", "transport")
            .replace(r#""id":1"#, r#""id":null"#)
    );
    assert_eq!(house.guestbook.causes(), ["the credential was not judged within the deadline"]);
}
