//! Bytes into JSON-RPC frames: what is asked, under which id, with which parameters. It judges the
//! envelope only and must never look for the meaning of a method.

mod envelope;

use std::fmt;

use serde::Serialize;

use crate::answer::code;
use crate::json::{self, JsonError, Map, Value};
use crate::method::{Method, MethodName};
use envelope::{Envelope, Outermost, outermost};

/// More than any client sends, and few enough that one body cannot hold the desk for long.
const MAX_BATCH: usize = 64;

/// An id is echoed and kept while its call runs, so its length is bounded.
const MAX_ID_BYTES: usize = 256;

/// Reads one body: a single frame, or a batch whose elements stand and fall each for itself.
pub fn read(bytes: &[u8]) -> Result<FrameBody, FrameError> {
    match json::read(bytes, outermost).map_err(FrameError::Malformed)? {
        Outermost::Message(envelope) => frame(envelope).map(FrameBody::One),
        Outermost::List(items) if items.is_empty() => Err(refused(None, "A batch must not be empty.")),
        Outermost::List(items) if items.len() > MAX_BATCH => {
            Err(refused(None, "A batch must not hold more than 64 messages."))
        }
        Outermost::List(items) => Ok(FrameBody::Batch(items.into_iter().map(element).collect())),
        Outermost::Other => Err(no_object()),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrameBody {
    One(Frame),
    Batch(Vec<Result<Frame, FrameError>>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    Request(Request),
    Notification(Notification),
    /// The client answers something that the desk never asked; there is nothing in it to keep.
    Response,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub id: Id,
    pub method_name: MethodName,
    pub params: Map<String, Value>,
}

impl Request {
    pub fn method(&self) -> Method {
        self.method_name.method()
    }

    /// What the client says about the request itself, when it says it as an object.
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get("_meta").and_then(Value::as_object)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    pub method_name: MethodName,
    pub params: Map<String, Value>,
}

impl Notification {
    pub fn method(&self) -> Method {
        self.method_name.method()
    }
}

/// The id of a request, echoed with its type: to a client `1` and `"1"` are two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Id {
    Number(i64),
    /// A whole number above `i64::MAX`.
    Large(u64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrameError {
    Malformed(JsonError),
    /// JSON, but not a message of JSON-RPC 2.0; with the id, where one could be read.
    InvalidRequest {
        id: Option<Id>,
        why: &'static str,
    },
}

impl FrameError {
    pub fn code(&self) -> i64 {
        match self {
            Self::Malformed(_) => code::PARSE_ERROR,
            Self::InvalidRequest { .. } => code::INVALID_REQUEST,
        }
    }

    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Malformed(_) => None,
            Self::InvalidRequest { id, .. } => id.as_ref(),
        }
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::InvalidRequest { why, .. } => f.write_str(why),
        }
    }
}

impl std::error::Error for FrameError {}

/// One message of a batch.
fn element(value: Value) -> Result<Frame, FrameError> {
    match value {
        Value::Object(members) => frame(Envelope::of(members)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Err(no_object()),
    }
}

fn no_object() -> FrameError {
    refused(None, "A message must be an object.")
}

fn frame(envelope: Envelope) -> Result<Frame, FrameError> {
    let named_id = envelope.id.is_some();
    let id = envelope.id.and_then(id);

    if envelope.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
        return Err(refused(id, "A message must say \"jsonrpc\":\"2.0\"."));
    }
    let answers = envelope.result.is_some() || envelope.error.is_some();
    let method_name = match envelope.method {
        // Whoever stands between client and desk could take such a message for the one or the
        // other.
        Some(_) if answers => {
            return Err(refused(id, "A message must not be a request and a response at once."));
        }
        Some(Value::String(name)) => MethodName::from(name),
        Some(_) => return Err(refused(id, "The method must be a string.")),
        None if answers => return Ok(Frame::Response),
        None => return Err(refused(id, "A message must name a method.")),
    };
    let params = match envelope.params {
        Some(Value::Object(params)) => params,
        Some(_) => return Err(refused(id, "The params must be an object.")),
        None => Map::new(),
    };
    match id {
        Some(id) => Ok(Frame::Request(Request { id, method_name, params })),
        None if named_id => Err(refused(None, "The id must be a whole number or a string of at most 256 bytes.")),
        None => Ok(Frame::Notification(Notification { method_name, params })),
    }
}

pub(crate) fn id(value: Value) -> Option<Id> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(Id::Number(whole)),
            None => number.as_u64().map(Id::Large),
        },
        Value::String(text) => (text.len() <= MAX_ID_BYTES).then_some(Id::Text(text)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn refused(id: Option<Id>, why: &'static str) -> FrameError {
    FrameError::InvalidRequest { id, why }
}
