//! Stage 3: from bytes to messages, and from a request to its era. Pure.

use std::collections::HashSet;

use frontdesk_wire::frame::{self, Body, Frame, FrameError, Id, Notification, Request};
use frontdesk_wire::version::{self, Era, EraError, Headers, Version};

use crate::caller::Caller;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::incoming::Incoming;
use crate::stages::door::Passed;

/// Why a request holds no message, and the id it named where one could be read.
#[derive(Debug)]
pub struct Unframed {
    pub fault: Fault,
    pub id: Option<Id>,
}

pub(crate) fn frame(mount: &Mount, incoming: &Incoming, passed: Passed) -> Result<Body, Unframed> {
    let body = match passed {
        Passed::Bytes(bytes) => frame::read(&bytes)?,
        Passed::Message(frame) => Body::One(frame),
    };
    match (&body, &mount.door) {
        (Body::Batch(_), Some(_)) => {
            // The door looks at one message: what stands in a batch would have passed it unseen.
            return Err(Fault::new(FaultKind::NotRpc, "Send one message per request; batches are not taken.").into());
        }
        (Body::Batch(frames), None) => allow_batch(incoming, frames)?,
        (Body::One(_), _) => {}
    }
    Ok(body)
}

/// Batches belong to one version, which is also the one meant when no header names any.
fn allow_batch(incoming: &Incoming, frames: &[Result<Frame, FrameError>]) -> Result<(), Fault> {
    let version = match incoming.protocol_version.as_deref() {
        None => Some(Version::V2025_03_26),
        Some(named) => Version::parse(named),
    };
    if !version.is_some_and(Version::takes_batches) {
        return Err(Fault::new(
            FaultKind::NotRpc,
            "Batches exist only in protocol version 2025-03-26; send one message per request.",
        ));
    }
    let requests = frames.iter().filter(|frame| matches!(frame, Ok(Frame::Request(_)))).count();
    if incoming.idempotency_key.is_some() && requests > 1 {
        return Err(Fault::new(
            FaultKind::NotRpc,
            "An Idempotency-Key header names one request; send each with a key in its arguments, or by itself.",
        ));
    }
    let mut ids = HashSet::new();
    for frame in frames {
        if let Ok(Frame::Request(request)) = frame {
            if request.method == "initialize" {
                return Err(Fault::new(FaultKind::NotRpc, "`initialize` must not be part of a batch."));
            }
            if !ids.insert(&request.id) {
                return Err(Fault::new(FaultKind::NotRpc, "Two requests of this batch have the same id."));
            }
        }
    }
    Ok(())
}

pub fn era(incoming: &Incoming, request: &Request) -> Result<Era, Fault> {
    let headers = Headers {
        protocol_version: incoming.protocol_version.as_deref(),
        method: incoming.method_header.as_deref(),
        name: incoming.name_header.as_deref(),
    };
    version::decide(&headers, request).map_err(|error| {
        let kind = match &error {
            EraError::Unsupported { .. } => FaultKind::WrongVersion,
            EraError::HeaderMismatch { .. } => FaultKind::HeaderMismatch,
            EraError::BadMeta { .. } => FaultKind::InvalidArgument,
        };
        Fault { data: error.data(), ..Fault::new(kind, error.to_string()) }
    })
}

pub fn withdraw(desk: &Desk, caller: &Caller, notification: &Notification) {
    if notification.method != "notifications/cancelled" {
        return;
    }
    let named = notification.params.get("requestId");
    let id = match named {
        Some(serde_json::Value::String(text)) => Some(Id::Text(text.clone())),
        Some(serde_json::Value::Number(number)) => match number.as_i64() {
            Some(whole) => Some(Id::Number(whole)),
            None => number.as_u64().map(Id::Large),
        },
        Some(_) | None => None,
    };
    if let Some(id) = id {
        desk.inflight.withdraw(&caller.client, &id);
    }
}

impl From<Fault> for Unframed {
    fn from(fault: Fault) -> Unframed {
        Unframed { fault, id: None }
    }
}

impl From<FrameError> for Unframed {
    fn from(error: FrameError) -> Unframed {
        Unframed { id: error.id().cloned(), fault: error.into() }
    }
}

impl From<FrameError> for Fault {
    fn from(error: FrameError) -> Fault {
        match error {
            FrameError::Malformed(error) => Fault::new(FaultKind::Malformed, error.to_string()),
            FrameError::NotRpc { why, .. } => Fault::new(FaultKind::NotRpc, why),
        }
    }
}
