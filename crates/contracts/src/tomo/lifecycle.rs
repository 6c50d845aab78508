//! What happens to a booking after it was made: the business's own systems say so, the operator, or a clock. Each shape
//! knows its stages and what follows from them; here is what all of them have in common. A booking only goes forward, and
//! what has ended stays as it is.

use std::sync::Arc;

use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{
    Effect, Future, Item, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec, WriteTool,
};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::{Map, Value, json};

use super::booking::{Booking, BookingMode, events};
use super::codes::{BOOKING_CLOSED, NOT_FOUND};
use super::dialect::KEY;
use super::intent::Intent;
use super::signature::MAX_SKEW_MILLIS;
use super::{MANAGE, TENANT, backend, listing, mobility, order, service, tenant};
use crate::record::{Entity, Stored as _, Vocabulary as _};

/// The operator's tool that moves a booking.
pub const ADVANCE: &str = "advance_booking";

/// More is not said about a stage.
const MAX_DETAIL_BYTES: usize = 4_096;

/// What has happened to a booking.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// The stage that it has come to, in the words of its shape.
    pub stage: String,
    /// When it happened.
    pub at: Millis,
    /// What else is said: a driver, a place, an amount. Each shape checks what it knows and refuses the rest.
    pub details: Map<String, Value>,
}

/// What else changes when a booking comes to a stage.
#[derive(Debug, Default)]
pub(super) struct Effects {
    pub(super) steps: Vec<Step>,
    pub(super) events: Vec<Event>,
}

impl From<Option<Plan>> for Effects {
    fn from(plan: Option<Plan>) -> Effects {
        plan.map(|Plan { steps, events, .. }| Effects { steps, events }).unwrap_or_default()
    }
}

/// The bookings that a mount answers for.
#[derive(Debug, Clone, Default)]
pub struct OwnBookings {
    /// The id under which the caller knows the business.
    pub partner_id: String,
    pub intents: Vec<Arc<Intent>>,
}

impl OwnBookings {
    /// Those of earlier releases do not say who the partner was.
    pub(super) fn has(&self, booking: &Booking) -> bool {
        booking.partner_id.as_ref().is_none_or(|id| **id == *self.partner_id)
            && self.intents.iter().any(|intent| *intent.id == *booking.intent)
    }

    /// The booking with this id, live or of the sandbox.
    async fn load(&self, permitted: &Permitted<'_>, id: &str) -> Result<Entity<Booking>, Fault> {
        let missing = || Fault::domain(NOT_FOUND, "No booking with this booking_ref exists here.");
        let row = match permitted.get_to_change(Booking::table(), id).await? {
            Some(row) => row,
            // The business's own system knows it by another name.
            None => {
                let id = self.find_by_reference(permitted, id).await?.ok_or_else(missing)?;
                permitted.get_to_change(Booking::table(), &id).await?.ok_or_else(missing)?
            }
        };
        let booking: Entity<Booking> = Entity::restore(permitted.tenant(), &row)?;
        if self.has(&booking.record) { Ok(booking) } else { Err(missing()) }
    }

    async fn find_by_reference(&self, permitted: &Permitted<'_>, reference: &str) -> Result<Option<String>, Fault> {
        for intent in &self.intents {
            for mode in [BookingMode::Live, BookingMode::Sandbox] {
                let id = backend::find_by_reference(permitted, &self.partner_id, &intent.id, mode, reference).await?;
                if id.is_some() {
                    return Ok(id);
                }
            }
        }
        Ok(None)
    }
}

/// The tool, for the bookings of a mount.
pub(super) fn tool(own: OwnBookings) -> Tool {
    let input = Schema::object([
        required("booking_ref", Schema::text(64), "The booking."),
        required("stage", Schema::text(40), "The stage that it has come to."),
        optional("at", Schema::Text(TextFormat::Timestamp), "When it came to it; now if absent."),
        optional("details", Schema::AnyObject, "What else is known of it."),
        optional(KEY, Schema::text(255), "Makes a repetition safe."),
        tenant(),
    ]);
    let spec = ToolSpec {
        name: ADVANCE,
        title: "Advance a booking",
        about: "Records the stage that a booking has come to.",
        input,
        output: Schema::AnyObject,
        effect: Effect::Changes,
        scope: ScopeRule::One(Scope::new(MANAGE)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: vec![NOT_FOUND, BOOKING_CLOSED],
    };
    Tool { spec, run: Run::write(AdvanceBooking(own)) }
}

struct AdvanceBooking(OwnBookings);

impl WriteTool for AdvanceBooking {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let AdvanceBooking(own) = self;
            let mut booking = own.load(permitted, permitted.input().text("booking_ref").unwrap_or_default()).await?;
            let to = read(permitted, booking.created_at)?;
            // What is new about the stage that it has, such as a place, is for its shape.
            let is_news = !to.details.is_empty() && !booking.record.status.is_final();
            if has_stage(&booking.record, &to.stage) && !is_news {
                return Ok(repeated(&booking));
            }
            if booking.record.status.is_final() {
                return Err(Fault::domain(BOOKING_CLOSED, "This booking has ended, so it stays as it is."));
            }
            let effects = advance(permitted, &mut booking, &to).await?;
            booking.record.stage = Some(to.stage.as_str().into());
            changed(permitted, booking, effects)
        })
    }
}

/// The shape is known by what was booked.
async fn advance(permitted: &Permitted<'_>, booking: &mut Entity<Booking>, to: &Advance) -> Result<Effects, Fault> {
    let of_steps = |steps| Effects { steps, events: Vec::new() };
    let Booking { stay, car, slot, ride, order: placed, backend: forwarded, .. } = &booking.record;
    if forwarded.is_some() {
        backend::advance(permitted, booking, to).await.map(of_steps)
    } else if stay.is_some() || car.is_some() {
        listing::advance(permitted, booking, to).await
    } else if slot.is_some() {
        service::advance(permitted, booking, to).await
    } else if ride.is_some() {
        mobility::advance(permitted, booking, to).await.map(of_steps)
    } else if placed.is_some() {
        order::advance(permitted, booking, to).await.map(of_steps)
    } else {
        Err(Fault::internal("a booking says nothing of what was booked"))
    }
}

/// Clocks of other systems are not exactly right: what they are wrong by counts as now, or as when it was booked.
fn read(permitted: &Permitted<'_>, booked_at: Millis) -> Result<Advance, Fault> {
    let input = permitted.input();
    let now = permitted.now();
    let at = match input.text("at").map(Millis::parse) {
        None => now,
        Some(Some(at)) if at.0 > now.0.saturating_add(MAX_SKEW_MILLIS) => {
            return Err(Fault::invalid_argument("/at", "maximum", "it must not lie in the future"));
        }
        Some(Some(at)) if at.0 < booked_at.0.saturating_sub(MAX_SKEW_MILLIS) => {
            return Err(Fault::invalid_argument("/at", "minimum", "it must not lie before the booking"));
        }
        Some(Some(at)) => at.min(now).max(booked_at),
        Some(None) => return Err(Fault::invalid_argument("/at", "format", "a time with its offset is expected")),
    };
    let details = input.arguments.get("details").and_then(Value::as_object).cloned().unwrap_or_default();
    if Value::Object(details.clone()).to_string().len() > MAX_DETAIL_BYTES {
        let expected = format!("at most {MAX_DETAIL_BYTES} bytes are expected");
        return Err(Fault::invalid_argument("/details", "maxLength", expected));
    }
    Ok(Advance { stage: input.text("stage").unwrap_or_default().to_owned(), at, details })
}

/// Whether it has come to this stage already. One that a customer has cancelled has no stage, but that status.
fn has_stage(booking: &Booking, stage: &str) -> bool {
    let is_status = booking.status.is_final() && booking.status.as_str() == stage;
    booking.stage.as_deref() == Some(stage) || is_status
}

fn changed(permitted: &Permitted<'_>, booking: Entity<Booking>, effects: Effects) -> Result<Plan, Fault> {
    let record = &booking.record;
    if record.status.is_final() && (record.ended_at.is_none() || record.net_inr.is_none()) {
        return Err(Fault::internal("a booking has ended without a time or an amount"));
    }
    let expect_version = booking.version;
    let booking = Entity { updated_at: permitted.now(), version: expect_version.saturating_add(1), ..booking };
    let Effects { mut steps, events: others } = effects;
    steps.push(Step::Update {
        table: Booking::table(),
        row: booking.row(TENANT),
        expect_version,
        on_conflict: OnConflict::Retry,
        on_duplicate: Fault::internal("a booking has no unique values"),
    });
    let mut events = events(&booking, Change::Updated);
    events.extend(others);
    Ok(Plan { steps, events, outcome: answer(&booking) })
}

/// It is so already.
fn repeated(booking: &Entity<Booking>) -> Plan {
    let step = Step::Require {
        table: Booking::table(),
        id: booking.id.clone(),
        expect_version: booking.version,
        on_conflict: OnConflict::Retry,
    };
    Plan { steps: vec![step], events: Vec::new(), outcome: answer(booking) }
}

/// Nothing of the person.
fn answer(booking: &Entity<Booking>) -> Item {
    let status = booking.record.status.as_str();
    let stage = booking.record.stage.as_deref().unwrap_or(status);
    let body = json!({"booking_ref": booking.id, "status": status, "stage": stage}).to_string();
    Item { id: booking.id.clone(), version: booking.version, body, masked: None, personal: None }
}
