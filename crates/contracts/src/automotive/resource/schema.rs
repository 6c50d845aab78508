//! The input and output schemas of a resource's tools.

use frontdesk_engine::model::schema::{Field, Presence, Schema, TextFormat, optional, required};

use super::{CURSOR, EXPECTED_VERSION, KEY, LIMIT, MAX_LIMIT, MAX_TOTAL, Resource, TENANT, TOTAL, TOTAL_CAPPED};
use crate::automotive::values::MAX_SAFE_INTEGER;
use crate::record::render::REDACTED;
use crate::record::{FieldSpec, nested, vendor};

/// How much of a record an answer has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// The whole record, or a receipt.
    Written,
}

/// An answer of a reading tool.
pub(super) fn output<R: Resource>() -> Schema {
    answer::<R>(Extent::Whole)
}

/// An answer of a writing tool.
pub(super) fn written<R: Resource>() -> Schema {
    answer::<R>(Extent::Written)
}

/// A record in an export. What is the same for all of them is left out; the list of masked fields stays, because it
/// tells a masked record from a whole one.
pub(super) fn exported<R: Resource>() -> Schema {
    let constant = ["type", TENANT];
    let is_exported = |field: &&Field| !constant.contains(&field.name) && !R::NOT_STORED.contains(&field.name);
    Schema::object(output::<R>().fields().iter().filter(is_exported).cloned())
}

fn answer<R: Resource>(extent: Extent) -> Schema {
    let common = [
        required("id", Schema::text(64), "Stable id, unique within the dealership."),
        required("type", Schema::one_of(type_words::<R>()), "Type of the resource."),
        required(TENANT, Schema::text(64), "The dealership it belongs to."),
    ];
    let own = R::FIELDS.iter().filter(|field| !field.write_only).map(|field| match extent {
        Extent::Written if !field.is_in_receipt() => Field { presence: Presence::Optional, ..nested::answer(field) },
        Extent::Written | Extent::Whole => nested::answer(field),
    });
    let times = [
        required("created_at", Schema::Text(TextFormat::Timestamp), "When it was first recorded."),
        required("updated_at", Schema::Text(TextFormat::Timestamp), "When it last changed."),
        required(
            "version",
            Schema::integer(1, MAX_SAFE_INTEGER),
            "Counts changes; send it back as expected_version to change only what you have seen.",
        ),
    ];
    let fields = common.into_iter().chain(own).chain(redacted::<R>(extent)).chain(times);
    if is_writable::<R>() { Schema::extended(fields, vendor::answers()) } else { Schema::object(fields) }
}

/// The list of masked or omitted fields. Where nothing is personal, only a receipt has one.
fn redacted<R: Resource>(extent: Extent) -> Option<Field> {
    let presence = match (nested::maskable(R::FIELDS), extent) {
        (true, _) => Presence::Required,
        (false, Extent::Written) => Presence::Optional,
        (false, Extent::Whole) => return None,
    };
    let most = match extent {
        Extent::Whole => personal_leaves(R::FIELDS),
        Extent::Written => personal_leaves(R::FIELDS).max(R::FIELDS.len()),
    };
    Some(Field {
        name: REDACTED,
        about: "Fields that are masked or left out for this caller; empty when nothing is.",
        schema: Schema::list(Schema::text(64), most.saturating_add(vendor::MAX_FIELDS)),
        presence,
    })
}

fn personal_leaves(fields: &[FieldSpec]) -> usize {
    let leaves = fields.iter().filter(|field| field.is_personal()).map(|field| match (field.nested)() {
        [] => 1,
        inner if field.maskable => personal_leaves(inner),
        _ => 1,
    });
    leaves.sum()
}

fn is_writable<R: Resource>() -> bool {
    R::FIELDS.iter().any(|field| field.create || field.update)
}

/// Made once per contract, so the list is leaked instead of counted.
fn type_words<R: Resource>() -> &'static [&'static str] {
    vec![R::TABLE_NAME].leak()
}

/// A page of resources, with a cursor while there are more (A3-18).
pub fn list_schema(of: Schema) -> Schema {
    Schema::object([
        required("items", Schema::list(of, 100), "This page."),
        optional(
            "next_cursor",
            Schema::text(8192),
            "Send it back as cursor for the next page; absent on the last one.",
        ),
        optional(
            TOTAL,
            Schema::integer(0, i64::try_from(MAX_TOTAL).unwrap_or(i64::MAX)),
            "How many there are on all pages; only if asked for.",
        ),
        optional(TOTAL_CAPPED, Schema::Boolean, "True if there are more than were counted; else absent."),
    ])
}

/// The input of a tool that reads one record.
pub(super) fn get_input(id_about: &'static str) -> Schema {
    Schema::object([id(id_about), tenant()])
}

/// The input of a tool that lists.
pub(super) fn list_input(own: impl IntoIterator<Item = Field>) -> Schema {
    Schema::object(own.into_iter().chain(paging()).chain([tenant()]))
}

/// The arguments of every list.
pub(in crate::automotive) fn paging() -> Vec<Field> {
    vec![
        optional(CURSOR, Schema::text(8192), "next_cursor of the page before, with the same filters or none."),
        optional(LIMIT, Schema::integer(1, MAX_LIMIT), "Items at most; 10 if absent."),
        optional(TOTAL, Schema::Boolean, "true: also count all pages, to 10,000 at most."),
    ]
}

/// The input of a create: the fields marked `create`, and arguments that are no fields.
pub(super) fn create_input<R: Resource>(extra: Vec<Field>) -> Schema {
    let own = R::FIELDS.iter().filter(|field| field.create).map(|field| {
        let presence = if field.required && !field.has_default { Presence::Required } else { Presence::Optional };
        Field { presence, ..nested::argument(field) }
    });
    Schema::extended(own.chain(extra).chain([key(), tenant()]), vendor::arguments())
}

/// The input of an update: the fields marked `update`, all optional. `null` clears what need not be there.
pub(super) fn update_input<R: Resource>(id_about: &'static str) -> Schema {
    let own = R::FIELDS.iter().filter(|field| field.update).map(|field| {
        let argument = nested::argument(field);
        if field.required {
            return argument;
        }
        Field { schema: Schema::clearable(argument.schema), ..argument }
    });
    let fields = [id(id_about)].into_iter().chain(own).chain([expected_version(), key(), tenant()]);
    Schema::extended(fields, vendor::changes())
}

/// What the description of an update ends with: which of its fields `null` clears. Said once instead of at each field.
pub(super) fn clearing<R: Resource>() -> String {
    let (kept, cleared): (Vec<&FieldSpec>, Vec<&FieldSpec>) =
        R::FIELDS.iter().filter(|field| field.update).partition(|field| field.required);
    let kept: Vec<&str> = kept.iter().map(|field| field.name).collect();
    match (cleared.is_empty(), kept.is_empty()) {
        (true, _) => String::new(),
        (false, true) => " null clears a field.".to_owned(),
        (false, false) => format!(" null clears a field, except {}.", kept.join(", ")),
    }
}

/// The input of a tool that changes one record in a way of its own.
pub(super) fn change_input(id_about: &'static str, own: Vec<Field>) -> Schema {
    Schema::object([id(id_about)].into_iter().chain(own).chain([expected_version(), key(), tenant()]))
}

fn expected_version() -> Field {
    optional(
        EXPECTED_VERSION,
        Schema::integer(1, MAX_SAFE_INTEGER),
        "The version you have seen; if it is another now, nothing happens.",
    )
}

fn id(about: &'static str) -> Field {
    required("id", Schema::text(64), about)
}

pub(in crate::automotive) fn tenant() -> Field {
    optional(TENANT, Schema::text(64), "Needed only if the token is good for several.")
}

pub(in crate::automotive) fn key() -> Field {
    optional(KEY, Schema::text(255), "New random value per change; repeated with the same arguments, it happens once.")
}
