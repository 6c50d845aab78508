//! A booking as the reference makes it: the rows that Frontdesk writes for one except the audit's, nothing sealed and
//! nothing hashed.

use frontdesk::system::SystemClock;
use frontdesk_contracts::record::{Day, Stored as _};
use frontdesk_contracts::tomo::booking::Booking;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Clock as _;
use frontdesk_store::statements::sqlite::{insert, update};
use frontdesk_store::statements::{self, for_sqlite};
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rows::{Hotel, Room, Tier, Value};
use super::{Guest, Offers, table};
use crate::BenchResult;
use crate::reference::writer::{CommonTexts, Created, NO_MAC, Write};
use crate::tomo::hotels::TENANT;

const TOOL: &str = "create_booking";
/// India's time, in minutes before UTC.
const OFFSET_MINUTES: i64 = 330;

/// The request, with what was read for it.
pub struct NewStay {
    pub key: String,
    pub request_id: String,
    pub guest: Guest,
    /// How many rooms of the kind can be sold in every night.
    pub units: i64,
    pub total_inr: i64,
    pub nights: Vec<Day>,
    pub offers: Offers,
    /// The bodies of the room and of its hotel.
    pub room: String,
    pub hotel: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    booking_ref: &'a str,
    status: &'a str,
    mode: &'a str,
    listing_id: &'a str,
    name: &'a str,
    room_id: &'a str,
    room_name: &'a str,
    check_in: &'a str,
    check_out: &'a str,
    starts_at: &'a str,
    nights: usize,
    rooms: i64,
    currency: &'a str,
    total_inr: i64,
    booked_at: &'a str,
    cancellation_policy: &'a [Tier],
}

#[derive(Deserialize)]
struct NightRow {
    rooms: i64,
    version: i64,
    created_at: String,
}

pub struct WriteBooking {
    common: CommonTexts,
    night: &'static TableSpec,
    room_version: String,
    get_night: String,
    add_night: String,
    change_night: String,
    add_booking: String,
}

impl WriteBooking {
    pub fn new() -> BenchResult<WriteBooking> {
        let night = table("tomo_night")?;
        Ok(WriteBooking {
            common: CommonTexts::new(),
            room_version: for_sqlite(&statements::version(table("tomo_room")?)),
            get_night: for_sqlite(&statements::get(night)),
            add_night: for_sqlite(&insert(night)),
            change_night: for_sqlite(&update(night)),
            add_booking: for_sqlite(&insert(Booking::table())),
            night,
        })
    }

    /// Counts the rooms of a night.
    fn take(&self, connection: &Connection, room_id: &str, night: Day, job: &NewStay, now: Millis) -> BenchResult<()> {
        let own = room_id.split_once('_').map_or(room_id, |(_, own)| own);
        let id = format!("ngt_{own}_{night}");
        let found: Option<String> =
            connection.prepare_cached(&self.get_night)?.query_row([TENANT, &id], |row| row.get(3)).optional()?;
        let before: Option<NightRow> = found.map(|body| serde_json::from_str(&body)).transpose()?;
        let instant = now.to_rfc3339();
        let rooms = before.as_ref().map_or(0, |row| row.rooms) + job.offers.rooms;
        if rooms > job.units {
            return Err("no room is left".into());
        }
        let version = before.as_ref().map_or(0, |row| row.version);
        let created_at = before.as_ref().map_or(instant.as_str(), |row| row.created_at.as_str());
        let body = json!({
            "id": id, "type": "tomo_night", "tenant": TENANT, "room_id": room_id, "night": night.to_string(),
            "mode": "live", "rooms": rooms, "created_at": created_at, "updated_at": instant, "version": version + 1,
        });
        let created_at = Millis::parse(created_at).ok_or("not a time")?;
        let fixed = fixed_values(&id, version + 1, [created_at.0, now.0], body.to_string());
        let own = columns(self.night, |column| match column {
            "room_id" => Some(room_id.to_owned().into()),
            "night" => Some(night.number().into()),
            "mode" => Some("live".to_owned().into()),
            _ => None,
        });
        let values = fixed.into_iter().chain(own);
        match before {
            None => connection.prepare_cached(&self.add_night)?.execute(params_from_iter(values))?,
            Some(_) => {
                let values = values.chain([Value::from(version)]);
                connection.prepare_cached(&self.change_night)?.execute(params_from_iter(values))?
            }
        };
        Ok(())
    }
}

impl Write for WriteBooking {
    type Job = NewStay;

    fn apply(&self, connection: &Connection, job: &NewStay, number: u64) -> BenchResult<String> {
        let of = [TENANT, TOOL, job.key.as_str()];
        if let Some(answer) = self.common.earlier(connection, of)? {
            return Ok(answer);
        }
        let NewStay { offers, guest, .. } = job;
        let (room, hotel): (Room<'_>, Hotel<'_>) =
            (serde_json::from_str(&job.room)?, serde_json::from_str(&job.hotel)?);
        let now = SystemClock.now();
        let _: i64 = connection.prepare_cached(&self.room_version)?.query_row([TENANT, room.id], |row| row.get(0))?;
        for night in &job.nights {
            self.take(connection, room.id, *night, job, now)?;
        }
        let (at, instant) = (now.0, now.to_rfc3339());
        let id = format!("bkg_{at:016}{number:010}");
        let starts = starts_at(&offers.check_in, hotel.check_in_time)?;
        let starts_at = starts.to_rfc3339();
        let answer = Answer {
            booking_ref: &id,
            status: "confirmed",
            mode: "live",
            listing_id: hotel.id,
            name: hotel.name,
            room_id: room.id,
            room_name: room.name,
            check_in: &offers.check_in,
            check_out: &offers.check_out,
            starts_at: &starts_at,
            nights: job.nights.len(),
            rooms: offers.rooms,
            currency: "INR",
            total_inr: job.total_inr,
            booked_at: &instant,
            cancellation_policy: &hotel.cancellation_policy,
        };
        let answer = serde_json::to_string(&answer)?;
        let body = json!({
            "id": id, "type": "tomo_booking", "tenant": TENANT, "status": "confirmed", "mode": "live",
            "intent": "travel.book_hotel", "intent_version": "v1.0.0", "request_id": job.request_id,
            "item_id": hotel.id, "total_inr": job.total_inr, "starts_at": starts_at, "created_at": instant,
            "updated_at": instant, "version": 1,
            "stay": {
                "listing_name": hotel.name, "city": hotel.city, "room_id": room.id, "room_name": room.name,
                "check_in": offers.check_in, "check_out": offers.check_out, "check_in_time": hotel.check_in_time,
                "rooms": offers.rooms, "adults": offers.adults, "children": offers.children,
                "cancellation_policy": hotel.cancellation_policy,
            },
        });
        let personal =
            json!({"customer": {"name": guest.name, "phone": guest.phone, "email": guest.email}}).to_string();
        let mut fixed = fixed_values(&id, 1, [at, at], body.to_string());
        if let [.., masked, sealed, _, _, _] = fixed.as_mut_slice() {
            *masked = personal.clone().into();
            *sealed = personal.into_bytes().into();
        }
        let own = columns(Booking::table(), |column| match column {
            "status" => Some("confirmed".to_owned().into()),
            "mode" => Some("live".to_owned().into()),
            "intent" => Some("travel.book_hotel".to_owned().into()),
            "item_id" => Some(hotel.id.to_owned().into()),
            "starts_at" => Some(starts.0.into()),
            _ => None,
        });
        connection.prepare_cached(&self.add_booking)?.execute(params_from_iter(fixed.into_iter().chain(own)))?;
        let event = format!("evt_{at:016}{number:010}");
        let new = Created { kind: "tomo_booking", id: &id, event: &event, at, answer: &answer };
        self.common.record(connection, of, &new)?;
        Ok(answer)
    }
}

/// The values of the columns that every table has: nothing masked, sealed or searched.
fn fixed_values(id: &str, version: i64, [created_at, updated_at]: [i64; 2], body: String) -> Vec<Value> {
    vec![
        TENANT.to_owned().into(),
        id.to_owned().into(),
        version.into(),
        created_at.into(),
        updated_at.into(),
        body.into(),
        Value::Null,
        Value::Null,
        Value::Null,
        NO_MAC.to_vec().into(),
        Value::Null,
    ]
}

/// The values of a table's own columns, in their order.
fn columns(table: &TableSpec, value: impl Fn(&str) -> Option<Value>) -> Vec<Value> {
    table.columns.iter().map(|column| value(column.name).unwrap_or(Value::Null)).collect()
}

fn starts_at(day: &str, time: &str) -> BenchResult<Millis> {
    let midnight = Millis::parse(&format!("{day}T00:00:00Z")).ok_or("not a day")?;
    let (hours, minutes) = time.split_once(':').ok_or("not a time")?;
    let minutes = hours.parse::<i64>()? * 60 + minutes.parse::<i64>()? - OFFSET_MINUTES;
    Ok(midnight.plus_seconds(minutes * 60))
}
