//! Between a call that answers with a stream and the transport that writes it: one event at a time. A call whose event was
//! not taken waits, so a caller that does not read costs one event of memory and no work.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use bytes::Bytes;

/// The end of the call.
pub struct EventSink(Arc<Mutex<Slot>>);

/// The end of the transport.
pub struct EventSource(Arc<Mutex<Slot>>);

/// What the transport says before the first event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamHead {
    /// The trace that the message named itself, if it named one.
    pub trace: Option<String>,
}

#[derive(Default)]
struct Slot {
    head: Option<StreamHead>,
    event: Option<Bytes>,
    waiting: Option<Waker>,
}

pub fn event_slot() -> (EventSink, EventSource) {
    let slot = Arc::new(Mutex::new(Slot::default()));
    (EventSink(Arc::clone(&slot)), EventSource(slot))
}

impl EventSink {
    /// From here on the answer is a stream; what the call returns in the end is its last event.
    pub(crate) fn open(&self, head: StreamHead) {
        lock(&self.0).head = Some(head);
    }

    /// Returns when the transport has taken all earlier events.
    pub(crate) async fn send(&self, event: Bytes) {
        let mut event = Some(event);
        poll_fn(|context| {
            let mut slot = lock(&self.0);
            if slot.event.is_some() {
                slot.waiting = Some(context.waker().clone());
                return Poll::Pending;
            }
            slot.event = event.take();
            Poll::Ready(())
        })
        .await;
    }
}

impl EventSource {
    /// Once, when the call has begun a stream.
    pub fn take_head(&self) -> Option<StreamHead> {
        lock(&self.0).head.take()
    }

    pub fn take_event(&self) -> Option<Bytes> {
        let mut slot = lock(&self.0);
        let event = slot.event.take();
        if let Some(waiting) = slot.waiting.take() {
            waiting.wake();
        }
        event
    }
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
