//! Stage 4: what a request is about.

use serde_json::{Value, json};

use crate::support::requests::modern;
use crate::support::{CLERK, KEEPER, READER, TestDesk};

fn result(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer.get("result").cloned().unwrap_or_else(|| panic!("{answer}"))
}

fn names(answer: &str, list: &str, name: &str) -> Vec<String> {
    let entries = result(answer)[list].as_array().unwrap().clone();
    entries.iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

fn fault(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["error"]["data"].clone()
}

#[tokio::test]
async fn initialize_answers_the_requested_or_newest_version() {
    let test = TestDesk::new();
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        assert_eq!(
            test.ask(READER, "initialize", &format!(r#"{{"protocolVersion":"{asked}"}}"#)).await,
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{answered}","capabilities":{{"tools":{{}},"resources":{{}}}},"serverInfo":{{"name":"library","title":"The library","version":"1.2.3"}},"instructions":"Ask for books."}}}}"#
            )
        );
    }
}

#[tokio::test]
async fn initialize_without_a_version_is_an_invalid_argument() {
    let test = TestDesk::new();
    assert_eq!(
        test.ask(READER, "initialize", "{}").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The argument at /protocolVersion is not valid: it is required, as a string.","data":{"fault":"invalid_argument","at":"method","problems":["/protocolVersion required: it is required, as a string"]}}}"#
    );
}

#[tokio::test]
async fn discovery_is_the_same_for_everybody_and_says_so() {
    let test = TestDesk::new();
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{},"resources":{}},"instructions":"Ask for books.","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"library","title":"The library","version":"1.2.3"}},"resultType":"complete","ttlMs":3600000,"cacheScope":"public"}}"#;
    for who in [READER, KEEPER] {
        assert_eq!(test.serve(modern(who, "server/discover", None, "")).await.body, expected);
    }
}

#[tokio::test]
async fn ping_is_answered_in_the_legacy_era_only() {
    let test = TestDesk::new();
    assert_eq!(test.ask(READER, "ping", "{}").await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Method not found","data":{"fault":"unknown_method","at":"method"}}}"#;
    assert_eq!(test.serve(modern(READER, "ping", None, "")).await.body, unknown);
    let initialize = modern(READER, "initialize", None, r#""protocolVersion":"2026-07-28""#);
    assert_eq!(test.serve(initialize).await.body, unknown);
}

#[tokio::test]
async fn an_unknown_method_or_tool_is_not_echoed() {
    let test = TestDesk::new();
    assert_eq!(
        test.ask(READER, "canary/canary", "{}").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Method not found","data":{"fault":"unknown_method","at":"method"}}}"#
    );
    for name in ["canary", "canary.canary", ""] {
        assert_eq!(
            test.call(READER, name, "{}").await,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"There is no tool of this name; `tools/list` names those there are.","data":{"fault":"unknown_tool","at":"method"}}}"#
        );
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_one_that_is_shown() {
    let test = TestDesk::new();
    for (who, name, right) in [
        (READER, "Book.get", Some("book.get")),
        (READER, "book.get ", Some("book.get")),
        (READER, "book_get", Some("book.get")),
        (READER, "book/lst", Some("book.list")),
        (READER, "library.get", Some("book.get")),
        // Two tools of this caller end so.
        (CLERK, "library.get", None),
        (READER, "book.nothing", None),
        (CLERK, "book.ad", Some("book.add")),
        // It exists, but this caller does not see it.
        (READER, "member.join ", None),
        (CLERK, "member.join ", Some("member.join")),
    ] {
        let guess = right.map(|right| format!(" did you mean {right}?")).unwrap_or_default();
        assert_eq!(
            test.call(who, name, "{}").await,
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"There is no tool of this name;{guess} `tools/list` names those there are.","data":{{"fault":"unknown_tool","at":"method"}}}}}}"#
            ),
            "{name}"
        );
    }
}

#[tokio::test]
async fn arguments_under_another_name_are_refused() {
    let test = TestDesk::stocked();
    for name in ["args", "argument", "input", "kwargs", "parameters", "params"] {
        for arguments in ["", r#","arguments":null"#] {
            let params = format!(r#"{{"name":"book.list","{name}":{{"limit":1}}{arguments}}}"#);
            assert_eq!(
                test.ask(READER, "tools/call", &params).await,
                format!(
                    r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"The argument at /arguments is not valid: the tool's arguments are expected here, not under {name}.","data":{{"fault":"invalid_argument","at":"method","problems":["/arguments required: the tool's arguments are expected here, not under {name}"]}}}}}}"#
                )
            );
        }
        // Beside arguments it is an unknown member like any other.
        let params = format!(r#"{{"name":"book.list","arguments":{{"limit":1}},"{name}":{{"limit":2}}}}"#);
        assert_eq!(names(&test.ask(READER, "tools/call", &params).await, "items", "id"), ["b3"]);
    }
    let answer = test.ask(READER, "tools/call", r#"{"name":"book.list","task":{"ttl":1},"canary":1}"#).await;
    assert_eq!(names(&answer, "items", "id"), ["b3", "b2"]);
}

#[tokio::test]
async fn a_call_names_its_tool_and_its_arguments_are_an_object() {
    let test = TestDesk::new();
    for (params, problem) in [
        ("{}", "/name required: the tool's name is required, as a string"),
        (r#"{"name":7}"#, "/name required: the tool's name is required, as a string"),
        (r#"{"name":"book.get","arguments":[]}"#, "/arguments type: an object is expected"),
    ] {
        let expected = json!({"fault": "invalid_argument", "at": "method", "problems": [problem]});
        assert_eq!(fault(&test.ask(READER, "tools/call", params).await), expected);
    }
}

#[tokio::test]
async fn missing_and_null_arguments_are_none() {
    let test = TestDesk::stocked();
    for params in [r#"{"name":"book.list"}"#, r#"{"name":"book.list","arguments":null}"#] {
        let answer = test.ask(READER, "tools/call", params).await;
        assert_eq!(names(&answer, "items", "id"), ["b3", "b2"]);
    }
}

#[tokio::test]
async fn the_tool_list_has_exactly_what_the_scopes_can_call() {
    let test = TestDesk::new();
    let of = async |who| names(&test.ask(who, "tools/list", "{}").await, "tools", "name");
    assert_eq!(of(READER).await, ["book.list", "book.get"]);
    assert_eq!(
        of(CLERK).await,
        ["book.list", "book.get", "book.add", "book.change", "book.lend", "book.add_anew", "member.get", "member.join"]
    );
}

#[tokio::test]
async fn the_list_of_tools_is_the_same_bytes_every_time() {
    let test = TestDesk::new();
    let first = test.ask(READER, "tools/list", "{}").await;
    let between = test.ask(CLERK, "tools/list", "{}").await;
    assert_eq!(test.ask(READER, "tools/list", "{}").await, first);
    assert_ne!(between, first);
    // Two houses agree, so that what was cached is what would have been made.
    assert_eq!(TestDesk::new().ask(READER, "tools/list", "{}").await, first);
}

#[tokio::test]
async fn a_tool_is_described_with_its_schemas_and_annotations() {
    let test = TestDesk::new();
    let answer = test.ask(KEEPER, "tools/list", "{}").await;
    let tools = result(&answer)["tools"].as_array().unwrap().clone();
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"].clone()
    };
    assert_eq!(
        tools.iter().find(|tool| tool["name"] == "book.get"),
        Some(&json!({
            "name": "book.get",
            "title": "book.get",
            "description": "As its name says.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "branch": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Which branch."},
                    "id": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Which."}
                },
                "additionalProperties": false,
                "required": ["id"]
            },
            "outputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
            "annotations": {
                "title": "book.get",
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false
            }
        }))
    );
    assert_eq!(
        hints("book.add"),
        json!({"title": "book.add", "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false})
    );
    assert_eq!(
        hints("book.change"),
        json!({"title": "book.change", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false})
    );
}

#[tokio::test]
async fn modern_lists_carry_their_freshness_and_belong_to_the_caller() {
    let test = TestDesk::new();
    for method in ["tools/list", "resources/templates/list"] {
        let answer = test.serve(modern(READER, method, None, "")).await.body;
        assert!(answer.ends_with(r#","resultType":"complete","ttlMs":60000,"cacheScope":"private"}}"#), "{answer}");
    }
}

#[tokio::test]
async fn lists_of_one_page_refuse_every_cursor() {
    let test = TestDesk::new();
    for method in ["tools/list", "resources/templates/list"] {
        assert_eq!(
            test.ask(READER, method, r#"{"cursor":"canary"}"#).await,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This list has one page and issues no cursors.","data":{"fault":"invalid_cursor","at":"method"}}}"#
        );
        let expected =
            json!({"fault": "invalid_argument", "at": "method", "problems": ["/cursor type: a string is expected"]});
        assert_eq!(fault(&test.ask(READER, method, r#"{"cursor":7}"#).await), expected);
    }
}
