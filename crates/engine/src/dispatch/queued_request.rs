//! A dispatched message with everything that is needed to run it later as its caller would have run it now. It holds
//! what the caller sent, so it is stored sealed or not at all.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_wire::frame::{Id, Request};
use frontdesk_wire::json::{self, Map, Value, canonical};
use frontdesk_wire::method::{Method, MethodName};
use serde::{Deserialize, Serialize};

use super::key::DispatchKey;
use crate::desk::Mount;
use crate::model::caller::{Caller, ClientId, Scope, Scopes, TenantId};
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use crate::model::tool::ToolSpec;
use crate::model::trace::Trace;
use crate::pipeline::precheck::Peek;
use crate::seal::sha256;

/// No tool has a longer name.
const MAX_NAME: usize = 128;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct QueuedRequest {
    pub(crate) key: Option<DispatchKey>,
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
    #[serde(rename = "method")]
    pub(crate) method_name: MethodName,
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
        (Some(key), _) => Some(DispatchKey::parse(key).ok_or_else(invalid_key)?),
        (None, Some(Value::String(key))) => Some(DispatchKey::parse(&key).ok_or_else(invalid_key)?),
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
        method_name: method.into(),
        params,
    })
}

impl QueuedRequest {
    /// The key within its scope: server, client and subject.
    pub(crate) fn key_slot(&self) -> Option<String> {
        let key = self.key.as_ref()?.as_str();
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
        Some(Request { id: request_id(&self.id)?, method_name: self.method_name.clone(), params: self.params.clone() })
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
            route: None,
            name_header: self.name_header.clone(),
            // A write that is repeated after a crash finds its own claim.
            idempotency_key: self.key.as_ref().map(|key| key.as_str().to_owned()),
            listening: Listening::No,
            import_id: None,
            transport_fault: None,
            address: self.address,
            trace: self.trace(),
            body: RequestBody::from_bytes(Vec::new()),
        }
    }

    /// What a partial parse of the message would have seen.
    pub(crate) fn peek(&self) -> Peek<'_> {
        // No check depends on the id.
        Peek { id: None, method_name: Some(&self.method_name), name: self.name() }
    }

    /// The name of the tool, for `tools/call`.
    fn name(&self) -> Option<&str> {
        self.params.get("name").filter(|_| self.method_name.method() == Method::ToolsCall)?.as_str()
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

fn invalid_key() -> Fault {
    bad("An idempotency key is 1 to 255 printable ASCII characters.")
}

fn bad(message: &'static str) -> Fault {
    Fault::new(FaultKind::BadDispatch, message)
}

#[cfg(test)]
mod tests {
    use super::{QueuedRequest, read};
    use crate::model::caller::{Caller, ClientId, Scopes, TenantId};
    use crate::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
    use crate::model::trace::Trace;

    /// A task that an earlier version has stored must be read, and a repeat must be recognised by its hash.
    #[test]
    fn a_request_is_stored_and_hashed_as_ever() {
        for (method, hash) in [
            ("tools/call", "9fb623e26ccf3c6ef8d3f8f1baf21b34b8050c2608333bd1042658b0ff49a057"),
            ("admin/reindex", "ad8af5d08121c01b9caa53525045699f9c3ac759c50be25e2af5bcec9de9213f"),
        ] {
            let stored = format!(
                r#"{{"key":"a key","meaning":"{hash}","server":"s","client":"c","subject":"u","tenants":["north"],"scopes":[],"authenticated_at":null,"address":"192.0.2.1","trace":"t1","trace_name":null,"protocol_version":null,"method_header":null,"name_header":null,"id":7,"method":"{method}","params":{{"name":"book.get"}}}}"#
            );
            assert_eq!(serde_json::to_string(&queued(method)).unwrap(), stored);
            let again: QueuedRequest = serde_json::from_str(&stored).unwrap();
            assert_eq!(again.request().unwrap().method_name.as_str(), method);
            assert_eq!(serde_json::to_string(&again).unwrap(), stored);
        }
    }

    fn queued(method: &str) -> QueuedRequest {
        let body =
            format!(r#"{{"id":7,"method":"{method}","params":{{"name":"book.get"}},"idempotency_key":"a key"}}"#);
        let caller = Caller {
            client: ClientId::new("c"),
            subject: "u".into(),
            tenants: TenantId::parse("north").into_iter().collect(),
            scopes: Scopes::new([]),
            authenticated_at: None,
        };
        let incoming = Incoming {
            verb: Verb::Post,
            credential: Credential::Missing,
            protocol_version: None,
            method_header: None,
            route: None,
            name_header: None,
            idempotency_key: None,
            listening: Listening::No,
            import_id: None,
            transport_fault: None,
            address: [192, 0, 2, 1].into(),
            trace: Trace::new("t1"),
            body: RequestBody::from_bytes(Vec::new()),
        };
        read(body.as_bytes(), "s", &incoming, &caller).unwrap()
    }
}
