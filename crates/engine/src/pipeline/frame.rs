//! Stage 3: from bytes to messages, and from a request to its era. Pure.

use std::collections::HashSet;

use frontdesk_wire::frame::{self, Frame, FrameBody, FrameError, Id, Notification, Request};
use frontdesk_wire::method::Method;
use frontdesk_wire::version::{self, Era, EraError, McpHeaders, Version};

use crate::model::fault::{Fault, FaultKind, ProtocolDetail};
use crate::model::incoming::Incoming;
use crate::pipeline::precheck::Precheck;
use crate::pipeline::record::CallRecord;
use crate::serve::CallContext;

/// Why a request holds no message, and the id it named where one could be read.
#[derive(Debug)]
pub struct FrameRejection {
    pub fault: Fault,
    pub id: Option<Id>,
}

pub(crate) fn frame(context: &CallContext<'_, '_>, checked: Precheck) -> Result<FrameBody, FrameRejection> {
    let CallRecord { mount, incoming, .. } = *context.record;
    let body = match checked {
        Precheck::Bytes(bytes) => frame::read(&bytes)?,
        Precheck::Message(frame) => FrameBody::One(frame),
    };
    match (&body, &mount.policy) {
        (FrameBody::Batch(_), Some(_)) => {
            // The policy looks at one message: the messages of a batch would get past it unchecked.
            return Err(Fault::new(
                FaultKind::InvalidRequest,
                "Send one message per request; batches are not accepted.",
            )
            .into());
        }
        (FrameBody::Batch(frames), None) => allow_batch(incoming, frames)?,
        (FrameBody::One(_), _) => {}
    }
    Ok(body)
}

/// Batches belong to one version, which is also the one meant when no header names any.
fn allow_batch(incoming: &Incoming, frames: &[Result<Frame, FrameError>]) -> Result<(), Fault> {
    let version = match incoming.protocol_version.as_deref() {
        None => Some(Version::V2025_03_26),
        Some(named) => Version::parse(named),
    };
    if !version.is_some_and(Version::allows_batches) {
        return Err(Fault::new(
            FaultKind::InvalidRequest,
            "Batches exist only in protocol version 2025-03-26; send one message per request.",
        ));
    }
    let requests = frames.iter().filter(|frame| matches!(frame, Ok(Frame::Request(_)))).count();
    if incoming.idempotency_key.is_some() && requests > 1 {
        return Err(Fault::new(
            FaultKind::InvalidRequest,
            "An Idempotency-Key header names one request; send each with a key in its arguments, or by itself.",
        ));
    }
    let mut ids = HashSet::new();
    for frame in frames {
        if let Ok(Frame::Request(request)) = frame {
            if request.method() == Method::Initialize {
                return Err(Fault::new(FaultKind::InvalidRequest, "`initialize` must not be part of a batch."));
            }
            if !ids.insert(&request.id) {
                return Err(Fault::new(FaultKind::InvalidRequest, "Two requests of this batch have the same id."));
            }
        }
    }
    Ok(())
}

pub fn era(incoming: &Incoming, request: &Request) -> Result<Era, Fault> {
    let headers = McpHeaders {
        protocol_version: incoming.protocol_version.as_deref(),
        method: incoming.method_header.as_deref(),
        name: incoming.name_header.as_deref(),
    };
    version::decide(&headers, request).map_err(|error| {
        let kind = match &error {
            EraError::Unsupported { .. } => FaultKind::UnsupportedVersion,
            EraError::HeaderMismatch { .. } => FaultKind::HeaderMismatch,
            EraError::BadMeta { .. } => FaultKind::InvalidArgument,
        };
        let detail = error.data().map(|data| Box::new(ProtocolDetail::RpcData(data)));
        Fault { detail, ..Fault::new(kind, error.to_string()) }
    })
}

/// Handles `notifications/cancelled`; other notifications mean nothing here.
pub(crate) fn cancel(context: &CallContext<'_, '_>, notification: &Notification) {
    if notification.method() != Method::NotificationsCancelled {
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
        context.record.desk.inflight.cancel(&context.caller.client, &id);
    }
}

impl From<Fault> for FrameRejection {
    fn from(fault: Fault) -> FrameRejection {
        FrameRejection { fault, id: None }
    }
}

impl From<FrameError> for FrameRejection {
    fn from(error: FrameError) -> FrameRejection {
        FrameRejection { id: error.id().cloned(), fault: error.into() }
    }
}

impl From<FrameError> for Fault {
    fn from(error: FrameError) -> Fault {
        match error {
            FrameError::Malformed(error) => Fault::new(FaultKind::Malformed, error.to_string()),
            FrameError::InvalidRequest { why, .. } => Fault::new(FaultKind::InvalidRequest, why),
        }
    }
}
