//! A booked ride: what is stored of it, and what is told about it. Where it goes and who rides is personal: it is sealed,
//! in no answer, and gone when the rider is erased.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::driver::{self, DRIVER, driver_facts, sandbox_driver};
use super::fare::{FareQuote, SurgeMultiplier, Way};
use super::fare_table::{FareTerms, VehicleClass};
use super::stage::RideStage;
use crate::Record;
use crate::record::{Entity, FixedDecimal, Integer, Text, Timestamp, Vocabulary as _};
use crate::tomo::booking::{Booking, BookingStatus, Rupees};
use crate::tomo::booking_plan;
use crate::tomo::codes::BOOKING_CLOSED;
use crate::tomo::facts::with;
use crate::tomo::known_facts::{Fact, decimal, object, text, whole};
use crate::tomo::listing::place::Point;

/// A ride that was booked.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct BookedRide {
    /// City.
    pub city: Text<80>,
    /// Class of the vehicle.
    pub vehicle_class: VehicleClass,
    /// What was agreed on: later fare tables change nothing.
    pub terms: FareTerms,
    /// What the fare was multiplied by, which a change of the drop keeps.
    pub surge: SurgeMultiplier,
    /// Metres of road.
    pub metres: Integer<0, 1_000_000>,
    /// How long it takes.
    pub minutes: Integer<0, 100_000>,
    /// The fare without tax.
    pub subtotal_inr: Rupees,
    /// Its tax.
    pub tax_inr: Rupees,
    /// The driver; a ride of the sandbox takes nobody.
    pub driver_id: Option<Text<64>>,
    /// Since when there is a driver.
    pub assigned_at: Timestamp,
    /// When the driver is expected: at the pickup, or at the drop once the ride has begun.
    pub eta_at: Timestamp,
    /// From where to where; missing once the rider was erased.
    #[field(sealed)]
    pub places: Option<RidePlaces>,
    /// Where the vehicle was last.
    #[field(sealed)]
    pub seen: Option<SeenVehicle>,
    /// What the rider gave.
    pub rating: Option<Integer<1, 5>>,
    /// When.
    pub rated_at: Option<Timestamp>,
    /// What the rider wrote.
    #[field(sealed)]
    pub comment: Option<Text<500>>,
    /// Why it ended before it was complete.
    #[field(sealed)]
    pub reason: Option<Text<200>>,
}

/// From where to where.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct RidePlaces {
    /// Where it begins.
    pub pickup: RidePlace,
    /// Where it ends.
    pub drop: RidePlace,
}

/// A place as a caller names it.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct RidePlace {
    /// Degrees north.
    pub lat: FixedDecimal<6, -90, 90>,
    /// Degrees east.
    pub lng: FixedDecimal<6, -180, 180>,
    /// In words.
    pub address: Text<300>,
}

/// Where a vehicle was at a time.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct SeenVehicle {
    /// Degrees north.
    pub lat: FixedDecimal<6, -90, 90>,
    /// Degrees east.
    pub lng: FixedDecimal<6, -180, 180>,
    /// When.
    pub at: Timestamp,
}

impl RidePlace {
    pub(super) fn point(&self) -> Point {
        Point { latitude: self.lat.get(), longitude: self.lng.get() }
    }
}

impl SeenVehicle {
    pub(super) fn new(point: Point, at: Millis) -> SeenVehicle {
        SeenVehicle { lat: FixedDecimal::scaled(point.latitude), lng: FixedDecimal::scaled(point.longitude), at }
    }

    pub(super) fn point(&self) -> Point {
        Point { latitude: self.lat.get(), longitude: self.lng.get() }
    }
}

impl BookedRide {
    pub(super) fn set_fare(&mut self, way: Way, quote: FareQuote) {
        self.metres = Integer::clamped(way.metres);
        self.minutes = Integer::clamped(way.minutes);
        self.subtotal_inr = Rupees::clamped(quote.subtotal_inr);
        self.tax_inr = Rupees::clamped(quote.tax_inr);
    }

    pub(super) fn free_until(&self) -> Millis {
        self.assigned_at.plus_seconds(self.terms.free_cancel_minutes.get().saturating_mul(60))
    }

    /// Minutes until the driver is expected, those that have begun.
    pub(super) fn eta_minutes(&self, now: Millis) -> i64 {
        self.eta_at.0.saturating_sub(now.0).max(0).saturating_add(59_999) / 60_000
    }

    /// Removes the rider: where they were, and what they wrote.
    pub(in crate::tomo) fn erase_rider(&mut self) {
        let BookedRide {
            city: _,
            vehicle_class: _,
            terms: _,
            surge: _,
            metres: _,
            minutes: _,
            subtotal_inr: _,
            tax_inr: _,
            driver_id: _,
            assigned_at: _,
            eta_at: _,
            places,
            seen,
            rating: _,
            rated_at: _,
            comment,
            reason,
        } = self;
        *places = None;
        *seen = None;
        *comment = None;
        *reason = None;
    }
}

/// The ride of a booking of this shape.
pub(super) fn ride_of(booking: &Booking) -> Result<&BookedRide, Fault> {
    booking.ride.as_ref().ok_or_else(|| Fault::internal("a booking of a ride has none"))
}

pub(super) fn ride_of_mut(booking: &mut Booking) -> Result<&mut BookedRide, Fault> {
    booking.ride.as_mut().ok_or_else(|| Fault::internal("a booking of a ride has none"))
}

pub(super) fn stage_of(booking: &Booking) -> Result<RideStage, Fault> {
    let stage = booking.stage.as_deref().and_then(RideStage::parse);
    stage.ok_or_else(|| Fault::internal("a booked ride has no stage that is known"))
}

pub(super) fn set_stage(booking: &mut Booking, stage: RideStage) {
    booking.stage = Some(stage.as_str().into());
}

/// Refuses to change a ride that is over.
pub(super) fn check_not_final(booking: &Booking) -> Result<(), Fault> {
    let message = match booking.status {
        BookingStatus::Confirmed => return Ok(()),
        BookingStatus::Cancelled => "This ride was cancelled before.",
        BookingStatus::Failed => "This ride could not be carried out.",
        BookingStatus::Completed | BookingStatus::Unknown => "This ride is complete, so it can no longer be changed.",
    };
    Err(Fault::domain(BOOKING_CLOSED, message))
}

/// Refuses a ride whose rider was erased: nobody knows any more where it goes.
pub(super) fn places_of(ride: &BookedRide) -> Result<&RidePlaces, Fault> {
    let erased = || Fault::domain(BOOKING_CLOSED, "The rider was erased, so this ride can no longer be changed.");
    ride.places.as_ref().ok_or_else(erased)
}

/// The facts of a ride.
pub(super) const RIDE: &[Fact] = &[
    text("stage"),
    text("vehicle_class"),
    text("city"),
    object("driver", &[DRIVER]),
    whole("eta_minutes"),
    whole("fare_inr"),
    whole("previous_fare_inr"),
    whole("subtotal_inr"),
    whole("tax_inr"),
    decimal("surge_multiplier"),
    decimal("distance_km"),
    whole("duration_minutes"),
    whole("progress_percent"),
    object("cancellation", &[&[text("free_until"), whole("fee_inr"), whole("no_show_fee_inr")]]),
];

/// Who drives, as a caller may see it.
pub(super) async fn load_driver(permitted: &Permitted<'_>, ride: &BookedRide) -> Result<Value, Fault> {
    let Some(id) = &ride.driver_id else { return Ok(sandbox_driver()) };
    let driver = driver::find(permitted, id).await?;
    let driver = driver.ok_or_else(|| Fault::internal("the driver of a ride does not exist"))?;
    Ok(driver_facts(&driver.record))
}

/// Everything that may be told of a ride.
pub(super) fn ride_facts(booking: &Entity<Booking>, driver: &Value, now: Millis) -> Result<Value, Fault> {
    let record = &booking.record;
    let (ride, stage) = (ride_of(record)?, stage_of(record)?);
    let total = record.total_inr.get();
    let own = json!({
        "stage": stage.as_str(),
        "vehicle_class": ride.vehicle_class.as_str(),
        "city": &*ride.city,
        "driver": driver,
        "eta_minutes": if record.status.is_final() { 0 } else { ride.eta_minutes(now) },
        "fare_inr": total,
        "previous_fare_inr": record.previous_total_inr.map_or(total, |previous| previous.get()),
        "subtotal_inr": ride.subtotal_inr.get(),
        "tax_inr": ride.tax_inr.get(),
        "surge_multiplier": ride.surge.to_f64(),
        "distance_km": kilometres(ride.metres.get()),
        "duration_minutes": ride.minutes.get(),
        "progress_percent": stage.progress_percent(),
        "cancellation": {
            "free_until": ride.free_until().to_rfc3339(),
            "fee_inr": ride.terms.cancel_fee_inr.get(),
            "no_show_fee_inr": ride.terms.no_show_fee_inr.get(),
        },
    });
    Ok(with(booking_plan::booking_facts(booking), own))
}

/// With one decimal place.
pub(super) fn kilometres(metres: i64) -> f64 {
    (metres.saturating_add(50) / 100) as f64 / 10.0
}
