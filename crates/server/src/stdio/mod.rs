//! MCP over standard input and output: one message a line, for the one caller that started the process. Nothing but
//! messages may be written to standard output.

mod credentials;
mod lines;
mod message;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

use frontdesk_engine::model::incoming::{Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::{Fault, FaultKind, serve};
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::Version;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::app::App;
use crate::http::body_limit;
use crate::net::Shutdown;
pub use credentials::StdioCredentials;
use lines::{InputLine, LineReader, LineWriter};
use message::{Message, MessageKind};

/// The most concurrent requests; further ones are read when one has been answered.
const MAX_CONCURRENT: usize = 64;

/// Answers until the input ends or a shutdown is requested; running requests are finished.
pub async fn serve_stdio(app: Arc<App>, mount: usize, credentials: StdioCredentials, shutdown: Shutdown) {
    let mut input = LineReader::open(max_line(&app, mount));
    let output = Arc::new(LineWriter::open());
    let running = Arc::new(RunningRequests::default());
    let mut session = StdioSession { app, mount, credentials, version: None, running };
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
                        output.write(text);
                    }
                });
            }
        }
    }
    let finished = async { while answers.join_next().await.is_some() {} };
    let _ = timeout(session.app.config.deadlines.drain, finished).await;
    answers.shutdown().await;
    // The last reference: written lines are flushed before the process ends.
    drop(output);
}

/// The same limit as over HTTPS.
fn max_line(app: &App, mount: usize) -> usize {
    app.mounts.get(mount).map_or(app.config.limits.body_bytes, |(_, mount)| body_limit(&app.config, mount))
}

struct StdioSession {
    app: Arc<App>,
    mount: usize,
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
        let limit = max_line(&self.app, self.mount);
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
            trace: self.app.desk.new_trace(),
            body: match line {
                InputLine::Complete(bytes) => RequestBody::from_bytes(bytes),
                InputLine::TooLong => RequestBody::from_future(async move {
                    Err(Fault::new(FaultKind::TooLarge, format!("The message is larger than {limit} bytes.")))
                }),
            },
        };
        let (app, at) = (Arc::clone(&self.app), self.mount);
        async move {
            let (_, mount) = app.mounts.get(at)?;
            let reply = serve(&app.desk, mount, incoming).await;
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
