//! Stage 3: bytes into messages.

use frontdesk_engine::model::incoming::Verb;

use crate::support::requests::{post, with_verb};
use crate::support::{READER, TestDesk, heard};

async fn refusal(body: &str) -> String {
    let test = TestDesk::new();
    test.serve(post(READER, body)).await.body
}

#[tokio::test]
async fn a_body_that_is_not_strict_json_is_malformed_and_not_echoed() {
    assert_eq!(
        refusal(r#"{"canary"#).await,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"The text is not valid JSON.","data":{"fault":"malformed","at":"transport"}}}"#
    );
    assert_eq!(
        refusal(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#).await,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"An object names the same key twice.","data":{"fault":"malformed","at":"transport"}}}"#
    );
}

#[tokio::test]
async fn json_that_is_no_message_is_not_rpc() {
    assert_eq!(
        refusal("7").await,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"A message must be an object.","data":{"fault":"not_rpc","at":"transport"}}}"#
    );
}

#[tokio::test]
async fn a_readable_id_is_echoed_even_if_its_message_is_refused() {
    assert_eq!(
        refusal(r#"{"jsonrpc":"2.0","id":"seven","method":7}"#).await,
        r#"{"jsonrpc":"2.0","id":"seven","error":{"code":-1,"message":"The method must be a string.","data":{"fault":"not_rpc","at":"method"}}}"#
    );
}

#[tokio::test]
async fn a_notification_is_taken_without_an_answer() {
    let test = TestDesk::new();
    let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(test.serve(post(READER, body)).await, heard(202, ""));
    assert_eq!(test.calls.outcomes(), ["ok"]);
}

#[tokio::test]
async fn a_response_is_taken_without_an_answer() {
    let test = TestDesk::new();
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(test.serve(post(READER, body)).await, heard(202, ""));
}

#[tokio::test]
async fn delete_succeeds_because_there_is_no_session_to_end() {
    let test = TestDesk::new();
    assert_eq!(test.serve(with_verb(Verb::Delete, READER)).await, heard(204, ""));
    assert_eq!(test.calls.outcomes(), ["ok"]);
}

#[tokio::test]
async fn get_and_other_verbs_are_wrong_verbs() {
    let test = TestDesk::new();
    let refused = heard(405, r#"{"fault":"wrong_verb","at":"transport"}"#);
    assert_eq!(test.serve(with_verb(Verb::Get, READER)).await, refused);
    assert_eq!(test.serve(with_verb(Verb::Put, READER)).await, refused);
    assert_eq!(test.serve(with_verb(Verb::Other, READER)).await, refused);
    assert_eq!(test.calls.outcomes(), ["wrong_verb"; 3]);
}
