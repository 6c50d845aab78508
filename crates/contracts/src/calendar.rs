//! Local time: opening hours and closed days of a time zone as instants. A local time that a clock change skips is no
//! slot; one that a clock change repeats is a slot at each of its two instants.

use std::collections::BTreeSet;

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::timestamp::Millis;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp as Instant, ToSpan as _};

use crate::record::Text;
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Weekday { Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, Unknown }

/// From when to when, on one day of the week. A day with a break has two.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct WeekdayHours {
    /// Day of the week.
    #[field(known)]
    pub weekday: Weekday,
    /// Local time it begins, such as 08:00.
    pub opens: Text<5>,
    /// Local time it ends, such as 17:30; at most 24:00.
    pub closes: Text<5>,
}

const DAY_MINUTES: i64 = 24 * 60;

/// The weekly hours and closed days of a time zone.
#[derive(Debug, Clone)]
pub struct LocalCalendar {
    zone: TimeZone,
    /// Day of the week, and minutes after midnight.
    hours: Vec<(Weekday, i64, i64)>,
    closed: BTreeSet<Date>,
    slot_minutes: i64,
}

/// A time at which work can begin, and when the hours it belongs to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalSlot {
    pub start: Millis,
    pub closes: Millis,
}

impl LocalCalendar {
    /// None if the zone does not exist. Hours and days that cannot be read do not count; `check_hours` and `check_days`
    /// refuse them when they come in.
    pub fn new<'a>(
        zone: &str,
        hours: impl IntoIterator<Item = &'a WeekdayHours>,
        closed: impl IntoIterator<Item = &'a str>,
        slot_minutes: i64,
    ) -> Option<LocalCalendar> {
        let read = |hours: &WeekdayHours| Some((hours.weekday, minutes(&hours.opens)?, minutes(&hours.closes)?));
        Some(LocalCalendar {
            zone: TimeZone::get(zone).ok()?,
            hours: hours.into_iter().filter_map(read).collect(),
            closed: closed.into_iter().filter_map(parse_date).collect(),
            slot_minutes: slot_minutes.max(1),
        })
    }

    /// The local day that an instant belongs to.
    pub fn date_of(&self, at: Millis) -> Option<Date> {
        Some(self.local(at)?.date())
    }

    /// When a local day begins; some begin after a clock change that skips midnight.
    pub fn day_start(&self, date: Date) -> Option<Millis> {
        let start = date.to_zoned(self.zone.clone()).ok()?.start_of_day().ok()?;
        Some(Millis(start.timestamp().as_millisecond()))
    }

    /// The instant with the offset that clocks show then.
    pub fn local_text(&self, at: Millis) -> Option<String> {
        let instant = Instant::from_millisecond(at.0).ok()?;
        Some(instant.display_with_offset(self.zone.to_offset(instant)).to_string())
    }

    /// Every time at which work can begin on this day, in order.
    pub fn slots(&self, date: Date) -> Vec<LocalSlot> {
        if self.closed.contains(&date) {
            return Vec::new();
        }
        let mut slots = BTreeSet::new();
        for (opens, closes) in self.hours_of(date) {
            let Some(end) = self.end_of(date, closes) else { continue };
            let mut minute = opens;
            while minute < closes {
                let starts = at_minute(date, minute).map(|local| self.instants(local)).unwrap_or_default();
                slots.extend(
                    starts.into_iter().filter(|start| *start < end).map(|start| LocalSlot { start, closes: end }),
                );
                minute = minute.saturating_add(self.slot_minutes);
            }
        }
        slots.into_iter().collect()
    }

    /// Whether the hours include this instant.
    pub fn is_open(&self, at: Millis) -> bool {
        let Some(local) = self.local(at) else { return false };
        let minute = i64::from(local.hour()) * 60 + i64::from(local.minute());
        let includes = |(opens, closes): (i64, i64)| opens <= minute && minute < closes;
        !self.closed.contains(&local.date()) && self.hours_of(local.date()).any(includes)
    }

    fn local(&self, at: Millis) -> Option<DateTime> {
        Some(self.zone.to_datetime(Instant::from_millisecond(at.0).ok()?))
    }

    fn hours_of(&self, date: Date) -> impl Iterator<Item = (i64, i64)> {
        let weekday = weekday(date);
        let of_day = self.hours.iter().filter(move |(known, _, _)| *known == weekday);
        of_day.map(|(_, opens, closes)| (*opens, *closes))
    }

    /// None, one or two instants at which clocks show this.
    fn instants(&self, local: DateTime) -> Vec<Millis> {
        let offsets = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => vec![offset],
            AmbiguousOffset::Gap { .. } => Vec::new(),
            AmbiguousOffset::Fold { before, after } => vec![before, after],
        };
        let instants = offsets.into_iter().filter_map(|offset| offset.to_timestamp(local).ok());
        instants.map(|instant| Millis(instant.as_millisecond())).collect()
    }

    /// When hours that end at this local time are over: after a clock change that skips or repeats it.
    fn end_of(&self, date: Date, minute: i64) -> Option<Millis> {
        let instant = self.zone.to_ambiguous_timestamp(at_minute(date, minute)?).later().ok()?;
        Some(Millis(instant.as_millisecond()))
    }
}

/// What is wrong with hours, as problems below this pointer.
pub(crate) fn check_hours(pointer: &str, hours: &[WeekdayHours]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known: Vec<(Weekday, i64, i64)> = Vec::new();
    for (place, entry) in hours.iter().enumerate() {
        let mut wrong = |member: &str, keyword: &'static str, expected: &str| {
            let pointer = format!("{pointer}/{place}{member}");
            problems.push(Problem { pointer, keyword, expected: expected.to_owned() });
        };
        match (minutes(&entry.opens), minutes(&entry.closes)) {
            (None, _) => wrong("/opens", "pattern", "a local time such as 08:00 is expected"),
            (Some(_), None) => wrong("/closes", "pattern", "a local time such as 17:30 is expected"),
            (Some(opens), Some(closes)) if closes <= opens => {
                wrong(
                    "/closes",
                    "exclusiveMinimum",
                    "it must be later than opens; hours past midnight are two entries",
                );
            }
            (Some(opens), Some(closes)) => {
                let overlaps =
                    |other: &(Weekday, i64, i64)| other.0 == entry.weekday && opens < other.2 && other.1 < closes;
                if known.iter().any(overlaps) {
                    wrong("", "uniqueItems", "it must not overlap other hours of the same day");
                }
                known.push((entry.weekday, opens, closes));
            }
        }
    }
    problems
}

/// What is wrong with days, as problems below this pointer.
pub(crate) fn check_days<'a>(pointer: &str, days: impl Iterator<Item = &'a str>) -> Vec<Problem> {
    let wrong = days.enumerate().filter(|(_, day)| parse_date(day).is_none());
    let problem = |(place, _)| Problem {
        pointer: format!("{pointer}/{place}"),
        keyword: "format",
        expected: "a date such as 2026-12-25 is expected".to_owned(),
    };
    wrong.map(problem).collect()
}

/// The name as the IANA database spells it.
pub(crate) fn zone_name(name: &str) -> Option<String> {
    TimeZone::get(name).ok()?.iana_name().map(str::to_owned)
}

/// A day such as 2026-12-25.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    // Only the extended form; the crate would read more.
    if text.len() == 10 { text.parse().ok() } else { None }
}

/// Minutes after midnight of `HH:MM`, up to 24:00.
fn minutes(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !two_digits(hour) || !two_digits(minute) {
        return None;
    }
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.parse().ok()?);
    let total = hour * 60 + minute;
    (minute < 60 && total <= DAY_MINUTES).then_some(total)
}

fn at_minute(date: Date, minute: i64) -> Option<DateTime> {
    date.to_datetime(Time::midnight()).checked_add(minute.minutes()).ok()
}

fn weekday(date: Date) -> Weekday {
    match date.weekday() {
        jiff::civil::Weekday::Monday => Weekday::Monday,
        jiff::civil::Weekday::Tuesday => Weekday::Tuesday,
        jiff::civil::Weekday::Wednesday => Weekday::Wednesday,
        jiff::civil::Weekday::Thursday => Weekday::Thursday,
        jiff::civil::Weekday::Friday => Weekday::Friday,
        jiff::civil::Weekday::Saturday => Weekday::Saturday,
        jiff::civil::Weekday::Sunday => Weekday::Sunday,
    }
}
