//! Local slots as instants: none is offered twice or lost when clocks change.

use frontdesk_contracts::calendar::{LocalCalendar, Weekday, WeekdayHours};
use frontdesk_engine::model::timestamp::Millis;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// With changes at night and at midnight, of an hour and of half an hour, on both hemispheres.
const ZONES: [&str; 5] =
    ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "America/Havana"];

fn hours(opens: &str, closes: &str) -> Vec<WeekdayHours> {
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday]
        .map(|weekday| WeekdayHours { weekday, opens: opens.into(), closes: closes.into() })
        .to_vec()
}

fn calendar(zone: &str, opens: &str, closes: &str, slot_minutes: i64) -> LocalCalendar {
    LocalCalendar::new(zone, &hours(opens, closes), [], slot_minutes).unwrap()
}

fn local_starts(calendar: &LocalCalendar, day: Date) -> Vec<String> {
    calendar.slots(day).iter().map(|slot| calendar.local_text(slot.start).unwrap()[11..].to_owned()).collect()
}

#[test]
fn a_time_that_clocks_skip_is_no_slot() {
    let starts = local_starts(&calendar("Europe/Berlin", "01:00", "05:00", 60), date(2026, 3, 29));
    assert_eq!(starts, ["01:00:00+01:00", "03:00:00+02:00", "04:00:00+02:00"]);
}

#[test]
fn a_time_that_clocks_repeat_is_a_slot_each_time() {
    let starts = local_starts(&calendar("Europe/Berlin", "01:00", "04:00", 60), date(2026, 10, 25));
    assert_eq!(starts, ["01:00:00+02:00", "02:00:00+02:00", "02:00:00+01:00", "03:00:00+01:00"]);
}

#[test]
fn half_an_hour_of_daylight_saving_keeps_to_the_clock() {
    let lord_howe = calendar("Australia/Lord_Howe", "01:00", "04:00", 30);
    let starts = local_starts(&lord_howe, date(2026, 4, 5));
    assert_eq!(
        starts,
        [
            "01:00:00+11:00",
            "01:30:00+11:00",
            "01:30:00+10:30",
            "02:00:00+10:30",
            "02:30:00+10:30",
            "03:00:00+10:30",
            "03:30:00+10:30"
        ]
    );
}

#[test]
fn two_openings_of_a_day_have_a_break_between_them() {
    let noon = |opens: &str, closes: &str| WeekdayHours {
        weekday: Weekday::Monday,
        opens: opens.into(),
        closes: closes.into(),
    };
    let week = [noon("13:00", "14:00"), noon("08:00", "09:00")];
    let calendar = LocalCalendar::new("Europe/Berlin", &week, ["2026-02-09"], 30).unwrap();
    let starts = local_starts(&calendar, date(2026, 2, 2));
    assert_eq!(starts, ["08:00:00+01:00", "08:30:00+01:00", "13:00:00+01:00", "13:30:00+01:00"]);
    assert_eq!(calendar.slots(date(2026, 2, 3)), []);
    assert_eq!(calendar.slots(date(2026, 2, 9)), [], "a closed day");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Compared with every minute of the world's clock: those at which the local clock shows a slot, and no others.
    #[test]
    fn no_slot_is_offered_twice_or_lost_in_five_zones(
        zone in prop::sample::select(&ZONES[..]),
        slot_minutes in prop::sample::select(&[15_i64, 20, 30, 60, 90][..]),
        first in 0_i32..730,
        near_change in any::<bool>(),
    ) {
        let time_zone = TimeZone::get(zone).unwrap();
        let mut day = date(2026, 1, 1).checked_add(jiff::Span::new().days(first)).unwrap();
        if near_change {
            // Most days of a year have no change; half of the cases are at one.
            let after = day.to_zoned(time_zone.clone()).unwrap().timestamp();
            let change = time_zone.following(after).next().unwrap().timestamp();
            day = time_zone.to_datetime(change).date().yesterday().unwrap();
        }
        let calendar = calendar(zone, "00:00", "24:00", slot_minutes);
        let days: Vec<Date> = day.series(jiff::Span::new().days(1)).take(3).collect();
        let offered: Vec<Millis> = days.iter().flat_map(|day| calendar.slots(*day)).map(|slot| slot.start).collect();
        prop_assert!(offered.is_sorted_by(|one, next| one < next), "{zone} {day}");

        let begin = day.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond() - 16 * 3_600_000;
        let minutes = (0..(3 * 24 + 32) * 60).map(|minute| Millis(begin + minute * 60_000));
        let shows_slot = |at: &Millis| {
            let local = time_zone.to_datetime(jiff::Timestamp::from_millisecond(at.0).unwrap());
            let minute = i64::from(local.hour()) * 60 + i64::from(local.minute());
            days.contains(&local.date()) && minute % slot_minutes == 0
        };
        prop_assert_eq!(offered, minutes.filter(shows_slot).collect::<Vec<_>>(), "{} {}", zone, day);
    }
}
