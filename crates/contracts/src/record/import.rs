//! How records come in by file, from their declaration: which record a row is about, and what it changes. It names no
//! contract.

use std::marker::PhantomData;

use frontdesk_engine::import::{FeedText, ImportKey, ImportRules, ReadRow, RowChange, RowProblem};
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::{Cell, StoredRow};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, TenantId};
use serde_json::{Map, Value};

use crate::feed::{FeedReader, FeedSettings, FeedTarget};
use crate::record::{Changes, ColumnIndex, Entity, FieldSpec, FieldValue, Record, Stored, nested, vendor};

/// A record that comes in by file. Every rule is optional.
pub trait Imported: Stored + Clone {
    /// How a record that a feed no longer lists is withdrawn, if it is.
    const WITHDRAWAL: Option<Withdrawal> = None;

    /// How a text of a unique field is compared when a row of a feed looks for its record.
    fn match_text(field: &str, text: &str) -> String {
        let _ = field;
        text.to_owned()
    }

    /// Whether a row of a feed is recognised by this unique field.
    fn is_matched_by(field: &str) -> bool {
        let _ = field;
        true
    }

    /// A feed lists this record. Adds the arguments that follow from that alone.
    fn on_listed(record: &Self, arguments: &mut Map<String, Value>) {
        let _ = (record, arguments);
    }

    /// A stored record as an export writes it now.
    fn exported(text: String, now: Millis) -> String {
        let _ = now;
        text
    }
}

/// How a record leaves without being removed: a field takes another word.
#[derive(Debug, Clone, Copy)]
pub struct Withdrawal {
    pub field: &'static str,
    /// The words of records that a complete feed lists.
    pub listed: &'static [&'static str],
    pub withdrawn: &'static str,
}

/// The column in which values of this field are unique, if there is one.
pub fn unique_column<R: Stored>(field: &FieldSpec) -> Option<&'static str> {
    let partial = R::partial_key().filter(|key| key.field == field.name).map(|key| key.column);
    let own = || field.columns.first().copied().filter(|_| field.index == Some(ColumnIndex::Unique));
    partial.or_else(own)
}

/// The rules of an import, from the declaration of its records.
pub struct RecordImport<R> {
    target: FeedTarget,
    record: PhantomData<fn() -> R>,
}

impl<R> RecordImport<R> {
    /// `target` is what rows of a feed become.
    pub fn new(target: FeedTarget) -> RecordImport<R> {
        RecordImport { target, record: PhantomData }
    }
}

impl<R: Imported> ImportRules for RecordImport<R> {
    fn keys(&self, arguments: &Map<String, Value>) -> Vec<ImportKey> {
        let keys = R::FIELDS.iter().filter_map(|field| {
            let column = unique_column::<R>(field).filter(|_| R::is_matched_by(field.name))?;
            let value = comparable::<R>(field, arguments.get(field.name)?);
            let cell = (field.cells_of)(&value)?.into_iter().next()?;
            Some(ImportKey { field: field.name, column, cell })
        });
        keys.collect()
    }

    fn exported(&self, text: String, now: Millis) -> String {
        R::exported(text, now)
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
fn comparable<R: Imported>(field: &FieldSpec, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(R::match_text(field.name, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.clone(),
    }
}

/// A row may repeat what cannot be changed, but not say otherwise.
fn check_unchangeable<R: Imported>(before: &R, arguments: &Map<String, Value>) -> Result<(), Fault> {
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
