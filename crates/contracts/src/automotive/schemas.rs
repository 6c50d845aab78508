//! Schema fragments that several tools and resources share.

use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};

/// 2^53 - 1, the largest integer that every JSON parser keeps exactly.
pub(super) const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// The schema of a resource: common fields around its own.
pub(super) fn resource(type_name: &'static [&'static str], own: impl IntoIterator<Item = Field>) -> Schema {
    let common = [
        required("id", Schema::text(64), "Stable id, unique within the dealership."),
        required("type", Schema::one_of(type_name), "Type of the resource."),
        required("dealership_id", Schema::text(64), "The dealership it belongs to."),
    ];
    let record = [
        required("created_at", Schema::Text(TextFormat::Timestamp), "When it was first recorded."),
        required("updated_at", Schema::Text(TextFormat::Timestamp), "When it last changed."),
        required(
            "version",
            Schema::integer(1, MAX_SAFE_INTEGER),
            "Counts changes; send it back as expected_version to change only what you have seen.",
        ),
    ];
    Schema::object(common.into_iter().chain(own).chain(record))
}

/// A page of resources, with a cursor while there are more (A3-18).
pub(super) fn list(of: Schema) -> Schema {
    Schema::object([
        required("items", Schema::list(of, 100), "This page."),
        optional(
            "next_cursor",
            Schema::text(8192),
            "Send it back as cursor for the next page; absent on the last one.",
        ),
    ])
}

/// The list of masked or omitted fields.
pub(super) fn redacted() -> Field {
    required(
        "redacted",
        Schema::list(Schema::text(64), 16),
        "Fields that are masked or left out for this caller; empty when nothing is.",
    )
}
