//! A line as a message: what kind it is, and which headers it would have come with over HTTP. The headers
//! are made from the message itself, so they can never contradict it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::Reply;
use frontdesk_engine::model::reply::ReplyKind;
use frontdesk_wire::answer::{error, quote};
use frontdesk_wire::frame::{Frame, FrameBody, Id, Notification, Request, read};
use frontdesk_wire::version::{Version, named, negotiate};
use serde::de::IgnoredAny;
use serde_json::Value;

pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) headers: Headers,
}

pub(super) enum Kind {
    Request(Id),
    /// The caller does not want to know any more how this request ends.
    Withdrawal(Id),
    /// Something that gets no answer.
    Notice,
    /// A batch, or no message at all.
    Other,
}

#[derive(Default)]
pub(super) struct Headers {
    pub(super) version: Option<String>,
    pub(super) method: Option<String>,
    pub(super) name: Option<String>,
}

impl Message {
    /// Also notes which version a handshake agrees on: messages after it are in that version.
    pub(super) fn read(bytes: &[u8], agreed: &mut Option<Version>) -> Message {
        match read(bytes) {
            Ok(FrameBody::One(Frame::Request(request))) => {
                let headers = headers(&request, *agreed);
                if request.method == "initialize"
                    && let Some(Value::String(asked)) = request.params.get("protocolVersion")
                {
                    *agreed = Some(negotiate(asked));
                }
                Message { kind: Kind::Request(request.id), headers }
            }
            Ok(FrameBody::One(Frame::Notification(notification))) => {
                let kind = withdrawn(&notification).map_or(Kind::Notice, Kind::Withdrawal);
                Message { kind, headers: in_version(*agreed) }
            }
            Ok(FrameBody::One(Frame::Response)) => Message { kind: Kind::Notice, headers: in_version(*agreed) },
            // The engine says what is wrong with it.
            Ok(FrameBody::Batch(_)) | Err(_) => Message::unread(*agreed),
        }
    }

    pub(super) fn unread(agreed: Option<Version>) -> Message {
        Message { kind: Kind::Other, headers: in_version(agreed) }
    }
}

fn in_version(agreed: Option<Version>) -> Headers {
    Headers { version: agreed.map(|version| version.as_str().to_owned()), ..Headers::default() }
}

fn headers(request: &Request, agreed: Option<Version>) -> Headers {
    let Some(version) = named(request) else {
        return in_version(agreed);
    };
    let name = match request.method.as_str() {
        "tools/call" | "prompts/get" => request.params.get("name"),
        "resources/read" => request.params.get("uri"),
        _ => None,
    };
    Headers {
        version: Some(version.to_owned()),
        method: Some(request.method.clone()),
        // In the form that can carry any text.
        name: name.and_then(Value::as_str).map(|name| format!("=?base64?{}?=", STANDARD.encode(name))),
    }
}

fn withdrawn(notification: &Notification) -> Option<Id> {
    if notification.method != "notifications/cancelled" {
        return None;
    }
    match notification.params.get("requestId")? {
        Value::String(text) => Some(Id::Text(text.clone())),
        Value::Number(number) => number.as_i64().map(Id::Number).or(number.as_u64().map(Id::Large)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An answer as a line. What over HTTP would not be JSON-RPC becomes an error inside it.
pub(super) fn line(reply: Reply, kind: &Kind) -> Option<Vec<u8>> {
    let id = match kind {
        Kind::Request(id) => Some(id),
        // However it ended, nobody waits for it.
        Kind::Notice | Kind::Withdrawal(_) => return None,
        Kind::Other => None,
    };
    let mut text = match reply.kind {
        ReplyKind::Empty => return None,
        ReplyKind::Rpc => reply.body.to_vec(),
        ReplyKind::Plain => {
            let data = match serde_json::from_slice::<IgnoredAny>(&reply.body) {
                Ok(IgnoredAny) => String::from_utf8_lossy(&reply.body).into_owned(),
                Err(_) => quote(&String::from_utf8_lossy(&reply.body)),
            };
            error(id, i64::from(reply.status), "The request was refused", Some(&data))
        }
    };
    // Inside JSON a bare line break is white space, and between messages it is the end of one.
    for byte in &mut text {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    text.push(b'\n');
    Some(text)
}
