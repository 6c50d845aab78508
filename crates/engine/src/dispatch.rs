//! Dispatched messages: each idempotency key is run once, now or later, however often its message is sent. Running one
//! uses the ordinary path of a call (`handle_message`).

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
use crate::model::caller::Caller;
use crate::model::contract::ReplyContext;
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::Incoming;
use crate::model::reply::Reply;
use crate::model::tool::Effect;
use crate::pipeline::admit::{Charge, take_budget};
use crate::pipeline::frame::FrameRejection;
use crate::pipeline::identify::identify;
use crate::pipeline::permit::one_tenant;
use crate::pipeline::precheck::{
    Peek, PeekResult, check_method, check_reply_size, check_scope_and_rate, check_server_known, check_tool_allowed,
    check_transport,
};
use crate::pipeline::record::stopwatch::Stage;
use crate::pipeline::record::{CallRecord, record};
use crate::serve::{CallContext, identify_timeout};

use key::DispatchKey;
use queued_request::{QueuedRequest, read};
use run::{AnswerUse, RunResult, run};
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
pub async fn dispatch(desk: &Desk, mount: &Mount, wanted: DispatchPreference, mut incoming: Incoming) -> Reply {
    let deadline = Instant::now() + desk.settings.deadline;
    let mut call_record = CallRecord::start(desk, mount, &incoming);
    call_record.start_stage(Stage::Identify);
    let caller = match timeout_at(deadline, identify(desk, mount, &incoming))
        .await
        .unwrap_or_else(|_| Err(identify_timeout()))
    {
        Ok(caller) => caller,
        Err(fault) => return record(call_record, Err(fault), &ReplyContext::new(mount, &incoming)).await,
    };
    call_record.end_stage();
    call_record.set_caller(&caller);
    let read = read_request(desk, mount, &caller, &mut incoming, &mut call_record).await;
    let context = CallContext { desk, mount, incoming: &incoming, caller: &caller, deadline, charge: Charge::Due };
    let (task_store, request) = match read {
        Ok((config, request)) => (TaskStore { desk, mount, config }, request),
        Err(FrameRejection { fault, id }) => {
            let kind = fault.kind;
            let mut reply = record(call_record, Err(fault), &context.reply_context().with_id(id.as_ref())).await;
            if kind == FaultKind::MethodNotAllowed {
                // DELETE is allowed at the MCP endpoint only.
                reply.headers.retain(|(name, _)| *name != "Allow");
                return reply.header("Allow", "POST");
            }
            return reply;
        }
    };
    call_record.set_method(request.method_name.method());
    call_record.set_tenant(&caller, Some(task_store.config.tenant.as_str()));
    let decided = timeout_at(deadline, decide(&task_store, &context, request, wanted)).await;
    match decided.unwrap_or_else(|_| Err(Fault::unavailable("the dispatch was not decided within the deadline"))) {
        Err(fault) => record(call_record, Err(fault), &context.reply_context()).await,
        Ok(Decision::Reply { task, reused }) => {
            call_record.add_id(&task.id);
            if is_unmasked(mount, &task.request) {
                call_record.mark_personal();
            }
            record(
                call_record,
                limit_reply(mount, &task.request, task_reply(mount, &task, reused)),
                &context.reply_context(),
            )
            .await
        }
        Ok(Decision::Run(request)) => {
            let ran = run(desk, mount, &request, call_record, deadline, Charge::Due).await;
            let reply = mount.contract.dialect.dispatch_reply(&DispatchReply {
                status: DispatchStatus::Completed,
                task_id: None,
                trace_id: request.shown_trace(),
                key: None,
                reused: Reused::No,
                answer: Some(&ran.answer),
            });
            send_reply(&context, &request, reply).await
        }
        Ok(Decision::RunTask { task, run_kind }) => {
            call_record.add_id(&task.id);
            let charge = match run_kind {
                RunKind::First => Charge::Due,
                RunKind::Resumed => Charge::Paid,
            };
            let ran = run(desk, mount, &task.request, call_record, deadline, charge).await;
            finish_task(&task_store, &context, task, run_kind, ran).await
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

async fn read_request<'m>(
    desk: &Desk,
    mount: &'m Mount,
    caller: &Caller,
    incoming: &mut Incoming,
    call_record: &mut CallRecord<'_>,
) -> Result<(&'m DispatchConfig, QueuedRequest), FrameRejection> {
    check_method(incoming)?;
    let (body, peeked) = match (&mount.policy, &incoming.transport_fault) {
        (Some(policy), _) => {
            check_transport(desk, mount, policy, caller, incoming, call_record, PeekResult::partial).await?
        }
        (None, Some(fault)) => return Err(fault.clone().into()),
        (None, None) => (incoming.body.collect().await?, PeekResult::Partial(PeekedMessage::default())),
    };
    let peek = peeked.peek();
    let read = read_queued_request(desk, mount, caller, incoming, &body, &peek);
    read.map_err(|fault| FrameRejection { fault, id: peek.id.cloned() })
}

fn read_queued_request<'m>(
    desk: &Desk,
    mount: &'m Mount,
    caller: &Caller,
    incoming: &Incoming,
    body: &[u8],
    peek: &Peek<'_>,
) -> Result<(&'m DispatchConfig, QueuedRequest), Fault> {
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
            check_scope_and_rate(desk, mount, policy, caller, &read)?;
        }
        check_tool_allowed(policy, &read)?;
    }
    one_tenant(caller, Some(config.tenant.as_str()))?;
    Ok((config, request))
}

/// Looks the key up and claims it, so that one of all messages with this key runs.
async fn decide(
    task_store: &TaskStore<'_>,
    context: &CallContext<'_>,
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
                check_may_see(context.mount, context.caller, &task.request)?;
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
    context: &CallContext<'_>,
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
        take_budget(context.desk, context.mount, context.caller)?;
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
    context: &CallContext<'_>,
    task: Box<Task>,
    run_kind: RunKind,
    ran: RunResult,
) -> Reply {
    let reply_with = |task: &Task, answer: &CallAnswer| {
        context.mount.contract.dialect.dispatch_reply(&DispatchReply {
            status: DispatchStatus::Completed,
            task_id: Some(&task.id),
            trace_id: task.request.shown_trace(),
            key: task.request.key.as_ref().map(DispatchKey::as_str),
            reused: Reused::No,
            answer: Some(answer),
        })
    };
    let answer = ran.answer.clone();
    let written = match (ran.keep, run_kind) {
        (AnswerUse::Final, RunKind::First | RunKind::Resumed) => task_store.finish(*task, ran.answer).await,
        // The caller has its answer and may retry with the same key at once.
        (AnswerUse::Temporary, RunKind::First) => task_store.release(*task).await,
        // A task that was accepted earlier is rescheduled, not dropped.
        (AnswerUse::Temporary, RunKind::Resumed) => task_store.reschedule(*task, ran.answer).await,
    };
    task_store.desk.task_queue.wake();
    let fault = match written {
        Ok(TaskWrite::Done(task)) if run_kind == RunKind::Resumed && task.state != TaskState::Completed => {
            return send_reply(context, &task.request, task_reply(context.mount, &task, Reused::Yes)).await;
        }
        Ok(TaskWrite::Done(task)) => return send_reply(context, &task.request, reply_with(&task, &answer)).await,
        Ok(TaskWrite::Conflict) => None,
        Err(fault) => fault.cause,
    };
    let call_record = {
        let mut call_record = CallRecord::start(context.desk, context.mount, context.incoming);
        call_record.set_caller(context.caller);
        call_record
    };
    let unknown = Fault::new(FaultKind::KeyInFlight, "The answer could not be kept yet. Repeat it under the same key.");
    let unknown = unknown.retry_after(1).caused_by(fault.unwrap_or_else(|| "another took the task over".to_owned()));
    record(call_record, Err(unknown), &context.reply_context()).await
}

/// Enforces the size limit of the policy, except for answers to writes, which have happened already.
fn limit_reply(mount: &Mount, request: &QueuedRequest, reply: Reply) -> Result<Reply, Fault> {
    match request.tool(mount).map(|spec| spec.effect) {
        Some(Effect::Adds | Effect::Changes) => Ok(reply),
        Some(Effect::Reads) | None => check_reply_size(mount, reply),
    }
}

/// As `limit_reply`, for a call that has been recorded: exceeding the limit is recorded separately.
async fn send_reply(context: &CallContext<'_>, request: &QueuedRequest, reply: Reply) -> Reply {
    match limit_reply(context.mount, request, reply) {
        Ok(reply) => reply,
        Err(fault) => {
            let mut call_record = CallRecord::start(context.desk, context.mount, context.incoming);
            call_record.set_caller(context.caller);
            record(call_record, Err(fault), &context.reply_context()).await
        }
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
    let mut needed = vec![spec.scope.clone()];
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
