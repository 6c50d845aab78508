//! Every fault kind for every request target, as literal text. A new kind must be added here.

use std::sync::LazyLock;

use frontdesk_contracts::automotive::{Automotive, domains};
use frontdesk_engine::model::contract::{CredentialPresence, Dialect, ReplyContext, RequestTarget};
use frontdesk_engine::model::fault::{Problem, ProtocolDetail};
use frontdesk_engine::{Code, Fault, FaultKind, Reply, Scope, Scopes};
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};

use frontdesk_testkit::reply_text;

pub(crate) const LEGACY: Era = Era::Legacy(Version::V2025_11_25);
const TOOL: RequestTarget<'_> = RequestTarget::Tool("leads.update");
const RESOURCE: RequestTarget<'_> = RequestTarget::Resource("amcp://dlr_lakeside/inventory/veh_1");

pub(crate) fn failure(
    fault: &Fault,
    place: RequestTarget<'_>,
    era: Option<Era>,
    credential: CredentialPresence,
) -> Reply {
    let id = Id::Number(7);
    let ordinary = Scopes::new([domains::INVENTORY.read, domains::LEADS.read].map(Scope::new));
    let granted = Scopes::new([Scope::new(domains::LEADS.read)]);
    let at = ReplyContext {
        header_version: None,
        era,
        id: (place != RequestTarget::Transport).then_some(&id),
        target: place,
        metadata_url: "https://desk.example/md",
        ordinary_scopes: &ordinary,
        granted_scopes: Some(&granted),
        credential,
        trace_id: "trace",
    };
    // Made once: it is asked thousands of times.
    static DIALECT: LazyLock<Automotive> = LazyLock::new(Automotive::default);
    DIALECT.failure(fault, &at)
}

fn said(kind: FaultKind, place: RequestTarget<'_>) -> String {
    reply_text(&failure(&Fault::new(kind, "M"), place, Some(LEGACY), CredentialPresence::Present))
}

/// All kinds. The match fails to compile when a kind is added.
pub(crate) fn kinds() -> Vec<FaultKind> {
    let all = vec![
        FaultKind::Malformed,
        FaultKind::InvalidRequest,
        FaultKind::HeaderMismatch,
        FaultKind::UnsupportedVersion,
        FaultKind::UnknownMethod,
        FaultKind::UnknownTool,
        FaultKind::InvalidArgument,
        FaultKind::InvalidCursor,
        FaultKind::Unauthenticated,
        FaultKind::Forbidden,
        FaultKind::TenantRequired,
        FaultKind::TenantForbidden,
        FaultKind::StepUp,
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
        FaultKind::UnknownServer,
        FaultKind::ServerDenied,
        FaultKind::ToolDenied,
        FaultKind::UnsupportedMediaType,
        FaultKind::MethodNotAllowed,
        FaultKind::HostNotAllowed,
        FaultKind::Cancelled,
        FaultKind::Unavailable,
        FaultKind::OutcomeUnknown,
        FaultKind::Internal,
        FaultKind::Domain(Code("consent.required")),
    ];
    for kind in &all {
        match kind {
            FaultKind::Malformed
            | FaultKind::InvalidRequest
            | FaultKind::HeaderMismatch
            | FaultKind::UnsupportedVersion
            | FaultKind::UnknownMethod
            | FaultKind::UnknownTool
            | FaultKind::InvalidArgument
            | FaultKind::InvalidCursor
            | FaultKind::Unauthenticated
            | FaultKind::Forbidden
            | FaultKind::TenantRequired
            | FaultKind::TenantForbidden
            | FaultKind::StepUp
            | FaultKind::NotFound
            | FaultKind::VersionConflict
            | FaultKind::KeyReused
            | FaultKind::KeyInFlight
            | FaultKind::BadDispatch
            | FaultKind::QueueFull
            | FaultKind::RateLimited
            | FaultKind::QuotaExceeded
            | FaultKind::TooLarge
            | FaultKind::AnswerTooLarge
            | FaultKind::UnknownServer
            | FaultKind::ServerDenied
            | FaultKind::ToolDenied
            | FaultKind::UnsupportedMediaType
            | FaultKind::MethodNotAllowed
            | FaultKind::HostNotAllowed
            | FaultKind::Cancelled
            | FaultKind::Unavailable
            | FaultKind::OutcomeUnknown
            | FaultKind::Internal
            | FaultKind::Domain(_) => {}
        }
    }
    all
}

#[test]
fn a3_23_every_fault_has_its_answer_for_every_target() {
    let mut lines = Vec::new();
    for kind in kinds() {
        for (name, place) in [
            ("tool", TOOL),
            ("resource", RESOURCE),
            ("method", RequestTarget::Method),
            ("transport", RequestTarget::Transport),
        ] {
            lines.push(format!("{} {name}: {}", kind.as_str(), said(kind, place)));
        }
    }
    // Fault and target, then status, headers and body.
    insta::assert_snapshot!(lines.join("\n"), @r#"
malformed tool: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"M","data":{"error":{"code":"request.malformed","message":"M","details":{"retryable":false}}}}}
malformed resource: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"M","data":{"error":{"code":"request.malformed","message":"M","details":{"retryable":false}}}}}
malformed method: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"M","data":{"error":{"code":"request.malformed","message":"M","details":{"retryable":false}}}}}
malformed transport: 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"M","data":{"error":{"code":"request.malformed","message":"M","details":{"retryable":false}}}}}
not_rpc tool: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
not_rpc resource: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
not_rpc method: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
not_rpc transport: 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
header_mismatch tool: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"M","data":{"error":{"code":"request.header_mismatch","message":"M","details":{"retryable":false}}}}}
header_mismatch resource: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"M","data":{"error":{"code":"request.header_mismatch","message":"M","details":{"retryable":false}}}}}
header_mismatch method: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"M","data":{"error":{"code":"request.header_mismatch","message":"M","details":{"retryable":false}}}}}
header_mismatch transport: 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"M","data":{"error":{"code":"request.header_mismatch","message":"M","details":{"retryable":false}}}}}
wrong_version tool: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"M","data":{"error":{"code":"request.wrong_version","message":"M","details":{"retryable":false}}}}}
wrong_version resource: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"M","data":{"error":{"code":"request.wrong_version","message":"M","details":{"retryable":false}}}}}
wrong_version method: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"M","data":{"error":{"code":"request.wrong_version","message":"M","details":{"retryable":false}}}}}
wrong_version transport: 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"M","data":{"error":{"code":"request.wrong_version","message":"M","details":{"retryable":false}}}}}
unknown_method tool: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"M","data":{"error":{"code":"request.unknown_method","message":"M","details":{"retryable":false}}}}}
unknown_method resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"M","data":{"error":{"code":"request.unknown_method","message":"M","details":{"retryable":false}}}}}
unknown_method method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"M","data":{"error":{"code":"request.unknown_method","message":"M","details":{"retryable":false}}}}}
unknown_method transport: 200 {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"M","data":{"error":{"code":"request.unknown_method","message":"M","details":{"retryable":false}}}}}
unknown_tool tool: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.unknown_tool","message":"M","details":{"retryable":false}}}}}
unknown_tool resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.unknown_tool","message":"M","details":{"retryable":false}}}}}
unknown_tool method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.unknown_tool","message":"M","details":{"retryable":false}}}}}
unknown_tool transport: 200 {"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.unknown_tool","message":"M","details":{"retryable":false}}}}}
invalid_argument tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.invalid\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"request.invalid","message":"M","details":{"retryable":false}}},"isError":true}}
invalid_argument resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.invalid","message":"M","details":{"retryable":false}}}}}
invalid_argument method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.invalid","message":"M","details":{"retryable":false}}}}}
invalid_argument transport: 400 {"error":{"code":"request.invalid","message":"M","details":{"retryable":false}}}
invalid_cursor tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.invalid_cursor\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"request.invalid_cursor","message":"M","details":{"retryable":false}}},"isError":true}}
invalid_cursor resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.invalid_cursor","message":"M","details":{"retryable":false}}}}}
invalid_cursor method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.invalid_cursor","message":"M","details":{"retryable":false}}}}}
invalid_cursor transport: 400 {"error":{"code":"request.invalid_cursor","message":"M","details":{"retryable":false}}}
unauthenticated tool: 401 [WWW-Authenticate: Bearer error="invalid_token", resource_metadata="https://desk.example/md", scope="amcp:inventory:read amcp:leads:read"] {"error":{"code":"auth.unauthorized","message":"M","details":{"retryable":false}}}
unauthenticated resource: 401 [WWW-Authenticate: Bearer error="invalid_token", resource_metadata="https://desk.example/md", scope="amcp:inventory:read amcp:leads:read"] {"error":{"code":"auth.unauthorized","message":"M","details":{"retryable":false}}}
unauthenticated method: 401 [WWW-Authenticate: Bearer error="invalid_token", resource_metadata="https://desk.example/md", scope="amcp:inventory:read amcp:leads:read"] {"error":{"code":"auth.unauthorized","message":"M","details":{"retryable":false}}}
unauthenticated transport: 401 [WWW-Authenticate: Bearer error="invalid_token", resource_metadata="https://desk.example/md", scope="amcp:inventory:read amcp:leads:read"] {"error":{"code":"auth.unauthorized","message":"M","details":{"retryable":false}}}
forbidden tool: 403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="amcp:leads:read", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
forbidden resource: 403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="amcp:leads:read", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
forbidden method: 403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="amcp:leads:read", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
forbidden transport: 403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="amcp:leads:read", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
tenant_required tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"dealership.required\",\"message\":\"This token is valid for several dealerships. Send the one you mean as dealership_id.\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"dealership.required","message":"This token is valid for several dealerships. Send the one you mean as dealership_id.","details":{"retryable":false}}},"isError":true}}
tenant_required resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"This token is valid for several dealerships. Send the one you mean as dealership_id.","data":{"error":{"code":"dealership.required","message":"This token is valid for several dealerships. Send the one you mean as dealership_id.","details":{"retryable":false}}}}}
tenant_required method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"This token is valid for several dealerships. Send the one you mean as dealership_id.","data":{"error":{"code":"dealership.required","message":"This token is valid for several dealerships. Send the one you mean as dealership_id.","details":{"retryable":false}}}}}
tenant_required transport: 400 {"error":{"code":"dealership.required","message":"This token is valid for several dealerships. Send the one you mean as dealership_id.","details":{"retryable":false}}}
cross_tenant_denied tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"dealership.forbidden\",\"message\":\"This token is not valid for this dealership. Send the dealership_id of one of the client's own.\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"dealership.forbidden","message":"This token is not valid for this dealership. Send the dealership_id of one of the client's own.","details":{"retryable":false}}},"isError":true}}
cross_tenant_denied resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4030,"message":"This token is not valid for this dealership. Send the dealership_id of one of the client's own.","data":{"error":{"code":"dealership.forbidden","message":"This token is not valid for this dealership. Send the dealership_id of one of the client's own.","details":{"retryable":false}}}}}
cross_tenant_denied method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4030,"message":"This token is not valid for this dealership. Send the dealership_id of one of the client's own.","data":{"error":{"code":"dealership.forbidden","message":"This token is not valid for this dealership. Send the dealership_id of one of the client's own.","details":{"retryable":false}}}}}
cross_tenant_denied transport: 403 {"error":{"code":"dealership.forbidden","message":"This token is not valid for this dealership. Send the dealership_id of one of the client's own.","details":{"retryable":false}}}
step_up tool: 401 [WWW-Authenticate: Bearer error="insufficient_user_authentication", max_age="300", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.step_up_required","message":"M","details":{"retryable":false}}}
step_up resource: 401 [WWW-Authenticate: Bearer error="insufficient_user_authentication", max_age="300", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.step_up_required","message":"M","details":{"retryable":false}}}
step_up method: 401 [WWW-Authenticate: Bearer error="insufficient_user_authentication", max_age="300", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.step_up_required","message":"M","details":{"retryable":false}}}
step_up transport: 401 [WWW-Authenticate: Bearer error="insufficient_user_authentication", max_age="300", resource_metadata="https://desk.example/md"] {"error":{"code":"auth.step_up_required","message":"M","details":{"retryable":false}}}
not_found tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"leads.not_found\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"leads.not_found","message":"M","details":{"retryable":false}}},"isError":true}}
not_found resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"M","data":{"error":{"code":"inventory.not_found","message":"M","details":{"retryable":false}}}}}
not_found method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"M","data":{"error":{"code":"request.not_found","message":"M","details":{"retryable":false}}}}}
not_found transport: 404 {"error":{"code":"request.not_found","message":"M","details":{"retryable":false}}}
stale tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.version_conflict\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"request.version_conflict","message":"M","details":{"retryable":false}}},"isError":true}}
stale resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4120,"message":"M","data":{"error":{"code":"request.version_conflict","message":"M","details":{"retryable":false}}}}}
stale method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4120,"message":"M","data":{"error":{"code":"request.version_conflict","message":"M","details":{"retryable":false}}}}}
stale transport: 412 {"error":{"code":"request.version_conflict","message":"M","details":{"retryable":false}}}
key_reused tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.idempotency_conflict\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"request.idempotency_conflict","message":"M","details":{"retryable":false}}},"isError":true}}
key_reused resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4090,"message":"M","data":{"error":{"code":"request.idempotency_conflict","message":"M","details":{"retryable":false}}}}}
key_reused method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4090,"message":"M","data":{"error":{"code":"request.idempotency_conflict","message":"M","details":{"retryable":false}}}}}
key_reused transport: 409 {"error":{"code":"request.idempotency_conflict","message":"M","details":{"retryable":false}}}
key_in_flight tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.in_progress\",\"message\":\"M\",\"details\":{\"retryable\":true}}}"}],"structuredContent":{"error":{"code":"request.in_progress","message":"M","details":{"retryable":true}}},"isError":true}}
key_in_flight resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4090,"message":"M","data":{"error":{"code":"request.in_progress","message":"M","details":{"retryable":true}}}}}
key_in_flight method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4090,"message":"M","data":{"error":{"code":"request.in_progress","message":"M","details":{"retryable":true}}}}}
key_in_flight transport: 409 {"error":{"code":"request.in_progress","message":"M","details":{"retryable":true}}}
bad_dispatch tool: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
bad_dispatch resource: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
bad_dispatch method: 400 {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
bad_dispatch transport: 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"M","data":{"error":{"code":"request.not_rpc","message":"M","details":{"retryable":false}}}}}
no_room tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"internal.unavailable\",\"message\":\"M\",\"details\":{\"retryable\":true}}}"}],"structuredContent":{"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}},"isError":true}}
no_room resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5030,"message":"M","data":{"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}}}}
no_room method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5030,"message":"M","data":{"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}}}}
no_room transport: 503 {"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}}
rate_limited tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"rate_limited\",\"message\":\"M\",\"details\":{\"retryable\":true}}}"}],"structuredContent":{"error":{"code":"rate_limited","message":"M","details":{"retryable":true}}},"isError":true}}
rate_limited resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4290,"message":"M","data":{"error":{"code":"rate_limited","message":"M","details":{"retryable":true}}}}}
rate_limited method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4290,"message":"M","data":{"error":{"code":"rate_limited","message":"M","details":{"retryable":true}}}}}
rate_limited transport: 429 {"error":{"code":"rate_limited","message":"M","details":{"retryable":true}}}
quota_exceeded tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"quota.exceeded\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"quota.exceeded","message":"M","details":{"retryable":false}}},"isError":true}}
quota_exceeded resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5070,"message":"M","data":{"error":{"code":"quota.exceeded","message":"M","details":{"retryable":false}}}}}
quota_exceeded method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5070,"message":"M","data":{"error":{"code":"quota.exceeded","message":"M","details":{"retryable":false}}}}}
quota_exceeded transport: 507 {"error":{"code":"quota.exceeded","message":"M","details":{"retryable":false}}}
too_large tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.too_large\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}},"isError":true}}
too_large resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4130,"message":"M","data":{"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}}}}
too_large method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4130,"message":"M","data":{"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}}}}
too_large transport: 413 {"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}}
answer_too_large tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.too_large\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}},"isError":true}}
answer_too_large resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4130,"message":"M","data":{"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}}}}
answer_too_large method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4130,"message":"M","data":{"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}}}}
answer_too_large transport: 413 {"error":{"code":"request.too_large","message":"M","details":{"retryable":false}}}
unknown_server tool: 404 {"error":{"code":"request.not_found","message":"M","details":{"retryable":false}}}
unknown_server resource: 404 {"error":{"code":"request.not_found","message":"M","details":{"retryable":false}}}
unknown_server method: 404 {"error":{"code":"request.not_found","message":"M","details":{"retryable":false}}}
unknown_server transport: 404 {"error":{"code":"request.not_found","message":"M","details":{"retryable":false}}}
server_denied tool: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
server_denied resource: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
server_denied method: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
server_denied transport: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
tool_denied tool: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
tool_denied resource: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
tool_denied method: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
tool_denied transport: 403 {"error":{"code":"auth.insufficient_scope","message":"M","details":{"retryable":false}}}
wrong_media tool: 415 {"error":{"code":"request.wrong_media","message":"M","details":{"retryable":false}}}
wrong_media resource: 415 {"error":{"code":"request.wrong_media","message":"M","details":{"retryable":false}}}
wrong_media method: 415 {"error":{"code":"request.wrong_media","message":"M","details":{"retryable":false}}}
wrong_media transport: 415 {"error":{"code":"request.wrong_media","message":"M","details":{"retryable":false}}}
wrong_verb tool: 405 [Allow: POST, DELETE] {"error":{"code":"request.wrong_verb","message":"M","details":{"retryable":false}}}
wrong_verb resource: 405 [Allow: POST, DELETE] {"error":{"code":"request.wrong_verb","message":"M","details":{"retryable":false}}}
wrong_verb method: 405 [Allow: POST, DELETE] {"error":{"code":"request.wrong_verb","message":"M","details":{"retryable":false}}}
wrong_verb transport: 405 [Allow: POST, DELETE] {"error":{"code":"request.wrong_verb","message":"M","details":{"retryable":false}}}
wrong_host tool: 403 {"error":{"code":"request.wrong_host","message":"M","details":{"retryable":false}}}
wrong_host resource: 403 {"error":{"code":"request.wrong_host","message":"M","details":{"retryable":false}}}
wrong_host method: 403 {"error":{"code":"request.wrong_host","message":"M","details":{"retryable":false}}}
wrong_host transport: 403 {"error":{"code":"request.wrong_host","message":"M","details":{"retryable":false}}}
cancelled tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"request.cancelled\",\"message\":\"M\",\"details\":{\"retryable\":true}}}"}],"structuredContent":{"error":{"code":"request.cancelled","message":"M","details":{"retryable":true}}},"isError":true}}
cancelled resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4990,"message":"M","data":{"error":{"code":"request.cancelled","message":"M","details":{"retryable":true}}}}}
cancelled method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4990,"message":"M","data":{"error":{"code":"request.cancelled","message":"M","details":{"retryable":true}}}}}
cancelled transport: 499 {"error":{"code":"request.cancelled","message":"M","details":{"retryable":true}}}
unavailable tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"internal.unavailable\",\"message\":\"M\",\"details\":{\"retryable\":true}}}"}],"structuredContent":{"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}},"isError":true}}
unavailable resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5030,"message":"M","data":{"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}}}}
unavailable method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5030,"message":"M","data":{"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}}}}
unavailable transport: 503 {"error":{"code":"internal.unavailable","message":"M","details":{"retryable":true}}}
outcome_unknown tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"internal.outcome_unknown\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"internal.outcome_unknown","message":"M","details":{"retryable":false}}},"isError":true}}
outcome_unknown resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5040,"message":"M","data":{"error":{"code":"internal.outcome_unknown","message":"M","details":{"retryable":false}}}}}
outcome_unknown method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":5040,"message":"M","data":{"error":{"code":"internal.outcome_unknown","message":"M","details":{"retryable":false}}}}}
outcome_unknown transport: 504 {"error":{"code":"internal.outcome_unknown","message":"M","details":{"retryable":false}}}
internal tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"internal.error\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"internal.error","message":"M","details":{"retryable":false}}},"isError":true}}
internal resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"M","data":{"error":{"code":"internal.error","message":"M","details":{"retryable":false}}}}}
internal method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"M","data":{"error":{"code":"internal.error","message":"M","details":{"retryable":false}}}}}
internal transport: 500 {"error":{"code":"internal.error","message":"M","details":{"retryable":false}}}
consent.required tool: 200 {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"consent.required\",\"message\":\"M\",\"details\":{\"retryable\":false}}}"}],"structuredContent":{"error":{"code":"consent.required","message":"M","details":{"retryable":false}}},"isError":true}}
consent.required resource: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4220,"message":"M","data":{"error":{"code":"consent.required","message":"M","details":{"retryable":false}}}}}
consent.required method: 200 {"jsonrpc":"2.0","id":7,"error":{"code":4220,"message":"M","data":{"error":{"code":"consent.required","message":"M","details":{"retryable":false}}}}}
consent.required transport: 422 {"error":{"code":"consent.required","message":"M","details":{"retryable":false}}}
    "#);
}

#[test]
fn a3_25_details_list_the_errors_and_retry_after() {
    let invalid = Fault::invalid(vec![
        Problem { pointer: "/limit".to_owned(), keyword: "maximum", expected: "it must be at most 100".to_owned() },
        Problem {
            pointer: "/status".to_owned(),
            keyword: "enum",
            expected: "one of these is expected: new".to_owned(),
        },
    ]);
    insta::assert_snapshot!(
        reply_text(&failure(&invalid, RequestTarget::Method, Some(LEGACY), CredentialPresence::Present)),
        @r#"200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"The arguments are not valid. /limit: it must be at most 100. /status: one of these is expected: new.","data":{"error":{"code":"request.invalid","message":"The arguments are not valid. /limit: it must be at most 100. /status: one of these is expected: new.","details":{"retryable":false,"errors":[{"pointer":"/limit","keyword":"maximum","expected":"it must be at most 100"},{"pointer":"/status","keyword":"enum","expected":"one of these is expected: new"}]}}}}}"#
    );
}

#[test]
fn a6_21_a_rate_limited_call_says_how_long_to_wait() {
    let limited = Fault::new(FaultKind::RateLimited, "Too many calls; wait before the next one.").retry_after(3);
    assert_eq!(
        reply_text(&failure(&limited, TOOL, Some(Era::Modern), CredentialPresence::Present)),
        concat!(
            r#"200 [Retry-After: 3] {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"error\":{\"code\":\"rate_limited\",\"message\":\"Too many calls; wait before the next one.\",\"details\":{\"retryable\":true,\"retry_after\":3},\"retry_after\":3}}"}],"#,
            r#""structuredContent":{"error":{"code":"rate_limited","message":"Too many calls; wait before the next one.","details":{"retryable":true,"retry_after":3},"retry_after":3}},"isError":true,"resultType":"complete"}}"#
        )
    );
    insta::assert_snapshot!(
        reply_text(&failure(&limited, RequestTarget::Transport, None, CredentialPresence::Present)),
        @r#"429 [Retry-After: 3] {"error":{"code":"rate_limited","message":"Too many calls; wait before the next one.","details":{"retryable":true,"retry_after":3},"retry_after":3}}"#
    );
}

#[test]
fn a6_05_a_challenge_without_a_credential_names_no_error() {
    let fault = Fault::new(FaultKind::Unauthenticated, "M");
    let challenge = |credential| failure(&fault, RequestTarget::Transport, None, credential).headers.first().cloned();
    assert_eq!(
        challenge(CredentialPresence::Absent),
        Some((
            "WWW-Authenticate",
            r#"Bearer resource_metadata="https://desk.example/md", scope="amcp:inventory:read amcp:leads:read""#.into()
        ))
    );
    assert_eq!(
        challenge(CredentialPresence::Present),
        Some((
            "WWW-Authenticate",
            r#"Bearer error="invalid_token", resource_metadata="https://desk.example/md", scope="amcp:inventory:read amcp:leads:read""#
                .into()
        ))
    );
}

#[test]
fn a_scope_challenge_names_granted_and_missing_scopes() {
    let fault = Fault { needed: vec![Scope::new(domains::LEADS.write)], ..Fault::new(FaultKind::Forbidden, "M") };
    assert_eq!(
        reply_text(&failure(&fault, RequestTarget::Method, Some(LEGACY), CredentialPresence::Present)),
        concat!(
            r#"403 [WWW-Authenticate: Bearer error="insufficient_scope", scope="amcp:leads:read amcp:leads:write", resource_metadata="https://desk.example/md"] "#,
            r#"{"error":{"code":"auth.insufficient_scope","message":"This needs the scope amcp:leads:write. Request a token with it at the token endpoint.","details":{"retryable":false}}}"#
        )
    );
}

#[test]
fn the_modern_era_has_its_own_codes() {
    let modern = |kind, place| {
        reply_text(&failure(&Fault::new(kind, "M"), place, Some(Era::Modern), CredentialPresence::Present))
    };
    insta::assert_snapshot!(
        modern(FaultKind::UnknownMethod, RequestTarget::Method),
        @r#"404 {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"M","data":{"error":{"code":"request.unknown_method","message":"M","details":{"retryable":false}}}}}"#
    );
    insta::assert_snapshot!(
        modern(FaultKind::NotFound, RESOURCE),
        @r#"200 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"inventory.not_found","message":"M","details":{"retryable":false}}}}}"#
    );
}

#[test]
fn a_request_without_an_era_is_answered_with_400() {
    let undecided =
        |fault: &Fault| reply_text(&failure(fault, RequestTarget::Method, None, CredentialPresence::Present));
    insta::assert_snapshot!(
        undecided(&Fault::new(FaultKind::InvalidArgument, "M")),
        @r#"400 {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"M","data":{"error":{"code":"request.invalid","message":"M","details":{"retryable":false}}}}}"#
    );
    let version = Fault {
        detail: Some(Box::new(ProtocolDetail::RpcData(
            r#"{"supported":["2026-07-28"],"requested":"1999"}"#.to_owned(),
        ))),
        ..Fault::new(FaultKind::UnsupportedVersion, "Unsupported protocol version")
    };
    insta::assert_snapshot!(
        undecided(&version),
        @r#"400 {"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"1999"}}}"#
    );
}

#[test]
fn a3_26_the_cause_of_a_fault_is_never_sent() {
    let fault = Fault::internal("SELECT secret FROM vault");
    for place in [TOOL, RESOURCE, RequestTarget::Method, RequestTarget::Transport] {
        let answer = reply_text(&failure(&fault, place, Some(LEGACY), CredentialPresence::Present));
        assert!(answer.contains("internal.error") && !answer.contains("SELECT"), "{answer}");
    }
}

#[test]
fn the_not_found_code_names_the_domain() {
    let code = |place| {
        let answer = said(FaultKind::NotFound, place);
        ["inventory", "leads", "customers", "request"]
            .into_iter()
            .find(|domain| answer.contains(&format!("\"code\":\"{domain}.not_found\"")))
    };
    assert_eq!(code(RequestTarget::Tool("inventory.get")), Some("inventory"));
    assert_eq!(code(RequestTarget::Tool("customers.get")), Some("customers"));
    assert_eq!(code(RequestTarget::Resource("amcp://dlr_lakeside/leads/led_1")), Some("leads"));
    assert_eq!(code(RequestTarget::Resource("amcp://dlr_lakeside/customers?limit=1")), Some("customers"));
    assert_eq!(code(RequestTarget::Method), Some("request"));
}

#[test]
fn an_unreadable_id_is_null_only_in_older_versions() {
    let fault = Fault::new(FaultKind::Malformed, "M");
    let answer = |named: Option<Version>| {
        let ordinary = Scopes::new([Scope::new("amcp:inventory:read")]);
        let at = ReplyContext {
            era: None,
            header_version: named,
            id: None,
            target: RequestTarget::Transport,
            metadata_url: "",
            ordinary_scopes: &ordinary,
            granted_scopes: None,
            credential: CredentialPresence::Present,
            trace_id: "",
        };
        String::from_utf8(Automotive::default().failure(&fault, &at).body.to_vec()).unwrap()
    };
    let with_null = r#"{"jsonrpc":"2.0","id":null,"error":"#;
    assert!(answer(None).starts_with(with_null));
    assert!(answer(Some(Version::V2025_06_18)).starts_with(with_null));
    assert!(answer(Some(Version::V2025_11_25)).starts_with(r#"{"jsonrpc":"2.0","error":"#));
    assert!(answer(Some(Version::V2026_07_28)).starts_with(r#"{"jsonrpc":"2.0","error":"#));
}
