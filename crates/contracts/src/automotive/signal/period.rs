//! Days, weeks and months of a dealership's time zone.

use frontdesk_engine::model::timestamp::Millis;
use jiff::ToSpan as _;
use jiff::civil::Date;

use super::PeriodKind;
use crate::calendar::LocalCalendar;

/// A whole day, a week from Monday, or a month, as clocks at the dealership show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) kind: PeriodKind,
    pub(super) first: Date,
    pub(super) start: Millis,
    /// The first instant after it.
    pub(super) end: Millis,
}

impl Period {
    pub(super) fn containing(calendar: &LocalCalendar, kind: PeriodKind, at: Millis) -> Option<Period> {
        Period::from_date(calendar, kind, calendar.date_of(at)?)
    }

    /// The one that this day belongs to.
    pub(super) fn from_date(calendar: &LocalCalendar, kind: PeriodKind, date: Date) -> Option<Period> {
        let (first, next) = match kind {
            PeriodKind::Day => (date, date.tomorrow().ok()?),
            PeriodKind::Week => {
                let first = date.checked_sub(i32::from(date.weekday().to_monday_zero_offset()).days()).ok()?;
                (first, first.checked_add(7.days()).ok()?)
            }
            PeriodKind::Month => (date.first_of_month(), date.last_of_month().tomorrow().ok()?),
        };
        Some(Period { kind, first, start: calendar.day_start(first)?, end: calendar.day_start(next)? })
    }

    pub(super) fn before(&self, calendar: &LocalCalendar) -> Option<Period> {
        Period::from_date(calendar, self.kind, self.first.yesterday().ok()?)
    }

    pub(super) fn is_complete(&self, now: Millis) -> bool {
        self.end <= now
    }
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::model::timestamp::Millis;

    use super::Period;
    use crate::automotive::signal::PeriodKind;
    use crate::calendar::LocalCalendar;

    fn period(kind: PeriodKind, at: &str) -> (String, String) {
        let calendar = LocalCalendar::new("America/New_York", [], [], 1).unwrap();
        let period = Period::containing(&calendar, kind, Millis::parse(at).unwrap()).unwrap();
        (calendar.local_text(period.start).unwrap(), calendar.local_text(period.end).unwrap())
    }

    #[test]
    fn periods_begin_as_clocks_at_the_dealership_show_it() {
        let expect = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        // It is still the evening before there.
        let day = expect("2026-01-30T00:00:00-05:00", "2026-01-31T00:00:00-05:00");
        assert_eq!(period(PeriodKind::Day, "2026-01-31T04:59:59Z"), day);
        let week = expect("2026-03-02T00:00:00-05:00", "2026-03-09T00:00:00-04:00");
        assert_eq!(period(PeriodKind::Week, "2026-03-08T12:00:00Z"), week);
        let month = expect("2026-03-01T00:00:00-05:00", "2026-04-01T00:00:00-04:00");
        assert_eq!(period(PeriodKind::Month, "2026-03-31T12:00:00Z"), month);
    }
}
