//! A page of the site as an answer shows it: these fields in this order and no others (E-41), then the template
//! variables that were asked for.

use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::ports::site_db::{Expr, Name, SiteCell};
use frontdesk_wire::json::{write_integer, write_quoted};

use super::shapes;
use super::words::column;

pub(super) const TABLE: Name = "site_content";

/// For each document a row for itself and one for each of those above it.
pub(super) const CLOSURE: Name = "site_content_closure";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Whole,
    Truth,
    Text,
    MaybeText,
}

const FIELDS: [(Name, Type, &str); 17] = [
    ("id", Type::Whole, "The page's id."),
    ("parent", Type::Whole, "Id of the page above it; 0 at the top."),
    ("pagetitle", Type::Text, "Title."),
    ("longtitle", Type::Text, "Longer title."),
    ("description", Type::Text, "Description."),
    ("alias", Type::MaybeText, "Its part of the address."),
    ("published", Type::Whole, "1 if it is published."),
    ("deleted", Type::Whole, "1 if it is in the bin."),
    ("hidemenu", Type::Truth, "Whether menus leave it out."),
    ("menuindex", Type::Whole, "Its place among its siblings."),
    ("template", Type::Whole, "Id of its template; 0 for none."),
    ("createdon", Type::Whole, "When it was made, in seconds since 1970."),
    ("editedon", Type::Whole, "When it was last changed; 0 for never."),
    ("pub_date", Type::Whole, "When it is to be published; 0 for no date."),
    ("unpub_date", Type::Whole, "When it is to be taken back; 0 for no date."),
    ("isfolder", Type::Whole, "1 if it has pages below it."),
    ("type", Type::Text, "`document`, or `reference` for a link elsewhere."),
];

pub(super) fn columns() -> impl Iterator<Item = Expr> {
    FIELDS.iter().map(|(name, _, _)| column(name))
}

/// Room for a page of the usual length.
pub(super) const USUAL_BYTES: usize = 640;

/// One record of `columns` and then the variables of these names.
pub(super) fn write(record: &[SiteCell], variables: &[&str], out: &mut String) {
    out.push('{');
    for (number, ((name, kind, _), cell)) in FIELDS.iter().zip(record).enumerate() {
        out.push_str(if number == 0 { "\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        write_field(*kind, cell, out);
    }
    if !variables.is_empty() {
        out.push_str(",\"tvs\":{");
        for (number, (name, cell)) in variables.iter().zip(record.iter().skip(FIELDS.len())).enumerate() {
            out.push_str(if number == 0 { "" } else { "," });
            write_quoted(name, out);
            out.push(':');
            write_field(Type::MaybeText, cell, out);
        }
        out.push('}');
    }
    out.push('}');
}

/// A column that an old site lacks has the value that a new page would have.
fn write_field(kind: Type, cell: &SiteCell, out: &mut String) {
    match kind {
        Type::Whole => write_integer(shapes::whole(cell).unwrap_or(0), out),
        Type::Truth => out.push_str(if shapes::whole(cell).unwrap_or(0) == 0 { "false" } else { "true" }),
        Type::Text => write_quoted(&shapes::text(cell).unwrap_or_default(), out),
        Type::MaybeText => match shapes::text(cell) {
            Some(text) => write_quoted(&text, out),
            None => out.push_str("null"),
        },
    }
}

pub(super) fn schema() -> Schema {
    let field = |(name, kind, about): &(Name, Type, &'static str)| required(name, shape(*kind), about);
    let mut fields: Vec<Field> = FIELDS.iter().map(field).collect();
    fields.push(optional(
        "tvs",
        Schema::map(Schema::nullable(shapes::any_text())),
        "The template variables asked for, by name; null where there is no value.",
    ));
    Schema::Object(fields)
}

fn shape(kind: Type) -> Schema {
    match kind {
        Type::Whole => shapes::any_whole(),
        Type::Truth => Schema::Boolean,
        Type::Text => shapes::any_text(),
        Type::MaybeText => Schema::nullable(shapes::any_text()),
    }
}
