//! Schema fragments that the tools share (ids, limit and offset, lists and their `meta`, E-40), and the conversion of
//! database cells to JSON types.

use frontdesk_engine::model::contract_entry::QueryLimits;
use std::borrow::Cow;

use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};
use frontdesk_engine::ports::site_db::SiteCell;
use frontdesk_wire::json::write_integer;

use super::TOOLSET_VERSION;

/// The largest value of an unsigned 32-bit id column.
pub(super) const MAX_ID: i64 = 4_294_967_295;

/// 2^53 - 1, the largest integer that every JSON parser keeps exactly.
const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// The length of a MEDIUMTEXT column, the longest that is read.
const MAX_TEXT_LENGTH: usize = 16_777_215;

pub(super) const LIMIT: &str = "limit";
pub(super) const OFFSET: &str = "offset";
pub(super) const DIRECTIONS: &[&str] = &["asc", "desc"];

pub(super) fn id(about: &'static str) -> Field {
    required("id", Schema::integer(1, MAX_ID), about)
}

/// Every list is paged (E-11).
pub(super) fn limit_and_offset(limits: &QueryLimits) -> [Field; 2] {
    [
        required(LIMIT, Schema::integer(1, limits.items.into()), "How many at most."),
        optional(OFFSET, Schema::integer(0, limits.offset.into()), "How many to pass over first; none if absent."),
    ]
}

pub(super) fn any_text() -> Schema {
    Schema::Text(TextFormat::Free { min: 0, max: MAX_TEXT_LENGTH })
}

pub(super) fn any_integer() -> Schema {
    Schema::integer(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
}

pub(super) fn list(item: Schema, limits: &QueryLimits, more: Option<Field>) -> Schema {
    let integer = |name, about| required(name, any_integer(), about);
    let meta = [
        integer(LIMIT, "The limit that was asked for."),
        integer(OFFSET, "The offset that was asked for."),
        integer("count", "How many items this answer has; fewer than the limit means that there are no more."),
        toolset(),
    ];
    let items = Schema::list(item, limits.items as usize);
    Schema::object([
        required("items", items, "What was found, in order."),
        required("meta", Schema::object(meta.into_iter().chain(more)), "About this answer."),
    ])
}

pub(super) fn single(item: Schema, more: Option<Field>) -> Schema {
    Schema::object([
        required("item", Schema::nullable(item), "What was asked for; null if there is none."),
        required("meta", Schema::object([toolset()].into_iter().chain(more)), "About this answer."),
    ])
}

fn toolset() -> Field {
    required("toolsetVersion", Schema::one_of(&[TOOLSET_VERSION]), "Version of the toolset.")
}

/// `meta` of a list, as JSON text. The model is one of our constants, so it needs no escaping.
pub(super) fn write_list_meta(limit: u64, offset: u64, count: usize, model: Option<&'static str>, out: &mut String) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    for (name, number) in [("{\"limit\":", limit), (",\"offset\":", offset), (",\"count\":", count)] {
        out.push_str(name);
        write_integer(i64::try_from(number).unwrap_or(i64::MAX), out);
    }
    out.push(',');
    write_meta_end(model, out);
}

pub(super) fn write_single_meta(model: Option<&'static str>, out: &mut String) {
    out.push('{');
    write_meta_end(model, out);
}

fn write_meta_end(model: Option<&'static str>, out: &mut String) {
    out.push_str("\"toolsetVersion\":\"");
    out.push_str(TOOLSET_VERSION);
    if let Some(model) = model {
        out.push_str("\",\"model\":\"");
        out.push_str(model);
    }
    out.push_str("\"}");
}

pub(super) fn integer(cell: &SiteCell) -> Option<i64> {
    match cell {
        SiteCell::Null => None,
        SiteCell::Integer(number) => Some(*number),
        // SQLite stores text in an integer column as it is.
        SiteCell::Text(text) => text.trim().parse().ok(),
    }
}

pub(super) fn text(cell: &SiteCell) -> Option<Cow<'_, str>> {
    match cell {
        SiteCell::Null => None,
        SiteCell::Integer(number) => Some(number.to_string().into()),
        SiteCell::Text(text) => Some(text.into()),
    }
}
