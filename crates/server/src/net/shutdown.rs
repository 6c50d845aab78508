//! The one signal that asks every part of the server to finish; once given it is never taken back.

use std::sync::Arc;

use tokio::sync::watch;

/// Clones share the signal.
#[derive(Debug, Clone)]
pub struct Shutdown {
    asked: Arc<watch::Sender<bool>>,
}

impl Shutdown {
    pub fn new() -> Self {
        Self { asked: Arc::new(watch::Sender::new(false)) }
    }

    /// Asks to finish. Asking twice is the same as asking once.
    pub fn request(&self) {
        self.asked.send_replace(true);
    }

    pub fn is_requested(&self) -> bool {
        *self.asked.borrow()
    }

    /// Resolves when someone asked, at once if that was earlier.
    pub async fn requested(&self) {
        let mut asked = self.asked.subscribe();
        // The sender lives as long as `self`, so the only way out is the value itself.
        let _ = asked.wait_for(|asked| *asked).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}
