//! A dispatched message with everything that is needed to run it later as its caller would have run it now. It holds
//! what the caller sent, so it is stored sealed or not at all.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_wire::frame::{Id, Request};
use frontdesk_wire::json::{self, Map, Value, canonical};
use serde::{Deserialize, Serialize};

use crate::desk::Mount;
use crate::model::caller::{Caller, ClientId, Scope, Scopes, TenantId};
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Credential, Incoming, RequestBody, Verb};
use crate::model::tool::ToolSpec;
use crate::model::trace::Trace;
use crate::pipeline::precheck::Peek;
use crate::seal::sha256;

const MAX_KEY: usize = 255;
/// No tool has a longer name.
const MAX_NAME: usize = 128;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct QueuedRequest {
    pub(crate) key: Option<String>,
    /// Hash of server, method, parameters and caller.
    #[serde(rename = "meaning")]
    pub(crate) request_hash: String,
    pub(crate) server: String,
    client: String,
    subject: String,
    tenants: Vec<String>,
    scopes: Vec<String>,
    authenticated_at: Option<i64>,
    address: IpAddr,
    trace: String,
    trace_name: Option<String>,
    protocol_version: Option<String>,
    method_header: Option<String>,
    name_header: Option<String>,
    id: Value,
    pub(crate) method: String,
    params: Map<String, Value>,
}

/// Parses one message. An invalid one is refused before anything is stored.
pub(crate) fn read(body: &[u8], server: &str, incoming: &Incoming, caller: &Caller) -> Result<QueuedRequest, Fault> {
    let Ok(Value::Object(mut envelope)) = json::parse(body) else {
        return Err(bad("Send one JSON-RPC message as a JSON object."));
    };
    if envelope.get("jsonrpc").is_some_and(|version| version.as_str() != Some("2.0")) {
        return Err(bad("The member `jsonrpc` must be \"2.0\"."));
    }
    let Some(Value::String(method)) = envelope.remove("method").filter(|method| method.as_str() != Some("")) else {
        return Err(bad("The member `method` is required and must be a string."));
    };
    let params = match envelope.remove("params") {
        Some(Value::Object(params)) => params,
        None | Some(Value::Null) => Map::new(),
        Some(_) => return Err(bad("The member `params` must be an object.")),
    };
    let id = match envelope.remove("id") {
        None | Some(Value::Null) => Value::from(&*incoming.trace.id),
        Some(id) if request_id(&id).is_some() => id,
        Some(_) => return Err(bad("The member `id` must be a whole number or a string of at most 256 bytes.")),
    };
    let key = match (&incoming.idempotency_key, envelope.remove("idempotency_key")) {
        (Some(key), _) => Some(check_key(key)?),
        (None, Some(Value::String(key))) => Some(check_key(&key)?),
        (None, None | Some(Value::Null)) => None,
        (None, Some(_)) => return Err(invalid_key()),
    };
    Ok(QueuedRequest {
        key,
        request_hash: request_hash(server, &method, &params, caller),
        server: server.to_owned(),
        client: caller.client.as_str().to_owned(),
        subject: caller.subject.to_string(),
        tenants: caller.tenants.iter().map(TenantId::to_string).collect(),
        scopes: caller.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        authenticated_at: caller.authenticated_at,
        address: incoming.address,
        trace: incoming.trace.id.to_string(),
        trace_name: incoming.trace.name.as_deref().map(str::to_owned),
        protocol_version: incoming.protocol_version.clone(),
        method_header: incoming.method_header.clone(),
        name_header: incoming.name_header.clone(),
        id,
        method,
        params,
    })
}

impl QueuedRequest {
    /// The key within its scope: server, client and subject.
    pub(crate) fn key_slot(&self) -> Option<String> {
        let key = self.key.as_deref()?;
        Some(serde_json::json!([self.server, self.client, self.subject, key]).to_string())
    }

    /// The caller within the server, for its limit of stored tasks.
    pub(crate) fn owner(&self) -> String {
        serde_json::json!([self.server, self.client, self.subject]).to_string()
    }

    /// What is still needed once it has been answered: enough to recognise a repeat and to decide who may see the
    /// answer.
    pub(crate) fn without_params(mut self) -> QueuedRequest {
        let name = self.name().filter(|name| name.len() <= MAX_NAME).map(Value::from);
        self.params = name.map(|name| ("name".to_owned(), name)).into_iter().collect();
        QueuedRequest { protocol_version: None, method_header: None, name_header: None, ..self }
    }

    pub(crate) fn request(&self) -> Option<Request> {
        Some(Request { id: request_id(&self.id)?, method: self.method.clone(), params: self.params.clone() })
    }

    /// The caller as it was when the message was accepted.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            client: ClientId::new(self.client.as_str()),
            subject: self.subject.as_str().into(),
            tenants: self.tenants.iter().filter_map(|tenant| TenantId::parse(tenant)).collect(),
            scopes: self.scopes(),
            authenticated_at: self.authenticated_at,
        }
    }

    pub(crate) fn trace(&self) -> Trace {
        Trace { name: self.trace_name.as_deref().map(Arc::from), ..Trace::new(self.trace.as_str()) }
    }

    /// The trace id as the caller knows it.
    pub(crate) fn shown_trace(&self) -> &str {
        self.trace_name.as_deref().unwrap_or(&self.trace)
    }

    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::new(self.scopes.iter().map(|scope| Scope::new(scope.as_str())))
    }

    /// As it came from the network, without its body.
    pub(crate) fn incoming(&self) -> Incoming {
        Incoming {
            verb: Verb::Post,
            // Checked when the message was accepted, and not stored.
            credential: Credential::Unusable,
            protocol_version: self.protocol_version.clone(),
            method_header: self.method_header.clone(),
            name_header: self.name_header.clone(),
            // A write that is repeated after a crash finds its own claim.
            idempotency_key: self.key.clone(),
            transport_fault: None,
            address: self.address,
            trace: self.trace(),
            body: RequestBody::from_bytes(Vec::new()),
        }
    }

    /// What a partial parse of the message would have seen.
    pub(crate) fn peek(&self) -> Peek<'_> {
        // No check depends on the id.
        Peek { id: None, method: Some(&self.method), name: self.name() }
    }

    /// The name of the tool, for `tools/call`.
    fn name(&self) -> Option<&str> {
        self.params.get("name").filter(|_| self.method == "tools/call")?.as_str()
    }

    /// The tool it calls, where there is one of that name.
    pub(crate) fn tool<'m>(&self, mount: &'m Mount) -> Option<&'m ToolSpec> {
        let name = self.name()?;
        mount.contract.tools.iter().map(|tool| &tool.spec).find(|spec| spec.name == name)
    }
}

/// The id and `_meta` are left out: a repeat may have others.
fn request_hash(server: &str, method: &str, params: &Map<String, Value>, caller: &Caller) -> String {
    let mut asked = params.clone();
    asked.remove("_meta");
    let whole = serde_json::json!({
        "server": server,
        "method": method,
        "params": asked,
        "caller": [caller.client.as_str(), &*caller.subject],
    });
    let mut text = String::with_capacity(64);
    for byte in sha256(&canonical(&whole)) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn request_id(id: &Value) -> Option<Id> {
    match id {
        Value::Number(number) => number.as_i64().map(Id::Number).or_else(|| number.as_u64().map(Id::Large)),
        Value::String(text) => (text.len() <= 256).then(|| Id::Text(text.clone())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn check_key(key: &str) -> Result<String, Fault> {
    let fits = (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    fits.then(|| key.to_owned()).ok_or_else(invalid_key)
}

fn invalid_key() -> Fault {
    bad("An idempotency key is 1 to 255 printable ASCII characters.")
}

fn bad(message: &'static str) -> Fault {
    Fault::new(FaultKind::BadDispatch, message)
}
