//! Stage 9: what of an outcome leaves, and how much of it.

use frontdesk_engine::desk::DeskSettings;

use crate::support::{CLERK, KEEPER, READER, SETTINGS, TestDesk};

#[tokio::test]
async fn personal_data_is_masked_without_the_unmask_scope() {
    let test = TestDesk::stocked();
    assert_eq!(
        test.call(CLERK, "member.get", r#"{"id":"m1"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"m1","email":"***"}}}"#
    );
    assert_eq!(
        test.call(KEEPER, "member.get", r#"{"id":"m1"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"m1","name":"Ada","email":"ada@example.org"}}}"#
    );
}

#[tokio::test]
async fn a_resource_is_masked_as_its_tool_is() {
    let test = TestDesk::stocked();
    assert_eq!(
        test.open(CLERK, "lib://north/member/m1").await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"m1","email":"***"}}}"#
    );
}

#[tokio::test]
async fn what_was_just_written_is_masked_too_also_when_it_is_replayed() {
    let test = TestDesk::stocked();
    let join = r#"{"name":"Cy","email":"cy@example.org","request_key":"k1"}"#;
    for _ in 0..2 {
        let answer = test.call(CLERK, "member.join", join).await;
        assert!(answer.contains(r#""email":"***""#) && !answer.contains("cy@example.org"), "{answer}");
    }
    let answer = test.call(KEEPER, "member.join", join).await;
    assert!(answer.contains(r#""name":"Cy","email":"cy@example.org""#), "{answer}");
}

#[tokio::test]
async fn an_answer_past_the_cap_is_too_large() {
    let test = TestDesk::with(DeskSettings { reply_bytes: 103, ..SETTINGS }).stock();
    let fits = r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":1}}}"#;
    assert_eq!(test.call(READER, "book.get", r#"{"id":"b2"}"#).await, fits);
    assert_eq!(
        test.call(READER, "book.list", "{}").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The answer would be too large. Ask for less.","data":{"fault":"answer_too_large","at":"tool book.list"}}}"#
    );
}

#[tokio::test]
async fn an_empty_list_is_a_list() {
    let test = TestDesk::new();
    assert_eq!(test.call(READER, "book.list", "{}").await, r#"{"jsonrpc":"2.0","id":1,"result":{"items":[]}}"#);
}
