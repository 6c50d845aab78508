//! The request to shut down, which all parts of the server share. It cannot be revoked.

use std::sync::Arc;

use tokio::sync::watch;

/// Clones share the signal.
#[derive(Debug, Clone)]
pub struct Shutdown {
    requested: Arc<watch::Sender<bool>>,
}

impl Shutdown {
    pub fn new() -> Self {
        Self { requested: Arc::new(watch::Sender::new(false)) }
    }

    /// Requests the shutdown. Further requests have no effect.
    pub fn request(&self) {
        self.requested.send_replace(true);
    }

    pub fn is_requested(&self) -> bool {
        *self.requested.borrow()
    }

    /// Resolves when the shutdown is requested, at once if it was already.
    pub async fn requested(&self) {
        let mut receiver = self.requested.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        let _ = receiver.wait_for(|requested| *requested).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}
