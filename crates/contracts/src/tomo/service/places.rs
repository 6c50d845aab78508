//! Takes, moves and gives back places, in the plan of the booking that has them.

use frontdesk_engine::model::plan::{Event, Plan, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::appointments::{self, BOOK, CANCEL, MOVE};
use super::booked::{BookedSlot, BookedVehicle, slot_of};
use super::offer::{RequestedWork, ServiceProvider};
use super::provider_day::{ProviderDay, SlotPlace, load_day, write_day};
use super::slots::{find_slot, is_bookable};
use super::source::Counting;
use crate::calendar::parse_date;
use crate::record::Entity;
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, BookingCustomer, BookingMode};
use crate::tomo::codes::NOT_AVAILABLE;

/// Who takes which place.
pub(super) struct PlaceRequest<'a> {
    pub(super) booking_id: &'a str,
    pub(super) provider: &'a ServiceProvider,
    pub(super) work: &'a RequestedWork,
    pub(super) start: Millis,
    pub(super) vehicle: &'a BookedVehicle,
    pub(super) customer: &'a BookingCustomer,
}

/// What a change of places adds to the plan of its booking.
#[derive(Debug, Default)]
pub(super) struct PlaceChange {
    pub(super) steps: Vec<Step>,
    pub(super) events: Vec<Event>,
    pub(super) appointment_id: Option<String>,
}

impl From<Plan> for PlaceChange {
    fn from(plan: Plan) -> PlaceChange {
        PlaceChange { steps: plan.steps, events: plan.events, appointment_id: Some(plan.outcome.id) }
    }
}

pub(super) fn gone() -> Fault {
    Fault::domain(NOT_AVAILABLE, "This slot is no longer free. Search again and choose another.")
}

/// Takes a place, or says that there is none.
pub(super) async fn take(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    request: &PlaceRequest<'_>,
) -> Result<PlaceChange, Fault> {
    if !is_bookable(request.start, permitted.now()) {
        return Err(gone());
    }
    match Counting::of(permitted, context) {
        Counting::Days => {
            let (day, place) = new_place(request.provider, request.work, request.start, request.booking_id)?;
            let mut row = load_day(permitted, &request.provider.id, day, BookingMode::of(permitted)).await?;
            add(&mut row.record, place, request.work)?;
            let mut steps = write_day(row, permitted.now());
            steps.push(request.provider.unchanged.clone());
            Ok(PlaceChange { steps, ..PlaceChange::default() })
        }
        Counting::Workshop => {
            appointments::plan(permitted, BOOK, appointment_arguments(request)).await.map(PlaceChange::from)
        }
    }
}

/// Moves a booking to another time, or says that there is no place then.
pub(super) async fn shift(
    permitted: &Permitted<'_>,
    booking: &Entity<Booking>,
    (provider, work): (&ServiceProvider, &RequestedWork),
    start: Millis,
) -> Result<PlaceChange, Fault> {
    if !is_bookable(start, permitted.now()) {
        return Err(gone());
    }
    let slot = slot_of(&booking.record)?;
    if let Some(appointment) = &slot.appointment_id {
        let arguments = Map::from_iter([
            ("id".to_owned(), Value::from(&**appointment)),
            ("start".to_owned(), Value::from(start.to_rfc3339())),
        ]);
        return appointments::plan(permitted, MOVE, arguments).await.map(PlaceChange::from);
    }
    let (day, place) = new_place(provider, work, start, &booking.id)?;
    let mut old = load_day(permitted, &booking.record.item_id, counted_day(slot)?, booking.record.mode).await?;
    old.record.remove(&booking.id);
    let now = permitted.now();
    let mut steps = vec![provider.unchanged.clone()];
    if day == counted_day(slot)? {
        add(&mut old.record, place, work)?;
    } else {
        let mut new = load_day(permitted, &provider.id, day, booking.record.mode).await?;
        add(&mut new.record, place, work)?;
        steps.extend(write_day(new, now));
    }
    steps.extend(write_day(old, now));
    Ok(PlaceChange { steps, ..PlaceChange::default() })
}

/// Gives the place of a booking back.
pub(super) async fn release(permitted: &Permitted<'_>, booking: &Entity<Booking>) -> Result<PlaceChange, Fault> {
    let slot = slot_of(&booking.record)?;
    if let Some(appointment) = &slot.appointment_id {
        let arguments = Map::from_iter([("id".to_owned(), Value::from(&**appointment))]);
        return appointments::plan(permitted, CANCEL, arguments).await.map(PlaceChange::from);
    }
    let mut day = load_day(permitted, &booking.record.item_id, counted_day(slot)?, booking.record.mode).await?;
    day.record.remove(&booking.id);
    Ok(PlaceChange { steps: write_day(day, permitted.now()), ..PlaceChange::default() })
}

fn counted_day(slot: &BookedSlot) -> Result<Date, Fault> {
    parse_date(&slot.day).ok_or_else(|| Fault::internal("a booked slot has no day"))
}

fn new_place(
    provider: &ServiceProvider,
    work: &RequestedWork,
    start: Millis,
    booking_id: &str,
) -> Result<(Date, SlotPlace), Fault> {
    let (day, _) = find_slot(&provider.calendar, work, start).ok_or_else(gone)?;
    Ok((day, SlotPlace { booking_id: booking_id.into(), start, end: work.end_of(start) }))
}

fn add(day: &mut ProviderDay, place: SlotPlace, work: &RequestedWork) -> Result<(), Fault> {
    if day.left(work.places, place.start, place.end) == 0 {
        return Err(gone());
    }
    day.places.push(place);
    Ok(())
}

fn appointment_arguments(request: &PlaceRequest<'_>) -> Map<String, Value> {
    let (vehicle, customer) = (request.vehicle, request.customer);
    let mut vehicle_words = json!({"make": &*vehicle.make, "model": &*vehicle.model});
    let mut contact = json!({"name": &*customer.name, "phone": &*customer.phone});
    if let (Some(year), Some(words)) = (vehicle.year, vehicle_words.as_object_mut()) {
        words.insert("year".to_owned(), Value::from(year.get()));
    }
    if let (Some(email), Some(contact)) = (&customer.email, contact.as_object_mut()) {
        contact.insert("email".to_owned(), Value::from(&**email));
    }
    Map::from_iter([
        ("workshop_id".to_owned(), Value::from(request.provider.id.as_str())),
        ("start".to_owned(), Value::from(request.start.to_rfc3339())),
        ("service_codes".to_owned(), json!(request.work.codes)),
        ("vehicle".to_owned(), vehicle_words),
        ("contact".to_owned(), contact),
        // A booking here is a promise: a place on a waitlist is none.
        ("accept_waitlist".to_owned(), Value::from(false)),
    ])
}
