//! A call of a tool that watches something, for a caller who listens: its answer is a stream of events. By default the
//! stream is complete at once. Where a mount lets callers watch for longer, the call goes on until what it watches has
//! ended; its record ends with it, and a caller who goes away drops it. No tool knows of any of this.

use bytes::Bytes;
use frontdesk_wire::event_stream::{HEARTBEAT, write_event};
use frontdesk_wire::frame::Request;
use frontdesk_wire::json::{Map, Value};
use frontdesk_wire::method::Method;
use frontdesk_wire::progress::ProgressToken;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::call_context::AnswerForm;
use super::{CallContext, deadline_fault, permit_tool};
use crate::limits::inflight::InflightEntry;
use crate::limits::streams::{StreamEnd, StreamPermit};
use crate::limits::tenant_changes::ChangeWaiter;
use crate::model::event_sink::{EventSink, StreamHead};
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::Listening;
use crate::model::observation::Streamed;
use crate::model::reply::{Reply, ReplyKind};
use crate::model::tool::{Progress, Run, Tool, WatchReport, WatchState, WatchTool};
use crate::pipeline::identify::identify;
use crate::pipeline::perform::{cancelled, run_cancellable};
use crate::pipeline::permit::{Permitted, rate_limited};
use crate::pipeline::record::CallRecord;
use crate::pipeline::shape::shape;

/// When a client whose streams are all open may try again.
const RETRY_SECONDS: u64 = 4;

/// The tool, if it watches something and the caller takes a stream for it.
pub(super) fn listened_to<'a>(
    context: &CallContext<'_, '_>,
    tool: &'a Tool,
    method: Method,
) -> Option<&'a dyn WatchTool> {
    let Run::Watch(watch) = &tool.run else {
        return None;
    };
    let listens = match context.record.incoming.listening {
        Listening::No => false,
        Listening::AtOnce | Listening::Held(_) => context.form == AnswerForm::AsAsked && method == Method::ToolsCall,
    };
    listens.then(|| watch.as_ref())
}

/// Under which token the caller wants to be told progress.
fn progress_token(request: &Request) -> Result<Option<ProgressToken>, Fault> {
    ProgressToken::of_meta(request.meta())
        .map_err(|_| Fault::invalid_argument("/_meta/progressToken", "type", ProgressToken::EXPECTED))
}

/// Stages 5 to 9, as a stream.
pub(super) async fn run_watch<'a>(
    context: &mut CallContext<'_, 'a>,
    tool: &'a Tool,
    watch: &dyn WatchTool,
    request: &Request,
    arguments: Map<String, Value>,
) -> Result<Reply, Fault> {
    let token = progress_token(request)?;
    let permitted = permit_tool(context, tool, arguments)?;
    let CallRecord { desk, mount, incoming, .. } = *context.record;
    desk.import_queue.note_read(permitted.now());
    // Before the first look, so that no change after it is missed.
    let held = match &incoming.listening {
        Listening::Held(sink) if !mount.streaming.time.is_zero() => {
            Some((sink, desk.changes.subscribe(permitted.tenant())))
        }
        Listening::No | Listening::AtOnce | Listening::Held(_) => None,
    };
    let look = run_cancellable(context.record, &permitted, watch.observe(&permitted));
    let first = timeout_at(context.deadline, look).await.unwrap_or_else(|_| Err(deadline_fault(context.record)))?;
    context.record.end_stage();
    let reporter = Reporter { token, done: None };
    match (held, first.state) {
        (Some((sink, changes)), WatchState::Open) => {
            let client = &permitted.caller().client;
            let permit = desk.inflight.streams.enter(client).ok_or_else(|| rate_limited(RETRY_SECONDS))?;
            let entry = context.record.id().map(|id| desk.inflight.enter(client, id));
            let stream = OpenStream { sink, changes, permit, entry, reporter, quiet_since: Instant::now() };
            stream.run(context, watch, &permitted, first).await
        }
        (Some(_) | None, WatchState::Open | WatchState::Ended) => {
            let reply = last_events(context, &permitted, reporter, first)?;
            context.record.mark_streamed(Streamed::AtOnce);
            Ok(reply)
        }
    }
}

/// A stream while it is open.
struct OpenStream<'a> {
    sink: &'a EventSink,
    changes: ChangeWaiter,
    permit: StreamPermit,
    entry: Option<InflightEntry>,
    reporter: Reporter,
    /// When something was sent last.
    quiet_since: Instant,
}

/// What a stream goes on with.
enum Next {
    LookResult(Result<WatchReport, Fault>),
    TimeUp,
    Closing,
    Cancelled,
}

impl OpenStream<'_> {
    async fn run(
        mut self,
        context: &mut CallContext<'_, '_>,
        watch: &dyn WatchTool,
        permitted: &Permitted<'_>,
        first: WatchReport,
    ) -> Result<Reply, Fault> {
        let until = Instant::now() + context.record.mount.streaming.time;
        context.record.mark_streamed(Streamed::Held);
        self.sink.open(StreamHead { trace: context.record.own_trace().map(str::to_owned) });
        let mut watched = first;
        let end = loop {
            if watched.state == WatchState::Ended {
                break StreamEnd::Complete;
            }
            if let Some(event) = self.reporter.event(&watched.progress) {
                self.send(event).await;
            }
            watched = match self.next(context.record, watch, permitted, until).await {
                Next::LookResult(Ok(watched)) => watched,
                Next::LookResult(Err(fault)) => {
                    self.permit.end(StreamEnd::Failed);
                    return Err(fault);
                }
                Next::Cancelled => {
                    self.permit.end(StreamEnd::Cancelled);
                    return Err(cancelled());
                }
                Next::TimeUp => break StreamEnd::TimeUp,
                Next::Closing => break StreamEnd::Shutdown,
            };
        };
        self.permit.end(end);
        last_events(context, permitted, self.reporter, watched)
    }

    /// Waits for the next look; meanwhile comments are sent, and it ends early where it must.
    async fn next(
        &mut self,
        call_record: &CallRecord<'_>,
        watch: &dyn WatchTool,
        permitted: &Permitted<'_>,
        until: Instant,
    ) -> Next {
        let streaming = call_record.mount.streaming;
        let OpenStream { sink, changes, permit, entry, quiet_since, .. } = self;
        let looked = async {
            let last = Instant::now();
            sleep_until(last + streaming.shortest_pause).await;
            tokio::select! {
                () = changes.next() => {}
                () = sleep_until(last + streaming.longest_pause) => {}
            }
            look(call_record, watch, permitted).await
        };
        let ends = async {
            tokio::select! {
                biased;
                () = permit.closing() => Next::Closing,
                () = cancellation(entry.as_ref()) => Next::Cancelled,
                () = sleep_until(until) => Next::TimeUp,
            }
        };
        let comments = async {
            loop {
                sleep_until(*quiet_since + streaming.heartbeat).await;
                sink.send(Bytes::from_static(HEARTBEAT)).await;
                *quiet_since = Instant::now();
            }
        };
        tokio::select! {
            biased;
            next = ends => next,
            looked = looked => Next::LookResult(looked),
            () = comments => Next::TimeUp,
        }
    }

    async fn send(&mut self, event: Vec<u8>) {
        self.sink.send(Bytes::from(event)).await;
        self.quiet_since = Instant::now();
    }
}

/// One more look, for a caller who must still be who it was.
async fn look(
    call_record: &CallRecord<'_>,
    watch: &dyn WatchTool,
    permitted: &Permitted<'_>,
) -> Result<WatchReport, Fault> {
    let CallRecord { desk, mount, incoming, .. } = *call_record;
    let looked = timeout(desk.settings.deadline, async {
        let (caller, known) = (identify(desk, mount, incoming).await?, permitted.caller());
        if (&caller.client, &caller.tenants, &caller.scopes) != (&known.client, &known.tenants, &known.scopes) {
            return Err(Fault::new(FaultKind::Unauthenticated, "The credential stands for something else by now."));
        }
        if mount.maintenance.is_on() {
            return Err(Fault::maintenance());
        }
        watch.observe(permitted).await
    });
    looked.await.unwrap_or_else(|_| Err(deadline_fault(call_record)))
}

/// What a stream ends with: how far it has come, if that is news, and the answer.
fn last_events(
    context: &mut CallContext<'_, '_>,
    permitted: &Permitted<'_>,
    mut reporter: Reporter,
    watched: WatchReport,
) -> Result<Reply, Fault> {
    let mut events = reporter.event(&watched.progress).unwrap_or_default();
    let reply = shape(context.record, permitted, watched.outcome)?;
    write_event(&reply.body, &mut events);
    Ok(Reply { body: Bytes::from(events), kind: ReplyKind::Events, ..reply })
}

/// Tells a caller who gave a token how far it has come. What is told only ever grows, as MCP demands.
struct Reporter {
    token: Option<ProgressToken>,
    done: Option<u32>,
}

impl Reporter {
    fn event(&mut self, progress: &Progress) -> Option<Vec<u8>> {
        let token = self.token.as_ref()?;
        if self.done.is_some_and(|done| progress.done <= done) {
            return None;
        }
        self.done = Some(progress.done);
        let mut event = Vec::new();
        write_event(&token.notification(progress.done, progress.total, &progress.message), &mut event);
        Some(event)
    }
}

async fn cancellation(entry: Option<&InflightEntry>) {
    match entry {
        Some(entry) => entry.cancelled().await,
        None => std::future::pending().await,
    }
}
