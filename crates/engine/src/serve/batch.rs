//! Several messages in one request, which one protocol version allows. Each is a call of its own, one
//! after the other; together they share one deadline and one reply.

use std::sync::Arc;

use bytes::Bytes;
use frontdesk_wire::answer::{error, quote};
use frontdesk_wire::frame::{Frame, FrameError, Id};
use serde::de::IgnoredAny;
use tokio::time::Instant;

use crate::model::fault::{Fault, FaultKind};
use crate::model::reply::{Reply, ReplyKind};
use crate::pipeline::admit::Charge;
use crate::pipeline::frame::FrameRejection;
use crate::pipeline::record::{CallRecord, RunCall, record_call};
use crate::serve::{CallContext, handle_notification, handle_request, handle_response};

/// Answers several messages of one request, one after the other; each is a call of its own with its own record.
pub(crate) async fn batch(context: &mut CallContext<'_, '_>, frames: Vec<Result<Frame, FrameError>>) -> Reply {
    context.record.discard();
    let CallRecord { desk, mount, incoming, .. } = *context.record;
    let mut replies = Vec::new();
    let mut bytes = 0;
    for frame in frames {
        let id = match &frame {
            Ok(Frame::Request(request)) => Some(request.id.clone()),
            Ok(Frame::Notification(_) | Frame::Response) => None,
            Err(error) => error.id().cloned(),
        };
        // A notification gets no answer, whatever its outcome.
        let answered = !matches!(frame, Ok(Frame::Notification(_) | Frame::Response));
        let call = BatchedCall { batch: &*context, frame, id: id.as_ref(), bytes };
        let reply = record_call(desk, mount, incoming, call).await;
        bytes += reply.body.len();
        if answered {
            replies.push((id, reply));
        }
    }
    combine(replies)
}

/// One message of a batch.
struct BatchedCall<'b, 'c, 'a> {
    /// The request that holds the batch.
    batch: &'b CallContext<'c, 'a>,
    frame: Result<Frame, FrameError>,
    id: Option<&'b Id>,
    /// The size of the answers before this one.
    bytes: usize,
}

impl RunCall for BatchedCall<'_, '_, '_> {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        // What was paid for a large body is for reading it, not for the calls in it.
        let (caller, deadline) = (Arc::clone(&self.batch.caller), self.batch.deadline);
        let mut context = CallContext::new(call_record, caller, deadline, Charge::Due);
        // Refused before it is begun: a write must not happen whose answer has no room.
        match (exhausted(&context, self.bytes), self.id) {
            (Some(fault), Some(id)) => Err(context.record.reject(FrameRejection { fault, id: Some(id.clone()) })),
            (Some(_), None) | (None, _) => match self.frame {
                Ok(Frame::Request(request)) => handle_request(&mut context, request).await,
                Ok(Frame::Notification(notification)) => handle_notification(&mut context, &notification),
                Ok(Frame::Response) => handle_response(&context),
                Err(error) => Err(context.record.reject(error.into())),
            },
        }
    }
}

/// Why a batch takes no further call.
fn exhausted(context: &CallContext<'_, '_>, bytes: usize) -> Option<Fault> {
    if bytes >= context.record.desk.settings.reply_bytes {
        return Some(Fault::new(FaultKind::TooLarge, "The answers before this one fill the reply. Send it by itself."));
    }
    (Instant::now() >= context.deadline)
        .then(|| Fault::unavailable("the calls before it took all the time of the batch"))
}

/// One answer to a batch. Whatever is not a JSON-RPC message by itself becomes an error inside one.
pub fn combine(replies: Vec<(Option<Id>, Reply)>) -> Reply {
    let parts: Vec<Vec<u8>> = replies.into_iter().filter_map(|(id, reply)| as_rpc(id.as_ref(), &reply)).collect();
    if parts.is_empty() {
        return Reply::empty(202);
    }
    let mut body = vec![b'['];
    body.extend(parts.join(&b','));
    body.push(b']');
    Reply::rpc(Bytes::from(body))
}

/// The one message that a reply comes to, if it is one.
pub(crate) fn as_rpc(id: Option<&Id>, reply: &Reply) -> Option<Vec<u8>> {
    match reply.kind {
        ReplyKind::Rpc => Some(reply.body.to_vec()),
        ReplyKind::Plain => {
            let data = as_json(&reply.body);
            Some(error(id, i64::from(reply.status), "The request was refused", Some(&data)))
        }
        // A stream is several messages; only a request by itself is answered with one.
        ReplyKind::Empty | ReplyKind::Events => None,
    }
}

/// A plain body need not be JSON, but everything inside a batch must be.
fn as_json(body: &[u8]) -> String {
    match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(IgnoredAny) => String::from_utf8_lossy(body).into_owned(),
        Err(_) => quote(&String::from_utf8_lossy(body)),
    }
}
