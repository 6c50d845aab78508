//! What the small server does: five tools over a map, and one defect at most.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "sandbox-token-1234";
const INTENT: &str = include_str!("intent.json");

/// The one thing that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    None,
    NoToolsCapability,
    GenericName,
    UnknownVersion,
    OtherId,
    NeedsAccept,
    Endless,
    Redirect,
    LongDescription,
    NoMeta,
    ThreeSignals,
    ForeignCallback,
    NextCursor,
    UnknownIntent,
    PartialToolset,
    ExtraTool,
    OtherWidget,
    OtherInput,
    NotRequired,
    RefusesCommonArguments,
    FreeTextError,
    ExtraField,
    MissingField,
    NullField,
    FreeVocabulary,
    TwoItems,
    Expired,
    Forbidden,
    ForbiddenInSchema,
    OpenToStrangers,
    PlainRefusal,
    EchoesToken,
    BooksTwice,
    NoConflict,
    NoKeyNeeded,
    Slow,
    NoRetryAfter,
    LongRetryAfter,
    SteersTerminal,
    /// No defect: answers come as streams.
    Streams,
    /// No defect: nobody is limited.
    Unlimited,
}

/// An answer over HTTP.
pub(crate) struct Sent {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct Desk {
    /// Body and reference by key.
    keys: BTreeMap<String, (Value, String)>,
    pub(crate) open: BTreeSet<String>,
    bookings: usize,
    searches: BTreeMap<String, usize>,
    slow: usize,
}

pub(crate) struct Request {
    pub(crate) token: Option<String>,
    pub(crate) accepts: bool,
    pub(crate) message: Value,
}

impl Desk {
    pub(crate) fn answer(&mut self, defect: Defect, request: &Request) -> Sent {
        let id = if defect == Defect::OtherId { json!("other") } else { request.message["id"].clone() };
        let reply =
            |status: u16, body: Value| Sent { status, headers: Vec::new(), body: body.to_string().into_bytes() };
        if defect == Defect::Endless {
            return Sent { status: 200, headers: Vec::new(), body: vec![b' '; 5 << 20] };
        }
        if defect == Defect::Redirect {
            return Sent {
                status: 301,
                headers: vec![("location", "https://elsewhere.example/".to_owned())],
                body: Vec::new(),
            };
        }
        if defect == Defect::NeedsAccept && !request.accepts {
            return Sent { status: 406, headers: Vec::new(), body: Vec::new() };
        }
        if request.token.as_deref() != Some(TOKEN) && defect != Defect::OpenToStrangers {
            return match defect {
                Defect::PlainRefusal => reply(403, json!({"message": "no"})),
                _ => reply(401, error(&id, -32000, "INVALID_AUTH", None)),
            };
        }
        let params = &request.message["params"];
        let mut sent = match request.message["method"].as_str().unwrap() {
            "initialize" => reply(200, result(&id, handshake(defect))),
            "tools/list" => reply(200, result(&id, list(defect))),
            "tools/call" => self.call(defect, &id, params["name"].as_str().unwrap(), &params["arguments"]),
            _ => reply(200, error(&id, -32601, "METHOD_NOT_FOUND", None)),
        };
        if defect == Defect::EchoesToken {
            sent.headers.push(("x-debug", format!("token={TOKEN}")));
        }
        sent
    }

    fn call(&mut self, defect: Defect, id: &Value, tool: &str, arguments: &Value) -> Sent {
        let reply = |body: Value| Sent { status: 200, headers: Vec::new(), body: body.to_string().into_bytes() };
        let file = intent();
        let spec = file["tools"].as_array().unwrap().iter().find(|spec| spec["name"] == tool).unwrap().clone();
        for name in spec["input"]["required"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            if arguments.get(name).is_none() && !(name == "idempotency_key" && defect == Defect::NoKeyNeeded) {
                if defect == Defect::FreeTextError {
                    return reply(result(id, json!({"isError": true, "content": [{"type": "text", "text": "no"}]})));
                }
                return reply(error(id, -32602, "INVALID_REQUEST", Some(name)));
            }
        }
        if tool == "search_availability" {
            let session = arguments["user_session_id"].as_str().unwrap_or_default().to_owned();
            let count = self.searches.entry(session).or_default();
            *count += 1;
            if *count > 10 && defect != Defect::Unlimited {
                let mut limited = reply(error(id, -32001, "RATE_LIMITED", None));
                match defect {
                    Defect::NoRetryAfter => {}
                    Defect::LongRetryAfter => limited.headers.push(("retry-after", "60".to_owned())),
                    _ => limited.headers.push(("retry-after", "1".to_owned())),
                }
                return limited;
            }
        }
        match self.payload(defect, tool, arguments) {
            Ok(payload) => {
                let item = json!({"type": "text", "text": payload.to_string()});
                let items = if defect == Defect::TwoItems { json!([item, item]) } else { json!([item]) };
                reply(result(id, json!({"content": items})))
            }
            Err(code) => reply(error(id, -32602, code, None)),
        }
    }

    fn payload(&mut self, defect: Defect, tool: &str, arguments: &Value) -> Result<Value, &'static str> {
        let mut listing = json!({"listing_id": "h_1", "name": "Sea View", "price_inr": 4200});
        match defect {
            Defect::ExtraField => listing["stars"] = json!(4),
            Defect::MissingField => drop(listing.as_object_mut().unwrap().remove("name")),
            Defect::NullField => listing["price_inr"] = Value::Null,
            Defect::Forbidden => listing["sponsoredRank"] = json!(1),
            Defect::SteersTerminal => listing["\u{1b}[2J"] = json!(1),
            _ => {}
        }
        match tool {
            "search_availability" => {
                self.slow += 1;
                if defect == Defect::Slow && self.slow <= 2 {
                    sleep(Duration::from_millis(1_600));
                }
                let expires_at =
                    if defect == Defect::Expired { "2020-01-01T00:00:00Z" } else { "2099-01-01T00:00:00Z" };
                Ok(json!({"listings": [listing], "result_token": "tok", "expires_at": expires_at}))
            }
            "get_listing" => Ok(listing),
            "create_booking" => self.book(defect, arguments),
            "modify_booking" => {
                let reference = arguments["booking_ref"].as_str().unwrap();
                if !self.open.contains(reference) {
                    return Err("NOT_FOUND");
                }
                Ok(json!({"booking_ref": reference, "status": "confirmed", "price_inr": 8400}))
            }
            _ => {
                let reference = arguments["booking_ref"].as_str().unwrap();
                if !self.open.remove(reference) {
                    return Err("NOT_FOUND");
                }
                Ok(json!({"booking_ref": reference, "status": "cancelled", "refund_inr": 4200}))
            }
        }
    }

    fn book(&mut self, defect: Defect, arguments: &Value) -> Result<Value, &'static str> {
        let status = if defect == Defect::FreeVocabulary { "all good!" } else { "confirmed" };
        let key = arguments["idempotency_key"].as_str().unwrap_or_default().to_owned();
        let known = self.keys.get(&key).filter(|_| !key.is_empty() && defect != Defect::BooksTwice);
        if let Some((body, reference)) = known
            && (body == arguments || defect == Defect::NoConflict)
        {
            let status = if self.open.contains(reference) { status } else { "cancelled" };
            return Ok(json!({"booking_ref": reference, "status": status}));
        }
        if known.is_some() {
            return Err("IDEMPOTENCY_CONFLICT");
        }
        self.bookings += 1;
        let reference = format!("b_{}", self.bookings);
        self.open.insert(reference.clone());
        self.keys.insert(key, (arguments.clone(), reference.clone()));
        Ok(json!({"booking_ref": reference, "status": status}))
    }
}

fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i64, tomo: &str, field: Option<&str>) -> Value {
    let mut data = json!({"tomo_error_code": tomo});
    if let Some(field) = field {
        data["tomo_field"] = json!(field);
    }
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}})
}

fn intent() -> Value {
    serde_json::from_str(INTENT).unwrap()
}

fn handshake(defect: Defect) -> Value {
    let name = if defect == Defect::GenericName { "mcp-server" } else { "Seaside Rooms" };
    let version = if defect == Defect::UnknownVersion { "1999-01-01" } else { "2024-11-05" };
    let capabilities = if defect == Defect::NoToolsCapability { json!({}) } else { json!({"tools": {}}) };
    json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": name, "version": "1.0.0"}})
}

/// The tools of the intent file, with what TOMO wants beside them.
fn list(defect: Defect) -> Value {
    let file = intent();
    let mut tools = Vec::new();
    for spec in file["tools"].as_array().unwrap() {
        let mut input = spec["input"].clone();
        if defect != Defect::RefusesCommonArguments {
            for name in ["intent", "intent_version", "request_id", "user_session_id"] {
                input["properties"][name] = json!({"type": "string"});
            }
            input["properties"]["context"] = json!({"type": "object"});
        }
        tools.push(json!({
            "name": spec["name"],
            "description": spec["description"],
            "inputSchema": input,
            "_meta": {"tomo": {
                "intent": "demo.book_room",
                "intent_version": "v1.2.0",
                "tool_role": spec["role"],
                "result_widget": spec["widget"],
                "ttbs_signals": {"time": 0.6, "taste": 0.8, "budget": 0.5, "safety": 1},
                "service_area": ["Pune", "411001"],
                "pricing_band": "good",
                "completion_callback": "https://tomo.example/api/v1/cpc/mcp_provider/seaside",
            }},
        }));
    }
    let (search, create) = (0, 2);
    match defect {
        Defect::LongDescription => tools[search]["description"] = json!("x".repeat(141)),
        Defect::NoMeta => drop(tools[1].as_object_mut().unwrap().remove("_meta")),
        Defect::ThreeSignals => {
            drop(tools[search]["_meta"]["tomo"]["ttbs_signals"].as_object_mut().unwrap().remove("safety"));
        }
        Defect::ForeignCallback => {
            tools[search]["_meta"]["tomo"]["completion_callback"] = json!("http://tomo.example/done");
        }
        Defect::UnknownIntent => {
            tools.iter_mut().for_each(|tool| tool["_meta"]["tomo"]["intent"] = json!("demo.book_rooms"))
        }
        Defect::PartialToolset => drop(tools.pop()),
        Defect::ExtraTool => {
            let mut extra = tools[search].clone();
            extra["name"] = json!("list_offers");
            tools.push(extra);
        }
        Defect::OtherWidget => tools[search]["_meta"]["tomo"]["result_widget"] = json!("cards"),
        Defect::OtherInput => tools[4]["inputSchema"]["properties"]["nights"] = json!({"type": "string"}),
        Defect::NotRequired => {
            drop(tools[create]["inputSchema"]["required"].as_array_mut().unwrap().remove(1));
        }
        Defect::ForbiddenInSchema => tools[search]["outputSchema"] = json!({"properties": {"ad_bid": {}}}),
        _ => {}
    }
    let mut result = json!({"tools": tools});
    if defect == Defect::NextCursor {
        result["nextCursor"] = json!("more");
    }
    result
}
