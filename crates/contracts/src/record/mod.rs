//! A resource is declared once, as a Rust struct with `#[derive(Record)]`. From its table of fields follow schemas,
//! columns, search terms, masking, receipts, filters and the stored texts. Nothing here names a contract; what a
//! contract's tools and addresses look like is the contract's own code.

pub mod day;
pub mod entity;
pub mod field;
pub mod filter;
pub mod fixed_decimal;
pub mod import;
pub mod list;
pub mod mask;
pub mod nested;
pub mod personal;
pub mod query;
pub mod reference;
pub mod render;
pub mod source;
mod stored_check;
pub mod table;
pub mod text;
pub mod transition;
pub mod vendor;
pub mod vocabulary;

pub use day::Day;
pub use entity::{Entity, NewRecord};
pub use field::{ColumnIndex, FieldSpec, FieldType, FieldValue, INTEGER, cells_of, integer_cell};
pub use filter::{FilterArgument, SortOption};
pub use fixed_decimal::FixedDecimal;
pub use list::List;
pub use personal::{ERASED, Email, PersonName, Phone, Redacted};
pub use query::list_records;
pub use reference::{Ref, Reference};
pub use source::{Changes, FieldSource, Origin, Unreadable};
pub use table::{PartialKey, Stored, table_spec};
pub use text::{Currency, Integer, MinorUnits, NameText, Text, Timestamp};
pub use transition::check_transition;
pub use vendor::VendorFields;
pub use vocabulary::{Vocabulary, VocabularySpec, without_unknown};

pub use frontdesk_engine::Code;
pub use frontdesk_engine::model::schema::Schema;
pub use frontdesk_engine::model::table::{Cell, ColumnType, TableSpec};
pub use serde_json::Value;

/// A declared struct; `#[derive(Record)]` implements it.
pub trait Record: Sized + Send + Sync + 'static {
    const FIELDS: &'static [FieldSpec];

    /// Visits every field with its value, in the order of their declaration.
    fn each(&self, visit: &mut dyn FnMut(&'static FieldSpec, &dyn FieldValue));

    fn build(source: &FieldSource<'_>) -> Result<Self, Unreadable>;

    /// Replaces the fields that an update names.
    fn apply(&mut self, changes: &Changes<'_>) -> Result<(), Unreadable>;
}
