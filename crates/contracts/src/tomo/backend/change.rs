//! Changing, cancelling and rating a booking in the business's own system. The same change again is answered as before
//! without asking; a booking that has ended is not asked about.

use frontdesk_engine::model::relay::{Preparation, RelayAnswer, RelayAttempt, RelayTool, Relayed};
use frontdesk_engine::model::tool::{Future, Item};
use frontdesk_engine::seal::sha256;
use frontdesk_engine::{Fault, Permitted, Plan};
use frontdesk_wire::json::canonical_object;
use serde_json::{Map, Value};

use super::Forwarded;
use super::answer::Answered;
use super::booked::{BackendAnswers, End, Loaded, answered, item, missing, take_news};
use super::create::missing_net;
use super::forward::another_booking;
use crate::record::Integer;
use crate::tomo::booking::BookingStatus;
use crate::tomo::codes::BOOKING_CLOSED;
use crate::tomo::intent::Role;

pub(super) struct ForwardedChange(pub(super) Forwarded);

impl RelayTool for ForwardedChange {
    fn destination(&self) -> &str {
        &self.0.destination
    }

    fn prepare<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Preparation, Fault>> {
        Box::pin(async move {
            let ForwardedChange(forwarded) = self;
            let known = forwarded.load(permitted).await?;
            if let Some(payload) = self.earlier(permitted, &known) {
                return Ok(Preparation::Done(known.repeated(payload)));
            }
            if known.booking.record.status.is_final() && forwarded.tool.role != Role::Rate {
                return Err(Fault::domain(BOOKING_CLOSED, "This booking has ended, so it can no longer be changed."));
            }
            forwarded.check_not_suspended(permitted)?;
            let (id, changes) = (&known.booking.id, known.backend.changes.get());
            Ok(Preparation::Send { sameness: format!("{id}/{changes}/{}", self.asked(permitted)) })
        })
    }

    fn send<'a>(&'a self, permitted: &'a Permitted<'a>, attempt: RelayAttempt<'a>) -> Future<'a, Relayed> {
        Box::pin(self.0.change(permitted, attempt))
    }

    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>, answer: RelayAnswer<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let Answered { payload, booking: news } = answered(answer.answer)?;
            let mut known = self.0.load(permitted).await?;
            if news.reference.as_deref().is_some_and(|said| said != &*known.backend.reference) {
                return Err(another_booking());
            }
            let Loaded { booking, backend } = &mut known;
            let mut answers = BackendAnswers::of(backend);
            answers.add(&self.0.tool, &payload);
            backend.last_change = Some(self.asked(permitted).as_str().into());
            backend.changes = Integer::clamped(backend.changes.get().saturating_add(1));
            let record = &mut booking.record;
            if record.status.is_final() {
                // What has ended meanwhile stays as it ended.
                answers.set_status(record.status);
            } else {
                take_news(record, backend, &news);
                let status = match (news.status(), self.0.tool.role) {
                    (None, Role::Cancel) => BookingStatus::Cancelled,
                    (status, _) => status.unwrap_or(record.status),
                };
                if status.is_final() {
                    let end = End { status, at: permitted.now(), net_inr: news.net_inr };
                    end.apply(record).map_err(|_| missing_net())?;
                }
            }
            backend.answers = answers.text();
            Ok(known.changed(permitted, payload))
        })
    }

    /// A repeated key gets the answer of then.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let known = self.0.load_by_id(permitted, &stored.id).await?;
            let payload = BackendAnswers::of(&known.backend).answered(&self.0.tool).ok_or_else(missing)?;
            Ok(item(&known.booking, payload))
        })
    }
}

impl ForwardedChange {
    /// The answer of then, if this was the last change, or if there is nothing left to cancel.
    fn earlier(&self, permitted: &Permitted<'_>, known: &Loaded) -> Option<Map<String, Value>> {
        let is_last = known.backend.last_change.as_deref() == Some(self.asked(permitted).as_str());
        let is_cancelled = self.0.tool.role == Role::Cancel && known.booking.record.status == BookingStatus::Cancelled;
        (is_last || is_cancelled).then(|| BackendAnswers::of(&known.backend).answered(&self.0.tool)).flatten()
    }

    /// What the change asks for, whoever asks and however often, as hexadecimal digits.
    fn asked(&self, permitted: &Permitted<'_>) -> String {
        let beside = ["intent", "intent_version", "request_id", "user_session_id", "context"];
        let given = permitted.input().arguments.iter().filter(|(name, _)| !beside.contains(&name.as_str()));
        let arguments: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut text = self.0.tool.name.as_bytes().to_vec();
        text.push(0);
        text.extend(canonical_object(&arguments));
        sha256(&text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
