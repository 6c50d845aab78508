//! Booking in the business's own system. The booking exists here once that system has confirmed it, under the reference
//! that it has given.

use frontdesk_engine::model::relay::{Preparation, RelayAnswer, RelayAttempt, RelayTool, Relayed};
use frontdesk_engine::model::tool::{Future, Item};
use frontdesk_engine::{Fault, Permitted, Plan};
use serde_json::{Map, Value};

use super::Forwarded;
use super::answer::{Answered, BackendAnswer, Finality, Refusal};
use super::booked::{
    BackendAnswers, BackendBooking, End, answered, created, item, missing, take_news, unique_reference,
};
use super::request::{Failure, Repetition};
use crate::record::{Entity, FieldType as _, Integer, Stored as _};
use crate::tomo::booking::{Booking, BookingCustomer, BookingMode};

pub(super) struct Create(pub(super) Forwarded);

impl RelayTool for Create {
    fn destination(&self) -> &str {
        &self.0.destination
    }

    fn prepare<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Preparation, Fault>> {
        let checked = self.0.check_not_suspended(permitted);
        // A create has a key (T-100); without one every call would be a new one.
        let sameness = permitted.new_id("call");
        Box::pin(std::future::ready(checked.map(|()| Preparation::Send { sameness })))
    }

    fn send<'a>(&'a self, permitted: &'a Permitted<'a>, attempt: RelayAttempt<'a>) -> Future<'a, Relayed> {
        Box::pin(self.0.change(permitted, attempt))
    }

    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>, answer: RelayAnswer<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let Create(forwarded) = self;
            let answered = answered(answer.answer)?;
            let reference = answered.booking.reference.as_deref();
            let reference = reference.ok_or_else(|| Fault::internal("backend: a new booking has no reference"))?;
            if let Some(id) = forwarded.find(permitted, reference).await? {
                let known = forwarded.load_by_id(permitted, &id).await?;
                // Its key was forgotten here meanwhile, and not there.
                if *known.backend.key == *answer.key {
                    let payload = BackendAnswers::of(&known.backend).current(&forwarded.tool).ok_or_else(missing)?;
                    return Ok(known.repeated(payload));
                }
                return Err(Fault::internal("backend: booking_ref is that of another booking"));
            }
            let booking = forwarded.new_booking(permitted, answer.key, reference, &answered)?;
            let id = permitted.new_id(Booking::ID_PREFIX);
            let entity = Entity::new(id, permitted.tenant().clone(), permitted.now(), booking);
            Ok(created(&entity, answered.payload))
        })
    }

    /// A repeated key gets the booking as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let known = self.0.load_by_id(permitted, &stored.id).await?;
            let payload = BackendAnswers::of(&known.backend).current(&self.0.tool).ok_or_else(missing)?;
            Ok(item(&known.booking, payload))
        })
    }
}

impl Forwarded {
    /// Sends a call that changes something.
    pub(super) async fn change(&self, permitted: &Permitted<'_>, attempt: RelayAttempt<'_>) -> Relayed {
        let repetition = Repetition::Keyed { key: attempt.key, attempt: attempt.number };
        match self.ask(permitted, repetition).await {
            Ok(BackendAnswer::Done(answered)) => match serde_json::to_value(&answered) {
                Ok(answer) => Relayed::Done(answer),
                Err(_) => Relayed::Unknown(Fault::internal("a relayed answer cannot be written")),
            },
            Ok(BackendAnswer::Refused(Refusal { fault, finality: Finality::Decided })) => Relayed::Refused(fault),
            Ok(BackendAnswer::Refused(Refusal { fault, finality: Finality::Unknown })) => Relayed::Unknown(fault),
            Err(failure @ Failure::NotSent { .. }) => Relayed::NotSent(failure.of_change()),
            Err(failure @ (Failure::Unknown(_) | Failure::Bad(_))) => Relayed::Unknown(failure.of_change()),
        }
    }

    fn new_booking(
        &self,
        permitted: &Permitted<'_>,
        key: &str,
        reference: &str,
        answered: &Answered,
    ) -> Result<Booking, Fault> {
        let Answered { payload, booking: news } = answered;
        let total = news.total_inr.ok_or_else(|| Fault::internal("backend: a new booking has no total_inr"))?;
        let starts_at = news.starts_at().unwrap_or(permitted.now());
        let arguments = &permitted.input().arguments;
        let item_id = item_id(arguments).unwrap_or(reference);
        let mode = BookingMode::of(permitted);
        let mut answers = BackendAnswers::default();
        answers.add(&self.tool, payload);
        let mut backend = BackendBooking {
            unique_reference: unique_reference(&self.shared.partner_id, &self.shared.intent.id, mode, reference)
                .as_str()
                .into(),
            reference: reference.into(),
            key: key.into(),
            ends_at: None,
            changes: Integer::constant::<0>(),
            last_change: None,
            answers: answers.text(),
        };
        let mut booking = Booking::confirmed(permitted, &self.shared, item_id, total, starts_at)?;
        take_news(&mut booking, &mut backend, news);
        if let Some(status) = news.status().filter(|status| status.is_final()) {
            let end = End { status, at: permitted.now(), net_inr: news.net_inr };
            end.apply(&mut booking).map_err(|_| missing_net())?;
        }
        Ok(Booking { customer: customer(arguments), backend: Some(backend), ..booking })
    }
}

pub(super) fn missing_net() -> Fault {
    Fault::internal("backend: a completed booking has no net_inr")
}

/// What was booked, by the names that intents have for it.
fn item_id(arguments: &Map<String, Value>) -> Option<&str> {
    let names = ["listing_id", "provider_id", "restaurant_id", "option_id", "vehicle_id"];
    let given = names.iter().find_map(|name| arguments.get(*name)?.as_str());
    given.filter(|id| (1..=64).contains(&id.chars().count()))
}

/// For whom it is: the first argument with a name and a telephone number. They are what erasure finds it by.
fn customer(arguments: &Map<String, Value>) -> Option<BookingCustomer> {
    let known = |name: &str| BookingCustomer::nested().iter().any(|field| field.name == name);
    arguments.values().filter_map(Value::as_object).find_map(|given| {
        let members = given.iter().filter(|(name, _)| known(name));
        let value = Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect());
        BookingCustomer::input().problems(&value).is_empty().then(|| BookingCustomer::read(&value)).flatten()
    })
}
