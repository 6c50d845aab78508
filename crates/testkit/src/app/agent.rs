//! The callers of a `TestApp`: strangers, and agents whose tokens differ in tenant, scopes and age.

use std::time::Duration;

use serde_json::{Value, json};

use super::http_client::{HttpClient, HttpResponse};
use super::{DemoClient, TestApp};

pub const READ_STOCK: &str = "amcp:inventory:read";
pub const READ_LEADS: &str = "amcp:leads:read";
pub const WRITE_LEADS: &str = "amcp:leads:write";
/// All that an ordinary client may have, in the order of a token's answer.
pub const EVERYTHING: &str = "amcp:consent:read amcp:consent:write amcp:deals:read amcp:deals:write \
    amcp:inventory:read amcp:inventory:write amcp:leads:read amcp:leads:write amcp:parts:read amcp:parts:write \
    amcp:service:read amcp:service:write amcp:signals:read";
/// Credit data.
pub const CREDIT: &str = "amcp:fni:read amcp:fni:write";
pub const PATH: &str = "/mcp/automotive";

/// The two tenants of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoTenant {
    Lakeside,
    Summit,
}

impl TestApp {
    /// A client without any credential.
    pub fn stranger(&self) -> HttpClient {
        HttpClient::new(self.address, &self.ca_file())
    }

    /// An agent of the first tenant that may do everything.
    pub async fn agent(&self) -> TestAgent {
        self.agent_with(EVERYTHING).await
    }

    /// An agent of the first tenant that may only read the inventory.
    pub async fn weak_agent(&self) -> TestAgent {
        self.agent_with(READ_STOCK).await
    }

    /// An agent of the second tenant that may do everything.
    pub async fn other_tenant(&self) -> TestAgent {
        self.agent_of(DemoTenant::Summit, EVERYTHING).await
    }

    /// An agent of the first tenant whose token has expired. Wants `FRONTDESK_TOKEN_LIFETIME_SECONDS` to be small.
    pub async fn expired(&self) -> TestAgent {
        let (id, secret, dealership) = self.credentials(DemoTenant::Lakeside);
        let granted = self.request_token(&id, &secret, EVERYTHING).await.json();
        let lifetime = granted["expires_in"].as_u64().unwrap();
        assert!(lifetime <= 5, "waiting {lifetime} seconds for a token to expire is too long for a test");
        tokio::time::sleep(Duration::from_millis(lifetime * 1_000 + 1)).await;
        let token = granted["access_token"].as_str().unwrap().to_owned();
        TestAgent { http: self.stranger(), token, dealership, next: 0 }
    }

    /// An agent of the first tenant whose token has these scopes.
    pub async fn agent_with(&self, scopes: &str) -> TestAgent {
        self.agent_of(DemoTenant::Lakeside, scopes).await
    }

    pub async fn agent_of(&self, tenant: DemoTenant, scopes: &str) -> TestAgent {
        let (id, secret, dealership) = self.credentials(tenant);
        let token = self.token(&id, &secret, scopes).await;
        TestAgent { http: self.stranger(), token, dealership, next: 0 }
    }

    /// An agent of a client that was added, with these scopes.
    pub async fn agent_of_client(&self, (id, secret): &(String, String), scopes: &str) -> TestAgent {
        let token = self.token(id, secret, scopes).await;
        TestAgent { http: self.stranger(), token, dealership: String::new(), next: 0 }
    }

    /// An agent that may do everything, credit data among it, for somebody who has just logged in.
    pub async fn credit_agent(&self, tenant: DemoTenant) -> TestAgent {
        let (_, _, dealership) = self.credentials(tenant);
        self.agent_after_login(&dealership, &format!("{EVERYTHING} {CREDIT}")).await
    }

    /// Id, secret and tenant of a client of the demo.
    pub fn credentials(&self, tenant: DemoTenant) -> DemoClient {
        self.clients[tenant as usize].clone()
    }

    /// Adds a client while the application runs: its id and secret.
    pub fn add_client(&self, tenants: &[&str], scopes: &str) -> (String, String) {
        let mut arguments = vec!["client", "add", "--json", "--new-tenant", "--name", "another client"];
        arguments.extend(tenants.iter().flat_map(|tenant| ["--tenant", tenant]));
        arguments.extend(scopes.split(' ').flat_map(|scope| ["--scope", scope]));
        let (code, out, errors) = self.command(&arguments);
        assert_eq!(code, Some(0), "{errors}");
        let added: Value = serde_json::from_str(&out).unwrap();
        let text = |pointer: &str| added.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
        (text("/id"), text("/secret"))
    }

    pub async fn token(&self, id: &str, secret: &str, scopes: &str) -> String {
        let response = self.request_token(id, secret, scopes).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()["access_token"].as_str().unwrap().to_owned()
    }

    pub async fn request_token(&self, id: &str, secret: &str, scopes: &str) -> HttpResponse {
        let scope = match scopes {
            "" => String::new(),
            scopes => format!("&scope={}", scopes.replace(':', "%3A").replace(' ', "+")),
        };
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}{scope}");
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.stranger().request("POST", "/token", &headers, form).await
    }
}

/// A caller with a token.
pub struct TestAgent {
    pub http: HttpClient,
    pub token: String,
    pub dealership: String,
    /// The id of the last request.
    next: i64,
}

impl TestAgent {
    pub(super) fn new(http: HttpClient, token: String, dealership: String) -> TestAgent {
        TestAgent { http, token, dealership, next: 0 }
    }

    /// Sends a request of the protocol version 2025-11-25.
    pub async fn send(&mut self, method: &str, params: Value) -> HttpResponse {
        self.next += 1;
        let body = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.post(&body.to_string(), &[("mcp-protocol-version", "2025-11-25")]).await
    }

    /// Sends these bytes with the token and these headers besides.
    pub async fn post(&mut self, body: &str, headers: &[(&str, &str)]) -> HttpResponse {
        let bearer = format!("Bearer {}", self.token);
        let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.http.request("POST", PATH, &all, body).await
    }

    /// The `result` of a request that must succeed on the JSON-RPC level.
    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.send(method, params).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let reply = response.json();
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].clone()
    }

    /// A tool's structured content, success or error alike; checks that the text says the same.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(result["isError"], json!(text.get("error").is_some()));
        text
    }

    /// The code of the error that a tool must reply with.
    pub async fn code(&mut self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments).await;
        reply["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {reply}")).to_owned()
    }

    /// Every item of a list, page by page.
    pub async fn all(&mut self, tool: &str, mut arguments: Value) -> Vec<Value> {
        let mut items = Vec::new();
        loop {
            let page = self.call(tool, arguments.clone()).await;
            items.extend(page["items"].as_array().unwrap_or_else(|| panic!("{page}")).iter().cloned());
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => return items,
            }
        }
    }
}
