//! What arguments and answers have in common: ids, windows, lists and their `meta` (E-40), and cells as JSON knows
//! them.

use std::borrow::Cow;

use frontdesk_engine::model::schema::{Field, Schema, Text, optional, required};
use frontdesk_engine::ports::site_db::SiteCell;
use frontdesk_wire::json::write_integer;

use super::{Limits, TOOLSET};

/// The largest id that any of the databases can hold.
pub(super) const LARGEST: i64 = 4_294_967_295;

/// The largest whole number that every JSON reader keeps exactly.
const SAFE: i64 = 9_007_199_254_740_991;

/// As much as the longest column of a site holds.
const LONGEST: usize = 16_777_215;

pub(super) const LIMIT: &str = "limit";
pub(super) const OFFSET: &str = "offset";
pub(super) const DIRECTIONS: &[&str] = &["asc", "desc"];

pub(super) fn id(about: &'static str) -> Field {
    required("id", Schema::integer(1, LARGEST), about)
}

/// Every list is asked for in pieces (E-11).
pub(super) fn window(limits: &Limits) -> [Field; 2] {
    [
        required(LIMIT, Schema::integer(1, limits.max_result_items.into()), "How many at most."),
        optional(OFFSET, Schema::integer(0, limits.max_offset.into()), "How many to pass over first; none if absent."),
    ]
}

pub(super) fn any_text() -> Schema {
    Schema::Text(Text::Free { min: 0, max: LONGEST })
}

pub(super) fn any_whole() -> Schema {
    Schema::integer(-SAFE, SAFE)
}

pub(super) fn list_of(item: Schema, limits: &Limits, more: Option<Field>) -> Schema {
    let whole = |name, about| required(name, any_whole(), about);
    let meta = [
        whole(LIMIT, "The limit that was asked for."),
        whole(OFFSET, "The offset that was asked for."),
        whole("count", "How many items this answer has; fewer than the limit means that there are no more."),
        toolset(),
    ];
    let items = Schema::list(item, limits.max_result_items as usize);
    Schema::object([
        required("items", items, "What was found, in order."),
        required("meta", Schema::object(meta.into_iter().chain(more)), "About this answer."),
    ])
}

pub(super) fn one_of(item: Schema, more: Option<Field>) -> Schema {
    Schema::object([
        required("item", Schema::nullable(item), "What was asked for; null if there is none."),
        required("meta", Schema::object([toolset()].into_iter().chain(more)), "About this answer."),
    ])
}

fn toolset() -> Field {
    required("toolsetVersion", Schema::one_of(&[TOOLSET]), "Version of the toolset.")
}

/// `meta` of a list, as JSON text. The model is a name of ours, so it needs no quoting.
pub(super) fn write_list_meta(limit: u64, offset: u64, count: usize, model: Option<&'static str>, out: &mut String) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    for (name, number) in [("{\"limit\":", limit), (",\"offset\":", offset), (",\"count\":", count)] {
        out.push_str(name);
        write_integer(i64::try_from(number).unwrap_or(i64::MAX), out);
    }
    out.push(',');
    write_origin(model, out);
}

pub(super) fn write_one_meta(model: Option<&'static str>, out: &mut String) {
    out.push('{');
    write_origin(model, out);
}

fn write_origin(model: Option<&'static str>, out: &mut String) {
    out.push_str("\"toolsetVersion\":\"");
    out.push_str(TOOLSET);
    if let Some(model) = model {
        out.push_str("\",\"model\":\"");
        out.push_str(model);
    }
    out.push_str("\"}");
}

pub(super) fn whole(cell: &SiteCell) -> Option<i64> {
    match cell {
        SiteCell::Null => None,
        SiteCell::Integer(number) => Some(*number),
        // SQLite keeps whatever it was given.
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
