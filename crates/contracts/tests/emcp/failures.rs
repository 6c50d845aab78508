//! Every kind of fault as literal text: status, headers and body. A new kind must be added here.

use frontdesk_contracts::emcp::{Emcp, scopes};
use frontdesk_engine::model::contract::{CredentialPresence, Dialect, ReplyContext, RequestTarget};
use frontdesk_engine::model::tool::Effect;
use frontdesk_engine::{Code, Fault, FaultKind, Reply, Scope, Scopes};
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};

use frontdesk_testkit::reply_text;

const LEGACY: Era = Era::Legacy(Version::V2025_11_25);
const TOOL: RequestTarget<'_> = RequestTarget::Tool("evo.content.get");

fn failure(fault: &Fault, place: RequestTarget<'_>, era: Option<Era>, credential: CredentialPresence) -> Reply {
    let id = Id::Number(7);
    let ordinary = scopes::ordinary();
    let granted = Scopes::new([Scope::new(scopes::READ)]);
    let at = ReplyContext {
        header_version: None,
        era,
        id: (place != RequestTarget::Transport).then_some(&id),
        target: place,
        metadata_url: "https://desk.example/md",
        ordinary_scopes: &ordinary,
        granted_scopes: Some(&granted),
        credential,
        trace_id: "trace-1",
    };
    Emcp { tenant: None }.failure(fault, &at)
}

fn said(kind: FaultKind, place: RequestTarget<'_>, era: Era) -> String {
    reply_text(&failure(&Fault::new(kind, "M"), place, Some(era), CredentialPresence::Present))
}

fn plain(status: &str, slug: &str) -> String {
    format!(r#"{status} {{"error":{{"code":"{slug}","message":"M","trace_id":"trace-1"}}}}"#)
}

fn rpc(status: u16, code: i64) -> String {
    format!(r#"{status} {{"jsonrpc":"2.0","id":7,"error":{{"code":{code},"message":"M"}}}}"#)
}

/// The expected answer of each kind.
fn expected(kind: FaultKind) -> String {
    match kind {
        FaultKind::Malformed => rpc(200, -32700),
        FaultKind::InvalidRequest => rpc(200, -32600),
        FaultKind::HeaderMismatch => rpc(400, -32020),
        FaultKind::UnsupportedVersion => rpc(400, -32022),
        FaultKind::UnknownMethod | FaultKind::UnknownTool => rpc(200, -32601),
        FaultKind::UnknownServer => rpc(404, -32601).replace("\"M\"", "\"M\",\"data\":{\"trace_id\":\"trace-1\"}"),
        FaultKind::ServerDenied => plain("403", "server_denied"),
        FaultKind::ToolDenied => plain("403", "tool_denied"),
        FaultKind::InvalidArgument | FaultKind::InvalidCursor => rpc(200, -32602),
        FaultKind::Unauthenticated => plain(
            r#"401 [WWW-Authenticate: Bearer error="invalid_token", resource_metadata="https://desk.example/md", scope="mcp:call mcp:read"]"#,
            "unauthenticated",
        ),
        FaultKind::StepUp => plain(
            r#"401 [WWW-Authenticate: Bearer error="insufficient_user_authentication", max_age="300", resource_metadata="https://desk.example/md"]"#,
            "unauthenticated",
        ),
        FaultKind::Forbidden => plain(
            r#"403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="mcp:read", resource_metadata="https://desk.example/md"]"#,
            "scope_denied",
        ),
        FaultKind::TenantRequired => plain("403", "forbidden")
            .replace("\"M\"", "\"This token belongs to several sites. Use a token that belongs to this site only.\""),
        FaultKind::TenantForbidden => plain("403", "forbidden")
            .replace("\"M\"", "\"This token does not belong to this site. Use a token of this site.\""),
        FaultKind::HostNotAllowed => plain("403", "forbidden"),
        FaultKind::NotFound => rpc(200, -32002),
        FaultKind::VersionConflict => plain("409", "conflict"),
        FaultKind::KeyReused => plain("409", "idempotency_conflict"),
        FaultKind::KeyInFlight => plain("409", "in_progress"),
        FaultKind::BadDispatch => plain("400", "invalid_payload"),
        FaultKind::QueueFull => plain("503", "async_unavailable"),
        FaultKind::RateLimited => plain("429", "rate_limited"),
        FaultKind::QuotaExceeded => plain("507", "quota_exceeded"),
        FaultKind::TooLarge => plain("413", "payload_too_large"),
        FaultKind::AnswerTooLarge => plain("413", "result_too_large"),
        FaultKind::UnsupportedMediaType => plain("415", "unsupported_media_type"),
        FaultKind::MethodNotAllowed => plain("405 [Allow: POST, DELETE]", "method_not_allowed"),
        FaultKind::Cancelled => plain("499", "cancelled"),
        FaultKind::Unavailable => plain("503", "unavailable"),
        FaultKind::OutcomeUnknown => plain("504", "outcome_unknown"),
        FaultKind::Internal => rpc(200, -32603),
        FaultKind::Domain(Code(slug)) => plain("422", slug),
    }
}

const KINDS: &[FaultKind] = &[
    FaultKind::Malformed,
    FaultKind::InvalidRequest,
    FaultKind::HeaderMismatch,
    FaultKind::UnsupportedVersion,
    FaultKind::UnknownMethod,
    FaultKind::UnknownTool,
    FaultKind::UnknownServer,
    FaultKind::ServerDenied,
    FaultKind::ToolDenied,
    FaultKind::InvalidArgument,
    FaultKind::InvalidCursor,
    FaultKind::Unauthenticated,
    FaultKind::StepUp,
    FaultKind::Forbidden,
    FaultKind::TenantRequired,
    FaultKind::TenantForbidden,
    FaultKind::HostNotAllowed,
    FaultKind::NotFound,
    FaultKind::VersionConflict,
    FaultKind::KeyReused,
    FaultKind::KeyInFlight,
    FaultKind::BadDispatch,
    FaultKind::QueueFull,
    FaultKind::RateLimited,
    FaultKind::QuotaExceeded,
    FaultKind::TooLarge,
    FaultKind::AnswerTooLarge,
    FaultKind::UnsupportedMediaType,
    FaultKind::MethodNotAllowed,
    FaultKind::Cancelled,
    FaultKind::Unavailable,
    FaultKind::OutcomeUnknown,
    FaultKind::Internal,
    FaultKind::Domain(Code("some.rule")),
];

#[test]
fn e_50_e_51_e_52_e_53_every_fault_has_its_status_and_body() {
    for kind in KINDS {
        assert_eq!(said(*kind, TOOL, LEGACY), expected(*kind), "{kind:?}");
    }
}

#[test]
fn e_58_an_unparsable_message_is_answered_without_an_id() {
    let bare = |code: i64| format!(r#"200 {{"jsonrpc":"2.0","error":{{"code":{code},"message":"M"}}}}"#);
    assert_eq!(said(FaultKind::Malformed, RequestTarget::Transport, LEGACY), bare(-32700));
    assert_eq!(said(FaultKind::InvalidRequest, RequestTarget::Transport, LEGACY), bare(-32600));
    assert_eq!(said(FaultKind::Internal, RequestTarget::Transport, LEGACY), plain("500", "internal_error"));
}

#[test]
fn the_modern_era_has_its_own_codes_for_not_found() {
    assert_eq!(said(FaultKind::UnknownMethod, RequestTarget::Method, Era::Modern), rpc(404, -32601));
    assert_eq!(said(FaultKind::NotFound, RequestTarget::Resource("x:y"), Era::Modern), rpc(200, -32602));
    let about_meta =
        failure(&Fault::new(FaultKind::InvalidArgument, "M"), RequestTarget::Method, None, CredentialPresence::Present);
    assert_eq!(reply_text(&about_meta), rpc(400, -32602));
}

#[test]
fn e_52_a_missing_scope_is_named_and_challenged() {
    let needed = vec![Scope::new(scopes::CALL)];
    let fault = Fault { needed, ..Fault::new(FaultKind::Forbidden, "M") };
    assert_eq!(
        reply_text(&failure(&fault, TOOL, Some(LEGACY), CredentialPresence::Present)),
        r#"403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="mcp:call mcp:read", resource_metadata="https://desk.example/md"] {"error":{"code":"scope_denied","message":"The token does not carry the scope this needs: mcp:call.","trace_id":"trace-1"}}"#
    );
}

#[test]
fn e_53_a_challenge_names_the_resource_metadata() {
    let fault = Fault::new(FaultKind::Unauthenticated, "M");
    assert_eq!(
        reply_text(&failure(&fault, RequestTarget::Transport, None, CredentialPresence::Absent)),
        r#"401 [WWW-Authenticate: Bearer resource_metadata="https://desk.example/md", scope="mcp:call mcp:read"] {"error":{"code":"unauthenticated","message":"M","trace_id":"trace-1"}}"#
    );
}

#[test]
fn e_57_a_rate_limited_call_says_how_long_to_wait() {
    let fault = Fault::new(FaultKind::RateLimited, "M").retry_after(59);
    assert_eq!(
        reply_text(&failure(&fault, RequestTarget::Transport, None, CredentialPresence::Present)),
        plain("429 [Retry-After: 59]", "rate_limited")
    );
}

#[test]
fn the_log_gets_the_slug() {
    let slug = |kind| failure(&Fault::new(kind, "M"), TOOL, Some(LEGACY), CredentialPresence::Present).code.unwrap();
    assert_eq!(slug(FaultKind::InvalidArgument), "invalid_params");
    assert_eq!(slug(FaultKind::UnknownTool), "tool_not_found");
    assert_eq!(slug(FaultKind::AnswerTooLarge), "result_too_large");
}

#[test]
fn a_fault_on_a_route_is_plain_under_an_http_status() {
    let route = RequestTarget::Route { tool: "evo.content.get", effect: Effect::Reads };
    for kind in KINDS {
        let text = said(*kind, route, LEGACY);
        assert!(text.starts_with(['4', '5']) && !text.contains("jsonrpc"), "{kind:?} {text}");
    }
    assert_eq!(said(FaultKind::NotFound, route, LEGACY), plain("404", "not_found"));
    assert_eq!(said(FaultKind::UnknownTool, route, LEGACY), plain("404", "tool_not_found"));
    assert_eq!(said(FaultKind::InvalidArgument, route, LEGACY), plain("400", "invalid_params"));
    assert_eq!(said(FaultKind::Internal, route, LEGACY), plain("500", "internal_error"));
    assert_eq!(said(FaultKind::RateLimited, route, LEGACY), plain("429", "rate_limited"));
}
