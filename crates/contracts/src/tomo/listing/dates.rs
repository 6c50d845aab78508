//! Days and times of a stay. The intents of this shape are for India, whose one time zone has no clock changes.

use frontdesk_engine::Fault;
use frontdesk_engine::model::timestamp::Millis;
use jiff::civil::Time;
use jiff::tz::Offset;
use serde_json::Value;

use crate::record::Day;

/// Asia/Kolkata: five and a half hours before UTC.
const OFFSET_SECONDS: i32 = 19_800;

/// Longer stays are arranged by hand.
pub(super) const MAX_NIGHTS: i64 = 30;
/// Nobody plans further ahead.
const MAX_DAYS_AHEAD: i64 = 1_000;

/// The nights from `check_in` to the one before `check_out`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StayDates {
    pub(super) check_in: Day,
    pub(super) check_out: Day,
}

impl StayDates {
    /// The dates of a call, from the object with `check_in` and `check_out`.
    pub(super) fn read(dates: Option<&Value>, now: Millis) -> Result<StayDates, Fault> {
        let day = |name: &str| {
            let day = dates.and_then(|dates| dates.get(name)).and_then(Value::as_str).and_then(Day::parse);
            day.ok_or_else(|| Fault::invalid_argument(&format!("/dates/{name}"), "format", "a date is expected"))
        };
        let stay = StayDates { check_in: day("check_in")?, check_out: day("check_out")? };
        stay.check(now)?;
        Ok(stay)
    }

    fn check(self, now: Millis) -> Result<(), Fault> {
        let wrong = |name: &str, keyword, expected: String| {
            Err(Fault::invalid_argument(&format!("/dates/{name}"), keyword, expected))
        };
        let today = today(now);
        if self.check_in < today {
            return wrong("check_in", "minimum", "it must not lie in the past".to_owned());
        }
        if self.check_out <= self.check_in {
            return wrong("check_out", "exclusiveMinimum", "it must be later than check_in".to_owned());
        }
        if self.count() > MAX_NIGHTS {
            return wrong("check_out", "maximum", format!("a stay has at most {MAX_NIGHTS} nights"));
        }
        if today.days_until(self.check_out) > MAX_DAYS_AHEAD {
            return wrong("check_out", "maximum", format!("at most {MAX_DAYS_AHEAD} days ahead can be booked"));
        }
        Ok(())
    }

    pub(super) fn count(self) -> i64 {
        self.check_in.days_until(self.check_out)
    }

    /// Each night by the day on which it begins.
    pub(super) fn nights(self) -> Vec<Day> {
        let days = std::iter::successors(Some(self.check_in), |day| day.next());
        days.take_while(|day| *day < self.check_out).collect()
    }

    pub(super) fn last_night(self) -> Day {
        self.nights().last().copied().unwrap_or(self.check_in)
    }
}

/// The local day.
pub(super) fn today(now: Millis) -> Day {
    let instant = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    Day(offset().to_datetime(instant).date())
}

/// The instant of a local time on a day.
pub(super) fn instant(day: Day, time: &str) -> Millis {
    let minutes = minutes(time).unwrap_or_default();
    let (hour, minute) =
        (i8::try_from(minutes / 60).unwrap_or_default(), i8::try_from(minutes % 60).unwrap_or_default());
    let time = Time::new(hour, minute, 0, 0).unwrap_or_default();
    let instant = offset().to_timestamp(day.0.to_datetime(time)).unwrap_or_default();
    Millis(instant.as_millisecond())
}

/// Minutes after midnight of a time such as 14:00.
pub(super) fn minutes(time: &str) -> Option<i64> {
    let (hour, minute) = time.split_once(':')?;
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<u8>().ok()).flatten();
    match (number(hour)?, number(minute)?) {
        (hour @ 0..=23, minute @ 0..=59) => Some(i64::from(hour) * 60 + i64::from(minute)),
        _ => None,
    }
}

fn offset() -> Offset {
    Offset::from_seconds(OFFSET_SECONDS).unwrap_or(Offset::UTC)
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::model::timestamp::Millis;

    use super::{instant, minutes, today};
    use crate::record::Day;

    #[test]
    fn a_day_in_india_begins_five_and_a_half_hours_before_utc() {
        let at = |text: &str| today(Millis::parse(text).unwrap()).to_string();
        assert_eq!(at("2027-01-31T18:29:59Z"), "2027-01-31");
        assert_eq!(at("2027-01-31T18:30:00Z"), "2027-02-01");
        assert_eq!(instant(Day::parse("2027-02-01").unwrap(), "14:00").to_rfc3339(), "2027-02-01T08:30:00Z");
        assert_eq!(
            [minutes("14:05"), minutes("24:00"), minutes("9:00"), minutes("-1:00")],
            [Some(845), None, None, None]
        );
    }
}
