//! Running a letter: by the path of a call, as its caller.

use std::sync::Arc;

use frontdesk_wire::answer::quote;
use frontdesk_wire::frame::Frame;
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::letter::Letter;
use super::told::Answer;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::reply::{Form, Reply};
use crate::serve::{Visit, message};
use crate::stages::admit::Paid;
use crate::stages::door::refuse_denied;
use crate::stages::record::{Sighting, record};

pub(crate) struct Ran {
    pub(crate) answer: Answer,
    pub(crate) keep: Keep,
}

/// Whether the answer would be another one if the same were asked again soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Yes,
    No,
}

pub(crate) async fn run(
    desk: &Desk,
    mount: &Mount,
    letter: &Letter,
    sighting: Sighting<'_>,
    until: Instant,
    paid: Paid,
) -> Ran {
    let caller = Arc::new(letter.caller());
    let incoming = letter.incoming();
    let visit = Visit { desk, mount, incoming: &incoming, caller: &caller, until, paid };
    // The server may have been shut since the message was accepted.
    let open = mount.door.as_ref().map_or(Ok(()), refuse_denied);
    let request = open.and_then(|()| letter.request().ok_or_else(|| Fault::internal("a letter cannot be read")));
    let reply = match request {
        Ok(request) => message(&visit, sighting, Ok(Frame::Request(request))).await,
        Err(fault) => record(sighting, Err(fault), &visit.at()).await,
    };
    Ran { keep: keep(reply.fault), answer: answer(letter, &reply) }
}

fn answer(letter: &Letter, reply: &Reply) -> Answer {
    let text = || String::from_utf8_lossy(&reply.body).into_owned();
    let response = match reply.form {
        Form::Empty => "null".to_owned(),
        Form::Rpc | Form::Plain => match serde_json::from_slice::<IgnoredAny>(&reply.body) {
            Ok(IgnoredAny) => text(),
            Err(_) => quote(&text()),
        },
    };
    Answer { http_status: reply.status, trace_id: letter.shown_trace().to_owned(), response }
}

/// An answer that says no more than that the desk could not is not one to repeat for a day.
fn keep(fault: Option<FaultKind>) -> Keep {
    match fault {
        Some(kind) if kind.retryable() || kind == FaultKind::Internal => Keep::No,
        Some(_) | None => Keep::Yes,
    }
}
