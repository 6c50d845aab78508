//! The headers and the `_meta` that a modern request must carry.

use frontdesk_wire::version::{Era, EraError, McpHeaders, decide};

use super::{META, NO_META, bad_meta, headers, mismatch, request};

const NO_CAPABILITIES: &str = "The client capabilities in _meta are required and must be an object.";

/// The decision on a call of `inventory.get` in the modern era, with this name in the header.
fn named(header: Option<&str>, name: &str) -> Result<Era, EraError> {
    let params = format!(r#""name":{},{META}"#, serde_json::to_string(name).unwrap());
    decide(&headers("2026-07-28", "tools/call", header), &request("tools/call", &params))
}

#[test]
fn a_modern_request_whose_headers_agree_is_modern() {
    let list = request("tools/list", META);
    assert_eq!(decide(&headers("2026-07-28", "tools/list", None), &list), Ok(Era::Modern));
    assert_eq!(decide(&headers(" 2026-07-28 ", "\ttools/list ", None), &list), Ok(Era::Modern));
}

#[test]
fn a_modern_request_without_a_header_or_with_another_is_refused() {
    let list = request("tools/list", META);
    let full = headers("2026-07-28", "tools/list", None);
    for (headers, what) in [
        (McpHeaders { protocol_version: None, ..full }, "MCP-Protocol-Version"),
        (McpHeaders { protocol_version: Some("2025-11-25"), ..full }, "MCP-Protocol-Version"),
        (McpHeaders { protocol_version: Some("2027-01-01"), ..full }, "MCP-Protocol-Version"),
        (McpHeaders { method: None, ..full }, "Mcp-Method"),
        (McpHeaders { method: Some("prompts/list"), ..full }, "Mcp-Method"),
        (McpHeaders { method: Some("TOOLS/LIST"), ..full }, "Mcp-Method"),
    ] {
        assert_eq!(decide(&headers, &list), mismatch(what), "{headers:?}");
    }
}

#[test]
fn the_name_in_the_header_must_be_the_name_in_the_body() {
    assert_eq!(named(Some("inventory.get"), "inventory.get"), Ok(Era::Modern));
    assert_eq!(named(Some("  inventory.get "), "inventory.get"), Ok(Era::Modern));
    assert_eq!(named(Some("inventory.list"), "inventory.get"), mismatch("Mcp-Name"));
    assert_eq!(named(Some("Inventory.get"), "inventory.get"), mismatch("Mcp-Name"));
    assert_eq!(named(Some(""), "inventory.get"), mismatch("Mcp-Name"));
    assert_eq!(named(None, "inventory.get"), mismatch("Mcp-Name"));
}

#[test]
fn a_name_in_base64_is_decoded_before_it_is_compared() {
    assert_eq!(named(Some("=?base64?SGVsbG8sIOS4lueVjA==?="), "Hello, 世界"), Ok(Era::Modern));
    assert_eq!(named(Some("=?base64?IHBhZGRlZCA=?="), " padded "), Ok(Era::Modern));
    assert_eq!(named(Some("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="), "=?base64?literal?="), Ok(Era::Modern));
}

#[test]
fn a_name_that_is_badly_encoded_is_refused() {
    for (header, name) in [
        ("=?base64?literal?=", "=?base64?literal?="),
        ("=?base64?SGVsbG8?=", "Hello"),
        ("=?base64?!!!!?=", "Hello"),
        ("=?base64?/w==?=", "\u{ff}"),
        ("=?BASE64?SGVsbG8=?=", "Hello"),
        ("世界", "世界"),
        ("a\u{1}b", "a\u{1}b"),
    ] {
        assert_eq!(named(Some(header), name), mismatch("Mcp-Name"), "{header}");
    }
}

#[test]
fn resources_are_named_by_uri_and_prompts_by_name() {
    let read = request("resources/read", &format!(r#""uri":"amcp://inventory/1","name":"else",{META}"#));
    assert_eq!(decide(&headers("2026-07-28", "resources/read", Some("amcp://inventory/1")), &read), Ok(Era::Modern));
    assert_eq!(decide(&headers("2026-07-28", "resources/read", Some("else")), &read), mismatch("Mcp-Name"));
    let get = request("prompts/get", &format!(r#""name":"hello",{META}"#));
    assert_eq!(decide(&headers("2026-07-28", "prompts/get", Some("hello")), &get), Ok(Era::Modern));
    assert_eq!(decide(&headers("2026-07-28", "prompts/get", None), &get), mismatch("Mcp-Name"));
}

#[test]
fn a_body_without_a_name_agrees_with_a_missing_header_only() {
    for params in [META.to_owned(), format!(r#""name":5,{META}"#)] {
        let call = request("tools/call", &params);
        assert_eq!(decide(&headers("2026-07-28", "tools/call", None), &call), Ok(Era::Modern));
        assert_eq!(decide(&headers("2026-07-28", "tools/call", Some("5")), &call), mismatch("Mcp-Name"));
    }
}

#[test]
fn client_capabilities_are_required_of_a_modern_request() {
    let headers = headers("2026-07-28", "tools/list", None);
    for capabilities in ["", r#","io.modelcontextprotocol/clientCapabilities":[]"#] {
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"{capabilities}}}"#);
        assert_eq!(decide(&headers, &request("tools/list", &meta)), bad_meta(NO_CAPABILITIES));
    }
}

#[test]
fn meta_without_a_readable_version_is_refused() {
    let headers = headers("2026-07-28", "tools/list", None);
    let absent = request("tools/list", r#""_meta":{"io.modelcontextprotocol/clientCapabilities":{}}"#);
    assert_eq!(decide(&headers, &absent), bad_meta(NO_META));
    let number = request("tools/list", r#""_meta":{"io.modelcontextprotocol/protocolVersion":2026}"#);
    assert_eq!(decide(&headers, &number), bad_meta("The protocol version in _meta must be a string."));
}
