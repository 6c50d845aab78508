//! The request to shut down, which all parts of the server share. It cannot be revoked.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

/// Clones share the signal.
#[derive(Debug, Clone)]
pub struct Shutdown {
    request: Arc<watch::Sender<Option<ShutdownRequest>>>,
}

/// Why a shutdown was requested, and since when it is under way.
#[derive(Debug, Clone, Copy)]
pub struct ShutdownRequest {
    pub reason: ShutdownReason,
    pub at: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownReason {
    Interrupt,
    Terminate,
    /// Nobody is left to answer.
    InputClosed,
}

impl ShutdownReason {
    pub fn as_str(self) -> &'static str {
        match self {
            ShutdownReason::Interrupt => "SIGINT",
            ShutdownReason::Terminate => "SIGTERM",
            ShutdownReason::InputClosed => "standard input closed",
        }
    }
}

impl Shutdown {
    pub fn new() -> Self {
        Self { request: Arc::new(watch::Sender::new(None)) }
    }

    /// Requests the shutdown. Further requests have no effect.
    pub fn request(&self, reason: ShutdownReason) {
        self.request.send_if_modified(|request| {
            let is_first = request.is_none();
            request.get_or_insert(ShutdownRequest { reason, at: Instant::now() });
            is_first
        });
    }

    pub fn is_requested(&self) -> bool {
        self.first_request().is_some()
    }

    pub fn first_request(&self) -> Option<ShutdownRequest> {
        *self.request.borrow()
    }

    /// Resolves when the shutdown is requested, at once if it was already.
    pub async fn requested(&self) {
        let mut receiver = self.request.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        let _ = receiver.wait_for(Option::is_some).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}
