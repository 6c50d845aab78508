//! Dispatched messages: each idempotency key is run once, now or later, however often its message is sent. Running one
//! uses the ordinary path of a call (`handle_request`).

mod config;
mod key;
mod queue;
mod queued_request;
mod reply;
mod run;
mod task;
mod task_store;
mod worker;

use std::time::Duration;

use frontdesk_wire::peek::PeekedMessage;
use tokio::time::{Instant, timeout, timeout_at};

use crate::desk::{Desk, Mount};
use crate::model::caller::{Caller, Scope};
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::Incoming;
use crate::model::reply::Reply;
use crate::model::tool::Effect;
use crate::pipeline::admit::{BodyRate, Charge, take_budget};
use crate::pipeline::frame::FrameRejection;
use crate::pipeline::permit::one_tenant;
use crate::pipeline::precheck::{
    Peek, PeekResult, check_method, check_reply_size, check_scope_and_rate, check_server_known, check_tool_allowed,
    check_transport,
};
use crate::pipeline::record::{CallRecord, RunCall, record_call};
use crate::serve::CallContext;

use key::DispatchKey;
use queued_request::{QueuedRequest, read};
use run::{AnswerUse, RunResult, run_dispatched};
use task::{Task, TaskState};
use task_store::{TaskStore, TaskWrite};

pub use config::{DispatchConfig, DispatchMode, DispatchPreference, OnQueueFull};
pub use queue::{DispatchLimits, TaskQueue};
pub use reply::{CallAnswer, DispatchReply, DispatchStatus, Reused};
pub use task::{EXPIRES_AT, MAX_ATTEMPTS, TASK};
pub use worker::{DeskSource, run_worker};

/// How often the store is polled for an answer of another node. An answer of this node wakes the waiting call.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How often a conflict over one key is retried.
const MAX_ROUNDS: usize = 8;

/// Answers one dispatched message. Mounts without dispatch answer as for an unknown method.
pub async fn dispatch(desk: &Desk, mount: &Mount, wanted: DispatchPreference, incoming: Incoming) -> Reply {
    let mut reply = record_call(desk, mount, &incoming, DispatchCall(wanted)).await;
    if reply.fault == Some(FaultKind::MethodNotAllowed) {
        // DELETE is allowed at the MCP endpoint only.
        reply.headers.retain(|(name, _)| *name != "Allow");
        return reply.header("Allow", "POST");
    }
    reply
}

struct DispatchCall(DispatchPreference);

impl RunCall for DispatchCall {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        let mut context = CallContext::identify(call_record).await?;
        dispatch_message(&mut context, self.0).await
    }
}

/// The call that is run takes over the record of the dispatch, so that both are one call. What fails behind it is
/// recorded separately.
async fn dispatch_message(context: &mut CallContext<'_, '_>, wanted: DispatchPreference) -> Result<Reply, Fault> {
    let CallRecord { desk, mount, .. } = *context.record;
    let (config, request) = match read_request(context).await {
        Ok(read) => read,
        Err(rejection) => return Err(context.record.reject(rejection)),
    };
    let task_store = TaskStore { desk, mount, config };
    context.record.set_method(request.method_name.method());
    context.record.set_tenant(&context.caller, Some(config.tenant.as_str()));
    let decided = timeout_at(context.deadline, decide(&task_store, context, request, wanted)).await;
    match decided.unwrap_or_else(|_| Err(Fault::unavailable("the dispatch was not decided within the deadline")))? {
        Decision::Reply { task, reused } => {
            context.record.add_id(&task.id);
            if is_unmasked(mount, &task.request) {
                context.record.mark_personal();
            }
            limit_reply(mount, &task.request, task_reply(mount, &task, reused))
        }
        Decision::Run(request) => {
            let ran = run_dispatched(context, &request, Charge::Due).await;
            if ran.keep == AnswerUse::Temporary {
                return Ok(ran.reply);
            }
            let reply = mount.contract.dialect.dispatch_reply(&DispatchReply {
                status: DispatchStatus::Completed,
                task_id: None,
                trace_id: request.shown_trace(),
                key: None,
                reused: Reused::No,
                answer: Some(&ran.answer),
            });
            limit_reply(mount, &request, reply)
        }
        Decision::RunTask { task, run_kind } => {
            context.record.add_id(&task.id);
            let charge = match run_kind {
                RunKind::First => Charge::Due,
                RunKind::Resumed => Charge::Paid,
            };
            let ran = run_dispatched(context, &task.request, charge).await;
            finish_task(&task_store, task, run_kind, ran).await
        }
    }
}

/// What is to be done about a message.
enum Decision {
    /// It has been answered, or is queued or running: reply with its status.
    Reply { task: Box<Task>, reused: Reused },
    /// Without a key: run it now and store nothing.
    Run(Box<QueuedRequest>),
    /// This call holds the lease and runs the task.
    RunTask { task: Box<Task>, run_kind: RunKind },
}

/// Whether this call created the task that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunKind {
    First,
    /// An earlier call created it and was answered `accepted`, or was interrupted.
    Resumed,
}

async fn read_request<'a>(
    context: &mut CallContext<'_, 'a>,
) -> Result<(&'a DispatchConfig, QueuedRequest), FrameRejection> {
    let CallRecord { mount, incoming, .. } = *context.record;
    check_method(incoming)?;
    let (body, peeked) = match (&mount.policy, &incoming.transport_fault) {
        (Some(policy), _) => check_transport(context, policy, PeekResult::partial).await?,
        (None, Some(fault)) => return Err(fault.clone().into()),
        (None, None) => (context.collect_body(BodyRate::Json).await?, PeekResult::Partial(PeekedMessage::default())),
    };
    let peek = peeked.peek();
    let read = read_queued_request(context, &body, &peek);
    read.map_err(|fault| FrameRejection { fault, id: peek.id.cloned() })
}

fn read_queued_request<'a>(
    context: &CallContext<'_, 'a>,
    body: &[u8],
    peek: &Peek<'_>,
) -> Result<(&'a DispatchConfig, QueuedRequest), Fault> {
    let CallRecord { mount, incoming, .. } = *context.record;
    let caller = context.caller.as_ref();
    if let Some(policy) = &mount.policy {
        check_server_known(policy)?;
    }
    let config = mount.dispatch.as_ref().ok_or_else(|| {
        Fault::new(FaultKind::UnknownMethod, "Nothing can be dispatched here; send the message to the endpoint.")
    })?;
    let request = read(body, &config.server, incoming, caller)?;
    if let Some(policy) = &mount.policy {
        // The fully parsed request is what will run, so its method is checked again if the partial parse saw another.
        let read = request.peek();
        if read.method_name != peek.method_name {
            check_scope_and_rate(context, policy, &read)?;
        }
        check_tool_allowed(policy, &read)?;
    }
    one_tenant(caller, Some(config.tenant.as_str()))?;
    Ok((config, request))
}

/// Looks the key up and claims it, so that one of all messages with this key runs.
async fn decide(
    task_store: &TaskStore<'_>,
    context: &CallContext<'_, '_>,
    request: QueuedRequest,
    wanted: DispatchPreference,
) -> Result<Decision, Fault> {
    let when = match wanted {
        DispatchPreference::Later => DispatchMode::Later,
        DispatchPreference::AsConfigured => task_store.config.when,
    };
    let mut request = request;
    if request.key.is_none() {
        match when {
            DispatchMode::Now => return Ok(Decision::Run(Box::new(request))),
            DispatchMode::Later => request.key = Some(DispatchKey::new(task_store.desk)),
        }
    }
    let wait_until = Instant::now() + task_store.desk.task_queue.limits.wait_timeout;
    let mut rounds = 0;
    while rounds < MAX_ROUNDS {
        let finished = task_store.desk.task_queue.finished();
        let known = task_store.find(&request).await?;
        match known {
            Some(task) if !task.is_open() && task.expires_at <= task_store.now() => {
                match claim(task_store, context, &request, when, Some(&task)).await? {
                    Some(next) => return Ok(next),
                    None => rounds += 1,
                }
            }
            Some(task) if task.request.request_hash != request.request_hash => return Err(key_reused()),
            Some(task) if !task.is_open() => {
                check_may_see(task_store.mount, &context.caller, &task.request)?;
                return Ok(Decision::Reply { task: Box::new(task), reused: Reused::Yes });
            }
            Some(task) => match when {
                DispatchMode::Now if task.due_at <= task_store.now() => match task_store.take(task).await? {
                    TaskWrite::Done(task) if task.state == TaskState::Failed => {
                        return Ok(Decision::Reply { task, reused: Reused::Yes });
                    }
                    TaskWrite::Done(task) => return Ok(Decision::RunTask { task, run_kind: RunKind::Resumed }),
                    TaskWrite::Conflict => rounds += 1,
                },
                DispatchMode::Now if Instant::now() < wait_until => {
                    let _ = timeout(POLL_INTERVAL, finished).await;
                }
                DispatchMode::Now | DispatchMode::Later => {
                    return Ok(Decision::Reply { task: Box::new(task), reused: Reused::Yes });
                }
            },
            None => match claim(task_store, context, &request, when, None).await? {
                Some(next) => return Ok(next),
                None => rounds += 1,
            },
        }
    }
    Err(Fault::new(FaultKind::KeyInFlight, "Others send the same just now. Repeat it under the same key.")
        .retry_after(1))
}

/// Stores the task before anything else happens. `None` if another message claimed the key first.
async fn claim(
    task_store: &TaskStore<'_>,
    context: &CallContext<'_, '_>,
    request: &QueuedRequest,
    when: DispatchMode,
    expired: Option<&Task>,
) -> Result<Option<Decision>, Fault> {
    if expired.is_none() {
        task_store.has_room(request).await?;
    }
    let place = match when {
        DispatchMode::Now => None,
        DispatchMode::Later => match (task_store.desk.task_queue.reserve(&request.server), task_store.config.full) {
            (Some(place), _) => Some(place),
            (None, OnQueueFull::RunNow) => None,
            (None, OnQueueFull::Refuse) => {
                return Err(Fault::new(
                    FaultKind::QueueFull,
                    "No more messages are accepted for later just now. Try again, or send it to be answered at once.",
                )
                .retry_after(5));
            }
        },
    };
    if place.is_some() {
        // An accepted message will be run, so it is charged now.
        take_budget(context)?;
    }
    let state = if place.is_some() { TaskState::Waiting } else { TaskState::Running };
    let task = match task_store.add(request.clone(), state, expired).await? {
        TaskWrite::Done(task) => task,
        TaskWrite::Conflict => return Ok(None),
    };
    Ok(Some(match place {
        None => Decision::RunTask { task, run_kind: RunKind::First },
        Some(place) => {
            place.send(task.id.clone());
            Decision::Reply { task, reused: Reused::No }
        }
    }))
}

/// Stores the answer, then replies: an answer that was called completed can be asked for again.
async fn finish_task(
    task_store: &TaskStore<'_>,
    task: Box<Task>,
    run_kind: RunKind,
    ran: RunResult,
) -> Result<Reply, Fault> {
    let mount = task_store.mount;
    let (answer, keep, reply) = (ran.answer.clone(), ran.keep, ran.reply);
    let written = match (ran.keep, run_kind) {
        (AnswerUse::Final, RunKind::First | RunKind::Resumed) => task_store.finish(*task, ran.answer).await,
        // The caller is told of the fault and may retry with the same key at once.
        (AnswerUse::Temporary, RunKind::First) => task_store.release(*task).await,
        // A task that was accepted earlier is rescheduled, not dropped.
        (AnswerUse::Temporary, RunKind::Resumed) => task_store.reschedule(*task, ran.answer).await,
    };
    task_store.desk.task_queue.wake();
    let fault = match written {
        Ok(TaskWrite::Done(task)) if run_kind == RunKind::Resumed && task.state != TaskState::Completed => {
            return limit_reply(mount, &task.request, task_reply(mount, &task, Reused::Yes));
        }
        // An outage completes nothing.
        Ok(TaskWrite::Done(_)) if keep == AnswerUse::Temporary => return Ok(reply),
        Ok(TaskWrite::Done(task)) => {
            let reply = mount.contract.dialect.dispatch_reply(&DispatchReply {
                status: DispatchStatus::Completed,
                task_id: Some(&task.id),
                trace_id: task.request.shown_trace(),
                key: task.request.key.as_ref().map(DispatchKey::as_str),
                reused: Reused::No,
                answer: Some(&answer),
            });
            return limit_reply(mount, &task.request, reply);
        }
        Ok(TaskWrite::Conflict) => None,
        Err(fault) => fault.cause,
    };
    let unknown = Fault::new(FaultKind::KeyInFlight, "The answer could not be kept yet. Repeat it under the same key.");
    Err(unknown.retry_after(1).caused_by(fault.unwrap_or_else(|| "another took the task over".to_owned())))
}

/// Enforces the size limit of the policy, except for answers to writes, which have happened already.
fn limit_reply(mount: &Mount, request: &QueuedRequest, reply: Reply) -> Result<Reply, Fault> {
    match request.tool(mount).map(|spec| spec.effect) {
        Some(Effect::Adds | Effect::Changes) => Ok(reply),
        Some(Effect::Reads) | None => check_reply_size(mount, reply),
    }
}

fn task_reply(mount: &Mount, task: &Task, reused: Reused) -> Reply {
    mount.contract.dialect.dispatch_reply(&DispatchReply {
        status: match task.state {
            TaskState::Waiting | TaskState::Running => DispatchStatus::Accepted,
            TaskState::Completed => DispatchStatus::Completed,
            TaskState::Failed => DispatchStatus::Failed,
        },
        task_id: Some(&task.id),
        trace_id: task.request.shown_trace(),
        key: task.request.key.as_ref().map(DispatchKey::as_str),
        reused,
        // The answer of a run that will be repeated is not final.
        answer: task.answer.as_ref().filter(|_| !task.is_open()),
    })
}

fn key_reused() -> Fault {
    Fault::new(FaultKind::KeyReused, "This key was used for another message. Send this one under a key of its own.")
}

/// A stored answer is shown to callers who could get it by a call of their own.
fn check_may_see(mount: &Mount, caller: &Caller, request: &QueuedRequest) -> Result<(), Fault> {
    let Some(spec) = request.tool(mount) else {
        return Ok(());
    };
    let mut needed: Vec<Scope> = spec.scope.all().cloned().collect();
    needed.extend(spec.unmask_scope.clone().filter(|scope| request.scopes().has(scope)));
    if needed.iter().all(|scope| caller.scopes.has(scope)) {
        return Ok(());
    }
    Err(Fault {
        needed,
        ..Fault::new(FaultKind::Forbidden, "The token does not carry the scope that this answer was made with.")
    })
}

fn is_unmasked(mount: &Mount, request: &QueuedRequest) -> bool {
    request.tool(mount).is_some_and(|spec| spec.unmask_scope.as_ref().is_some_and(|scope| request.scopes().has(scope)))
}
