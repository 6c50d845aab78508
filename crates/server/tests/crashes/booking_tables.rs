//! What the tables say of bookings, and of the nights and days that they take.

use std::collections::BTreeMap;

use serde_json::Value;

use frontdesk_engine::model::timestamp::Millis;

use super::partner::{BookingLog, date};
use super::stage::Stage;

/// Room, night and mode.
type Night = (String, String, String);
/// Whose place it is, when it begins and when it ends.
type Place = (String, i64, i64);

#[derive(Debug)]
pub(crate) struct BookingTables {
    pub(crate) bookings: Vec<Value>,
    claims: usize,
    /// How many rooms are taken.
    nights: BTreeMap<Night, i64>,
    /// How many rooms of a kind there are.
    units: BTreeMap<String, i64>,
    /// What is counted by this contract, by day.
    provider_days: BTreeMap<String, Vec<Place>>,
    /// What the dealership's workshop counts, by day.
    workshop_days: BTreeMap<String, Vec<Place>>,
    appointments: usize,
    bays: i64,
}

impl BookingTables {
    pub(crate) fn read(stage: &Stage) -> BookingTables {
        let read = |table: &str, tenant: &str| -> Vec<Value> {
            let query = format!("SELECT body FROM {table} WHERE tenant = '{tenant}'");
            let rows = stage.database.rows(&stage.desk, &query);
            rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect()
        };
        let mut bookings = read("tomo_booking", "htl_monsoon");
        bookings.extend(read("tomo_booking", "dlr_bengaluru"));
        let night = |row: &Value| ((text(row, "room_id"), text(row, "night"), text(row, "mode")), number(row, "rooms"));
        let provider_day = |row: &Value| (text(row, "day"), places(row, "booking_id"));
        let workshop_day = |row: &Value| (text(row, "date"), places(row, "appointment_id"));
        BookingTables {
            bookings,
            claims: stage.database.claims(&stage.desk),
            nights: read("tomo_night", "htl_monsoon").iter().map(night).collect(),
            units: read("tomo_room", "htl_monsoon").iter().map(|row| (text(row, "id"), number(row, "units"))).collect(),
            provider_days: read("tomo_provider_day", "dlr_bengaluru").iter().map(provider_day).collect(),
            workshop_days: read("workshop_day", "dlr_bengaluru").iter().map(workshop_day).collect(),
            appointments: read("appointment", "dlr_bengaluru").len(),
            bays: number(&read("workshop", "dlr_bengaluru")[0], "bays"),
        }
    }

    /// The bookings are those that were answered, and they have taken what they say, no more and no less.
    pub(crate) fn check(&self, before: &BookingTables, log: &BookingLog) {
        let by_key: BTreeMap<String, String> =
            self.bookings.iter().map(|booking| (text(booking, "request_id"), text(booking, "id"))).collect();
        assert_eq!(by_key, log.booked, "keys and the bookings that they were answered with");
        assert_eq!(self.bookings.len(), log.booked.len(), "one booking for each key");
        assert_eq!(self.claims, before.claims + log.booked.len(), "one claim for each key");

        let mut nights: BTreeMap<Night, i64> = BTreeMap::new();
        let mut provider_days: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let mut workshop_days = before.workshop_days.clone();
        let mut appointments = before.appointments;
        for booking in &self.bookings {
            assert_eq!(booking["status"], "confirmed");
            let mode = text(booking, "mode");
            if let Some(stay) = booking.get("stay") {
                for night in nights_of(stay) {
                    *nights.entry((text(stay, "room_id"), night, mode.clone())).or_default() += number(stay, "rooms");
                }
                continue;
            }
            let slot = &booking["slot"];
            assert_eq!(slot.get("appointment_id").is_some(), mode == "live", "{booking}");
            let (days, whose) = match slot.get("appointment_id") {
                Some(appointment) => {
                    appointments += 1;
                    (&mut workshop_days, appointment.as_str().unwrap().to_owned())
                }
                None => (&mut provider_days, text(booking, "id")),
            };
            days.entry(text(slot, "day")).or_default().push((whose, time(booking, "starts_at"), time(slot, "ends_at")));
        }
        for places in provider_days.values_mut().chain(workshop_days.values_mut()) {
            places.sort();
        }
        assert_eq!(self.nights, nights, "rooms that are taken by night");
        assert_eq!(self.provider_days, provider_days, "places of the sandbox by day");
        assert_eq!(self.workshop_days, workshop_days, "places of the workshop by day");
        assert_eq!(self.appointments, appointments, "an appointment for each place");
        self.check_capacity();
    }

    /// Nothing is sold more often than it is there.
    pub(crate) fn check_capacity(&self) {
        for ((room, night, mode), taken) in &self.nights {
            assert!(*taken <= self.units[room], "{taken} rooms {room} are sold {mode} on {night}");
        }
        for (day, places) in self.provider_days.iter().chain(&self.workshop_days) {
            for (_, moment, _) in places {
                let busy = places.iter().filter(|(_, start, end)| start <= moment && moment < end).count();
                assert!(i64::try_from(busy).unwrap() <= self.bays, "{busy} at {moment} on {day}: {places:?}");
            }
        }
    }
}

/// Those that wait have no place.
fn places(row: &Value, whose: &str) -> Vec<Place> {
    let all = row["places"].as_array().unwrap().iter();
    let booked = all.filter(|place| place.get("status").is_none_or(|status| status == "booked"));
    let mut places: Vec<Place> =
        booked.map(|place| (text(place, whose), time(place, "start"), time(place, "end"))).collect();
    places.sort();
    places
}

fn nights_of(stay: &Value) -> Vec<String> {
    let day = |name: &str| Millis::parse(&format!("{}T00:00:00Z", text(stay, name))).unwrap();
    let (mut at, until) = (day("check_in"), day("check_out"));
    let mut nights = Vec::new();
    while at < until {
        nights.push(date(at));
        at = at.plus_seconds(24 * 60 * 60);
    }
    nights
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_else(|| panic!("no {name} in {row}")).to_owned()
}

fn number(row: &Value, name: &str) -> i64 {
    row[name].as_i64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

fn time(row: &Value, name: &str) -> i64 {
    Millis::parse(&text(row, name)).unwrap().0
}
