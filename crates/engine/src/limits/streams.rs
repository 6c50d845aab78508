//! Answers that stay open: how many there may be, of one client and in total, how they ended, and the end of all of them
//! when the server stops. It counts and wakes, and never waits for a stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::model::caller::ClientId;

/// How many streams may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    pub total: usize,
    pub per_client: usize,
}

impl Default for StreamLimits {
    fn default() -> StreamLimits {
        StreamLimits { total: 1024, per_client: 256 }
    }
}

/// Clones share the streams, each with its own limits.
#[derive(Debug, Clone, Default)]
pub struct Streams {
    shared: Arc<Shared>,
    limits: StreamLimits,
}

#[derive(Debug, Default)]
struct Shared {
    open: Mutex<HashMap<ClientId, usize>>,
    ended: [AtomicU64; StreamEnd::ALL.len()],
    closing: watch::Sender<bool>,
}

/// Why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// What was watched has ended.
    Complete,
    /// Its time was over.
    TimeUp,
    /// Its caller cancelled the request.
    Cancelled,
    /// A look failed, or the credential is no longer valid.
    Failed,
    /// The server stops.
    Shutdown,
    /// Nobody listens any more.
    Closed,
}

impl StreamEnd {
    pub const ALL: [StreamEnd; 6] = [
        StreamEnd::Complete,
        StreamEnd::TimeUp,
        StreamEnd::Cancelled,
        StreamEnd::Failed,
        StreamEnd::Shutdown,
        StreamEnd::Closed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            StreamEnd::Complete => "complete",
            StreamEnd::TimeUp => "time_up",
            StreamEnd::Cancelled => "cancelled",
            StreamEnd::Failed => "failed",
            StreamEnd::Shutdown => "shutdown",
            StreamEnd::Closed => "closed",
        }
    }
}

/// The permission for one stream, returned when it is dropped.
#[derive(Debug)]
pub struct StreamPermit {
    shared: Arc<Shared>,
    client: ClientId,
    end: StreamEnd,
}

impl Streams {
    /// The same streams under other limits; those that are open stay.
    #[must_use]
    pub fn with_limits(&self, limits: StreamLimits) -> Streams {
        Streams { shared: Arc::clone(&self.shared), limits }
    }

    /// None where a limit is reached.
    pub fn enter(&self, client: &ClientId) -> Option<StreamPermit> {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, here) = (open.values().sum::<usize>(), open.get(client).copied().unwrap_or_default());
        if total >= self.limits.total || here >= self.limits.per_client {
            return None;
        }
        open.insert(client.clone(), here + 1);
        Some(StreamPermit { shared: Arc::clone(&self.shared), client: client.clone(), end: StreamEnd::Closed })
    }

    pub fn open(&self) -> usize {
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// How many have ended in each way.
    pub fn ended(&self) -> [(StreamEnd, u64); StreamEnd::ALL.len()] {
        StreamEnd::ALL
            .map(|end| (end, self.shared.ended.get(end as usize).map_or(0, |all| all.load(Ordering::Relaxed))))
    }

    /// Ends all streams, and those that begin later.
    pub fn close(&self) {
        self.shared.closing.send_replace(true);
    }
}

impl StreamPermit {
    /// Says how the stream ends; one that is only dropped was closed by its caller.
    pub(crate) fn end(&mut self, end: StreamEnd) {
        self.end = end;
    }

    /// Returns when all streams must end.
    pub(crate) fn closing(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closing = self.shared.closing.subscribe();
        async move {
            // The sender lives as long as the permit.
            let _ = closing.wait_for(|closing| *closing).await;
        }
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        // A client without streams is removed, so that the map does not grow.
        if let Some(here) = open.get_mut(&self.client) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                open.remove(&self.client);
            }
        }
        if let Some(ended) = self.shared.ended.get(self.end as usize) {
            ended.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientId, StreamEnd, StreamLimits, Streams};

    #[test]
    fn one_client_and_all_together_have_a_limit() {
        let streams = Streams::default().with_limits(StreamLimits { total: 3, per_client: 2 });
        let [one, other] = ["one", "other"].map(ClientId::new);
        let mut first = streams.enter(&one).unwrap();
        let second = streams.enter(&one).unwrap();
        assert!(streams.enter(&one).is_none(), "its own limit");
        let third = streams.enter(&other).unwrap();
        assert!(streams.enter(&other).is_none(), "the limit of all");
        assert_eq!(streams.open(), 3);
        first.end(StreamEnd::Complete);
        drop((first, second, third));
        assert!(streams.shared.open.lock().unwrap().is_empty());
        let ended: Vec<(&str, u64)> = streams.ended().map(|(end, count)| (end.as_str(), count)).into();
        assert_eq!(
            ended,
            [("complete", 1), ("time_up", 0), ("cancelled", 0), ("failed", 0), ("shutdown", 0), ("closed", 2)]
        );
    }
}
