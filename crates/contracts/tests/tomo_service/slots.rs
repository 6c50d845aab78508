//! Free slots: within opening hours and the provider's time zone, in the future, and none twice.

use std::collections::BTreeSet;

use frontdesk_contracts::calendar::{Weekday, WeekdayHours};
use frontdesk_contracts::record::{Integer, List};
use frontdesk_contracts::tomo::service::provider::Provider;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::data::{OWN, WORKSHOP, insert, provider, service, week};
use super::support::{DEALERSHIP_LIVE, NOW, OWN_LIVE, ServiceDesk};

fn slots_of(provider_id: &str, first: &str, last: &str) -> Value {
    json!({"provider_id": provider_id, "service": {"codes": ["GENERAL_SERVICE"]}, "date_from": first, "date_to": last})
}

fn starts(answer: &Value) -> Vec<String> {
    let slots = answer["slots"].as_array().unwrap().iter();
    slots.map(|slot| slot["starts_at"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn t_039_t_052_slots_are_listed_with_their_price() {
    let (desk, _) = ServiceDesk::open();
    for (partner, id) in [(OWN_LIVE, "prv_koramangala"), (DEALERSHIP_LIVE, WORKSHOP)] {
        let mut answer = desk.ok(partner, "get_available_slots", slots_of(id, "2027-03-01", "2027-03-02")).await;
        let slots = answer["slots"].take();
        let slots = slots.as_array().unwrap();
        // From 09:00 to 16:00, so that the work ends at 18:00 at the latest.
        assert_eq!(slots.len(), 30);
        let last = json!({"slot_id": "20270302T103000Z", "starts_at": "2027-03-02T16:00:00+05:30",
            "ends_at": "2027-03-02T18:00:00+05:30", "places_left": 2});
        assert_eq!(slots[29], last);
        assert!(answer["result_token"].take().as_str().unwrap().len() > 40);
        let expected = json!({"provider_id": id, "service_codes": ["GENERAL_SERVICE"], "duration_minutes": 120,
            "price_inr": 3499, "slots": null, "result_token": null, "expires_at": "2027-02-20T06:15:00Z"});
        assert_eq!(answer, expected);
    }
}

#[tokio::test]
async fn no_slot_lies_in_the_past_or_outside_of_the_days() {
    let (desk, _) = ServiceDesk::open();
    for (partner, id) in [(OWN_LIVE, "prv_koramangala"), (DEALERSHIP_LIVE, WORKSHOP)] {
        // It is 11:30 there, and a slot that begins now cannot be reached.
        let today = desk.ok(partner, "get_available_slots", slots_of(id, "2027-02-20", "2027-02-21")).await;
        assert_eq!(starts(&today)[0], "2027-02-20T12:00:00+05:30");
        assert_eq!(starts(&today).last().unwrap(), "2027-02-20T16:00:00+05:30");
        let from_before = desk.ok(partner, "get_available_slots", slots_of(id, "2027-02-18", "2027-02-20")).await;
        assert_eq!(starts(&from_before), starts(&today));
        let mut next_days = slots_of(id, "", "");
        next_days.as_object_mut().unwrap().retain(|name, _| !name.starts_with("date"));
        let week = starts(&desk.ok(partner, "get_available_slots", next_days).await);
        assert_eq!(week.len(), 9 + 5 * 15, "today and five whole days, up to Friday");
        assert_eq!(week.last().unwrap(), "2027-02-26T16:00:00+05:30");
        let too_far = desk.ok(partner, "get_available_slots", slots_of(id, "2028-03-01", "2028-03-02")).await;
        assert_eq!(too_far["slots"], json!([]));
        for (first, last, field) in [
            ("2027-03-02", "2027-03-01", "date_to"),
            ("2027-02-01", "2027-02-19", "date_to"),
            ("2027-03-01", "2027-03-31", "date_to"),
            ("2027-02-30", "2027-03-01", "date_from"),
        ] {
            let error = desk.call(partner, "get_available_slots", slots_of(id, first, last)).await.unwrap_err();
            assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": field}));
        }
        let mut other = slots_of(id, "2027-03-01", "2027-03-02");
        other["service"]["codes"] = json!(["INSPECTION"]);
        let error = desk.call(partner, "get_available_slots", other).await.unwrap_err();
        assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "service.codes"}));
    }
}

/// With changes at night and at midnight, of an hour and of half an hour, on both hemispheres.
const ZONES: [&str; 5] =
    ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "America/Havana"];

/// Every day of the week: clocks change on Sundays.
fn every_day(opens: i64, closes: i64) -> Vec<WeekdayHours> {
    let (opens, closes) = (format!("{opens:02}:00"), format!("{closes:02}:00"));
    let sunday =
        WeekdayHours { weekday: Weekday::Sunday, opens: opens.as_str().into(), closes: closes.as_str().into() };
    week(&opens, &closes).into_iter().chain([sunday]).collect()
}

/// The local day of a change of clocks after the tests' present.
fn change_of_clocks(zone: &TimeZone, number: usize) -> Date {
    let now = Timestamp::from_millisecond(NOW.0).unwrap();
    let change = zone.following(now).nth(number).unwrap();
    zone.to_datetime(change.timestamp()).date()
}

/// The instants at which clocks show the opening time or so many slots after it, found by looking at every quarter of an
/// hour, and after which there is time enough until closing time.
fn expected_starts(zone: &TimeZone, days: (Date, Date), hours: (i64, i64), slot: i64, minutes: i64) -> Vec<Timestamp> {
    let from = days.0.yesterday().unwrap().to_zoned(zone.clone()).unwrap().timestamp();
    let quarters = (0..6 * 96).map(|quarter| from + (quarter * 15).minutes());
    let is_start = |at: &Timestamp| {
        let local = zone.to_datetime(*at);
        let minute = i64::from(local.hour()) * 60 + i64::from(local.minute()) - hours.0 * 60;
        let closes = local.date().at(0, 0, 0, 0) + hours.1.hours();
        let closes = zone.to_ambiguous_timestamp(closes).later().unwrap();
        days.0 <= local.date()
            && local.date() <= days.1
            && minute >= 0
            && minute % slot == 0
            && i64::from(local.hour()) < hours.1
            && *at + minutes.minutes() <= closes
    };
    quarters.filter(is_start).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_slot_is_offered_twice_or_lost_when_clocks_change(
        zone_name in prop::sample::select(ZONES.to_vec()),
        change in 0_usize..2,
        opens in 0_i64..6,
        hours in 4_i64..=24,
        slot in prop::sample::select(vec![30_i64, 60, 90]),
        minutes in prop::sample::select(vec![30_i64, 60, 120]),
    ) {
        let closes = (opens + hours).min(24);
        let mut record = Provider {
            slot_minutes: Integer::clamped(slot),
            opening_hours: List(every_day(opens, closes)),
            ..provider("DST", "Pune", zone_name)
        };
        prop_assert_eq!(record.problems().len(), 0);
        let (desk, store) = ServiceDesk::open();
        store.seed(OWN, vec![
            insert(OWN, "prv_dst", record),
            insert(OWN, "psv_dst", service("DST", "GENERAL_SERVICE", "General service", minutes, 100)),
        ]);
        let zone = TimeZone::get(zone_name).unwrap();
        let changes = change_of_clocks(&zone, change);
        let days = (changes.yesterday().unwrap(), changes.tomorrow().unwrap());
        let wish = slots_of("prv_dst", &days.0.to_string(), &days.1.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(desk.ok(OWN_LIVE, "get_available_slots", wish));
        let slots = answer["slots"].as_array().unwrap();
        let ids: BTreeSet<&str> = slots.iter().map(|slot| slot["slot_id"].as_str().unwrap()).collect();
        prop_assert_eq!(ids.len(), slots.len(), "a slot twice");
        let offered: Vec<Timestamp> = starts(&answer).iter().map(|start| start.parse().unwrap()).collect();
        prop_assert_eq!(offered, expected_starts(&zone, days, (opens, closes), slot, minutes), "{} {}", zone_name, changes);
    }
}
