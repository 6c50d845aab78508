//! The table of a resource, from its fields.

use frontdesk_engine::Code;
use frontdesk_engine::model::table::{ColumnSpec, TableSpec};

use super::Record;
use super::entity::index_stored;
use super::field::{ColumnIndex, FieldSpec};

/// A record with a table of its own; `#[table(..)]` beside `#[derive(Record)]` implements it.
pub trait Stored: Record {
    /// Also the published type.
    const TABLE_NAME: &'static str;
    const ID_PREFIX: &'static str;
    /// What one is called in messages.
    const NOUN: &'static str;
    const NOT_FOUND: Code;

    fn table() -> &'static TableSpec;
}

/// Made once per resource and process, so its lists are leaked instead of counted.
pub fn table_spec<R: Stored>() -> TableSpec {
    let columns = columns(R::FIELDS);
    let specs = columns.iter().flat_map(|field| {
        let types = (field.column_types)();
        field.columns.iter().zip(types).map(|(name, column_type)| ColumnSpec { name, column_type })
    });
    let with = |index: ColumnIndex| {
        let fields = columns.iter().filter(move |field| field.index == Some(index));
        let names: Vec<&'static str> = fields.filter_map(|field| field.columns.first().copied()).collect();
        &*names.leak()
    };
    TableSpec {
        name: R::TABLE_NAME,
        columns: specs.collect::<Vec<ColumnSpec>>().leak(),
        unique: with(ColumnIndex::Unique),
        sorted: with(ColumnIndex::Sorted),
        filtered: with(ColumnIndex::Filtered),
        searched: searched(R::FIELDS).leak(),
        index: Some(index_stored::<R>),
    }
}

/// The fields that have columns, those of nested records among them.
pub(super) fn columns(fields: &'static [FieldSpec]) -> Vec<&'static FieldSpec> {
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
