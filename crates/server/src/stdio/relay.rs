//! A session of `frontdesk stdio` that a running server serves: lines are passed on in both directions. The requests that
//! have no answer yet are known here, so that none stays without one when the server ends.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::lines::{InputLine, LineReader, LineWriter};
use super::relay_listener::{MAX_OPENING, SessionAnswer, SessionOpening};
use crate::config::StdioLogin;
use crate::net::Shutdown;

/// Checking a secret takes a moment, and many may be checked at once.
const OPENING_TIMEOUT: Duration = Duration::from_secs(30);
/// JSON-RPC leaves this range to servers.
const SERVER_STOPPED: i64 = -32000;
const STOPPED: &str = "The server has stopped before it answered; start it again and reconnect. A repeated create needs \
                       the same idempotency key.";

/// A session that the server has opened.
pub struct Relay {
    from_server: BufReader<OwnedReadHalf>,
    to_server: OwnedWriteHalf,
    max_line: usize,
}

#[derive(Debug)]
pub enum RelayError {
    /// The mount needs credentials, and there are none.
    LoginNeeded,
    Refused(String),
    /// The server did not answer.
    Lost,
}

impl fmt::Display for RelayError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelayError::LoginNeeded => out.write_str("this contract needs credentials"),
            RelayError::Refused(why) => out.write_str(why),
            RelayError::Lost => out.write_str("the running server did not open a session; start this command again"),
        }
    }
}

impl std::error::Error for RelayError {}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayEnd {
    /// The client has closed its input, or a signal came.
    Client,
    Server,
}

impl Relay {
    /// None if no server runs on this data folder.
    pub async fn open(
        socket: &Path,
        contract: Option<String>,
        login: Option<StdioLogin>,
    ) -> Option<Result<Relay, RelayError>> {
        let stream = UnixStream::connect(socket).await.ok()?;
        let opening = SessionOpening { contract, login };
        Some(timeout(OPENING_TIMEOUT, Relay::begin(stream, &opening)).await.unwrap_or(Err(RelayError::Lost)))
    }

    async fn begin(stream: UnixStream, opening: &SessionOpening) -> Result<Relay, RelayError> {
        let (read, mut to_server) = stream.into_split();
        let mut from_server = BufReader::new(read);
        let mut text = serde_json::to_string(opening).map_err(|_| RelayError::Lost)?;
        text.push('\n');
        to_server.write_all(text.as_bytes()).await.map_err(|_| RelayError::Lost)?;
        let mut line = Vec::new();
        let mut answer = (&mut from_server).take(MAX_OPENING);
        answer.read_until(b'\n', &mut line).await.map_err(|_| RelayError::Lost)?;
        match serde_json::from_slice(&line) {
            Ok(SessionAnswer::Opened { max_line }) => Ok(Relay { from_server, to_server, max_line }),
            Ok(SessionAnswer::LoginNeeded) => Err(RelayError::LoginNeeded),
            Ok(SessionAnswer::Refused(why)) => Err(RelayError::Refused(why)),
            Err(_) => Err(RelayError::Lost),
        }
    }

    /// Passes lines on until one end closes. After the client's end, answers may still come for as long as `drain`.
    pub async fn run(self, shutdown: Shutdown, drain: Duration) -> RelayEnd {
        let Relay { mut from_server, mut to_server, max_line } = self;
        let (mut input, output) = (LineReader::stdin(max_line), LineWriter::stdout());
        let pending = Mutex::new(PendingRequests::default());
        // Both directions at once: neither end may wait for the other to read.
        let requests = async {
            while let Some(line) = input.next().await.filter(|_| !output.is_closed()) {
                let line = lock(&pending).sent(line, max_line);
                // If this fails the server is gone, and reading says so.
                let _ = to_server.write_all(&line).await;
            }
        };
        let mut answers = Box::pin(async {
            let mut answer = Vec::new();
            while from_server.read_until(b'\n', &mut answer).await.is_ok() && answer.ends_with(b"\n") {
                lock(&pending).answered(&answer);
                output.write(std::mem::take(&mut answer)).await;
            }
        });
        let end = tokio::select! {
            () = &mut answers => RelayEnd::Server,
            () = requests => RelayEnd::Client,
            () = shutdown.requested() => RelayEnd::Client,
        };
        if end == RelayEnd::Client {
            drop(to_server);
            let _ = timeout(drain, &mut answers).await;
        }
        drop(answers);
        let unanswered = std::mem::take(&mut lock(&pending).ids);
        for id in unanswered {
            let error = json!({"code": SERVER_STOPPED, "message": STOPPED});
            let mut line = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
            line.push('\n');
            output.write(line.into_bytes()).await;
        }
        let _ = timeout(drain, output.finish()).await;
        end
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ids of requests that were passed on and not answered, in their order.
#[derive(Default)]
struct PendingRequests {
    ids: Vec<Value>,
}

/// What matters here of a message.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
}

impl PendingRequests {
    /// A line as it is passed on.
    fn sent(&mut self, line: InputLine, max_line: usize) -> Vec<u8> {
        let mut bytes = match line {
            InputLine::Complete(bytes) => bytes,
            // Still too long: the server answers it as if it had come whole.
            InputLine::TooLong => vec![b'x'; max_line.saturating_add(1)],
        };
        for message in envelopes(&bytes) {
            match (message.id, message.method.as_deref()) {
                (Some(id), Some(_)) if id.is_string() || id.is_number() => self.ids.push(id),
                (None, Some("notifications/cancelled")) => {
                    let cancelled = message.params.and_then(|params| params.get("requestId").cloned());
                    self.ids.retain(|id| Some(id) != cancelled.as_ref());
                }
                (Some(_) | None, Some(_) | None) => {}
            }
        }
        bytes.push(b'\n');
        bytes
    }

    fn answered(&mut self, line: &[u8]) {
        for answer in envelopes(line).into_iter().filter(|answer| answer.method.is_none()) {
            if let Some(at) = self.ids.iter().position(|id| Some(id) == answer.id.as_ref()) {
                self.ids.remove(at);
            }
        }
    }
}

/// The messages of a line: one, or those of a batch. A line that is not JSON has none.
fn envelopes(line: &[u8]) -> Vec<Envelope> {
    if line.trim_ascii_start().starts_with(b"[") {
        return serde_json::from_slice(line).unwrap_or_default();
    }
    serde_json::from_slice(line).into_iter().collect()
}
