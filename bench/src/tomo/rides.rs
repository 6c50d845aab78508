//! A made-up ride business with a driver for each of its rides, and the calls that follow them. A ride may be looked at
//! once in five seconds, so that there are more rides than calls in that time.

use std::sync::atomic::{AtomicUsize, Ordering};

use frontdesk_contracts::record::{FixedDecimal, Integer, Stored as _};
use frontdesk_contracts::tomo::booking::{Booking, BookingCustomer, BookingMode, BookingStatus, Rupees};
use frontdesk_contracts::tomo::mobility::driver::{Driver, DriverStatus};
use frontdesk_contracts::tomo::mobility::fare_table::{FareTerms, VehicleClass};
use frontdesk_contracts::tomo::mobility::{BookedRide, RidePlace, RidePlaces, SeenVehicle};
use serde_json::{Value, json};

use super::folders::{Business, NewRows, bearer, path};
use crate::BenchResult;
use crate::call::{Call, Caller};
use crate::load::CallSource;

pub const TENANT: &str = "rid_bench";
pub const INTENT: &str = "mobility.book_intracity_ride";
/// Each call of a server looks at the next ride: the same one is asked for after so many calls.
pub const RIDES: usize = 60_000;
/// The first few are for the comparison of answers.
static NEXT_OF_DESK: AtomicUsize = AtomicUsize::new(10);
static NEXT_OF_REFERENCE: AtomicUsize = AtomicUsize::new(10);
/// Longer than a run takes, so that a ride is under way in all of it.
const RIDE_SECONDS: i64 = 4 * 3600;

pub fn add(rows: &mut NewRows) {
    for number in 0..RIDES {
        let driver_id = format!("{}_{number:026}", Driver::ID_PREFIX);
        let ride_id = booking_ref(number);
        let place = i64::try_from(number).unwrap_or_default();
        let (latitude, longitude) = (12_900_000 + place % 1_000 * 100, 77_500_000 + place / 1_000 * 1_000);
        rows.add_as(driver_id.clone(), driver(number, &ride_id, (latitude, longitude)));
        let at = |latitude, longitude| RidePlace {
            lat: FixedDecimal::scaled(latitude),
            lng: FixedDecimal::scaled(longitude),
            address: format!("{number} MG Road").as_str().into(),
        };
        let seen =
            SeenVehicle { lat: FixedDecimal::scaled(latitude), lng: FixedDecimal::scaled(longitude), at: rows.now };
        let ride = BookedRide {
            city: "Bengaluru".into(),
            vehicle_class: VehicleClass::Sedan,
            terms: terms(),
            surge: FixedDecimal::scaled(120),
            metres: Integer::clamped(5_000 + place % 9_000),
            minutes: Integer::clamped(20),
            subtotal_inr: Rupees::clamped(200 + place % 300),
            tax_inr: Rupees::clamped(10 + place % 15),
            driver_id: Some(driver_id.as_str().into()),
            assigned_at: rows.now,
            eta_at: rows.now.plus_seconds(RIDE_SECONDS),
            places: Some(RidePlaces {
                pickup: at(latitude, longitude),
                drop: at(latitude + 50_000, longitude + 50_000),
            }),
            seen: Some(seen),
            rating: None,
            rated_at: None,
            comment: None,
            reason: None,
        };
        let booking = Booking {
            status: BookingStatus::Confirmed,
            stage: Some("in_progress".into()),
            mode: BookingMode::Live,
            intent: INTENT.into(),
            intent_version: "v1.0.0".into(),
            partner_id: None,
            request_id: Some(format!("req-{number}").as_str().into()),
            item_id: "far_1".into(),
            total_inr: Rupees::clamped(fare(place)),
            previous_total_inr: None,
            refund_inr: None,
            refund_percent: None,
            starts_at: rows.now,
            cancelled_at: None,
            ended_at: None,
            net_inr: None,
            stay: None,
            car: None,
            slot: None,
            ride: Some(ride),
            order: None,
            backend: None,
            customer: Some(BookingCustomer {
                name: format!("Asha Rao {number}").as_str().into(),
                phone: "+919800000000".into(),
                email: Some("asha@example.com".into()),
            }),
        };
        rows.add_as(ride_id, booking);
    }
}

fn fare(place: i64) -> i64 {
    210 + place % 300
}

fn driver(number: usize, ride_id: &str, (latitude, longitude): (i64, i64)) -> Driver {
    Driver {
        driver_code: format!("D{number:06}").as_str().into(),
        name: format!("Ravi{number} Kumar").as_str().into(),
        phone: format!("+91000{number:07}").as_str().into(),
        vehicle_class: VehicleClass::Sedan,
        vehicle: "Maruti Suzuki Dzire".into(),
        plate: format!("KA00BB{:04}", number % 10_000).as_str().into(),
        city: "Bengaluru".into(),
        latitude: FixedDecimal::scaled(latitude),
        longitude: FixedDecimal::scaled(longitude),
        rating: FixedDecimal::scaled(47),
        status: DriverStatus::Busy,
        booking_id: Some(ride_id.into()),
    }
}

fn terms() -> FareTerms {
    FareTerms {
        base_fare_inr: Integer::clamped(80),
        included_km: FixedDecimal::scaled(20),
        per_km_inr: FixedDecimal::scaled(1_700),
        per_minute_inr: FixedDecimal::scaled(150),
        minimum_fare_inr: Integer::clamped(120),
        tax_percent: Integer::clamped(5),
        road_factor: FixedDecimal::scaled(135),
        speed_kmh: Integer::clamped(22),
        max_km: Integer::clamped(60),
        free_cancel_minutes: Integer::clamped(5),
        cancel_fee_inr: Integer::clamped(50),
        no_show_fee_inr: Integer::clamped(100),
    }
}

fn booking_ref(number: usize) -> String {
    format!("{}_{number:026}", Booking::ID_PREFIX)
}

/// How the answer to a look at a ride is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackForm {
    Json,
    /// A stream of events with a progress notification, complete at once.
    Events,
}

/// Looks at the rides of one server, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct TrackCall {
    form: TrackForm,
    next: &'static AtomicUsize,
}

impl TrackForm {
    pub const ALL: [TrackForm; 2] = [TrackForm::Json, TrackForm::Events];

    pub fn name(self) -> &'static str {
        match self {
            TrackForm::Json => "look at a ride, JSON",
            TrackForm::Events => "look at a ride, events",
        }
    }

    /// Of Frontdesk and of the reference.
    pub fn calls(self) -> [TrackCall; 2] {
        [&NEXT_OF_DESK, &NEXT_OF_REFERENCE].map(|next| TrackCall { form: self, next })
    }
}

impl CallSource for TrackCall {
    fn call(self, caller: &Caller, number: u64, _: u64) -> Call {
        self.form.look_at(self.next.fetch_add(1, Ordering::Relaxed) % RIDES, caller, number)
    }
}

impl TrackForm {
    /// Through one partner after the other, because a single connection is faster than one partner may be.
    pub fn look_at(self, ride: usize, caller: &Caller, number: u64) -> Call {
        let booking_ref = booking_ref(ride);
        let arguments = json!({
            "intent": INTENT, "intent_version": "v1.0.0", "request_id": format!("req-{number}"),
            "user_session_id": format!("session-{number}"), "booking_ref": booking_ref,
        });
        let mut params = json!({"name": "track_ride", "arguments": arguments});
        let mut expected = vec![
            (format!("\"booking_ref\":\"{booking_ref}\""), 1),
            (format!("\"fare_inr\":{}", fare(i64::try_from(ride).unwrap_or_default())), 1),
            (format!("\"first_name\":\"Ravi{ride}\""), 1),
            (format!("\"id\":{number},"), 1),
            ("\"isError\":false".to_owned(), 1),
        ];
        let accept = match self {
            TrackForm::Json => {
                expected.push(("data: {".to_owned(), 0));
                "application/json"
            }
            TrackForm::Events => {
                params["_meta"] = json!({"progressToken": number});
                expected.push(("data: {".to_owned(), 2));
                expected.push((format!("\"progressToken\":{number},\"progress\":4,\"total\":5,"), 1));
                "application/json, text/event-stream"
            }
        };
        let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).to_string();
        let request = format!(
            "POST {} HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\naccept: {accept}\r\nmcp-protocol-version: 2025-11-25\r\n\
             content-length: {}\r\n\r\n{body}",
            path(Business::Rides, ride),
            caller.port,
            bearer(Business::Rides, ride),
            body.len(),
        );
        Call { request: request.into_bytes(), expected }
    }
}

/// The messages of an answer, one or those of its events; without what time changes.
pub fn messages(answer: &[u8]) -> BenchResult<Vec<Value>> {
    let text = std::str::from_utf8(answer)?;
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let texts: Vec<&str> = if text.starts_with('{') { vec![text] } else { events.collect() };
    let mut messages = Vec::new();
    for text in texts {
        let mut message: Value = serde_json::from_str(text)?;
        if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
            // The same as text.
            result.remove("content");
            let content = result.get_mut("structuredContent").and_then(Value::as_object_mut);
            content.ok_or("an answer without content")?.remove("eta_minutes");
        }
        messages.push(message);
    }
    Ok(messages)
}
