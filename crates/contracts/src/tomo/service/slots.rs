//! When work can begin: local days, free slots, and the ids by which callers name them.

use std::collections::HashMap;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::{Value, json};

use super::offer::{RequestedWork, ServiceProvider};
use super::provider_day::ProviderDay;
use crate::calendar::{LocalCalendar, LocalSlot, parse_date};
use crate::tomo::booking::BookingMode;
use crate::tomo::known_facts::{Fact, text, whole};

/// Nobody plans further ahead, and a wrong year should not be booked.
const MAX_DAYS_AHEAD: i64 = 365;
/// What one call may ask for.
pub(super) const MAX_DAYS: i32 = 30;
/// Where a caller names no day.
pub(super) const DEFAULT_DAYS: i32 = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FreeSlot {
    pub(super) start: Millis,
    pub(super) end: Millis,
    pub(super) places_left: i64,
}

/// Local days of a provider, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DayRange {
    pub(super) first: Date,
    pub(super) last: Date,
}

impl DayRange {
    pub(super) fn days(self) -> Vec<Date> {
        self.first.series(1.day()).take_while(|day| *day <= self.last).collect()
    }

    /// So many days from this one.
    pub(super) fn starting(first: Date, days: i32) -> DayRange {
        DayRange { first, last: first.saturating_add((days.saturating_sub(1)).days()) }
    }
}

/// A day that an argument names, if it names one.
pub(super) fn day_argument(permitted: &Permitted<'_>, name: &str) -> Result<Option<Date>, Fault> {
    let day = permitted.input().text(name).map(|text| {
        let wrong = || Fault::invalid_argument(&format!("/{name}"), "format", "a day such as 2027-03-01 is expected");
        parse_date(text).ok_or_else(wrong)
    });
    day.transpose()
}

/// Whether a slot can be booked at all at this time.
pub(super) fn is_bookable(start: Millis, now: Millis) -> bool {
    now < start && start <= now.plus_seconds(MAX_DAYS_AHEAD * 24 * 60 * 60)
}

/// The slot that begins then, if such work would end before closing time.
pub(super) fn find_slot(calendar: &LocalCalendar, work: &RequestedWork, start: Millis) -> Option<(Date, LocalSlot)> {
    let day = calendar.date_of(start)?;
    let slot = calendar.slots(day).into_iter().find(|slot| slot.start == start)?;
    (work.end_of(start) <= slot.closes).then_some((day, slot))
}

/// The free slots of these days, `max` at most, where the days' rows count what is booked.
pub(super) fn counted_slots(
    provider: &ServiceProvider,
    work: &RequestedWork,
    range: DayRange,
    days: &HashMap<String, ProviderDay>,
    (mode, now): (BookingMode, Millis),
    max: usize,
) -> Vec<FreeSlot> {
    let of_day = |day: Date| {
        let booked = days.get(&ProviderDay::id_of(&provider.id, day, mode));
        let free = move |slot: LocalSlot| {
            let (start, end) = (slot.start, work.end_of(slot.start));
            let left = booked.map_or(work.places, |booked| booked.left(work.places, start, end));
            let is_free = is_bookable(start, now) && end <= slot.closes && left > 0;
            is_free.then_some(FreeSlot { start, end, places_left: left })
        };
        provider.calendar.slots(day).into_iter().filter_map(free)
    };
    range.days().into_iter().flat_map(of_day).take(max).collect()
}

/// A slot is named by the instant at which it begins, so that one that a clock change repeats has two names.
pub(super) fn slot_id(start: Millis) -> String {
    start.to_rfc3339().chars().filter(|letter| !matches!(letter, '-' | ':')).collect()
}

pub(super) fn parse_slot_id(id: &str) -> Option<Millis> {
    let part = |from: usize, to: usize| id.get(from..to);
    let text = format!("{}-{}-{}:{}:{}", part(0, 4)?, part(4, 6)?, part(6, 11)?, part(11, 13)?, part(13, 16)?);
    Millis::parse(&text).filter(|start| slot_id(*start) == id)
}

/// The slot that the call names.
pub(super) fn slot_argument(permitted: &Permitted<'_>) -> Result<Millis, Fault> {
    let id = permitted.input().text("slot_id").unwrap_or_default();
    let wrong = || Fault::invalid_argument("/slot_id", "pattern", "a slot_id of a search is expected");
    parse_slot_id(id).ok_or_else(wrong)
}

/// The facts of a slot.
pub(super) const SLOT: &[Fact] =
    &[text("slot_id"), text("date"), text("local_time"), text("starts_at"), text("ends_at"), whole("places_left")];

pub(super) fn slot_facts(calendar: &LocalCalendar, slot: &FreeSlot) -> Value {
    let starts_at = calendar.local_text(slot.start);
    json!({
        "slot_id": slot_id(slot.start),
        "date": calendar.date_of(slot.start).map(|day| day.to_string()),
        "local_time": starts_at.as_deref().and_then(|text| text.get(11..16)),
        "starts_at": starts_at,
        "ends_at": calendar.local_text(slot.end),
        "places_left": slot.places_left,
    })
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::model::timestamp::Millis;

    use super::{parse_slot_id, slot_id};

    #[test]
    fn a_slot_is_named_by_its_instant() {
        let start = Millis::parse("2027-03-01T09:00:00+05:30").unwrap();
        assert_eq!(slot_id(start), "20270301T033000Z");
        assert_eq!(parse_slot_id("20270301T033000Z"), Some(start));
        for wrong in ["", "20270301T033000", "2027-03-01T03:30:00Z", "20270301T033000+", "2027030éT033000Z"] {
            assert_eq!(parse_slot_id(wrong), None, "{wrong}");
        }
    }
}
