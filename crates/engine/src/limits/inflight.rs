//! Requests that are being answered, so that their caller can cancel one. Without sessions two requests of one client may
//! have the same id; a cancellation that matches two requests cancels neither.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use frontdesk_wire::frame::Id;
use tokio::sync::Notify;

use crate::limits::body_memory::BodyMemory;
use crate::limits::streams::{StreamLimits, Streams};
use crate::model::caller::ClientId;

type Waiting = Mutex<HashMap<(ClientId, Id), Vec<Arc<Notify>>>>;

/// Clones share the register.
#[derive(Default, Clone)]
pub struct Inflight {
    waiting: Arc<Waiting>,
    /// Those whose answer is a stream that stays open.
    pub streams: Streams,
    /// What their bodies hold.
    pub bodies: BodyMemory,
}

/// A registered request; removed when dropped.
pub struct InflightEntry {
    waiting: Arc<Waiting>,
    key: (ClientId, Id),
    cancelled: Arc<Notify>,
}

impl Inflight {
    /// The same register under other limits.
    #[must_use]
    pub fn with_stream_limits(&self, limits: StreamLimits) -> Inflight {
        Inflight { streams: self.streams.with_limits(limits), ..self.clone() }
    }

    /// The same register with so much memory for bodies.
    #[must_use]
    pub fn with_body_memory(&self, bytes: usize) -> Inflight {
        Inflight { bodies: self.bodies.with_limit(bytes), ..self.clone() }
    }

    pub fn enter(&self, client: &ClientId, id: &Id) -> InflightEntry {
        let cancelled = Arc::new(Notify::new());
        let key = (client.clone(), id.clone());
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting.entry(key.clone()).or_default().push(Arc::clone(&cancelled));
        }
        InflightEntry { waiting: Arc::clone(&self.waiting), key, cancelled }
    }

    pub fn cancel(&self, client: &ClientId, id: &Id) {
        if let Ok(waiting) = self.waiting.lock()
            && let Some([only]) = waiting.get(&(client.clone(), id.clone())).map(Vec::as_slice)
        {
            only.notify_one();
        }
    }
}

impl InflightEntry {
    pub async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl Drop for InflightEntry {
    fn drop(&mut self) {
        if let Ok(mut waiting) = self.waiting.lock()
            && let Some(same) = waiting.get_mut(&self.key)
        {
            same.retain(|other| !Arc::ptr_eq(other, &self.cancelled));
            if same.is_empty() {
                waiting.remove(&self.key);
            }
        }
    }
}
