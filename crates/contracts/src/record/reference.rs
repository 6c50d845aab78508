//! A field that names a row of another table of the same tenant.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use frontdesk_engine::Code;
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::{Cell, ColumnType, TableSpec};
use frontdesk_wire::json::write_quoted;
use serde_json::Value;

use super::field::{FieldType, FieldValue};
use super::table::Stored;

/// The id of a row of `R`.
pub struct Ref<R>(String, PhantomData<fn() -> R>);

/// The table that a reference points into.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    /// A function, so that resources can refer to each other.
    pub table: fn() -> &'static TableSpec,
    pub noun: &'static str,
    pub not_found: Code,
}

impl<R> From<&str> for Ref<R> {
    fn from(id: &str) -> Ref<R> {
        Ref(id.to_owned(), PhantomData)
    }
}

impl<R> Clone for Ref<R> {
    fn clone(&self) -> Ref<R> {
        Ref(self.0.clone(), PhantomData)
    }
}

impl<R> PartialEq for Ref<R> {
    fn eq(&self, other: &Ref<R>) -> bool {
        self.0 == other.0
    }
}

impl<R> Eq for Ref<R> {}

impl<R> fmt::Debug for Ref<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl<R> Deref for Ref<R> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<R: Stored> FieldType for Ref<R> {
    fn input() -> Schema {
        Schema::text(64)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Text]
    }

    fn reference() -> Option<Reference> {
        Some(Reference { table: R::table, noun: R::NOUN, not_found: R::NOT_FOUND })
    }

    fn read(value: &Value) -> Option<Ref<R>> {
        value.as_str().map(Ref::from)
    }
}

impl<R: Stored> FieldValue for Ref<R> {
    fn write(&self, out: &mut String) {
        write_quoted(&self.0, out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Text(self.0.clone()));
    }

    fn referenced_id(&self) -> Option<&str> {
        Some(&self.0)
    }
}
