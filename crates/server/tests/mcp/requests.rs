//! Requests of each era as their clients send them.

use serde_json::{Value, json};

use frontdesk_testkit::app::TestAgent;
use frontdesk_testkit::app::http_client::HttpResponse;

pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const MODERN: &str = "2026-07-28";

/// What every modern request says about itself.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A modern request with the headers that belong to it.
pub(crate) async fn modern(agent: &mut TestAgent, method: &str, mut params: Value) -> HttpResponse {
    params["_meta"] = meta();
    let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut headers = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
    headers.extend(name.as_deref().map(|name| ("mcp-name", name)));
    agent.post(&body, &headers).await
}

/// A legacy request under this version.
pub(crate) async fn legacy(agent: &mut TestAgent, version: &str, method: &str, params: Value) -> HttpResponse {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    agent.post(&body, &[("mcp-protocol-version", version)]).await
}

/// Status and body of an answer.
pub(crate) fn whole(response: &HttpResponse) -> (u16, Value) {
    (response.status, response.json())
}

/// A JSON-RPC error with the contract's error object as its data.
pub(crate) fn refusal(id: Value, number: i64, code: &str, message: &str) -> Value {
    let data = json!({"error": {"code": code, "message": message, "details": {"retryable": false}}});
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": number, "message": message, "data": data}})
}
