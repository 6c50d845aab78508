//! What becomes of stays and of cars that are kept for their buyers. Whatever ends gives back what it still has, in the
//! same plan.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};

use super::car_booking;
use super::dates::{StayDates, instant, today};
use super::hotel::RoomKind;
use super::night::Nights;
use super::price::{refund_percent, share};
use super::{CarPurchase, Stay};
use crate::record::{Entity, Stored as _};
use crate::tomo::booking::{Booking, BookingMode};
use crate::tomo::ending::{BookingEnd, EndingTerms, check_details, end, passed, stage_of, too_early};
use crate::tomo::lifecycle::{Advance, Effects};

const CHECKED_IN: &str = "checked_in";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StayStage {
    CheckedIn,
    Ended(BookingEnd),
}

const STAY_STAGES: &[(&str, StayStage)] = &[
    (CHECKED_IN, StayStage::CheckedIn),
    ("completed", StayStage::Ended(BookingEnd::Completed)),
    ("no_show", StayStage::Ended(BookingEnd::NoShow)),
    ("cancelled", StayStage::Ended(BookingEnd::Cancelled)),
    ("failed", StayStage::Ended(BookingEnd::Failed)),
];

const CAR_STAGES: &[(&str, BookingEnd)] =
    &[("completed", BookingEnd::Completed), ("cancelled", BookingEnd::Cancelled), ("failed", BookingEnd::Failed)];

/// Moves a booking of this shape to another stage, and says what else that changes.
pub(in crate::tomo) async fn advance(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    to: &Advance,
) -> Result<Effects, Fault> {
    match (booking.record.stay.clone(), booking.record.car.clone()) {
        (Some(stay), _) => advance_stay(permitted, booking, &stay, to).await,
        (None, Some(car)) => advance_car(permitted, booking, &car, to).await,
        (None, None) => Err(Fault::internal("a booking of a listing has none")),
    }
}

async fn advance_stay(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    stay: &Stay,
    to: &Advance,
) -> Result<Effects, Fault> {
    let stage = stage_of(to, STAY_STAGES)?;
    let is_of_stay = match stage {
        StayStage::CheckedIn | StayStage::Ended(BookingEnd::Completed | BookingEnd::NoShow) => true,
        StayStage::Ended(BookingEnd::Cancelled | BookingEnd::Failed) => false,
    };
    if is_of_stay && to.at < instant(stay.check_in, "00:00") {
        return Err(too_early("it must not lie before the day of check-in"));
    }
    let StayStage::Ended(ending) = stage else {
        check_details(to, &[])?;
        return Ok(Effects::default());
    };
    if ending == BookingEnd::NoShow && booking.record.stage.as_deref() == Some(CHECKED_IN) {
        return Err(passed());
    }
    let terms = EndingTerms {
        no_show_refund_inr: share(booking.record.total_inr.get(), refund_percent(&stay.cancellation_policy, 0), 100),
        tax_percent: tax_percent(permitted, stay).await?,
    };
    end(&mut booking.record, to, ending, terms)?;
    let nights = nights_left(permitted, booking.record.mode, stay).await?;
    Ok(Effects { steps: nights.steps(permitted.now()), events: Vec::new() })
}

/// The nights from today on, given back: those before are gone.
async fn nights_left(permitted: &Permitted<'_>, mode: BookingMode, stay: &Stay) -> Result<Nights, Fault> {
    let dates = StayDates { check_in: stay.check_in, check_out: stay.check_out };
    let today = today(permitted.now());
    let mut nights = Nights::of(mode);
    for night in dates.nights().into_iter().filter(|night| *night >= today) {
        nights.add(permitted, &stay.room_id, night, -stay.rooms.get()).await?;
    }
    Ok(nights)
}

/// When a stay is over: at the end of the day on which the guests leave.
pub(in crate::tomo) fn end_of(stay: &Stay) -> Millis {
    instant(stay.check_out, "23:59")
}

/// The tax that was added when it was booked; bookings of earlier releases have the one of the room.
pub(super) async fn tax_percent(permitted: &Permitted<'_>, stay: &Stay) -> Result<i64, Fault> {
    if let Some(percent) = stay.tax_percent {
        return Ok(percent.get());
    }
    let Some(row) = permitted.get(RoomKind::table(), &stay.room_id).await? else { return Ok(0) };
    let room: Entity<RoomKind> = Entity::restore(permitted.tenant(), &row)?;
    Ok(room.record.tax_percent.get())
}

/// The dealership's stock follows in the same plan, unless it is ahead or a deal decides. A sandbox booking keeps no car.
async fn advance_car(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    car: &CarPurchase,
    to: &Advance,
) -> Result<Effects, Fault> {
    let ending = stage_of(to, CAR_STAGES)?;
    // Nothing is known of tax: used cars are taxed by their margin.
    end(&mut booking.record, to, ending, EndingTerms { no_show_refund_inr: 0, tax_percent: 0 })?;
    let plan = match (booking.record.mode, ending) {
        (BookingMode::Sandbox | BookingMode::Unknown, _) => None,
        (BookingMode::Live, BookingEnd::Completed) => car_booking::sell(permitted, &car.vehicle_id).await?,
        (BookingMode::Live, BookingEnd::NoShow | BookingEnd::Cancelled | BookingEnd::Failed) => {
            car_booking::release(permitted, &booking.id, &car.vehicle_id).await?
        }
    };
    Ok(Effects::from(plan))
}
