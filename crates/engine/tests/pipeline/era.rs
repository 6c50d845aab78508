//! Stage 3, the era of a request.

use frontdesk_engine::model::incoming::Incoming;

use crate::support::requests::{modern, post, rpc, versioned};
use crate::support::{READER, TestDesk, heard};

const GET: &str = r#""name":"book.get","arguments":{"id":"b2"}"#;

#[tokio::test]
async fn the_same_call_is_answered_in_both_eras_as_each_demands() {
    let test = TestDesk::stocked();
    let legacy = post(READER, &rpc("1", "tools/call", &format!("{{{GET}}}")));
    assert_eq!(
        test.serve(versioned("2025-06-18", legacy)).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":1}}}"#
        )
    );
    assert_eq!(
        test.serve(modern(READER, "tools/call", Some("book.get"), GET)).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":1},"resultType":"complete"}}"#
        )
    );
}

#[tokio::test]
async fn headers_that_do_not_mirror_the_body_are_a_mismatch() {
    let test = TestDesk::stocked();
    let right = || modern(READER, "tools/call", Some("book.get"), GET);
    let wrong = [
        ("Mcp-Name", Incoming { name_header: Some("book.lend".to_owned()), ..right() }),
        ("Mcp-Name", Incoming { name_header: None, ..right() }),
        ("Mcp-Method", Incoming { method_header: Some("tools/list".to_owned()), ..right() }),
        ("Mcp-Method", Incoming { method_header: None, ..right() }),
        ("MCP-Protocol-Version", Incoming { protocol_version: Some("2025-06-18".to_owned()), ..right() }),
        ("MCP-Protocol-Version", Incoming { protocol_version: None, ..right() }),
    ];
    for (header, incoming) in wrong {
        assert_eq!(
            test.serve(incoming).await.body,
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"Header mismatch: {header} is missing, malformed or not the same as in the body","data":{{"fault":"header_mismatch","at":"method"}}}}}}"#
            )
        );
    }
}

#[tokio::test]
async fn a_version_nobody_speaks_is_a_wrong_version() {
    let test = TestDesk::new();
    assert_eq!(
        test.serve(versioned("1999-01-01", post(READER, &rpc("1", "ping", "{}")))).await.body,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Unsupported protocol version","data":{"fault":"wrong_version","at":"method"}}}"#
    );
}

#[tokio::test]
async fn a_modern_header_without_its_meta_is_an_invalid_argument() {
    let test = TestDesk::new();
    assert_eq!(
        test.serve(versioned("2026-07-28", post(READER, &rpc("1", "tools/list", "{}")))).await.body,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"A request of this protocol version must carry it in _meta, with the client capabilities.","data":{"fault":"invalid_argument","at":"method"}}}"#
    );
}
