//! What the small partner does: four tools over a map, a completion for every live booking that ends, and one defect at
//! most.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) const LIVE: &str = "live-token-1234567";
pub(crate) const SANDBOX: &str = "sandbox-token-1234";
pub(crate) const PARTNER_ID: &str = "tables";
const INTENT: &str = include_str!("intent.json");

/// The one thing that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    None,
    NoMeta,
    // Of answers to live calls.
    ExtraField,
    Forbidden,
    EchoesToken,
    FreeCode,
    BooksTwice,
    KeepsStatus,
    NeverCancels,
    // Of tracking.
    ForeignProgress,
    TalksOn,
    StaysOpen,
    // Of limits.
    LimitsForEver,
    LimitsAgain,
    NoRetryAfter,
    LongRetryAfter,
    // Of what it lists and how fast it is.
    Drifts,
    Slow,
    // Of completions.
    Silent,
    ReportsOpen,
    OtherKey,
    OldKey,
    Seconds,
    Outdated,
    OtherPath,
    OtherMedia,
    ExtraMember,
    FractionalAmount,
    OtherStatus,
    OtherRequest,
    OtherBody,
    GivesUp,
    SameStamp,
}

/// A completion that is owed.
#[derive(Debug, Clone)]
pub(crate) struct OwedCompletion {
    pub(crate) booking_ref: String,
    pub(crate) request_id: String,
    pub(crate) status: &'static str,
}

/// An answer over HTTP.
pub(crate) struct Sent {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) message: Value,
    /// What is sent as events before the answer, and after it.
    pub(crate) events: Option<(Vec<Value>, Vec<Value>)>,
    /// Whether the stream of events ends after them.
    pub(crate) stays_open: bool,
}

pub(crate) struct Request {
    pub(crate) token: Option<String>,
    pub(crate) message: Value,
}

#[derive(Default)]
pub(crate) struct Partner {
    /// Reference by key.
    keys: BTreeMap<String, String>,
    /// Request and status, by reference.
    pub(crate) bookings: BTreeMap<String, (String, &'static str)>,
    lists: usize,
    limits: BTreeMap<String, usize>,
    pub(crate) owed: Vec<OwedCompletion>,
}

impl Partner {
    pub(crate) fn open(&self) -> usize {
        self.bookings.values().filter(|(_, status)| *status == "confirmed").count()
    }

    pub(crate) fn answer(&mut self, defect: Defect, request: &Request) -> Sent {
        let id = request.message["id"].clone();
        let reply = |status: u16, message: Value| Sent {
            status,
            headers: Vec::new(),
            message,
            events: None,
            stays_open: false,
        };
        let is_live = request.token.as_deref() == Some(LIVE);
        if !is_live && request.token.as_deref() != Some(SANDBOX) {
            return reply(401, error(&id, -32000, "INVALID_AUTH"));
        }
        // The registration finds nothing.
        let defect = if is_live || defect == Defect::NoMeta { defect } else { Defect::None };
        let params = &request.message["params"];
        match request.message["method"].as_str().unwrap() {
            "initialize" => {
                let info = json!({"name": "Pune Tables", "version": "1.0.0"});
                let result =
                    json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info});
                reply(200, result_of(&id, result))
            }
            "tools/list" => {
                self.lists += 1;
                reply(200, result_of(&id, list(defect)))
            }
            "tools/call" => self.call(defect, is_live, &id, params),
            _ => reply(200, error(&id, -32601, "METHOD_NOT_FOUND")),
        }
    }

    fn call(&mut self, defect: Defect, is_live: bool, id: &Value, params: &Value) -> Sent {
        let (tool, arguments) = (params["name"].as_str().unwrap(), &params["arguments"]);
        let mut sent = Sent { status: 200, headers: Vec::new(), message: Value::Null, events: None, stays_open: false };
        if let Some(retry_after) = self.limit(defect, tool, arguments) {
            sent.message = error(id, -32001, "RATE_LIMITED");
            sent.headers.extend(retry_after.map(|seconds| ("retry-after", seconds.to_owned())));
            return sent;
        }
        sent.message = match self.payload(defect, is_live, tool, arguments) {
            Ok(payload) => result_of(id, json!({"content": [{"type": "text", "text": payload.to_string()}]})),
            Err(code) => error(id, -32602, code),
        };
        if defect == Defect::EchoesToken {
            sent.headers.push(("x-debug", format!("token={LIVE}")));
        }
        if tool == "track_booking" {
            let token = if defect == Defect::ForeignProgress {
                json!("other")
            } else {
                params["_meta"]["progressToken"].clone()
            };
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1, "total": 2}});
            let after = if defect == Defect::TalksOn { vec![progress.clone()] } else { Vec::new() };
            sent.events = Some((vec![progress], after));
            sent.stays_open = defect == Defect::StaysOpen;
        }
        sent
    }

    /// The Retry-After of a call that is limited.
    fn limit(&mut self, defect: Defect, tool: &str, arguments: &Value) -> Option<Option<&'static str>> {
        let session = arguments["user_session_id"].as_str().unwrap_or_default();
        let count = self.limits.entry(format!("{tool} {session}")).or_default();
        *count += 1;
        let (limited, retry_after) = match defect {
            Defect::LimitsForEver => (usize::MAX, Some("1")),
            Defect::LimitsAgain => (2, Some("1")),
            Defect::NoRetryAfter => (1, None),
            Defect::LongRetryAfter => (1, Some("60")),
            // A limit that TOMO's pauses are enough for is none.
            _ => (1, Some("1")),
        };
        let is_limited = match defect {
            Defect::LimitsForEver | Defect::LimitsAgain | Defect::NoRetryAfter | Defect::LongRetryAfter => true,
            _ => session.starts_with("anon_sim_") && session.ends_with("_0"),
        };
        (tool == "search_tables" && is_limited && *count <= limited).then_some(retry_after)
    }

    fn payload(&mut self, defect: Defect, is_live: bool, tool: &str, arguments: &Value) -> Result<Value, &'static str> {
        match tool {
            "search_tables" => {
                if defect == Defect::Slow {
                    sleep(Duration::from_millis(700));
                }
                let mut table = json!({"table_id": "t_1", "price_inr": 900});
                match defect {
                    Defect::ExtraField => table["seats"] = json!(4),
                    Defect::Forbidden => table["adBid"] = json!(1),
                    Defect::FreeCode => return Err("SOLD OUT, SORRY"),
                    _ => {}
                }
                Ok(json!({"tables": [table], "result_token": "tok", "expires_at": "2099-01-01T00:00:00Z"}))
            }
            "create_booking" => {
                let key = arguments["idempotency_key"].as_str().unwrap_or_default().to_owned();
                let request_id = arguments["request_id"].as_str().unwrap_or_default().to_owned();
                let known = self.keys.get(&key).filter(|_| defect != Defect::BooksTwice).cloned();
                let reference = known.unwrap_or_else(|| format!("b_{}", self.bookings.len() + 1));
                self.keys.insert(key, reference.clone());
                let is_new = !self.bookings.contains_key(&reference);
                let (_, status) = self.bookings.entry(reference.clone()).or_insert((request_id.clone(), "confirmed"));
                let status = if defect == Defect::KeepsStatus { "confirmed" } else { *status };
                if is_new && is_live && defect == Defect::ReportsOpen {
                    self.owe(&reference, request_id, "table_cancelled");
                }
                Ok(json!({"booking_ref": reference, "status": status}))
            }
            "track_booking" => {
                let reference = arguments["booking_ref"].as_str().unwrap();
                let (_, status) = self.bookings.get(reference).ok_or("NOT_FOUND")?;
                Ok(json!({"booking_ref": reference, "status": status}))
            }
            _ => {
                if defect == Defect::NeverCancels {
                    return Err("INTERNAL_ERROR");
                }
                let reference = arguments["booking_ref"].as_str().unwrap().to_owned();
                let (request_id, status) = self.bookings.get_mut(&reference).ok_or("NOT_FOUND")?;
                let (request_id, was_open) = (request_id.clone(), *status == "confirmed");
                *status = "cancelled";
                if was_open && is_live && !matches!(defect, Defect::Silent | Defect::ReportsOpen) {
                    self.owe(&reference, request_id, "table_cancelled");
                }
                Ok(json!({"booking_ref": reference, "status": "cancelled", "refund_inr": 900}))
            }
        }
    }

    fn owe(&mut self, reference: &str, request_id: String, status: &'static str) {
        self.owed.push(OwedCompletion { booking_ref: reference.to_owned(), request_id, status });
    }
}

fn result_of(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i64, tomo: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": {"tomo_error_code": tomo}}})
}

/// The tools of the intent file, with what TOMO wants beside them.
fn list(defect: Defect) -> Value {
    let file: Value = serde_json::from_str(INTENT).unwrap();
    let mut tools = Vec::new();
    for spec in file["tools"].as_array().unwrap() {
        let mut input = spec["input"].clone();
        for name in ["intent", "intent_version", "request_id", "user_session_id"] {
            input["properties"][name] = json!({"type": "string"});
        }
        input["properties"]["context"] = json!({"type": "object"});
        tools.push(json!({
            "name": spec["name"],
            "description": spec["description"],
            "inputSchema": input,
            "_meta": {"tomo": {
                "intent": file["intent"],
                "intent_version": file["intent_version"],
                "tool_role": spec["role"],
                "result_widget": spec["widget"],
                "ttbs_signals": {"time": 0.6, "taste": 0.8, "budget": 0.5, "safety": 1},
                "service_area": ["Pune", "411001"],
                "pricing_band": "good",
                "completion_callback": format!("https://tomo.example/api/v1/cpc/mcp_provider/{PARTNER_ID}"),
            }},
        }));
    }
    match defect {
        // The live token is used to list tools a day later only.
        Defect::Drifts => tools[0]["_meta"]["tomo"]["pricing_band"] = json!("great"),
        Defect::NoMeta => drop(tools[1].as_object_mut().unwrap().remove("_meta")),
        _ => {}
    }
    json!({"tools": tools})
}
