//! A look at a ride as the reference takes it: the two rows that Frontdesk reads for one, found with the same statements,
//! and the same answer.

use std::path::Path;

use frontdesk::system::SystemClock;
use frontdesk_contracts::record::Stored as _;
use frontdesk_contracts::tomo::booking::Booking;
use frontdesk_contracts::tomo::mobility::driver::Driver;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Clock as _;
use frontdesk_store::statements::{self, for_sqlite};
use frontdesk_wire::event_stream::write_event;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::BenchResult;
use crate::reference::embedded::reading;
use crate::reference::{Meta, answered};
use crate::tomo::rides::TENANT;

#[derive(Deserialize)]
struct RideRow<'a> {
    id: &'a str,
    status: &'a str,
    stage: &'a str,
    total_inr: i64,
}

#[derive(Deserialize)]
struct RidePersonal<'a> {
    #[serde(borrow)]
    ride: RidePart<'a>,
}

#[derive(Deserialize)]
struct RidePart<'a> {
    driver_id: &'a str,
    eta_at: &'a str,
    #[serde(borrow)]
    seen: Seen<'a>,
}

#[derive(Deserialize)]
struct Seen<'a> {
    lat: f64,
    lng: f64,
    at: &'a str,
}

#[derive(Deserialize)]
struct DriverRow<'a> {
    vehicle: &'a str,
    rating: f64,
}

#[derive(Deserialize)]
struct DriverPersonal<'a> {
    name: &'a str,
    plate: &'a str,
}

#[derive(Serialize)]
struct Tracked<'a> {
    booking_ref: &'a str,
    status: &'a str,
    stage: &'a str,
    driver: TrackedDriver<'a>,
    location: Location<'a>,
    eta_minutes: i64,
    progress_percent: i64,
    fare_inr: i64,
}

#[derive(Serialize)]
struct TrackedDriver<'a> {
    first_name: &'a str,
    rating: f64,
    vehicle: &'a str,
    plate: &'a str,
}

#[derive(Serialize)]
struct Location<'a> {
    lat: f64,
    lng: f64,
    updated_at: &'a str,
}

#[derive(Serialize)]
struct Notification<'a> {
    jsonrpc: &'a str,
    method: &'a str,
    params: ProgressParams<'a>,
}

#[derive(Serialize)]
struct ProgressParams<'a> {
    #[serde(rename = "progressToken")]
    token: i64,
    progress: u32,
    total: u32,
    message: &'a str,
}

pub struct RideTexts {
    ride: String,
    driver: String,
}

impl RideTexts {
    pub fn new() -> RideTexts {
        RideTexts {
            ride: for_sqlite(&statements::get(Booking::table())),
            driver: for_sqlite(&statements::get(Driver::table())),
        }
    }

    pub fn track(&self, path: &Path, booking_ref: &str, id: i64, meta: Option<&Meta>) -> BenchResult<Vec<u8>> {
        reading(path, |connection| {
            let (body, personal) = row(connection, &self.ride, booking_ref)?;
            let ride: RideRow<'_> = serde_json::from_str(&body)?;
            let RidePersonal { ride: RidePart { driver_id, eta_at, seen } } = serde_json::from_slice(&personal)?;
            let (driver_body, driver_personal) = row(connection, &self.driver, driver_id)?;
            let driver: DriverRow<'_> = serde_json::from_str(&driver_body)?;
            let of_driver: DriverPersonal<'_> = serde_json::from_slice(&driver_personal)?;
            let eta = Millis::parse(eta_at).ok_or("not a time")?;
            let step = step(ride.stage)?;
            let tracked = Tracked {
                booking_ref: ride.id,
                status: ride.status,
                stage: ride.stage,
                driver: TrackedDriver {
                    first_name: of_driver.name.split_whitespace().next().unwrap_or_default(),
                    rating: driver.rating,
                    vehicle: driver.vehicle,
                    plate: of_driver.plate,
                },
                location: Location { lat: seen.lat, lng: seen.lng, updated_at: seen.at },
                eta_minutes: ((eta.0 - SystemClock.now().0).max(0) + 59_999) / 60_000,
                progress_percent: i64::from(step) * 100 / 5,
                fare_inr: ride.total_inr,
            };
            let answer = answered(id, &serde_json::to_string(&tracked)?, meta);
            let Some(token) = meta.and_then(|meta| meta.progress_token) else { return Ok(answer) };
            let params = ProgressParams { token, progress: step, total: 5, message: "The ride is under way." };
            let progress = Notification { jsonrpc: "2.0", method: "notifications/progress", params };
            let mut events = Vec::with_capacity(answer.len() + 256);
            write_event(&serde_json::to_vec(&progress)?, &mut events);
            write_event(&answer, &mut events);
            Ok(events)
        })
    }
}

/// The body and what would be sealed.
fn row(connection: &Connection, sql: &str, id: &str) -> BenchResult<(String, Vec<u8>)> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([TENANT, id], |row| Ok((row.get(3)?, row.get(5)?)))?)
}

fn step(stage: &str) -> BenchResult<u32> {
    match stage {
        "driver_assigned" => Ok(1),
        "driver_arriving" => Ok(2),
        "driver_arrived" => Ok(3),
        "in_progress" => Ok(4),
        _ => Err("a ride that is over".into()),
    }
}
