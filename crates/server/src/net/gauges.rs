//! Counts of what the accept loop and its connections did, for the metrics page. It never names an address.

use std::sync::atomic::{AtomicU64, Ordering};

/// All counters only grow, except `open`.
#[derive(Debug, Default)]
pub struct Gauges {
    pub(super) open: AtomicU64,
    pub(super) accepted: AtomicU64,
    pub(super) refused_full: AtomicU64,
    pub(super) refused_address: AtomicU64,
    pub(super) accept_errors: AtomicU64,
    pub(super) handshakes_failed: AtomicU64,
    pub(super) closed_late: AtomicU64,
    pub(super) panics: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// Connections open now.
    pub open: u64,
    /// Connections that were let in.
    pub accepted: u64,
    /// Connections closed at once because the server was full.
    pub refused_full: u64,
    /// Connections closed at once because their address had too many.
    pub refused_address: u64,
    /// Failures of `accept` itself, such as no free file descriptor.
    pub accept_errors: u64,
    /// TLS handshakes that failed or took too long.
    pub handshakes_failed: u64,
    /// Connections cut after the handshake because a deadline passed.
    pub closed_late: u64,
    /// Calls that panicked and were answered 500.
    pub panics: u64,
}

impl Gauges {
    pub fn snapshot(&self) -> Snapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            open: read(&self.open),
            accepted: read(&self.accepted),
            refused_full: read(&self.refused_full),
            refused_address: read(&self.refused_address),
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
