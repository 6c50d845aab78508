//! A page of the site as an answer shows it: these fields in this order and no others (E-41), then the selected
//! template variables.

use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::ports::site_db::{Expr, Name, SiteCell};
use frontdesk_wire::json::{write_integer, write_quoted};

use super::query::column;
use super::schemas;

pub(super) const TABLE: Name = "site_content";

/// The closure table: for each document a row with itself and one with each of its ancestors.
pub(super) const CLOSURE: Name = "site_content_closure";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentFieldType {
    Integer,
    Boolean,
    Text,
    NullableText,
}

const FIELDS: [(Name, DocumentFieldType, &str); 17] = [
    ("id", DocumentFieldType::Integer, "The page's id."),
    ("parent", DocumentFieldType::Integer, "Id of the page above it; 0 at the top."),
    ("pagetitle", DocumentFieldType::Text, "Title."),
    ("longtitle", DocumentFieldType::Text, "Longer title."),
    ("description", DocumentFieldType::Text, "Description."),
    ("alias", DocumentFieldType::NullableText, "Its part of the address."),
    ("published", DocumentFieldType::Integer, "1 if it is published."),
    ("deleted", DocumentFieldType::Integer, "1 if it is in the bin."),
    ("hidemenu", DocumentFieldType::Boolean, "Whether menus leave it out."),
    ("menuindex", DocumentFieldType::Integer, "Its place among its siblings."),
    ("template", DocumentFieldType::Integer, "Id of its template; 0 for none."),
    ("createdon", DocumentFieldType::Integer, "When it was made, in seconds since 1970."),
    ("editedon", DocumentFieldType::Integer, "When it was last changed; 0 for never."),
    ("pub_date", DocumentFieldType::Integer, "When it is to be published; 0 for no date."),
    ("unpub_date", DocumentFieldType::Integer, "When it is to be taken back; 0 for no date."),
    ("isfolder", DocumentFieldType::Integer, "1 if it has pages below it."),
    ("type", DocumentFieldType::Text, "`document`, or `reference` for a link elsewhere."),
];

pub(super) fn columns() -> impl Iterator<Item = Expr> {
    FIELDS.iter().map(|(name, _, _)| column(name))
}

/// The initial capacity of the buffer for one page.
pub(super) const TYPICAL_BYTES: usize = 640;

/// Writes a row that holds `columns`, followed by the variables of these names.
pub(super) fn write(row: &[SiteCell], variables: &[&str], out: &mut String) {
    out.push('{');
    for (number, ((name, kind, _), cell)) in FIELDS.iter().zip(row).enumerate() {
        out.push_str(if number == 0 { "\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        write_field(*kind, cell, out);
    }
    if !variables.is_empty() {
        out.push_str(",\"tvs\":{");
        for (number, (name, cell)) in variables.iter().zip(row.iter().skip(FIELDS.len())).enumerate() {
            out.push_str(if number == 0 { "" } else { "," });
            write_quoted(name, out);
            out.push(':');
            write_field(DocumentFieldType::NullableText, cell, out);
        }
        out.push('}');
    }
    out.push('}');
}

/// A column that an older CMS version lacks is null here, and is answered with the default of a new page.
fn write_field(kind: DocumentFieldType, cell: &SiteCell, out: &mut String) {
    match kind {
        DocumentFieldType::Integer => write_integer(schemas::integer(cell).unwrap_or(0), out),
        DocumentFieldType::Boolean => {
            out.push_str(if schemas::integer(cell).unwrap_or(0) == 0 { "false" } else { "true" })
        }
        DocumentFieldType::Text => write_quoted(&schemas::text(cell).unwrap_or_default(), out),
        DocumentFieldType::NullableText => match schemas::text(cell) {
            Some(text) => write_quoted(&text, out),
            None => out.push_str("null"),
        },
    }
}

pub(super) fn schema() -> Schema {
    let field = |(name, kind, about): &(Name, DocumentFieldType, &'static str)| required(name, shape(*kind), about);
    let mut fields: Vec<Field> = FIELDS.iter().map(field).collect();
    fields.push(optional(
        "tvs",
        Schema::map(Schema::nullable(schemas::any_text())),
        "The template variables asked for, by name; null where there is no value.",
    ));
    Schema::Object(fields)
}

fn shape(kind: DocumentFieldType) -> Schema {
    match kind {
        DocumentFieldType::Integer => schemas::any_integer(),
        DocumentFieldType::Boolean => Schema::Boolean,
        DocumentFieldType::Text => schemas::any_text(),
        DocumentFieldType::NullableText => Schema::nullable(schemas::any_text()),
    }
}
