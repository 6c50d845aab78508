//! MCP as lines: one message a line, for the one caller that started the process. The lines come from standard input and
//! output, or from a local socket on which another process relays its own. Nothing but messages may be written to standard
//! output.

mod credentials;
mod lines;
mod message;
mod relay;
mod relay_listener;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use frontdesk_engine::model::incoming::{Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::{Fault, FaultKind, Reply, serve};
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::Version;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::app::App;
use crate::http::body_limit;
use crate::net::Shutdown;
pub use credentials::StdioCredentials;
pub(crate) use credentials::request_token;
use lines::{InputLine, LineReader, LineWriter};
use message::{Message, MessageKind};
pub use relay::{Relay, RelayEnd, RelayError};
pub use relay_listener::{StdioListener, not_mounted};

/// The most concurrent requests; further ones are read when one has been answered.
const MAX_CONCURRENT: usize = 64;

/// Answers on standard output until the input ends or a shutdown is requested.
pub async fn serve_stdio(
    current: Arc<ArcSwap<App>>,
    endpoint: String,
    credentials: StdioCredentials,
    shutdown: Shutdown,
) {
    let lines = (LineReader::stdin(max_line(&current.load(), &endpoint)), LineWriter::stdout());
    serve_lines(current, endpoint, credentials, lines, shutdown).await;
}

/// Answers until the input ends or a shutdown is requested; running requests are finished. Every message is answered by
/// the app that is current when it comes.
async fn serve_lines(
    current: Arc<ArcSwap<App>>,
    endpoint: String,
    credentials: StdioCredentials,
    (mut input, output): (LineReader, LineWriter),
    shutdown: Shutdown,
) {
    let output = Arc::new(output);
    let running = Arc::new(RunningRequests::default());
    let mut session = StdioSession { current, endpoint, credentials, version: None, running };
    let mut answers = JoinSet::new();
    loop {
        while answers.len() >= MAX_CONCURRENT {
            answers.join_next().await;
        }
        let line = tokio::select! {
            () = shutdown.requested() => break,
            line = input.next() => line,
            Some(_answered) = answers.join_next() => continue,
        };
        match line {
            None => break,
            Some(_) if output.is_closed() => break,
            Some(line) => {
                let answer = session.receive(line).await;
                let output = Arc::clone(&output);
                answers.spawn(async move {
                    if let Some(text) = answer.await {
                        output.write(text).await;
                    }
                });
            }
        }
    }
    let drain = session.current.load().config.deadlines.drain;
    let finished = async { while answers.join_next().await.is_some() {} };
    let _ = timeout(drain, finished).await;
    answers.shutdown().await;
    // The last reference: written lines are flushed before the session ends.
    if let Some(output) = Arc::into_inner(output) {
        let _ = timeout(drain, output.finish()).await;
    }
}

/// The same limit as over HTTPS.
fn max_line(app: &App, endpoint: &str) -> usize {
    app.mounts.find(endpoint).map_or(app.config.limits.body_bytes, |mount| body_limit(&app.config, mount))
}

struct StdioSession {
    current: Arc<ArcSwap<App>>,
    endpoint: String,
    credentials: StdioCredentials,
    /// The version that the handshake negotiated, if there was one. It replaces the header of HTTP.
    version: Option<Version>,
    running: Arc<RunningRequests>,
}

impl StdioSession {
    /// Reads a line; the returned future answers it.
    async fn receive(&mut self, line: InputLine) -> impl Future<Output = Option<Vec<u8>>> + Send + 'static {
        let message = match &line {
            InputLine::Complete(bytes) => Message::parse(bytes, &mut self.version),
            InputLine::TooLong => Message::unparsed(self.version),
        };
        let entry = match &message.kind {
            MessageKind::Request(id) => Some(RunningRequests::enter(&self.running, id)),
            MessageKind::Cancellation(id) => {
                self.running.cancel(id);
                None
            }
            MessageKind::Notification | MessageKind::Other => None,
        };
        let app = self.current.load_full();
        let limit = max_line(&app, &self.endpoint);
        let incoming = Incoming {
            verb: Verb::Post,
            credential: self.credentials.credential().await,
            protocol_version: message.headers.version,
            method_header: message.headers.method,
            route: None,
            name_header: message.headers.name,
            idempotency_key: None,
            listening: Listening::No,
            import_id: None,
            transport_fault: None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: app.desk.new_trace(),
            body: match line {
                InputLine::Complete(bytes) => RequestBody::from_bytes(bytes),
                InputLine::TooLong => RequestBody::from_future(async move {
                    Err(Fault::new(FaultKind::TooLarge, format!("The message is larger than {limit} bytes.")))
                }),
            },
        };
        let endpoint = self.endpoint.clone();
        async move {
            let reply = match app.mounts.find(&endpoint) {
                Some(mount) => serve(&app.desk, mount, incoming).await,
                // A reload has removed it.
                None => Reply::plain(404, "This contract is no longer mounted; ask the operator."),
            };
            match &entry {
                // A cancelled request gets no answer.
                Some(entry) if entry.is_cancelled() => None,
                Some(_) | None => message::reply_line(reply, &message.kind),
            }
        }
    }
}

/// The running requests, and whether they were cancelled.
#[derive(Default)]
struct RunningRequests(Mutex<HashMap<Id, Cancelled>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cancelled {
    Yes,
    No,
}

/// Removes its request when it is dropped.
struct RunningEntry {
    running: Arc<RunningRequests>,
    id: Id,
}

impl RunningRequests {
    fn enter(running: &Arc<RunningRequests>, id: &Id) -> RunningEntry {
        running.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Cancelled::No);
        RunningEntry { running: Arc::clone(running), id: id.clone() }
    }

    fn cancel(&self, id: &Id) {
        if let Some(cancelled) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id) {
            *cancelled = Cancelled::Yes;
        }
    }
}

impl RunningEntry {
    fn is_cancelled(&self) -> bool {
        let running = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&self.id) == Some(&Cancelled::Yes)
    }
}

impl Drop for RunningEntry {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
