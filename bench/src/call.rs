//! The calls that are measured: their bytes for an agent of one dealership, and what a right answer to each contains.

use serde_json::{Value, json};

use crate::load::CallSource;
use crate::seed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Get,
    /// 25 vehicles of one make, newest first.
    Search,
    /// 25 vehicles that can be bought, newest first: a dealership of any size has as many.
    SearchStatus,
    Create,
    /// All callers write to one dealership, however many there are. What creates of several dealerships cannot share
    /// is then no part of what more data costs.
    CreateInOne,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Get => "get",
            Kind::Search => "search",
            Kind::SearchStatus => "search by status",
            Kind::Create => "create",
            Kind::CreateInOne => "create in one",
        }
    }

    fn tool(self) -> &'static str {
        match self {
            Kind::Get => "inventory.get",
            Kind::Search | Kind::SearchStatus => "inventory.search",
            Kind::Create | Kind::CreateInOne => "leads.create",
        }
    }
}

impl Era {
    pub fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        }
    }
}

/// Who calls, and how much there is to call for.
#[derive(Debug, Clone)]
pub struct Caller {
    pub dealership: String,
    /// The dealership's place among all, which its vehicles' ids begin with.
    pub place: usize,
    pub vehicles: usize,
    pub token: String,
    pub port: u16,
}

/// One call: what is sent, and what the answer has to contain how often.
pub struct Call {
    pub request: Vec<u8>,
    pub expected: Vec<(String, usize)>,
}

impl CallSource for (Kind, Era) {
    fn call(self, caller: &Caller, number: u64, random: u64) -> Call {
        let (kind, era) = self;
        let (arguments, expected) = arguments(kind, caller, number, random);
        Call::new("/mcp/automotive", kind.tool(), &arguments, expected, era, caller, number)
    }
}

impl Call {
    pub fn new(
        path: &str,
        tool: &str,
        arguments: &Value,
        mut expected: Vec<(String, usize)>,
        era: Era,
        caller: &Caller,
        number: u64,
    ) -> Call {
        let mut params = json!({"name": tool, "arguments": arguments});
        if era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": era.version(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            expected.push(("\"resultType\":\"complete\"".to_owned(), 1));
        }
        let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).to_string();
        expected.push((format!("\"id\":{number},"), 1));
        expected.push(("\"isError\":false".to_owned(), 1));
        Call { request: request(path, tool, era, caller, &body), expected }
    }
}

/// The same read at its route. The reference has no routes and answers it as a message.
#[derive(Debug, Clone, Copy)]
pub struct RestCall(pub Kind);

impl CallSource for RestCall {
    fn call(self, caller: &Caller, number: u64, random: u64) -> Call {
        let (arguments, expected) = arguments(self.0, caller, number, random);
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let dealership = text("dealership_id");
        let path = match self.0 {
            Kind::Get => format!("/v1/vehicles/{}?dealership_id={dealership}", text("id")),
            Kind::Search => format!("/v1/vehicles/search?make={}&limit=25&dealership_id={dealership}", text("make")),
            Kind::SearchStatus | Kind::Create | Kind::CreateInOne => "/v1/vehicles".to_owned(),
        };
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {}\r\naccept: application/json\r\n\r\n",
            caller.port, caller.token,
        );
        // The members of a record are the same, without the message around it.
        let bare = expected.into_iter().map(|(text, times)| (text.replace("\"structuredContent\":", ""), times));
        Call { request: request.into_bytes(), expected: bare.collect() }
    }
}

fn arguments(kind: Kind, caller: &Caller, number: u64, random: u64) -> (Value, Vec<(String, usize)>) {
    let dealership = &caller.dealership;
    let of_the_dealership = |times| (format!("\"dealership_id\":\"{dealership}\""), times);
    match kind {
        Kind::Get => {
            let vehicle = usize::try_from(random).unwrap_or_default() % caller.vehicles.max(1);
            let id = seed::vehicle_id(caller.place, vehicle);
            let expected = vec![(format!("\"structuredContent\":{{\"id\":\"{id}\""), 1), of_the_dealership(1)];
            (json!({"id": id, "dealership_id": dealership}), expected)
        }
        Kind::Search => {
            let expected = vec![(format!("\"make\":\"{}\"", seed::MAKE), 25), of_the_dealership(25)];
            (json!({"make": seed::MAKE, "limit": 25, "dealership_id": dealership}), expected)
        }
        Kind::SearchStatus => {
            let expected = vec![("\"status\":\"available\"".to_owned(), 25), of_the_dealership(25)];
            (json!({"status": "available", "limit": 25, "dealership_id": dealership}), expected)
        }
        Kind::Create | Kind::CreateInOne => {
            let arguments = json!({
                "contact": {"name": format!("Dana Reyes {number}"), "email": format!("dana{number}@example.com")},
                "interest": "test_drive",
                "consent": {"granted": true, "channels": ["email"]},
                "idempotency_key": format!("bench-{number}"),
                "dealership_id": dealership,
            });
            (arguments, vec![("\"type\":\"lead\"".to_owned(), 1), of_the_dealership(1)])
        }
    }
}

fn request(path: &str, tool: &str, era: Era, caller: &Caller, body: &str) -> Vec<u8> {
    let modern = match era {
        Era::Legacy => String::new(),
        Era::Modern => format!("mcp-method: tools/call\r\nmcp-name: {tool}\r\n"),
    };
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: {}\r\n{modern}content-length: {}\r\n\r\n{body}",
        caller.port,
        caller.token,
        era.version(),
        body.len(),
    )
    .into_bytes()
}
