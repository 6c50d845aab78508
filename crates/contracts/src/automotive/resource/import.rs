//! How records of a resource come in by file, from its declaration: which record a row is about, and what it changes.

use std::marker::PhantomData;
use std::sync::Arc;

use frontdesk_engine::import::{FeedText, ImportKey, ImportRules, ImportSpec, ReadRow, RowChange, RowProblem};
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::schema::{Field, Presence, Schema};
use frontdesk_engine::model::table::{Cell, StoredRow};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::{Fault, Scope, TenantId};
use serde_json::{Map, Value};

use super::{Resource, schema, unique_column};
use crate::automotive::feeds;
use crate::feed::{FeedReader, FeedSettings, FeedTarget};
use crate::record::{Changes, Entity, FieldSpec, FieldValue, Record, nested, vendor};

/// The import of a resource with these tools. `name` is the plural that commands and routes use.
pub(super) fn import_spec<R: Resource>(name: &'static str, create: Tool, update: Tool) -> ImportSpec {
    let optional = |field: &Field| Field { presence: Presence::Optional, ..field.clone() };
    let row = Schema::extended(create.spec.input.fields().iter().map(optional), vendor::arguments());
    ImportSpec {
        name,
        noun: R::NOUN,
        table: R::table(),
        scope: Scope::new(R::DOMAIN.write),
        row,
        exported: schema::exported::<R>(),
        rules: Arc::new(RecordImport::<R> { target: feeds::target(name, &create.spec.input), resource: PhantomData }),
        create,
        update,
    }
}

struct RecordImport<R> {
    target: FeedTarget,
    resource: PhantomData<fn() -> R>,
}

impl<R: Resource> ImportRules for RecordImport<R> {
    fn keys(&self, arguments: &Map<String, Value>) -> Vec<ImportKey> {
        let keys = R::FIELDS.iter().filter_map(|field| {
            let column = unique_column::<R>(field)?;
            let value = comparable::<R>(field, arguments.get(field.name)?);
            let cell = (field.cells_of)(&value)?.into_iter().next()?;
            Some(ImportKey { field: field.name, column, cell })
        });
        keys.collect()
    }

    fn exported(&self, text: String, now: Millis) -> String {
        match R::TIMED {
            Some(timed) => (timed.text)(text, now),
            None => text,
        }
    }

    fn has_sealed_parts(&self) -> bool {
        nested::maskable(R::FIELDS) || R::FIELDS.iter().any(|field| field.write_only)
    }

    fn compare(
        &self,
        tenant: &TenantId,
        record: &StoredRow,
        arguments: &Map<String, Value>,
    ) -> Result<RowChange, Fault> {
        let before: Entity<R> = Entity::restore(tenant, record)?;
        let mut arguments = arguments.clone();
        R::on_listed(&before.record, &mut arguments);
        check_unchangeable(&before.record, &arguments)?;
        let mut after = before.clone();
        after
            .record
            .apply(&Changes(&arguments))
            .map_err(|error| Fault::invalid_argument(&format!("/{}", error.0), "type", "it cannot be read"))?;
        after.vendor.apply(&arguments)?;
        let mut changed: Vec<&str> = Vec::new();
        let (old, new) = (rendered(&before.record), rendered(&after.record));
        for ((name, old), (_, new)) in old.iter().zip(&new) {
            if old != new {
                changed.push(name);
            }
        }
        let vendor_changed = before.vendor != after.vendor;
        arguments
            .retain(|name, _| changed.contains(&name.as_str()) || (vendor_changed && vendor::is_vendor_name(name)));
        Ok(if arguments.is_empty() { RowChange::Nothing } else { RowChange::Update(arguments) })
    }

    fn withdrawal(&self) -> Option<(Vec<Filter>, Map<String, Value>)> {
        let withdrawal = R::WITHDRAWAL?;
        let words = withdrawal.listed.iter().map(|word| Cell::Text((*word).to_owned())).collect();
        let filters = vec![Filter::AnyOf(withdrawal.field, words)];
        let arguments = Map::from_iter([(withdrawal.field.to_owned(), Value::from(withdrawal.withdrawn))]);
        Some((filters, arguments))
    }

    fn read_feed(&self, feed: &FeedText) -> Result<Vec<ReadRow>, String> {
        match feed {
            FeedText::Items(items) => Ok(items.iter().zip(1..).map(|(item, number)| item_row(item, number)).collect()),
            FeedText::Text(text) => {
                let settings = FeedSettings::default();
                let reader = FeedReader::open(text.as_bytes(), &self.target, settings);
                let rows = reader.map_err(|error| error.to_string())?;
                rows.map(|row| row.map(ReadRow::from).map_err(|error| error.to_string())).collect()
            }
        }
    }
}

fn item_row(item: &Value, line: u64) -> ReadRow {
    let arguments = match item {
        Value::Object(arguments) => Ok(arguments.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(vec![RowProblem { field: String::new(), reason: "an object is expected".to_owned() }])
        }
    };
    ReadRow { line, arguments }
}

/// A value as it is compared with stored ones.
fn comparable<R: Resource>(field: &FieldSpec, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(R::match_text(field.name, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.clone(),
    }
}

/// A row may repeat what cannot be changed, but not say otherwise.
fn check_unchangeable<R: Resource>(before: &R, arguments: &Map<String, Value>) -> Result<(), Fault> {
    let mut wrong = None;
    before.each(&mut |field, value| {
        let fixed = field.create && !field.update;
        if let Some(said) = arguments.get(field.name).filter(|_| fixed && !field.write_only) {
            let known: Value = serde_json::from_str(&written(value)).unwrap_or_default();
            if comparable::<R>(field, said) != comparable::<R>(field, &known) {
                wrong = Some(field.name);
            }
        }
    });
    match wrong {
        Some(name) => {
            let expected = format!("it cannot be changed: the {} that the row matches has another one", R::NOUN);
            Err(Fault::invalid_argument(&format!("/{name}"), "const", expected))
        }
        None => Ok(()),
    }
}

fn rendered<R: Record>(record: &R) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    record.each(&mut |field, value| fields.push((field.name, written(value))));
    fields
}

fn written(value: &dyn FieldValue) -> String {
    let mut text = String::new();
    value.write(&mut text);
    text
}
