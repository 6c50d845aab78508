//! The table of a resource, from its fields.

use frontdesk_engine::Code;
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, TableSpec};

use super::Record;
use super::entity::index_stored;
use super::field::{ColumnIndex, FieldSpec};
use super::stored_check::check_stored;

/// A record with a table of its own; `#[table(..)]` beside `#[derive(Record)]` implements it.
pub trait Stored: Record {
    /// Also the published type.
    const TABLE_NAME: &'static str;
    const ID_PREFIX: &'static str;
    /// What one is called in messages.
    const NOUN: &'static str;
    const NOT_FOUND: Code;

    fn table() -> &'static TableSpec;

    /// `partial_key = ..` in `#[table(..)]` implements it.
    fn partial_key() -> Option<PartialKey<Self>> {
        None
    }
}

/// A value that only some records must not share: a column of its own that is empty for the others.
pub struct PartialKey<R> {
    /// The field with the value.
    pub field: &'static str,
    /// A column of text.
    pub column: &'static str,
    /// The value of the column; `Cell::Null` for a record that need not be unique.
    pub cell: fn(&R) -> Cell,
}

/// Made once per resource and process, so its lists are leaked instead of counted.
pub fn table_spec<R: Stored>() -> TableSpec {
    let columns = columns(R::FIELDS);
    let specs = columns.iter().flat_map(|field| {
        let types = (field.column_types)();
        field.columns.iter().zip(types).map(|(name, column_type)| ColumnSpec { name, column_type })
    });
    let key = R::partial_key().map(|key| key.column);
    let specs = specs.chain(key.map(|name| ColumnSpec { name, column_type: ColumnType::Text }));
    let with = |index: ColumnIndex| {
        let fields = columns.iter().filter(move |field| field.index == Some(index));
        fields.filter_map(|field| field.columns.first().copied()).collect::<Vec<&'static str>>()
    };
    let unique: Vec<&'static str> = with(ColumnIndex::Unique).into_iter().chain(key).collect();
    TableSpec {
        name: R::TABLE_NAME,
        columns: specs.collect::<Vec<ColumnSpec>>().leak(),
        unique: unique.leak(),
        sorted: with(ColumnIndex::Sorted).leak(),
        filtered: with(ColumnIndex::Filtered).leak(),
        searched: searched(R::FIELDS).leak(),
        index: Some(index_stored::<R>),
        check: Some(check_stored::<R>),
    }
}

/// The fields that have columns, those of nested records among them.
pub fn columns(fields: &'static [FieldSpec]) -> Vec<&'static FieldSpec> {
    let mut found = Vec::new();
    for field in fields {
        if field.nested_columns {
            found.extend(columns((field.nested)()));
        } else if !field.columns.is_empty() {
            found.push(field);
        }
    }
    found
}

fn searched(fields: &'static [FieldSpec]) -> Vec<&'static str> {
    fields.iter().filter(|field| field.searched).map(|field| field.name).collect()
}
