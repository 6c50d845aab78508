//! Counters of a listener and its connections, for the metrics page. They contain no addresses.

use std::sync::atomic::{AtomicU64, Ordering};

/// All counters only grow, except `open`.
#[derive(Debug, Default)]
pub struct ConnectionCounters {
    pub(super) open: AtomicU64,
    pub(super) accepted: AtomicU64,
    pub(super) refused_full: AtomicU64,
    pub(super) refused_address: AtomicU64,
    pub(super) closed_silent: AtomicU64,
    pub(super) accept_errors: AtomicU64,
    pub(super) handshakes_failed: AtomicU64,
    pub(super) closed_late: AtomicU64,
    pub(super) panics: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// Connections open now.
    pub open: u64,
    /// Accepted connections.
    pub accepted: u64,
    /// Connections closed at once because of the limit in total.
    pub refused_full: u64,
    /// Connections closed at once because of the limit per address.
    pub refused_address: u64,
    /// Connections closed before a byte of a request, because a limit was reached and another came.
    pub closed_silent: u64,
    /// Failures of `accept` itself, such as no free file descriptor.
    pub accept_errors: u64,
    /// TLS handshakes that failed or took too long.
    pub handshakes_failed: u64,
    /// Connections aborted after the handshake because a deadline passed.
    pub closed_late: u64,
    /// Calls that panicked and were answered 500.
    pub panics: u64,
}

impl ConnectionCounters {
    pub fn snapshot(&self) -> ConnectionCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ConnectionCounts {
            open: read(&self.open),
            accepted: read(&self.accepted),
            refused_full: read(&self.refused_full),
            refused_address: read(&self.refused_address),
            closed_silent: read(&self.closed_silent),
            accept_errors: read(&self.accept_errors),
            handshakes_failed: read(&self.handshakes_failed),
            closed_late: read(&self.closed_late),
            panics: read(&self.panics),
        }
    }
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
