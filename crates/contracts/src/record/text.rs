//! Field types of one value: texts, numbers, times.

use std::ops::Deref;

use frontdesk_engine::model::schema::{Schema, TextFormat};
use frontdesk_engine::model::table::{Cell, ColumnType, search_terms};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_wire::json::{write_integer, write_quoted};
use serde_json::Value;

use super::field::{FieldType, FieldValue};

/// A point in time, published as RFC 3339.
pub type Timestamp = Millis;

/// Between 1 and `MAX` characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

/// A text that is compared by its words: `F-150` equals `f 150`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameText<const MAX: usize>(String);

/// An ISO 4217 code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Currency(String);

/// A whole number between `MIN` and `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Integer<const MIN: i64, const MAX: i64>(i64);

/// An amount of money in minor units of its currency. It is never read from a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MinorUnits(i64);

impl MinorUnits {
    /// 2^53 - 1, the largest integer that every JSON parser keeps exactly.
    const MAX: i64 = 9_007_199_254_740_991;

    /// Clamped to the range.
    pub fn new(amount: i64) -> MinorUnits {
        MinorUnits(amount.clamp(0, MinorUnits::MAX))
    }

    pub fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Integer<MIN, MAX> {
    /// A number that is known when this is compiled; one outside of the range does not compile.
    pub const fn constant<const VALUE: i64>() -> Integer<MIN, MAX> {
        const { assert!(MIN <= VALUE && VALUE <= MAX, "outside of the range") };
        Integer(VALUE)
    }

    /// The nearest number of the range.
    pub fn clamped(value: i64) -> Integer<MIN, MAX> {
        Integer(value.clamp(MIN, MAX))
    }

    pub fn get(self) -> i64 {
        self.0
    }
}

impl<const MAX: usize> From<&str> for Text<MAX> {
    fn from(text: &str) -> Text<MAX> {
        Text(text.to_owned())
    }
}

impl<const MAX: usize> From<&str> for NameText<MAX> {
    fn from(text: &str) -> NameText<MAX> {
        NameText(text.to_owned())
    }
}

impl<const MAX: usize> NameText<MAX> {
    /// Whether both have the same words.
    pub fn is_like(&self, other: &NameText<MAX>) -> bool {
        search_terms(&self.0) == search_terms(&other.0)
    }
}

impl From<&str> for Currency {
    fn from(text: &str) -> Currency {
        Currency(text.to_owned())
    }
}

impl<const MAX: usize> Deref for Text<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for NameText<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for Currency {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> FieldType for Text<MAX> {
    fn input() -> Schema {
        Schema::text(MAX)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Text]
    }

    fn read(value: &Value) -> Option<Text<MAX>> {
        value.as_str().map(Text::from)
    }
}

impl<const MAX: usize> FieldValue for Text<MAX> {
    fn write(&self, out: &mut String) {
        write_quoted(&self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Text(self.0.clone()));
    }

    fn add_words(&self, words: &mut String) {
        add_word(&self.0, words);
    }
}

impl<const MAX: usize> FieldType for NameText<MAX> {
    fn input() -> Schema {
        Schema::text(MAX)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Text]
    }

    fn read(value: &Value) -> Option<NameText<MAX>> {
        value.as_str().map(NameText::from)
    }
}

impl<const MAX: usize> FieldValue for NameText<MAX> {
    fn write(&self, out: &mut String) {
        write_quoted(&self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Text(search_terms(&self.0).join(" ")));
    }

    fn add_words(&self, words: &mut String) {
        add_word(&self.0, words);
    }
}

impl FieldType for Currency {
    fn input() -> Schema {
        Schema::Text(TextFormat::Currency)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Text]
    }

    fn read(value: &Value) -> Option<Currency> {
        value.as_str().map(Currency::from)
    }
}

impl FieldValue for Currency {
    fn write(&self, out: &mut String) {
        write_quoted(&self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Text(self.0.clone()));
    }
}

impl<const MIN: i64, const MAX: i64> FieldType for Integer<MIN, MAX> {
    fn input() -> Schema {
        Schema::integer(MIN, MAX)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Integer]
    }

    fn read(value: &Value) -> Option<Integer<MIN, MAX>> {
        value.as_i64().map(Integer)
    }
}

impl<const MIN: i64, const MAX: i64> FieldValue for Integer<MIN, MAX> {
    fn write(&self, out: &mut String) {
        write_integer(self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Integer(self.0));
    }

    fn add_words(&self, words: &mut String) {
        write_integer(self.0, words);
        words.push(' ');
    }
}

impl FieldType for MinorUnits {
    fn input() -> Schema {
        Schema::MinorUnits { max: MinorUnits::MAX }
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Integer]
    }

    fn read(value: &Value) -> Option<MinorUnits> {
        value.as_i64().map(MinorUnits)
    }
}

impl FieldValue for MinorUnits {
    fn write(&self, out: &mut String) {
        write_integer(self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Integer(self.0));
    }

    fn add_words(&self, words: &mut String) {
        write_integer(self.0, words);
        words.push(' ');
    }
}

impl FieldType for Millis {
    fn input() -> Schema {
        Schema::Text(TextFormat::Timestamp)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Integer]
    }

    fn read(value: &Value) -> Option<Millis> {
        value.as_str().and_then(Millis::parse)
    }
}

impl FieldValue for Millis {
    fn write(&self, out: &mut String) {
        write_quoted(&self.to_rfc3339(), out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Integer(self.0));
    }
}

pub(super) fn add_word(text: &str, words: &mut String) {
    words.push_str(text);
    words.push(' ');
}
