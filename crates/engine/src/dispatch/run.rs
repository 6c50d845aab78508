//! Runs a queued request through the path of a call, as its caller.

use std::sync::Arc;

use frontdesk_wire::answer::quote;
use frontdesk_wire::frame::Frame;
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::queued_request::QueuedRequest;
use super::reply::CallAnswer;
use crate::desk::{Desk, Mount};
use crate::model::fault::{Fault, FaultKind};
use crate::model::reply::{Reply, ReplyKind};
use crate::pipeline::admit::Charge;
use crate::pipeline::precheck::check_server_allowed;
use crate::pipeline::record::{CallRecord, record};
use crate::serve::{CallContext, handle_message};

pub(crate) struct RunResult {
    pub(crate) answer: CallAnswer,
    pub(crate) keep: AnswerUse,
}

/// Whether the answer is stored, or the request will be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerUse {
    Final,
    Temporary,
}

pub(crate) async fn run(
    desk: &Desk,
    mount: &Mount,
    request: &QueuedRequest,
    call_record: CallRecord<'_>,
    deadline: Instant,
    charge: Charge,
) -> RunResult {
    let caller = Arc::new(request.caller());
    let incoming = request.incoming();
    let context = CallContext { desk, mount, incoming: &incoming, caller: &caller, deadline, charge };
    // The operator may have denied the server since the message was accepted.
    let open = mount.policy.as_ref().map_or(Ok(()), check_server_allowed);
    let message = open.and_then(|()| request.request().ok_or_else(|| Fault::internal("a request cannot be read")));
    let reply = match message {
        Ok(message) => handle_message(&context, call_record, Ok(Frame::Request(message))).await,
        Err(fault) => record(call_record, Err(fault), &context.reply_context()).await,
    };
    RunResult { keep: keep(reply.fault), answer: answer(request, &reply) }
}

fn answer(request: &QueuedRequest, reply: &Reply) -> CallAnswer {
    let text = || String::from_utf8_lossy(&reply.body).into_owned();
    let response = match reply.kind {
        ReplyKind::Empty => "null".to_owned(),
        ReplyKind::Rpc | ReplyKind::Plain => match serde_json::from_slice::<IgnoredAny>(&reply.body) {
            Ok(IgnoredAny) => text(),
            Err(_) => quote(&text()),
        },
    };
    CallAnswer { http_status: reply.status, trace_id: request.shown_trace().to_owned(), response }
}

/// Faults that may pass by themselves are not stored as the answer.
fn keep(fault: Option<FaultKind>) -> AnswerUse {
    match fault {
        Some(kind) if kind.retryable() || kind == FaultKind::Internal => AnswerUse::Temporary,
        Some(_) | None => AnswerUse::Final,
    }
}
