//! A call that goes on as the body of its response. It is polled only while its client reads, and dropped with the
//! connection; nothing else keeps it.

use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use frontdesk_engine::Reply;
use frontdesk_engine::model::event_sink::{EventSource, StreamHead};
use frontdesk_engine::model::tool::Future;
use hyper::body::{Body, Frame};

/// A call that holds everything it needs.
pub(super) type RunningCall = Future<'static, Reply>;

/// Runs a call until it has begun a stream, or has ended, or both.
pub(super) async fn until_answered(
    call: &mut RunningCall,
    source: &EventSource,
) -> (Option<StreamHead>, Option<Reply>) {
    poll_fn(|context| match (call.as_mut().poll(context), source.take_head()) {
        (Poll::Pending, None) => Poll::Pending,
        (Poll::Pending, Some(head)) => Poll::Ready((Some(head), None)),
        (Poll::Ready(reply), head) => Poll::Ready((head, Some(reply))),
    })
    .await
}

/// The events of a call, one frame each.
pub(super) struct EventBody {
    source: EventSource,
    state: CallState,
}

enum CallState {
    Running(RunningCall),
    /// What it ended with, still to be sent.
    Ended(Bytes),
    Sent,
}

impl EventBody {
    pub(super) fn new(call: RunningCall, source: EventSource) -> EventBody {
        EventBody { source, state: CallState::Running(call) }
    }

    /// Of a call that has ended already.
    pub(super) fn ended(source: EventSource, reply: Reply) -> EventBody {
        EventBody { source, state: CallState::Ended(reply.body) }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let EventBody { source, state } = self.get_mut();
        loop {
            if let Some(event) = source.take_event() {
                return Poll::Ready(Some(Ok(Frame::data(event))));
            }
            match state {
                CallState::Running(call) => {
                    // The call is dropped after a panic, so its state is not used again.
                    match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))) {
                        Ok(Poll::Ready(reply)) => *state = CallState::Ended(reply.body),
                        Ok(Poll::Pending) => {
                            return match source.take_event() {
                                Some(event) => Poll::Ready(Some(Ok(Frame::data(event)))),
                                None => Poll::Pending,
                            };
                        }
                        Err(_panic) => {
                            *state = CallState::Sent;
                            return Poll::Ready(Some(Err(io::Error::other("the call panicked"))));
                        }
                    }
                }
                CallState::Ended(last) => {
                    let last = std::mem::take(last);
                    *state = CallState::Sent;
                    if !last.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(last))));
                    }
                }
                CallState::Sent => return Poll::Ready(None),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, CallState::Sent)
    }
}
