//! What a connection is doing and until when it may continue. It observes the encrypted bytes of a socket and never changes
//! them.
//!
//! hyper has one timeout for a request head, which also runs between requests. This server needs two: a short one for a head
//! that has begun and a long one for an idle client. The first byte after an answer distinguishes them, so the socket is
//! observed beneath TLS, where part of a record counts, too. One case is not distinguished: part of a head that arrives in
//! the same packet as the previous request has the timeout of an idle client.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::admission::ConnectionPermit;
use super::limits::ConnectionLimits;

/// How long a closed connection still discards what the client sends. Otherwise the kernel would answer those bytes with a
/// reset, and the reset can overtake the answer that explains the refusal.
const LINGER: Duration = Duration::from_secs(1);

/// A client that reads fewer bytes than this within the write timeout is considered stalled.
const MIN_PROGRESS: usize = 16 * 1024;

/// Shared by the socket, the call and the deadline check of one connection.
#[derive(Clone)]
pub(super) struct Activity {
    state: Arc<Mutex<ConnectionState>>,
    head: Duration,
    idle: Duration,
    write: Duration,
    permit: Option<Arc<ConnectionPermit>>,
}

/// When a timeout ends, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) action: OnDeadline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDeadline {
    /// Close gracefully: the client did nothing wrong.
    Close,
    /// Drop the socket.
    Abort,
}

/// A socket that reports reads and writes to an [`Activity`].
pub(super) struct TimedStream {
    socket: TcpStream,
    activity: Activity,
    half_closed: bool,
}

struct ConnectionState {
    phase: Phase,
    body: BodyState,
    stall: Option<Stall>,
}

enum Phase {
    Handshake,
    /// No byte of the first request has arrived.
    First {
        since: Instant,
    },
    Head {
        since: Instant,
    },
    Call {
        next: NextRequest,
    },
    Idle {
        since: Instant,
    },
    Closing {
        since: Instant,
    },
}

/// Whether bytes of the next request arrived while a call was running.
enum NextRequest {
    None,
    Started,
}

enum BodyState {
    Unread,
    Ended,
}

struct Stall {
    since: Instant,
    written: usize,
}

impl Activity {
    /// The permit is told of the first byte of a request.
    pub(super) fn new(limits: &ConnectionLimits, permit: Option<Arc<ConnectionPermit>>) -> Self {
        let state = ConnectionState { phase: Phase::Handshake, body: BodyState::Ended, stall: None };
        let state = Arc::new(Mutex::new(state));
        Self { state, head: limits.head, idle: limits.idle, write: limits.write, permit }
    }

    /// The handshake is done. Waiting for the first head has the same timeout as an incomplete head.
    pub(super) fn expect_head(&self) {
        self.state().phase = Phase::First { since: Instant::now() };
    }

    /// A head is complete, and with it a request that has no body.
    pub(super) fn call_started_without_body(&self) {
        self.request_began();
        let mut state = self.state();
        state.phase = Phase::Call { next: NextRequest::None };
        state.body = BodyState::Ended;
    }

    /// A head is complete; the body follows.
    pub(super) fn call_started(&self) {
        self.request_began();
        let mut state = self.state();
        state.phase = Phase::Call { next: NextRequest::None };
        state.body = BodyState::Unread;
    }

    pub(super) fn body_ended(&self) {
        self.state().body = BodyState::Ended;
    }

    /// Whether bytes of the body may still arrive, so that the start of the next request is unknown.
    pub(super) fn is_body_unread(&self) -> bool {
        matches!(self.state().body, BodyState::Unread)
    }

    /// The answer was passed to hyper, or there will be none.
    pub(super) fn call_ended(&self) {
        let mut state = self.state();
        let since = Instant::now();
        state.phase = match state.phase {
            Phase::Call { next: NextRequest::Started } => Phase::Head { since },
            Phase::Handshake
            | Phase::First { .. }
            | Phase::Head { .. }
            | Phase::Call { next: NextRequest::None }
            | Phase::Idle { .. }
            | Phase::Closing { .. } => Phase::Idle { since },
        };
    }

    /// The connection is being closed.
    pub(super) fn closing(&self) {
        self.state().phase = Phase::Closing { since: Instant::now() };
    }

    /// The next deadline; none while a call runs and its client reads.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let state = self.state();
        let phase = match state.phase {
            // The handshake and the call have timeouts of their own.
            Phase::Handshake | Phase::Call { .. } => None,
            Phase::First { since } | Phase::Head { since } => {
                Some(Deadline { at: since + self.head, action: OnDeadline::Abort })
            }
            Phase::Idle { since } => Some(Deadline { at: since + self.idle, action: OnDeadline::Close }),
            Phase::Closing { since } => Some(Deadline { at: since + LINGER, action: OnDeadline::Abort }),
        };
        let write =
            state.stall.as_ref().map(|stall| Deadline { at: stall.since + self.write, action: OnDeadline::Abort });
        [phase, write].into_iter().flatten().min_by_key(|deadline| deadline.at)
    }

    /// The head of a request can arrive together with the end of the handshake, so the first call says it, too.
    fn request_began(&self) {
        if let Some(permit) = &self.permit {
            permit.request_began();
        }
    }

    fn read_some(&self) {
        let mut state = self.state();
        state.phase = match (&state.phase, &state.body) {
            (Phase::Idle { .. }, _) => Phase::Head { since: Instant::now() },
            (Phase::First { since }, _) => {
                self.request_began();
                Phase::Head { since: *since }
            }
            (Phase::Call { .. }, BodyState::Ended) => Phase::Call { next: NextRequest::Started },
            (Phase::Call { .. }, BodyState::Unread)
            | (Phase::Handshake | Phase::Head { .. } | Phase::Closing { .. }, _) => return,
        };
    }

    fn wrote(&self, bytes: usize) {
        let mut state = self.state();
        // A slow client may still read a long answer after the call has ended.
        if let Phase::Idle { since } = &mut state.phase {
            *since = Instant::now();
        }
        if let Some(stall) = &mut state.stall {
            stall.written += bytes;
            if stall.written >= MIN_PROGRESS {
                state.stall = None;
            }
        }
    }

    fn write_blocked(&self) {
        self.state().stall.get_or_insert_with(|| Stall { since: Instant::now(), written: 0 });
    }

    /// TLS flushes the socket only after everything was written.
    fn flushed(&self) {
        self.state().stall = None;
    }

    fn close(&self) -> Linger {
        let mut state = self.state();
        let linger = match (&state.phase, &state.body) {
            (Phase::First { .. } | Phase::Idle { .. } | Phase::Closing { .. }, BodyState::Ended) => Linger::No,
            (Phase::Handshake | Phase::Head { .. } | Phase::Call { .. }, BodyState::Ended) | (_, BodyState::Unread) => {
                Linger::Yes
            }
        };
        state.phase = Phase::Closing { since: Instant::now() };
        linger
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the client may still send something that must be discarded.
enum Linger {
    Yes,
    No,
}

impl TimedStream {
    pub(super) fn new(socket: TcpStream, activity: Activity) -> Self {
        Self { socket, activity, half_closed: false }
    }

    fn record_write(&self, result: &Poll<io::Result<usize>>) {
        match result {
            Poll::Pending => self.activity.write_blocked(),
            Poll::Ready(Ok(bytes)) => self.activity.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
        }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.activity.read_some();
        }
        result
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.record_write(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.record_write(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.activity.flushed();
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    /// Closes our half, then discards what the client sends until it closes its half or the deadline passes.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.half_closed {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
            self.half_closed = true;
            match self.activity.close() {
                Linger::Yes => {}
                Linger::No => return Poll::Ready(Ok(())),
            }
        }
        // Large, because a refused body is discarded here and should cost few calls of the system.
        let mut scratch = [const { MaybeUninit::uninit() }; 64 * 1024];
        loop {
            let mut buffer = ReadBuf::uninit(&mut scratch);
            match ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calling() -> Activity {
        let activity = Activity::new(&ConnectionLimits::default(), None);
        activity.call_started_without_body();
        activity
    }

    #[test]
    fn a_stall_ends_when_everything_was_written() {
        let activity = calling();
        activity.write_blocked();
        activity.wrote(1);
        assert_eq!(activity.deadline().map(|deadline| deadline.action), Some(OnDeadline::Abort));
        activity.flushed();
        assert_eq!(activity.deadline(), None);
    }

    #[test]
    fn a_stall_ends_after_enough_bytes() {
        let activity = calling();
        activity.write_blocked();
        let at = activity.deadline().unwrap().at;
        std::thread::sleep(Duration::from_millis(2));
        activity.wrote(MIN_PROGRESS - 1);
        activity.write_blocked();
        assert_eq!(activity.deadline().unwrap().at, at);
        activity.wrote(1);
        assert_eq!(activity.deadline(), None);
    }

    #[test]
    fn idle_time_counts_from_the_last_byte_of_the_answer() {
        let activity = calling();
        activity.call_ended();
        let at = activity.deadline().unwrap().at;
        std::thread::sleep(Duration::from_millis(2));
        activity.wrote(1);
        let deadline = activity.deadline().unwrap();
        assert!(deadline.at > at && deadline.action == OnDeadline::Close);
    }
}
