//! A number with a few decimal places: a rating, a coordinate. It is kept as a whole number of its last place, so that it
//! compares exactly.

use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::{Cell, ColumnType};
use serde_json::Value;

use super::field::{FieldType, FieldValue};

/// Between `MIN` and `MAX`, with at most `PLACES` places; further ones are rounded. Its column is the scaled number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FixedDecimal<const PLACES: u32, const MIN: i64, const MAX: i64>(i64);

impl<const PLACES: u32, const MIN: i64, const MAX: i64> FixedDecimal<PLACES, MIN, MAX> {
    const SCALE: i64 = 10_i64.pow(PLACES);

    /// From a whole number of the last place, clamped to the range.
    pub fn scaled(value: i64) -> Self {
        FixedDecimal(value.clamp(MIN.saturating_mul(Self::SCALE), MAX.saturating_mul(Self::SCALE)))
    }

    /// A whole number of the last place.
    pub fn get(self) -> i64 {
        self.0
    }

    /// For answers and for arithmetic that is not exact anyway.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Self::SCALE as f64
    }
}

impl<const PLACES: u32, const MIN: i64, const MAX: i64> FieldType for FixedDecimal<PLACES, MIN, MAX> {
    fn input() -> Schema {
        Schema::Number { min: MIN as f64, max: MAX as f64 }
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Integer]
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_f64().map(|number| FixedDecimal::scaled((number * Self::SCALE as f64).round() as i64))
    }
}

impl<const PLACES: u32, const MIN: i64, const MAX: i64> FieldValue for FixedDecimal<PLACES, MIN, MAX> {
    fn write(&self, out: &mut String) {
        out.push_str(&self.to_f64().to_string());
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Integer(self.0));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::field::{FieldType as _, FieldValue as _};
    use super::FixedDecimal;

    #[test]
    fn decimals_keep_their_places_and_no_more() {
        type Degrees = FixedDecimal<6, -90, 90>;
        let written = |value: serde_json::Value| {
            let mut text = String::new();
            Degrees::read(&value).unwrap().write(&mut text);
            text
        };
        assert_eq!(written(json!(12.9716)), "12.9716");
        assert_eq!(written(json!(-0.000_000_4)), "0");
        assert_eq!(written(json!(12.971_599_87)), "12.9716");
        assert_eq!(written(json!(13)), "13");
        assert_eq!(Degrees::read(&json!(12.9716)).unwrap().get(), 12_971_600);
        assert_eq!(Degrees::read(&json!("12.9")), None);
    }
}
