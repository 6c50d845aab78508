//! A part number as the trade writes it. Two spellings are the same number if their letters and digits are: catalogues,
//! customers and machines disagree about case, dashes and spaces.

use std::ops::Deref;

use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::{Cell, ColumnType};
use frontdesk_wire::json::write_quoted;
use serde_json::Value;

use crate::record::{FieldType, FieldValue};

pub const MAX_LENGTH: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartNumber(String);

impl PartNumber {
    /// What it is compared by: letters and digits in capitals.
    pub fn key(&self) -> String {
        key_of(&self.0)
    }

    pub fn is_same(&self, other: &PartNumber) -> bool {
        self.key() == other.key()
    }
}

pub fn key_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|sign| sign.to_ascii_uppercase()).collect()
}

impl From<&str> for PartNumber {
    fn from(text: &str) -> PartNumber {
        PartNumber(text.to_owned())
    }
}

impl Deref for PartNumber {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl FieldType for PartNumber {
    fn input() -> Schema {
        Schema::text(MAX_LENGTH)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Text]
    }

    fn read(value: &Value) -> Option<PartNumber> {
        value.as_str().map(PartNumber::from)
    }
}

impl FieldValue for PartNumber {
    fn write(&self, out: &mut String) {
        write_quoted(&self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Text(self.key()));
    }

    /// Found by its parts, and whole without what separates them.
    fn add_words(&self, words: &mut String) {
        words.push_str(&self.0);
        words.push(' ');
        words.push_str(&self.key());
        words.push(' ');
    }
}
