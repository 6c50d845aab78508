//! `book_ride`: a ride at the fare that the estimate promised, with the nearest free driver of the class. Driver and
//! booking are committed together, so that nobody drives two riders. The sandbox takes nobody.

use std::sync::Arc;

use frontdesk_engine::model::plan::{Plan, Step};
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::driver::{self, driver_facts, sandbox_driver};
use super::estimate::{Promise, SANDBOX_ETA_MINUTES, minutes_from};
use super::fare_table::{FareStatus, FareTable};
use super::ride::{BookedRide, SeenVehicle, load_driver, ride_facts, ride_of, set_stage};
use super::stage::RideStage;
use crate::record::{Entity, Integer, Stored as _};
use crate::tomo::argument::argument;
use crate::tomo::booking::{Booking, BookingCustomer, Rupees, answer};
use crate::tomo::booking_plan::created;
use crate::tomo::codes::NOT_AVAILABLE;
use crate::tomo::intent::IntentTool;
use crate::tomo::listing::place::Point;
use crate::tomo::{ToolContext, is_sandbox};

pub(super) struct BookRide {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
}

impl WriteTool for BookRide {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(self.plan_ride(permitted))
    }

    /// The same ride, as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = Booking::load_by_id(permitted, &self.context, &stored.id).await?;
            let driver = load_driver(permitted, ride_of(&booking.record)?).await?;
            answer(&self.tool, &booking, &ride_facts(&booking, &driver, permitted.now())?)
        })
    }
}

/// Who drives, and what that changes.
struct Assignment {
    driver_id: Option<String>,
    facts: Value,
    position: Point,
    eta_minutes: i64,
    steps: Vec<Step>,
}

impl BookRide {
    async fn plan_ride(&self, permitted: &Permitted<'_>) -> Result<Plan, Fault> {
        let rider: BookingCustomer = argument(permitted, "rider")?;
        let promise = Promise::read(permitted, &self.context)?;
        let table = offered_table(permitted, &promise.option_id).await?;
        let id = permitted.new_id(Booking::ID_PREFIX);
        let assignment = assign(permitted, &promise, &table.record, &id).await?;

        let now = permitted.now();
        let mut ride = BookedRide {
            city: promise.city.as_str().into(),
            vehicle_class: table.record.vehicle_class,
            terms: table.record.terms(),
            surge: promise.surge,
            metres: Integer::constant::<0>(),
            minutes: Integer::constant::<0>(),
            subtotal_inr: Rupees::constant::<0>(),
            tax_inr: Rupees::constant::<0>(),
            driver_id: assignment.driver_id.as_deref().map(Into::into),
            assigned_at: now,
            eta_at: minutes_from(now, assignment.eta_minutes),
            places: Some(promise.places),
            seen: Some(SeenVehicle::new(assignment.position, now)),
            rating: None,
            rated_at: None,
            comment: None,
            reason: None,
        };
        ride.set_fare(promise.way, promise.quote);
        let total = promise.quote.total_inr();
        let mut record = Booking {
            ride: Some(ride),
            customer: Some(rider),
            ..Booking::confirmed(permitted, &self.context, &promise.option_id, total, now)?
        };
        set_stage(&mut record, RideStage::DriverAssigned);
        let booking = Entity::new(id, permitted.tenant().clone(), now, record);
        let facts = ride_facts(&booking, &assignment.facts, now)?;
        created(&self.tool, booking, assignment.steps, |_| facts)
    }
}

fn nobody() -> Fault {
    Fault::domain(NOT_AVAILABLE, "No driver of this class is free near the pickup. Ask for estimates again.")
}

/// The fare table that was promised, if it is still offered.
async fn offered_table(permitted: &Permitted<'_>, id: &str) -> Result<Entity<FareTable>, Fault> {
    let row = permitted.get_to_change(FareTable::table(), id).await?.ok_or_else(nobody)?;
    let table: Entity<FareTable> = Entity::restore(permitted.tenant(), &row)?;
    if table.record.status == FareStatus::Offered { Ok(table) } else { Err(nobody()) }
}

/// The nearest free driver, who is then busy.
async fn assign(
    permitted: &Permitted<'_>,
    promise: &Promise,
    table: &FareTable,
    booking_id: &str,
) -> Result<Assignment, Fault> {
    let pickup = promise.places.pickup.point();
    if is_sandbox(permitted) {
        return Ok(Assignment {
            driver_id: None,
            facts: sandbox_driver(),
            position: pickup,
            eta_minutes: SANDBOX_ETA_MINUTES,
            steps: Vec::new(),
        });
    }
    let wanted = (promise.city.as_str(), table.vehicle_class);
    let driver = driver::nearest(permitted, wanted, pickup, table.pickup_metres()).await?.ok_or_else(nobody)?;
    let position = driver.record.position();
    Ok(Assignment {
        driver_id: Some(driver.id.clone()),
        facts: driver_facts(&driver.record),
        position,
        eta_minutes: table.terms().way(position, pickup).minutes,
        steps: vec![driver::take(driver, booking_id, permitted.now())],
    })
}
