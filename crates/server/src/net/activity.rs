//! What a connection is doing right now and until when it may go on doing it. It watches the encrypted bytes of a
//! socket and never changes them.
//!
//! hyper has one timeout for a head, which also runs between requests. The desk wants two: a short one for a head that
//! has begun and a long one for a client that is merely quiet. The first byte that arrives after an answer tells them
//! apart, so the watch sits on the socket, beneath TLS, where half a record counts as a byte too.
//! One case cannot be told apart: half a head that came in the same packet as the request before it. It waits like a
//! quiet client, which holds no more than a quiet client may.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::caps::Caps;

/// How long a closed connection still swallows what the client was sending. Without it the kernel would answer those
/// bytes with a reset, and the reset can overtake the answer that explains the refusal.
const LINGER: Duration = Duration::from_secs(1);

/// A client that takes fewer bytes than this within the write deadline is not reading.
const PROGRESS: usize = 16 * 1024;

/// Shared by the socket, the call and the watch of one connection.
#[derive(Clone)]
pub(super) struct Activity {
    state: Arc<Mutex<State>>,
    head: Duration,
    idle: Duration,
    write: Duration,
}

/// When patience ends, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Say goodbye properly: the client did nothing wrong.
    Close,
    /// Drop the socket.
    Cut,
}

/// A socket that reports to an [`Activity`].
pub(super) struct Watched {
    socket: TcpStream,
    activity: Activity,
    half_closed: bool,
}

struct State {
    phase: Phase,
    body: RequestBody,
    stall: Option<Stall>,
}

enum Phase {
    Handshake,
    /// Nothing of the first request has come yet.
    First {
        since: Instant,
    },
    Head {
        since: Instant,
    },
    Call {
        next: Next,
    },
    Idle {
        since: Instant,
    },
    Closing {
        since: Instant,
    },
}

/// Whether bytes of a following request arrived while a call was running.
enum Next {
    Silent,
    Begun,
}

enum RequestBody {
    Unread,
    Ended,
}

struct Stall {
    since: Instant,
    taken: usize,
}

impl Activity {
    pub(super) fn new(caps: &Caps) -> Self {
        let state = State { phase: Phase::Handshake, body: RequestBody::Ended, stall: None };
        Self { state: Arc::new(Mutex::new(state)), head: caps.head, idle: caps.idle, write: caps.write }
    }

    /// The handshake is done and the first head is awaited: silence now is as bad as half a head.
    pub(super) fn expect_head(&self) {
        self.state().phase = Phase::First { since: Instant::now() };
    }

    /// A head is complete, and with it a request that has no body.
    pub(super) fn call_began_without_body(&self) {
        let mut state = self.state();
        state.phase = Phase::Call { next: Next::Silent };
        state.body = RequestBody::Ended;
    }

    /// A head is complete; the body follows.
    pub(super) fn call_began(&self) {
        let mut state = self.state();
        state.phase = Phase::Call { next: Next::Silent };
        state.body = RequestBody::Unread;
    }

    pub(super) fn body_ended(&self) {
        self.state().body = RequestBody::Ended;
    }

    /// Whether bytes of the body may still be under way, so that the next request cannot be found.
    pub(super) fn is_body_left(&self) -> bool {
        matches!(self.state().body, RequestBody::Unread)
    }

    /// The answer has been handed over for sending, or there will be none.
    pub(super) fn call_ended(&self) {
        let mut state = self.state();
        let since = Instant::now();
        state.phase = match state.phase {
            Phase::Call { next: Next::Begun } => Phase::Head { since },
            Phase::Handshake
            | Phase::First { .. }
            | Phase::Head { .. }
            | Phase::Call { next: Next::Silent }
            | Phase::Idle { .. }
            | Phase::Closing { .. } => Phase::Idle { since },
        };
    }

    /// The connection was asked to close and may only say goodbye.
    pub(super) fn closing(&self) {
        self.state().phase = Phase::Closing { since: Instant::now() };
    }

    /// The next moment at which patience ends; none while a call runs and its client reads.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let state = self.state();
        let phase = match state.phase {
            // The handshake has a timeout of its own, and a call belongs to the service.
            Phase::Handshake | Phase::Call { .. } => None,
            Phase::First { since } | Phase::Head { since } => Some(Deadline { at: since + self.head, then: Then::Cut }),
            Phase::Idle { since } => Some(Deadline { at: since + self.idle, then: Then::Close }),
            Phase::Closing { since } => Some(Deadline { at: since + LINGER, then: Then::Cut }),
        };
        let write = state.stall.as_ref().map(|stall| Deadline { at: stall.since + self.write, then: Then::Cut });
        [phase, write].into_iter().flatten().min_by_key(|deadline| deadline.at)
    }

    fn read_some(&self) {
        let mut state = self.state();
        state.phase = match (&state.phase, &state.body) {
            (Phase::Idle { .. }, _) => Phase::Head { since: Instant::now() },
            (Phase::First { since }, _) => Phase::Head { since: *since },
            (Phase::Call { .. }, RequestBody::Ended) => Phase::Call { next: Next::Begun },
            (Phase::Call { .. }, RequestBody::Unread)
            | (Phase::Handshake | Phase::Head { .. } | Phase::Closing { .. }, _) => return,
        };
    }

    fn wrote(&self, bytes: usize) {
        let mut state = self.state();
        // A long answer may still be on its way to a slow reader after the call has ended.
        if let Phase::Idle { since } = &mut state.phase {
            *since = Instant::now();
        }
        if let Some(stall) = &mut state.stall {
            stall.taken += bytes;
            if stall.taken >= PROGRESS {
                state.stall = None;
            }
        }
    }

    fn write_blocked(&self) {
        self.state().stall.get_or_insert_with(|| Stall { since: Instant::now(), taken: 0 });
    }

    /// TLS flushes the socket only after everything it held has been taken.
    fn flushed(&self) {
        self.state().stall = None;
    }

    fn linger(&self) -> Linger {
        let mut state = self.state();
        let linger = match (&state.phase, &state.body) {
            (Phase::First { .. } | Phase::Idle { .. } | Phase::Closing { .. }, RequestBody::Ended) => Linger::No,
            (Phase::Handshake | Phase::Head { .. } | Phase::Call { .. }, RequestBody::Ended)
            | (_, RequestBody::Unread) => Linger::Yes,
        };
        state.phase = Phase::Closing { since: Instant::now() };
        linger
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the client may still be sending something that nobody will read.
enum Linger {
    Yes,
    No,
}

impl Watched {
    pub(super) fn new(socket: TcpStream, activity: Activity) -> Self {
        Self { socket, activity, half_closed: false }
    }

    fn note_write(&self, result: &Poll<io::Result<usize>>) {
        match result {
            Poll::Pending => self.activity.write_blocked(),
            Poll::Ready(Ok(bytes)) => self.activity.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.activity.read_some();
        }
        result
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.note_write(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.note_write(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.activity.flushed();
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    /// Ends our half, then swallows the client's half until it ends too or the watch loses patience.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.half_closed {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
            self.half_closed = true;
            match self.activity.linger() {
                Linger::Yes => {}
                Linger::No => return Poll::Ready(Ok(())),
            }
        }
        let mut scratch = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
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
        let activity = Activity::new(&Caps::default());
        activity.call_began_without_body();
        activity
    }

    #[test]
    fn a_stall_ends_when_everything_was_taken_however_little_that_was() {
        let activity = calling();
        activity.write_blocked();
        activity.wrote(1);
        assert_eq!(activity.deadline().map(|deadline| deadline.then), Some(Then::Cut));
        activity.flushed();
        assert_eq!(activity.deadline(), None);
    }

    #[test]
    fn a_few_bytes_do_not_end_a_stall_and_many_do() {
        let activity = calling();
        activity.write_blocked();
        let at = activity.deadline().unwrap().at;
        std::thread::sleep(Duration::from_millis(2));
        activity.wrote(PROGRESS - 1);
        activity.write_blocked();
        assert_eq!(activity.deadline().unwrap().at, at);
        activity.wrote(1);
        assert_eq!(activity.deadline(), None);
    }

    #[test]
    fn the_wait_for_the_next_request_counts_from_the_last_byte_of_the_answer() {
        let activity = calling();
        activity.call_ended();
        let at = activity.deadline().unwrap().at;
        std::thread::sleep(Duration::from_millis(2));
        activity.wrote(1);
        let deadline = activity.deadline().unwrap();
        assert!(deadline.at > at && deadline.then == Then::Close);
    }
}
