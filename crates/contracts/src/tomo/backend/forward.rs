//! Searches, details and other questions: one request, one answer, nothing stored.

use frontdesk_engine::model::tool::{Future, Item, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::Forwarded;
use super::answer::{Answered, BackendAnswer, Refusal};
use super::request::{Failure, Repetition};

pub(super) struct Forward(pub(super) Forwarded);

impl ReadTool for Forward {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let Forward(forwarded) = self;
            // What is not a booking of this caller is not asked about.
            let mut known = None;
            if permitted.input().text("booking_ref").is_some() {
                known = Some(forwarded.booking_id(permitted).await?);
            }
            let Answered { payload, booking } = forwarded.question(permitted).await?;
            let body = Value::Object(payload).to_string();
            match known {
                Some((_, reference)) if booking.reference.is_some_and(|said| said != reference) => {
                    Err(another_booking())
                }
                Some((id, _)) => Ok(Outcome::One(Item { id, version: 0, body, masked: None, personal: None })),
                None => Ok(Outcome::Raw { answer: body, rows: 1 }),
            }
        })
    }
}

impl Forwarded {
    /// Asks something that changes nothing.
    pub(super) async fn question(&self, permitted: &Permitted<'_>) -> Result<Answered, Fault> {
        match self.ask(permitted, Repetition::Never).await {
            Ok(BackendAnswer::Done(answered)) => Ok(answered),
            Ok(BackendAnswer::Refused(Refusal { fault, .. })) => Err(fault),
            Err(failure) => Err(Failure::of_read(failure)),
        }
    }
}

pub(super) fn another_booking() -> Fault {
    Fault::internal("backend: the answer is about another booking")
}
