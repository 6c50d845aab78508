//! A day of the calendar, without a time and without a zone.

use frontdesk_engine::model::schema::{Schema, TextFormat};
use frontdesk_engine::model::table::{Cell, ColumnType};
use frontdesk_wire::json::write_quoted;
use jiff::civil::Date;
use serde_json::Value;

use super::field::{FieldType, FieldValue};

/// Published as YYYY-MM-DD. Its column is the number YYYYMMDD, so days can be compared there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub Date);

impl Day {
    pub fn parse(text: &str) -> Option<Day> {
        if text.len() == 10 { text.parse().ok().map(Day) } else { None }
    }

    /// The value of its column.
    pub fn number(self) -> i64 {
        let Day(date) = self;
        i64::from(date.year()) * 10_000 + i64::from(date.month()) * 100 + i64::from(date.day())
    }

    /// The day after; the last day of the calendar has none.
    pub fn next(self) -> Option<Day> {
        self.0.tomorrow().ok().map(Day)
    }

    /// How many days later the other one is.
    pub fn days_until(self, other: Day) -> i64 {
        self.0.until(other.0).map_or(0, |span| i64::from(span.get_days()))
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

impl FieldType for Day {
    fn input() -> Schema {
        Schema::Text(TextFormat::Date)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Integer]
    }

    fn read(value: &Value) -> Option<Day> {
        value.as_str().and_then(Day::parse)
    }
}

impl FieldValue for Day {
    fn write(&self, out: &mut String) {
        write_quoted(&self.to_string(), out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Integer(self.number()));
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn days_are_counted_over_months_and_compared_by_number() {
        let day = |text: &str| Day::parse(text).unwrap();
        assert_eq!(day("2027-02-27").days_until(day("2027-03-02")), 3);
        assert_eq!(day("2028-02-27").days_until(day("2028-03-02")), 4, "a leap year");
        assert_eq!(day("2027-03-02").days_until(day("2027-02-27")), -3);
        assert_eq!(day("2027-01-31").next(), Some(day("2027-02-01")));
        assert_eq!(day("2027-03-02").number(), 20_270_302);
        assert_eq!([Day::parse("2027-02-30"), Day::parse("27-02-03"), Day::parse("2027-02-03T")], [None, None, None]);
    }
}
