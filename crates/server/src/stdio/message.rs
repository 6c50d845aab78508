//! A line as a message: its kind, and the headers it would have over HTTP. The headers are derived from the message, so they
//! never contradict it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::Reply;
use frontdesk_engine::model::reply::ReplyKind;
use frontdesk_wire::answer::{error, quote};
use frontdesk_wire::frame::{Frame, FrameBody, Id, Notification, Request, read};
use frontdesk_wire::method::Method;
use frontdesk_wire::version::{Version, named, negotiate};
use serde::de::IgnoredAny;
use serde_json::Value;

pub(super) struct Message {
    pub(super) kind: MessageKind,
    pub(super) headers: DerivedHeaders,
}

pub(super) enum MessageKind {
    Request(Id),
    /// The caller has cancelled this request.
    Cancellation(Id),
    /// It gets no answer.
    Notification,
    /// A batch, or not a valid message.
    Other,
}

#[derive(Default)]
pub(super) struct DerivedHeaders {
    pub(super) version: Option<String>,
    pub(super) method: Option<String>,
    pub(super) name: Option<String>,
}

impl Message {
    /// Also stores the version that a handshake negotiates, for the messages after it.
    pub(super) fn parse(bytes: &[u8], negotiated: &mut Option<Version>) -> Message {
        match read(bytes) {
            Ok(FrameBody::One(Frame::Request(request))) => {
                let headers = headers(&request, *negotiated);
                if request.method() == Method::Initialize
                    && let Some(Value::String(requested)) = request.params.get("protocolVersion")
                {
                    *negotiated = Some(negotiate(requested));
                }
                Message { kind: MessageKind::Request(request.id), headers }
            }
            Ok(FrameBody::One(Frame::Notification(notification))) => {
                let kind = cancelled(&notification).map_or(MessageKind::Notification, MessageKind::Cancellation);
                Message { kind, headers: version_only(*negotiated) }
            }
            Ok(FrameBody::One(Frame::Response)) => {
                Message { kind: MessageKind::Notification, headers: version_only(*negotiated) }
            }
            // The engine reports the error.
            Ok(FrameBody::Batch(_)) | Err(_) => Message::unparsed(*negotiated),
        }
    }

    pub(super) fn unparsed(negotiated: Option<Version>) -> Message {
        Message { kind: MessageKind::Other, headers: version_only(negotiated) }
    }
}

fn version_only(negotiated: Option<Version>) -> DerivedHeaders {
    DerivedHeaders { version: negotiated.map(|version| version.as_str().to_owned()), ..DerivedHeaders::default() }
}

fn headers(request: &Request, negotiated: Option<Version>) -> DerivedHeaders {
    let Some(version) = named(request) else {
        return version_only(negotiated);
    };
    let name = request.method().name_param().and_then(|param| request.params.get(param));
    DerivedHeaders {
        version: Some(version.to_owned()),
        method: Some(request.method_name.as_str().to_owned()),
        // Encoded, because a name can contain any character.
        name: name.and_then(Value::as_str).map(|name| format!("=?base64?{}?=", STANDARD.encode(name))),
    }
}

fn cancelled(notification: &Notification) -> Option<Id> {
    if notification.method() != Method::NotificationsCancelled {
        return None;
    }
    match notification.params.get("requestId")? {
        Value::String(text) => Some(Id::Text(text.clone())),
        Value::Number(number) => number.as_i64().map(Id::Number).or(number.as_u64().map(Id::Large)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An answer as a line. A reply that is not JSON-RPC becomes a JSON-RPC error.
pub(super) fn reply_line(reply: Reply, kind: &MessageKind) -> Option<Vec<u8>> {
    let id = match kind {
        MessageKind::Request(id) => Some(id),
        // No answer is expected.
        MessageKind::Notification | MessageKind::Cancellation(_) => return None,
        MessageKind::Other => None,
    };
    let mut text = match reply.kind {
        // Nobody listens to a stream here, so there is none.
        ReplyKind::Empty | ReplyKind::Events => return None,
        ReplyKind::Rpc => reply.body.to_vec(),
        ReplyKind::Plain => {
            let data = match serde_json::from_slice::<IgnoredAny>(&reply.body) {
                Ok(IgnoredAny) => String::from_utf8_lossy(&reply.body).into_owned(),
                Err(_) => quote(&String::from_utf8_lossy(&reply.body)),
            };
            error(id, i64::from(reply.status), "The request was refused", Some(&data))
        }
    };
    // Line breaks in JSON are white space, but here they separate messages.
    for byte in &mut text {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    text.push(b'\n');
    Some(text)
}
