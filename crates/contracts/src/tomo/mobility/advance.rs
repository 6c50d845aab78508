//! What happens to a ride after it was booked: a driver comes, the ride begins and ends. It only goes forward. A final
//! stage frees the driver and says what the business earns.

use frontdesk_engine::model::plan::Step;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::change::{end_cancelled, free_driver};
use super::driver;
use super::estimate::minutes_from;
use super::fare_table::FareTerms;
use super::ride::{SeenVehicle, check_not_final, ride_of, ride_of_mut, set_stage, stage_of};
use super::stage::RideStage;
use crate::record::{Entity, FieldType as _, Text, Vocabulary as _};
use crate::tomo::booking::{Booking, Rupees};
use crate::tomo::codes::NOT_AVAILABLE;
use crate::tomo::lifecycle::Advance;
use crate::tomo::listing::place::Point;

/// How far ahead a driver can be expected.
const MAX_ETA_MINUTES: i64 = 600;
/// No ride costs more.
const MAX_FARE: i64 = 1_000_000;

/// Moves a ride to another stage, or takes what is new about the stage that it has. Says what else that changes.
pub async fn advance(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    to: &Advance,
) -> Result<Vec<Step>, Fault> {
    let stage = RideStage::parse(&to.stage).ok_or_else(unknown_stage)?;
    let details = RideDetails::read(&to.details, stage)?;
    let from = stage_of(&booking.record)?;
    if from == stage && booking.record.status.is_final() {
        return Ok(Vec::new());
    }
    check_not_final(&booking.record)?;
    check_move(from, stage)?;
    let mut steps = Vec::new();
    if let Some(code) = &details.driver_code {
        steps.extend(replace_driver(permitted, booking, code, to).await?);
    }
    let location = details.location.map(|point| SeenVehicle::new(point, to.at));
    let ride = ride_of_mut(&mut booking.record)?;
    // A notification that comes late says nothing new.
    let is_newer = |seen: &SeenVehicle| ride.seen.as_ref().is_none_or(|known| known.at <= seen.at);
    // Nobody's way is written down once the rider was erased.
    if let Some(seen) = location.filter(|seen| ride.places.is_some() && is_newer(seen)) {
        ride.seen = Some(seen);
    }
    let default_eta = match stage {
        RideStage::InProgress if from != stage => Some(ride.minutes.get()),
        RideStage::DriverArrived => Some(0),
        RideStage::DriverAssigned
        | RideStage::DriverArriving
        | RideStage::InProgress
        | RideStage::Completed
        | RideStage::Cancelled
        | RideStage::NoShow
        | RideStage::Failed => None,
    };
    if let Some(minutes) = details.eta_minutes.or(default_eta) {
        ride.eta_at = minutes_from(to.at, minutes);
    }
    if let Some(reason) = &details.reason {
        ride.reason = Some(reason.clone());
    }
    set_stage(&mut booking.record, stage);
    if stage.status().is_final() {
        end(&mut booking.record, stage, &details, to)?;
        steps.extend(free_driver(permitted, booking, last_position(&booking.record, stage)?).await?);
    }
    Ok(steps)
}

fn unknown_stage() -> Fault {
    let expected = format!("one of these is expected: {}", RideStage::WORDS.join(", "));
    Fault::invalid_argument("/stage", "enum", expected)
}

fn check_move(from: RideStage, to: RideStage) -> Result<(), Fault> {
    if to.step() < from.step() {
        let expected = format!("the ride is past this stage: it has come to {}", from.as_str());
        return Err(Fault::invalid_argument("/stage", "enum", expected));
    }
    if to == RideStage::NoShow && from == RideStage::InProgress {
        return Err(Fault::invalid_argument("/stage", "enum", "the ride has begun, so the rider was there"));
    }
    Ok(())
}

/// Ends the ride. Who cancels for the rider pays everything back; a ride that failed earns nothing.
fn end(booking: &mut Booking, stage: RideStage, details: &RideDetails, to: &Advance) -> Result<(), Fault> {
    let terms: FareTerms = ride_of(booking)?.terms.clone();
    match stage {
        RideStage::Completed => {
            if let Some(total) = details.final_fare_inr.filter(|total| *total != booking.total_inr.get()) {
                let quote = terms.split(total);
                booking.previous_total_inr = Some(booking.total_inr);
                booking.total_inr = Rupees::clamped(total);
                let ride = ride_of_mut(booking)?;
                ride.subtotal_inr = Rupees::clamped(quote.subtotal_inr);
                ride.tax_inr = Rupees::clamped(quote.tax_inr);
            }
            booking.net_inr = Some(ride_of(booking)?.subtotal_inr);
        }
        RideStage::Cancelled => end_cancelled(booking, stage, 0, to.at),
        RideStage::NoShow => end_cancelled(booking, stage, terms.no_show_fee_inr.get(), to.at),
        RideStage::Failed => booking.net_inr = Some(Rupees::constant::<0>()),
        RideStage::DriverAssigned | RideStage::DriverArriving | RideStage::DriverArrived | RideStage::InProgress => {}
    }
    booking.status = stage.status();
    booking.ended_at = Some(to.at);
    if let Some(net) = details.net_inr {
        booking.net_inr = Some(Rupees::clamped(net));
    }
    Ok(())
}

/// Where the driver is after the ride: where they were last, or at the drop.
fn last_position(booking: &Booking, stage: RideStage) -> Result<Option<Point>, Fault> {
    let ride = ride_of(booking)?;
    let has_moved = ride.seen.as_ref().filter(|seen| seen.at > ride.assigned_at);
    let drop = ride.places.as_ref().filter(|_| stage == RideStage::Completed).map(|places| places.drop.point());
    Ok(has_moved.map(SeenVehicle::point).or(drop))
}

/// Another driver takes the ride over.
async fn replace_driver(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    code: &str,
    to: &Advance,
) -> Result<Vec<Step>, Fault> {
    let Some(current) = ride_of(&booking.record)?.driver_id.clone() else {
        return Err(Fault::invalid_argument("/details/driver_code", "enum", "a ride of the sandbox takes no driver"));
    };
    let known = driver::find(permitted, &current).await?;
    if known.is_some_and(|driver| *driver.record.driver_code == *code) {
        return Ok(Vec::new());
    }
    let class = ride_of(&booking.record)?.vehicle_class;
    let taken = || Fault::domain(NOT_AVAILABLE, "No free driver of this class has this code.");
    let driver = driver::free_by_code(permitted, code).await?.filter(|driver| driver.record.vehicle_class == class);
    let driver = driver.ok_or_else(taken)?;
    let mut steps = driver::release(permitted, &current, &booking.id, None).await?;
    let ride = ride_of_mut(&mut booking.record)?;
    ride.driver_id = Some(driver.id.as_str().into());
    ride.assigned_at = to.at;
    if ride.places.is_some() {
        ride.seen = Some(SeenVehicle::new(driver.record.position(), to.at));
    }
    let id = booking.id.clone();
    steps.push(driver::take(driver, &id, permitted.now()));
    Ok(steps)
}

/// What a notification says besides the stage.
#[derive(Debug, Default)]
struct RideDetails {
    location: Option<Point>,
    eta_minutes: Option<i64>,
    driver_code: Option<String>,
    final_fare_inr: Option<i64>,
    net_inr: Option<i64>,
    reason: Option<Text<200>>,
}

impl RideDetails {
    /// Refuses what is not known, and what does not belong to the stage.
    fn read(details: &Map<String, Value>, stage: RideStage) -> Result<RideDetails, Fault> {
        let is_final = stage.status().is_final();
        let mut read = RideDetails::default();
        for (name, value) in details {
            let wrong = |expected: &str| Fault::invalid_argument(&format!("/details/{name}"), "type", expected);
            match name.as_str() {
                "location" => read.location = Some(point(value).ok_or_else(|| wrong("lat and lng are expected"))?),
                "eta_minutes" if !is_final => {
                    let minutes = value.as_i64().filter(|minutes| (0..=MAX_ETA_MINUTES).contains(minutes));
                    read.eta_minutes = Some(minutes.ok_or_else(|| wrong("whole minutes from 0 to 600 are expected"))?);
                }
                "driver_code" if stage.step() <= RideStage::DriverArrived.step() => {
                    let code = value.as_str().ok_or_else(|| wrong("the code of a driver is expected"))?;
                    read.driver_code = Some(code.to_owned());
                }
                "final_fare_inr" if stage == RideStage::Completed => read.final_fare_inr = Some(rupees(value, &wrong)?),
                "net_inr" if is_final => read.net_inr = Some(rupees(value, &wrong)?),
                "reason" if is_final && stage != RideStage::Completed => {
                    let is_text = Text::<200>::input().problems(value).is_empty();
                    let text = value.as_str().filter(|_| is_text);
                    read.reason = Some(text.ok_or_else(|| wrong("1 to 200 characters are expected"))?.into());
                }
                _ => return Err(wrong("it does not belong to this stage of a ride")),
            }
        }
        Ok(read)
    }
}

fn rupees(value: &Value, wrong: &dyn Fn(&str) -> Fault) -> Result<i64, Fault> {
    let amount = value.as_i64().filter(|amount| (0..=MAX_FARE).contains(amount));
    amount.ok_or_else(|| wrong("whole rupees from 0 to 1000000 are expected"))
}

fn point(value: &Value) -> Option<Point> {
    let degrees = |name: &str, most: f64| value.get(name)?.as_f64().filter(|degrees| degrees.abs() <= most);
    let is_known = |name: &String| matches!(name.as_str(), "lat" | "lng");
    let known_only = value.as_object()?.keys().all(is_known);
    known_only.then_some(Point::from_degrees(degrees("lat", 90.0)?, degrees("lng", 180.0)?))
}
