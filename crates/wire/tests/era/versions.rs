//! Which version decides, where body, handshake and header may each name one.

use frontdesk_wire::version::{Era, EraError, Version, decide};

use super::{META, NO_META, bad_meta, headers, mismatch, request, unsupported, version_only};

#[test]
fn an_initialize_is_legacy_whatever_it_and_its_header_name() {
    for (asked, header, answered) in [
        (r#""protocolVersion":"2025-06-18""#, None, Version::V2025_06_18),
        (r#""protocolVersion":"2026-07-28""#, None, Version::V2025_11_25),
        (r#""protocolVersion":"2026-07-28""#, Some("2026-07-28"), Version::V2025_11_25),
        (r#""protocolVersion":"2024-11-05""#, Some("unheard-of"), Version::V2024_11_05),
        (r#""protocolVersion":5"#, None, Version::V2025_11_25),
        ("", None, Version::V2025_11_25),
    ] {
        let request = request("initialize", asked);
        assert_eq!(decide(&version_only(header), &request), Ok(Era::Legacy(answered)), "{asked} {header:?}");
    }
}

#[test]
fn an_initialize_with_modern_meta_is_a_modern_request() {
    let request = request("initialize", &format!(r#""protocolVersion":"2025-06-18",{META}"#));
    assert_eq!(decide(&headers("2026-07-28", "initialize", None), &request), Ok(Era::Modern));
    assert_eq!(decide(&version_only(None), &request), mismatch("MCP-Protocol-Version"));
}

#[test]
fn without_meta_the_header_decides() {
    let list = request("tools/list", "");
    for (header, expected) in [
        (None, Ok(Era::Legacy(Version::V2025_03_26))),
        (Some("2024-11-05"), Ok(Era::Legacy(Version::V2024_11_05))),
        (Some("2025-03-26"), Ok(Era::Legacy(Version::V2025_03_26))),
        (Some("2025-06-18"), Ok(Era::Legacy(Version::V2025_06_18))),
        (Some("2025-11-25"), Ok(Era::Legacy(Version::V2025_11_25))),
        (Some(" 2025-11-25\t"), Ok(Era::Legacy(Version::V2025_11_25))),
        (Some("2026-07-28"), bad_meta(NO_META)),
        (Some("2027-01-01"), unsupported("2027-01-01")),
        (Some(""), unsupported("")),
    ] {
        assert_eq!(decide(&version_only(header), &list), expected, "{header:?}");
    }
}

#[test]
fn legacy_requests_need_no_further_headers() {
    let call = request("tools/call", r#""name":"inventory.get""#);
    let headers = headers("2025-11-25", "tools/list", Some("else"));
    assert_eq!(decide(&headers, &call), Ok(Era::Legacy(Version::V2025_11_25)));
}

#[test]
fn discover_without_meta_is_refused_in_the_modern_era() {
    let discover = request("server/discover", "");
    assert_eq!(decide(&version_only(None), &discover), bad_meta(NO_META));
    assert_eq!(decide(&version_only(Some("2026-07-28")), &discover), bad_meta(NO_META));
    assert_eq!(decide(&version_only(Some("2025-06-18")), &discover), Ok(Era::Legacy(Version::V2025_06_18)));
}

#[test]
fn an_unknown_version_in_meta_is_unsupported() {
    let list = request("tools/list", r#""_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0"}"#);
    assert_eq!(decide(&version_only(Some("v999.0.0")), &list), unsupported("v999.0.0"));
    assert_eq!(decide(&version_only(None), &list), unsupported("v999.0.0"));
    assert_eq!(decide(&version_only(Some("2026-07-28")), &list), mismatch("MCP-Protocol-Version"));
}

#[test]
fn a_legacy_version_in_meta_is_served_as_that_version() {
    let list = request("tools/list", r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#);
    let legacy = Ok(Era::Legacy(Version::V2025_11_25));
    assert_eq!(decide(&version_only(Some("2025-11-25")), &list), legacy);
    assert_eq!(decide(&version_only(None), &list), legacy);
    assert_eq!(decide(&version_only(Some("2025-06-18")), &list), mismatch("MCP-Protocol-Version"));
    let opening = request(
        "initialize",
        r#""protocolVersion":"2025-06-18","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#,
    );
    assert_eq!(decide(&version_only(None), &opening), Ok(Era::Legacy(Version::V2025_06_18)));
}

#[test]
fn each_refusal_has_its_code_message_and_data() {
    let unsupported = EraError::Unsupported { asked: "1900-01-01\"".to_owned() };
    assert_eq!(unsupported.code(), -32022);
    assert_eq!(unsupported.to_string(), "Unsupported protocol version");
    assert_eq!(
        unsupported.data().as_deref(),
        Some(
            r#"{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1900-01-01\""}"#
        )
    );
    let mismatch = EraError::HeaderMismatch { what: "Mcp-Name" };
    assert_eq!(mismatch.code(), -32020);
    assert_eq!(mismatch.to_string(), "Header mismatch: Mcp-Name is missing, malformed or not the same as in the body");
    assert_eq!(mismatch.data(), None);
    let bad_meta = EraError::BadMeta { why: NO_META };
    assert_eq!((bad_meta.code(), bad_meta.to_string().as_str(), bad_meta.data()), (-32602, NO_META, None));
}

#[test]
fn an_unknown_version_is_echoed_only_to_its_64th_character() {
    let endless = "é".repeat(10_000);
    let list = request("tools/list", "");
    assert_eq!(decide(&version_only(Some(&endless)), &list), unsupported(&"é".repeat(64)));
}
