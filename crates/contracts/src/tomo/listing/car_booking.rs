//! Booking a car: it becomes reserved in the dealership's stock, by the dealership's own rules and in the same plan.

use frontdesk_engine::model::plan::{OnConflict, Plan, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value, json};

use super::car_facts::{home_city, is_for_sale, title};
use super::car_search::load;
use super::dates::{instant, today};
use super::{CarPurchase, ListingContext, customer};
use crate::automotive::in_process;
use crate::automotive::vehicle::{Vehicle, VehicleStatus};
use crate::record::{Day, Entity, Integer, Stored as _};
use crate::tomo::booking::{Booking, BookingMode, BookingStatus, answer, has_sandbox_booking, is_only_live_booking};
use crate::tomo::codes::{NOT_AVAILABLE, NOT_FOUND, RESULT_EXPIRED};
use crate::tomo::ending::close;
use crate::tomo::known_facts::{Fact, text};
use crate::tomo::result_token;

/// A car is kept for its buyer this long.
const MAX_HANDOVER_DAYS: i64 = 30;
/// When it is handed over if nobody says otherwise.
const HANDOVER_DAYS: usize = 3;
/// The local time from which a car is handed over.
const HANDOVER_TIME: &str = "10:00";
/// How often a car that changes while it is being booked is looked at again.
const MAX_ATTEMPTS: usize = 4;

pub(super) struct BookCar(pub(super) ListingContext);

impl WriteTool for BookCar {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let BookCar(context) = self;
            let input = permitted.input();
            let offers =
                result_token::read(permitted, &context.shared, input.text("result_token").unwrap_or_default())?;
            let vehicle_id = input.text("listing_id").unwrap_or_default();
            let not_offered = || Fault::domain(RESULT_EXPIRED, "This search did not offer that car. Search again.");
            let total_inr = offers.price(vehicle_id).ok_or_else(not_offered)?;
            let handover_on = handover(permitted, today(permitted.now()))?;
            let mode = BookingMode::of(permitted);
            let (car, steps, events) = match mode {
                BookingMode::Sandbox => (free_in_sandbox(permitted, vehicle_id).await?, Vec::new(), Vec::new()),
                BookingMode::Live | BookingMode::Unknown => {
                    let (car, plan) = reserve(permitted, vehicle_id).await?;
                    (car, plan.steps, plan.events)
                }
            };
            let purchase = CarPurchase {
                vehicle_id: car.id.as_str().into(),
                title: title(&car.record).as_str().into(),
                handover_on,
            };
            let starts_at = instant(handover_on, HANDOVER_TIME);
            let booking = Booking {
                car: Some(purchase),
                customer: Some(customer::read(permitted, "buyer")?),
                ..Booking::confirmed(permitted, &context.shared, &car.id, total_inr, starts_at)?
            };
            let id = permitted.new_id(Booking::ID_PREFIX);
            let entity = Entity::new(id, permitted.tenant().clone(), permitted.now(), booking);
            let mut plan = super::created(&context.tool, entity, steps, |booking| context.facts(booking))?;
            plan.events.extend(events);
            Ok(plan)
        })
    }

    /// A repeated key gets the booking as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = Booking::load_by_id(permitted, &self.0.shared, &stored.id).await?;
            answer(&self.0.tool, &booking, &self.0.facts(&booking))
        })
    }
}

pub(super) struct CancelCar(pub(super) ListingContext);

impl WriteTool for CancelCar {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let CancelCar(context) = self;
            let mut booking = Booking::load(permitted, &context.shared).await?;
            if booking.record.status == BookingStatus::Cancelled {
                return super::repeated(&context.tool, &booking, &context.facts(&booking));
            }
            booking.record.check_open(permitted.now())?;
            let purchase = purchase_of(&booking)?.clone();
            let freed = match booking.record.mode {
                BookingMode::Live => release(permitted, &booking.id, &purchase.vehicle_id).await?,
                BookingMode::Sandbox | BookingMode::Unknown => None,
            };
            booking.record.refund_percent = Some(Integer::constant::<100>());
            booking.record.refund_inr = Some(booking.record.total_inr);
            booking.record.cancelled_at = Some(permitted.now());
            booking.record.status = BookingStatus::Cancelled;
            // Everything is paid back.
            close(&mut booking.record, permitted.now(), 0);
            let (steps, events) = freed.map(|plan| (plan.steps, plan.events)).unwrap_or_default();
            let mut plan = super::changed(permitted, &context.tool, booking, steps, |booking| context.facts(booking))?;
            plan.events.extend(events);
            Ok(plan)
        })
    }
}

pub(super) struct ModifyCar(pub(super) ListingContext);

impl WriteTool for ModifyCar {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let ModifyCar(context) = self;
            let mut booking = Booking::load(permitted, &context.shared).await?;
            let before = purchase_of(&booking)?.clone();
            let asked = permitted.input().text("handover_on").and_then(Day::parse);
            if asked == Some(before.handover_on) && booking.record.status == BookingStatus::Confirmed {
                return super::repeated(&context.tool, &booking, &context.facts(&booking));
            }
            booking.record.check_open(permitted.now())?;
            let handover_on = handover(permitted, today(booking.created_at))?;
            booking.record.starts_at = instant(handover_on, HANDOVER_TIME);
            // The price stays: nothing but the day changes.
            booking.record.previous_total_inr = Some(booking.record.total_inr);
            booking.record.car = Some(CarPurchase { handover_on, ..before });
            super::changed(permitted, &context.tool, booking, Vec::new(), |booking| context.facts(booking))
        })
    }
}

/// The day that the call names, or the usual one. `booked_on` is the day from which the car is kept.
fn handover(permitted: &Permitted<'_>, booked_on: Day) -> Result<Day, Fault> {
    let today = today(permitted.now());
    let Some(text) = permitted.input().text("handover_on") else {
        let usual = std::iter::successors(Some(today), |day| day.next()).nth(HANDOVER_DAYS);
        return usual.ok_or_else(|| Fault::internal("the calendar ends"));
    };
    let wrong = |keyword, expected: String| Err(Fault::invalid_argument("/handover_on", keyword, expected));
    match Day::parse(text) {
        None => wrong("format", "a date is expected".to_owned()),
        Some(day) if instant(day, HANDOVER_TIME) <= permitted.now() => {
            wrong("minimum", format!("cars are handed over from {HANDOVER_TIME}: it must not lie in the past"))
        }
        Some(day) if booked_on.days_until(day) > MAX_HANDOVER_DAYS => {
            wrong("maximum", format!("a car is kept for at most {MAX_HANDOVER_DAYS} days"))
        }
        Some(day) => Ok(day),
    }
}

fn taken() -> Fault {
    Fault::domain(NOT_AVAILABLE, "This car has been sold or reserved meanwhile. Search again.")
}

/// A car that is for sale, and the plan of the dealership's own update that reserves it.
async fn reserve(permitted: &Permitted<'_>, vehicle_id: &str) -> Result<(Entity<Vehicle>, Plan), Fault> {
    for _ in 0..MAX_ATTEMPTS {
        let car = load(permitted, vehicle_id).await?.filter(|car| is_for_sale(&car.record)).ok_or_else(taken)?;
        let plan = set_status(permitted, vehicle_id, "reserved").await?;
        // The update has read the car by itself; it must be the same that was looked at here.
        if changes_version(&plan, vehicle_id) == Some(car.version) {
            return Ok((car, plan));
        }
    }
    Err(taken())
}

/// The plan that puts a car up for sale again, if it is still kept for this booking. One that was sold meanwhile, that a
/// deal has, or that another booking keeps stays as it is.
pub(super) async fn release(
    permitted: &Permitted<'_>,
    booking_id: &str,
    vehicle_id: &str,
) -> Result<Option<Plan>, Fault> {
    for _ in 0..MAX_ATTEMPTS {
        let Some(car) = load(permitted, vehicle_id).await? else { return Ok(None) };
        let is_reserved = car.record.status == VehicleStatus::Reserved && car.record.held_by.is_none();
        if !is_reserved || !is_only_live_booking(permitted, booking_id, vehicle_id).await? {
            return Ok(None);
        }
        let plan = set_status(permitted, vehicle_id, "available").await?;
        if changes_version(&plan, vehicle_id) == Some(car.version) {
            return Ok(Some(plan));
        }
    }
    Err(Fault::unavailable("a car changed at every attempt to release it"))
}

/// The plan that marks a car as sold, if it is still kept for its buyer. One that is sold already, or that a deal has, stays
/// as it is.
pub(super) async fn sell(permitted: &Permitted<'_>, vehicle_id: &str) -> Result<Option<Plan>, Fault> {
    for _ in 0..MAX_ATTEMPTS {
        let Some(car) = load(permitted, vehicle_id).await? else { return Ok(None) };
        if car.record.status != VehicleStatus::Reserved || car.record.held_by.is_some() {
            return Ok(None);
        }
        let plan = set_status(permitted, vehicle_id, "sold").await?;
        if changes_version(&plan, vehicle_id) == Some(car.version) {
            return Ok(Some(plan));
        }
    }
    Err(Fault::unavailable("a car changed at every attempt to mark it as sold"))
}

/// The dealership's words are for the dealership: whatever it refuses, the car is not to be had.
async fn set_status(permitted: &Permitted<'_>, vehicle_id: &str, status: &str) -> Result<Plan, Fault> {
    let arguments = Map::from_iter([("id".to_owned(), json!(vehicle_id)), ("status".to_owned(), json!(status))]);
    let planned = in_process::plan(permitted, "inventory.update", arguments).await;
    planned.map_err(|fault| if fault.kind.retryable() { fault } else { taken().caused_by(fault.message.to_string()) })
}

/// The version at which a plan expects the vehicle.
fn changes_version(plan: &Plan, vehicle_id: &str) -> Option<i64> {
    plan.steps.iter().find_map(|step| {
        let Step::Update { row, expect_version, on_conflict: OnConflict::Retry, .. } = step else { return None };
        (row.id == vehicle_id).then_some(*expect_version)
    })
}

/// The sandbox books a car once, so that it learns what a car that is gone looks like.
async fn free_in_sandbox(permitted: &Permitted<'_>, vehicle_id: &str) -> Result<Entity<Vehicle>, Fault> {
    let car = load(permitted, vehicle_id).await?.filter(|car| is_for_sale(&car.record)).ok_or_else(taken)?;
    if has_sandbox_booking(permitted, vehicle_id).await? { Err(taken()) } else { Ok(car) }
}

fn purchase_of(booking: &Entity<Booking>) -> Result<&CarPurchase, Fault> {
    let missing = || Fault::domain(NOT_FOUND, "No booking with this booking_ref exists here.");
    booking.record.car.as_ref().ok_or_else(missing)
}

/// The facts of a car that is kept for its buyer.
pub(super) const PURCHASE: &[Fact] = &[
    text("listing_id"),
    text("title"),
    text("handover_on"),
    text("latest_handover_on"),
    text("dealer_name"),
    text("city"),
];

impl ListingContext {
    /// Everything that an answer about a car's booking may say. Nothing of the person.
    fn facts(&self, booking: &Entity<Booking>) -> Value {
        let mut facts = super::booking_facts(booking);
        let (Some(car), Some(members)) = (&booking.record.car, facts.as_object_mut()) else { return facts };
        let own = json!({
            "listing_id": &*car.vehicle_id,
            "title": &*car.title,
            "handover_on": car.handover_on.to_string(),
            "latest_handover_on": latest_handover(booking.created_at).map(|day| day.to_string()),
            "dealer_name": self.shared.company,
            "city": home_city(&self.shared),
        });
        if let Value::Object(own) = own {
            members.extend(own);
        }
        facts
    }
}

fn latest_handover(booked_at: Millis) -> Option<Day> {
    let days = usize::try_from(MAX_HANDOVER_DAYS).unwrap_or_default();
    std::iter::successors(Some(today(booked_at)), |day| day.next()).nth(days)
}
