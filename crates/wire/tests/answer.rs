//! Answers byte by byte: envelopes, errors, tool results and the seals of the modern era.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use frontdesk_wire::answer::{
    CacheHint, CacheScope, ToolResult, code, error, error_without_id, finished_result, quote, success, tool_result,
    tool_success, tool_success_with_note,
};
use frontdesk_wire::frame::Id;
use frontdesk_wire::json::{Value, parse};
use frontdesk_wire::version::{Era, Version};

const LEGACY: Era = Era::Legacy(Version::V2025_06_18);

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_success_echoes_the_id_with_its_type() {
    assert_eq!(text(success(&Id::Number(-7), r#"{"a":1}"#)), r#"{"jsonrpc":"2.0","id":-7,"result":{"a":1}}"#);
    assert_eq!(text(success(&Id::Large(u64::MAX), "{}")), r#"{"jsonrpc":"2.0","id":18446744073709551615,"result":{}}"#);
    assert_eq!(text(success(&Id::Text("7\"".to_owned()), "{}")), r#"{"jsonrpc":"2.0","id":"7\"","result":{}}"#);
}

#[test]
fn a_result_goes_out_as_it_was_written() {
    let result = "{ \"price\": 19990.00 }";
    assert_eq!(
        text(success(&Id::Number(1), result)),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ \"price\": 19990.00 }}"
    );
}

#[test]
fn an_error_carries_code_message_and_data() {
    assert_eq!(
        text(error(Some(&Id::Number(1)), code::INVALID_PARAMS, "No \"vin\".", Some(r#"{"field":"vin"}"#))),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"No \"vin\".","data":{"field":"vin"}}}"#
    );
    assert_eq!(
        text(error(Some(&Id::Text("a".to_owned())), 4090, "Conflict", None)),
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":4090,"message":"Conflict"}}"#
    );
}

#[test]
fn an_error_without_a_readable_id_says_null_or_nothing() {
    assert_eq!(
        text(error(None, code::PARSE_ERROR, "Bad", None)),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Bad"}}"#
    );
    assert_eq!(
        text(error_without_id(code::PARSE_ERROR, "Bad", Some("[1]"))),
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Bad","data":[1]}}"#
    );
}

#[test]
fn the_codes_are_those_of_the_protocol() {
    assert_eq!(
        [
            code::PARSE_ERROR,
            code::INVALID_REQUEST,
            code::METHOD_NOT_FOUND,
            code::INVALID_PARAMS,
            code::INTERNAL_ERROR,
            code::HEADER_MISMATCH,
            code::MISSING_CAPABILITY,
            code::UNSUPPORTED_VERSION,
            code::RESOURCE_NOT_FOUND,
        ],
        [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022, -32002]
    );
}

#[test]
fn a_quoted_text_is_escaped_where_json_demands_it() {
    assert_eq!(quote(""), r#""""#);
    assert_eq!(quote("plain é 🚗"), r#""plain é 🚗""#);
    assert_eq!(quote("\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}/"), r#""\"\\\n\r\t\u0008\u000c\u0000\u001f/""#);
}

#[test]
fn every_character_comes_back_from_its_quotation() {
    let all: String = (0..=0x2fff_u32).filter_map(char::from_u32).collect();
    assert_eq!(parse(quote(&all).as_bytes()).unwrap(), Value::String(all));
}

#[test]
fn a_tool_result_says_the_same_as_structure_and_as_text() {
    assert_eq!(
        tool_result(r#"{"vin":"1","note":"a\"b"}"#, ToolResult::Success, &LEGACY),
        r#"{"content":[{"type":"text","text":"{\"vin\":\"1\",\"note\":\"a\\\"b\"}"}],"structuredContent":{"vin":"1","note":"a\"b"},"isError":false}"#
    );
}

#[test]
fn a_tool_error_says_so() {
    assert_eq!(
        tool_result(r#"{"error":{"code":"lead.not_found"}}"#, ToolResult::Error, &LEGACY),
        r#"{"content":[{"type":"text","text":"{\"error\":{\"code\":\"lead.not_found\"}}"}],"structuredContent":{"error":{"code":"lead.not_found"}},"isError":true}"#
    );
}

#[test]
fn a_modern_tool_result_names_its_type() {
    assert_eq!(
        tool_result("{}", ToolResult::Success, &Era::Modern),
        r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"isError":false,"resultType":"complete"}"#
    );
}

#[test]
fn a_tool_success_is_its_result_in_the_envelope() {
    for era in [LEGACY, Era::Modern] {
        let object = r#"{"vin":"1","note":"a\"b\n\u0001"}"#;
        let result = tool_result(object, ToolResult::Success, &era);
        assert_eq!(text(tool_success(&Id::Number(7), object, &era)), text(success(&Id::Number(7), &result)));
    }
    assert_eq!(
        text(tool_success(&Id::Text("a".to_owned()), "{}", &LEGACY)),
        r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"isError":false}}"#
    );
}

#[test]
fn a_note_is_a_second_text_beside_the_same_object() {
    assert_eq!(
        text(tool_success_with_note(&Id::Number(7), r#"{"items":[]}"#, Some("a \"b\""), &Era::Modern)),
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"items\":[]}"},{"type":"text","text":"a \"b\""}],"structuredContent":{"items":[]},"isError":false,"resultType":"complete"}}"#
    );
}

#[test]
fn a_legacy_result_is_left_as_it_is() {
    let cache = Some(CacheHint { ttl_ms: 1000, scope: CacheScope::Public });
    assert_eq!(finished_result(r#"{ "tools":[] }"#, &LEGACY, cache), r#"{ "tools":[] }"#);
}

#[test]
fn a_modern_result_is_sealed_with_its_type_and_freshness() {
    let cache = |scope| Some(CacheHint { ttl_ms: 60_000, scope });
    assert_eq!(
        finished_result(r#"{"tools":[]}"#, &Era::Modern, cache(CacheScope::Private)),
        r#"{"tools":[],"resultType":"complete","ttlMs":60000,"cacheScope":"private"}"#
    );
    assert_eq!(
        finished_result("{}", &Era::Modern, cache(CacheScope::Public)),
        r#"{"resultType":"complete","ttlMs":60000,"cacheScope":"public"}"#
    );
    assert_eq!(finished_result(r#"{"a":1}"#, &Era::Modern, None), r#"{"a":1,"resultType":"complete"}"#);
}
