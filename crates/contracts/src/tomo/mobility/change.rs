//! `update_ride_drop` and `cancel_ride`. Doing either again answers the same again.

use std::sync::Arc;

use frontdesk_engine::model::plan::{Plan, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};

use super::driver;
use super::estimate::check_apart;
use super::ride::{
    RidePlace, check_not_final, load_driver, places_of, ride_facts, ride_of, ride_of_mut, set_stage, stage_of,
};
use super::stage::RideStage;
use crate::record::{Entity, Integer};
use crate::tomo::ToolContext;
use crate::tomo::argument::argument;
use crate::tomo::booking::{Booking, BookingStatus, Rupees, answer};
use crate::tomo::booking_plan::{changed, repeated};
use crate::tomo::codes::{BOOKING_CLOSED, NOT_AVAILABLE};
use crate::tomo::intent::IntentTool;
use crate::tomo::listing::place::Point;

/// Sends a ride somewhere else, or gives it up.
pub(super) struct ChangeRide {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
    pub(super) kind: RideChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RideChange {
    Cancel,
    Drop,
}

impl WriteTool for ChangeRide {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let booking = Booking::load(permitted, &self.context).await?;
            match self.kind {
                RideChange::Cancel => self.cancel(permitted, booking).await,
                RideChange::Drop => self.change_drop(permitted, booking).await,
            }
        })
    }

    /// The ride as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = Booking::load_by_id(permitted, &self.context, &stored.id).await?;
            let driver = load_driver(permitted, ride_of(&booking.record)?).await?;
            answer(&self.tool, &booking, &ride_facts(&booking, &driver, permitted.now())?)
        })
    }
}

impl ChangeRide {
    async fn cancel(&self, permitted: &Permitted<'_>, mut booking: Entity<Booking>) -> Result<Plan, Fault> {
        if booking.record.status == BookingStatus::Cancelled {
            return self.nothing(permitted, &booking).await;
        }
        check_not_final(&booking.record)?;
        let now = permitted.now();
        let fee = cancellation_fee(&booking.record, now)?;
        end_cancelled(&mut booking.record, RideStage::Cancelled, fee, now);
        let steps = free_driver(permitted, &booking, None).await?;
        self.finish(permitted, booking, steps).await
    }

    async fn change_drop(&self, permitted: &Permitted<'_>, mut booking: Entity<Booking>) -> Result<Plan, Fault> {
        let drop: RidePlace = argument(permitted, "drop")?;
        check_not_final(&booking.record)?;
        let stage = stage_of(&booking.record)?;
        let total = booking.record.total_inr;
        let ride = ride_of_mut(&mut booking.record)?;
        let mut places = places_of(ride)?.clone();
        if places.drop == drop {
            return self.nothing(permitted, &booking).await;
        }
        check_apart(&places.pickup, &drop)?;
        let way = ride.terms.way(places.pickup.point(), drop.point());
        if !ride.terms.reaches(way) {
            return Err(Fault::domain(NOT_AVAILABLE, "This drop is further away than rides go."));
        }
        let longer = way.minutes.saturating_sub(ride.minutes.get());
        if stage == RideStage::InProgress {
            ride.eta_at = ride.eta_at.plus_seconds(longer.saturating_mul(60)).max(permitted.now());
        }
        places.drop = drop;
        ride.places = Some(places);
        let quote = ride.terms.quote(way, ride.surge);
        ride.set_fare(way, quote);
        booking.record.previous_total_inr = Some(total);
        booking.record.total_inr = Rupees::clamped(quote.total_inr());
        self.finish(permitted, booking, Vec::new()).await
    }

    async fn finish(
        &self,
        permitted: &Permitted<'_>,
        booking: Entity<Booking>,
        steps: Vec<Step>,
    ) -> Result<Plan, Fault> {
        let driver = load_driver(permitted, ride_of(&booking.record)?).await?;
        let now = permitted.now();
        // Time and version of the answer are those of the change.
        let after = Entity { updated_at: now, ..booking };
        let facts = ride_facts(&after, &driver, now)?;
        changed(permitted, &self.tool, after, steps, |_| facts)
    }

    /// It is so already.
    async fn nothing(&self, permitted: &Permitted<'_>, booking: &Entity<Booking>) -> Result<Plan, Fault> {
        let driver = load_driver(permitted, ride_of(&booking.record)?).await?;
        repeated(&self.tool, booking, &ride_facts(booking, &driver, permitted.now())?)
    }
}

/// What a cancellation by the rider costs: nothing for a while after a driver was assigned, then the fee of the table, and
/// never more than the ride. A ride that has begun is not cancelled.
fn cancellation_fee(booking: &Booking, now: Millis) -> Result<i64, Fault> {
    let ride = ride_of(booking)?;
    let fee = ride.terms.cancel_fee_inr.get();
    match stage_of(booking)? {
        RideStage::DriverAssigned | RideStage::DriverArriving if now <= ride.free_until() => Ok(0),
        RideStage::DriverAssigned | RideStage::DriverArriving | RideStage::DriverArrived => Ok(fee),
        RideStage::InProgress | RideStage::Completed | RideStage::Cancelled | RideStage::NoShow | RideStage::Failed => {
            Err(Fault::domain(BOOKING_CLOSED, "The ride has begun, so it can no longer be cancelled."))
        }
    }
}

/// Ends a ride that nobody rides. The business earns the fee.
pub(super) fn end_cancelled(booking: &mut Booking, stage: RideStage, fee: i64, at: Millis) {
    let total = booking.total_inr.get();
    let fee = fee.clamp(0, total);
    let refund = total.saturating_sub(fee);
    set_stage(booking, stage);
    booking.status = BookingStatus::Cancelled;
    booking.cancelled_at = Some(at);
    booking.ended_at = Some(at);
    booking.refund_inr = Some(Rupees::clamped(refund));
    booking.refund_percent = Some(Integer::clamped(refund.saturating_mul(100).checked_div(total).unwrap_or(100)));
    booking.net_inr = Some(Rupees::clamped(fee));
}

/// The driver of the ride is free again.
pub(super) async fn free_driver(
    permitted: &Permitted<'_>,
    booking: &Entity<Booking>,
    at: Option<Point>,
) -> Result<Vec<Step>, Fault> {
    match &ride_of(&booking.record)?.driver_id {
        Some(driver_id) => driver::release(permitted, driver_id, &booking.id, at).await,
        None => Ok(Vec::new()),
    }
}
