//! Stage 6: the arguments.

use crate::support::requests::{call, keyed, post};
use crate::support::{KEEPER, READER, TestDesk};

#[tokio::test]
async fn all_problems_are_named_at_once_and_no_value_is_echoed() {
    let test = TestDesk::new();
    assert_eq!(
        test.call(KEEPER, "book.add", r#"{"genre":"canary","copies":11,"canary":"canary"}"#).await,
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The arguments are not valid. /title: it is required. /genre: one of these is expected: novel, poetry. /copies: it must be at most 9. And 1 more.","#,
            r#""data":{"fault":"invalid_argument","at":"tool book.add","problems":["#,
            r#""/title required: it is required","#,
            r#""/genre enum: one of these is expected: novel, poetry","#,
            r#""/copies maximum: it must be at most 9","#,
            r#"" additionalProperties: only these are known: branch, title, genre, copies, shelfmark, request_key"]}}}"#
        )
    );
}

#[tokio::test]
async fn neither_answer_nor_record_repeats_what_was_sent() {
    let test = TestDesk::stocked();
    for arguments in [
        r#"{"id":7,"canary":1}"#,
        r#"{"id":"canary"}"#,
        r#"{"id":["canary"]}"#,
        r#"{"id":"b1","branch":"canary"}"#,
        r#"{"id":"b1","canary":{"canary":"canary"}}"#,
    ] {
        let answer = test.call(READER, "book.get", arguments).await;
        assert!(answer.contains(r#""error""#) && !answer.contains("canary"), "{answer}");
    }
    test.ask(READER, "canary/list", "{}").await;
    test.ask(READER, "canary", "{}").await;
    let records = test.records();
    assert_eq!(records.len(), 7);
    assert!(records.iter().all(|line| !line.contains("canary")), "{records:#?}");
    assert!(test.calls.causes().iter().all(|cause| !cause.contains("canary")));
}

#[tokio::test]
async fn an_idempotency_key_has_1_to_255_printable_characters() {
    let test = TestDesk::new();
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The argument at /request_key is not valid: an idempotency key has 1 to 255 printable ASCII characters without spaces.","data":{"fault":"invalid_argument","at":"tool book.add","problems":["/request_key pattern: an idempotency key has 1 to 255 printable ASCII characters without spaces"]}}}"#;
    let add = r#"{"title":"Emma","genre":"novel","copies":1}"#;
    for key in ["k".repeat(256).as_str(), "", "with space", "schlüssel", "tab\t"] {
        let incoming = keyed(key, post(KEEPER, &call("1", "book.add", add)));
        assert_eq!(test.serve(incoming).await.body, refused, "{key:?}");
    }
    let incoming = keyed(&"k".repeat(255), post(KEEPER, &call("1", "book.add", add)));
    assert!(test.serve(incoming).await.body.contains(r#""title":"Emma""#));
    assert_eq!(test.store.inspect(|state| state.commits), 1);
}

#[tokio::test]
async fn a_key_beside_a_read_means_nothing() {
    let test = TestDesk::stocked();
    for id in ["b1", "b2"] {
        let body = call("1", "book.get", &format!(r#"{{"id":"{id}"}}"#));
        let answer = test.serve(keyed("same", post(READER, &body))).await.body;
        assert!(answer.contains(&format!(r#""item":{{"id":"{id}""#)), "{answer}");
    }
}
