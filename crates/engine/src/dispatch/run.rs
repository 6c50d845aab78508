//! Runs a queued request through the path of a call, as its caller.

use std::sync::Arc;

use frontdesk_wire::answer::quote;
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::queued_request::QueuedRequest;
use super::reply::CallAnswer;
use crate::desk::{Desk, Mount};
use crate::model::fault::{Fault, FaultKind};
use crate::model::reply::{Reply, ReplyKind};
use crate::pipeline::admit::Charge;
use crate::pipeline::precheck::check_server_allowed;
use crate::pipeline::record::{CallRecord, RunCall, record_call};
use crate::serve::{CallContext, handle_request};

pub(crate) struct RunResult {
    pub(crate) answer: CallAnswer,
    pub(crate) keep: AnswerUse,
    /// The reply of the call itself, for a caller who is not told that the message is completed.
    pub(crate) reply: Reply,
}

/// Whether the answer is stored, or the request will be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerUse {
    Final,
    Temporary,
}

/// Runs a request as part of the call that dispatched it; both have one record.
pub(crate) async fn run_dispatched(
    context: &mut CallContext<'_, '_>,
    request: &QueuedRequest,
    charge: Charge,
) -> RunResult {
    let CallRecord { desk, mount, .. } = *context.record;
    let deadline = context.deadline;
    let call = QueuedCall { request, dispatched_by: Some(context.record), deadline, charge };
    RunResult::new(request, record_call(desk, mount, &request.incoming(), call).await)
}

/// Runs a request whose caller is not waiting. It was charged when it was accepted.
pub(crate) async fn run_accepted(desk: &Desk, mount: &Mount, request: &QueuedRequest) -> RunResult {
    let deadline = Instant::now() + desk.settings.deadline;
    let call = QueuedCall { request, dispatched_by: None, deadline, charge: Charge::Paid };
    RunResult::new(request, record_call(desk, mount, &request.incoming(), call).await)
}

struct QueuedCall<'q, 'a> {
    request: &'q QueuedRequest,
    dispatched_by: Option<&'q mut CallRecord<'a>>,
    deadline: Instant,
    charge: Charge,
}

impl RunCall for QueuedCall<'_, '_> {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        let caller = Arc::new(self.request.caller());
        let mut context = CallContext::new(call_record, caller, self.deadline, self.charge);
        if let Some(dispatched_by) = self.dispatched_by {
            context.record.take_over(dispatched_by);
        }
        // The operator may have denied the server since the message was accepted.
        context.record.mount.policy.as_ref().map_or(Ok(()), check_server_allowed)?;
        let message = self.request.request().ok_or_else(|| Fault::internal("a request cannot be read"))?;
        handle_request(&mut context, message).await
    }
}

impl RunResult {
    fn new(request: &QueuedRequest, reply: Reply) -> RunResult {
        RunResult { keep: keep(reply.fault), answer: answer(request, &reply), reply }
    }
}

fn answer(request: &QueuedRequest, reply: &Reply) -> CallAnswer {
    let text = || String::from_utf8_lossy(&reply.body).into_owned();
    let response = match reply.kind {
        ReplyKind::Empty => "null".to_owned(),
        ReplyKind::Rpc | ReplyKind::Plain | ReplyKind::Events => {
            match serde_json::from_slice::<IgnoredAny>(&reply.body) {
                Ok(IgnoredAny) => text(),
                Err(_) => quote(&text()),
            }
        }
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
