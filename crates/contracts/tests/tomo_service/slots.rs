//! Free slots: within opening hours and the provider's time zone, in the future, and none twice.

use std::collections::BTreeSet;

use frontdesk_contracts::record::{Integer, List};
use frontdesk_contracts::tomo::service::provider::Provider;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::data::{OWN, WORKSHOP, insert, provider, service, week};
use super::support::{DEALERSHIP_LIVE, OWN_LIVE, ServiceDesk};

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_slot_is_offered_twice_when_clocks_change(
        zone in 0..ZONES.len(),
        first_day in 0_i64..330,
        opens in 0_i64..20,
        hours in 1_i64..24,
        slot_minutes in prop::sample::select(vec![15_i64, 30, 60, 90]),
        minutes in prop::sample::select(vec![30_i64, 60, 120]),
    ) {
        let zone = ZONES[zone];
        let closes = (opens + hours).min(24);
        let mut record = Provider {
            slot_minutes: Integer::clamped(slot_minutes),
            opening_hours: List(week(&format!("{opens:02}:00"), &format!("{closes:02}:00"))),
            ..provider("DST", "Pune", zone)
        };
        prop_assert_eq!(record.problems().len(), 0);
        let (desk, store) = ServiceDesk::open();
        store.seed(OWN, vec![
            insert(OWN, "prv_dst", record),
            insert(OWN, "psv_dst", service("DST", "GENERAL_SERVICE", "General service", minutes, 100)),
        ]);
        let day = |offset: i64| {
            let start: jiff::civil::Date = "2027-02-21".parse().unwrap();
            start.saturating_add(jiff::Span::new().days(offset))
        };
        let (first, last) = (day(first_day), day(first_day + 9));
        let wish = slots_of("prv_dst", &first.to_string(), &last.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(desk.ok(OWN_LIVE, "get_available_slots", wish));
        let slots = answer["slots"].as_array().unwrap();
        let ids: BTreeSet<&str> = slots.iter().map(|slot| slot["slot_id"].as_str().unwrap()).collect();
        prop_assert_eq!(ids.len(), slots.len(), "a slot twice");
        let zone = TimeZone::get(zone).unwrap();
        let mut before: Option<Timestamp> = None;
        for slot in slots {
            let instant = |name: &str| slot[name].as_str().unwrap().parse::<Timestamp>().unwrap();
            let (start, end) = (instant("starts_at"), instant("ends_at"));
            prop_assert!(before.is_none_or(|before| before < start), "in order, each later than the one before");
            before = Some(start);
            prop_assert_eq!((end - start).total(jiff::Unit::Minute).unwrap() as i64, minutes);
            let local = zone.to_datetime(start);
            prop_assert!(first <= local.date() && local.date() <= last);
            let minute = i64::from(local.hour()) * 60 + i64::from(local.minute());
            prop_assert!(opens * 60 <= minute && minute < closes * 60, "{slot}");
            prop_assert_eq!((minute - opens * 60) % slot_minutes, 0);
        }
    }
}
