//! A record as the type of a field of another record.

use frontdesk_engine::model::schema::{Field, Presence, Schema};
use frontdesk_engine::model::table::{Cell, ColumnType};
use serde_json::Value;

use super::entity::NewRecord;
use super::field::{FieldSpec, FieldValue};
use super::personal::Redacted;
use super::render::ObjectWriter;
use super::source::FieldSource;
use super::{Record, without_unknown};

/// Whether one of the fields is personal.
pub const fn maskable(fields: &[FieldSpec]) -> bool {
    match fields {
        [] => false,
        [first, rest @ ..] => first.is_personal() || maskable(rest),
    }
}

/// Whether one of the fields is searched.
pub const fn searched(fields: &[FieldSpec]) -> bool {
    match fields {
        [] => false,
        [first, rest @ ..] => first.searched || searched(rest),
    }
}

pub fn input<R: Record>() -> Schema {
    Schema::object(R::FIELDS.iter().map(|field| {
        let presence = if field.required && !field.has_default { Presence::Required } else { Presence::Optional };
        Field { presence, ..argument(field) }
    }))
}

/// What a masked answer leaves out is optional.
pub fn output<R: Record>() -> Schema {
    Schema::object(R::FIELDS.iter().map(answer))
}

/// A field as an optional argument.
pub fn argument(field: &FieldSpec) -> Field {
    let schema = (field.input)();
    let schema = if field.known { without_unknown(schema) } else { schema };
    Field { name: field.name, about: field.argument_about, schema, presence: Presence::Optional }
}

/// A field in an answer.
pub fn answer(field: &FieldSpec) -> Field {
    let always = field.required && !field.is_left_out();
    let presence = if always { Presence::Required } else { Presence::Optional };
    Field { name: field.name, about: field.about, schema: (field.output)(), presence }
}

pub fn column_types<R: Record>() -> Vec<ColumnType> {
    R::FIELDS.iter().flat_map(|field| (field.column_types)()).collect()
}

pub fn read<R: Record>(value: &Value) -> Option<R> {
    let object = value.as_object()?;
    R::build(&FieldSource::Stored { objects: &[object], new: &NewRecord::NESTED }).ok()
}

pub fn write<R: Record>(record: &R, out: &mut String) {
    let mut object = ObjectWriter::start(out);
    record.each(&mut |field, value| object.member(field.name, value));
    object.end();
}

pub fn write_masked<R: Record>(record: &R, path: &str, out: &mut String, redacted: &mut Redacted) {
    let mut object = ObjectWriter::start(out);
    record.each(&mut |field, value| object.masked_member(Some(path), field, value, redacted));
    object.end();
}

/// The parts of all its fields.
pub fn cells<R: Record>(record: &R, cells: &mut Vec<Cell>) {
    record.each(&mut |_, value| value.cells(cells));
}

/// The columns that its fields declare.
pub fn named_cells<R: Record>(record: &R, cells: &mut Vec<(&'static str, Cell)>) {
    record.each(&mut |field, value| add_named_cells(field, value, cells));
}

/// The columns of one field: its own, or those of the record that it holds.
pub fn add_named_cells(field: &FieldSpec, value: &dyn FieldValue, cells: &mut Vec<(&'static str, Cell)>) {
    if value.is_missing() {
        add_nulls(field, cells);
    } else if field.nested_columns {
        value.named_cells(cells);
    } else if !field.columns.is_empty() {
        let mut parts = Vec::with_capacity(field.columns.len());
        value.cells(&mut parts);
        cells.extend(field.columns.iter().copied().zip(parts));
    }
}

fn add_nulls(field: &FieldSpec, cells: &mut Vec<(&'static str, Cell)>) {
    if field.nested_columns {
        (field.nested)().iter().for_each(|nested| add_nulls(nested, cells));
    } else {
        cells.extend(field.columns.iter().map(|column| (*column, Cell::Null)));
    }
}

pub fn add_words<R: Record>(record: &R, words: &mut String) {
    record.each(&mut |field, value| {
        if field.searched {
            value.add_words(words);
        }
    });
}
