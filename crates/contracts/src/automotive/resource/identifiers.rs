//! Recognises what somebody sent as an id that is none: the id of another kind of record, a number that records are found
//! by, or a text with a form of its own. All of it follows from the declared fields and tools.

use frontdesk_engine::model::schema::{Schema, TextFormat, required};
use frontdesk_engine::model::table::{Cell, TableSpec};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::{Map, Value};

use super::Resource;
use crate::automotive::vin::Vin;
use crate::record::FieldSpec;
use crate::record::import::unique_column;
use crate::record::table::columns;

/// How records of one kind are named.
#[derive(Clone)]
pub struct RecordKind {
    table: &'static TableSpec,
    noun: &'static str,
    id_prefix: &'static str,
    /// Who may look records up by their numbers.
    read: Scope,
    max_login_age: Option<u32>,
    /// The tool that reads one by its id, and the one that finds ids.
    reader: Option<&'static str>,
    finder: Option<&'static str>,
    identifiers: Vec<Identifier>,
}

/// A field whose value identifies a record, but is not its id.
#[derive(Clone)]
struct Identifier {
    field: &'static str,
    known_by: KnownBy,
    /// The tool that finds records by it, with an argument of the field's name.
    finder: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum KnownBy {
    /// Its form alone tells it.
    Form(fn(&str) -> bool),
    /// It is looked up in this column, in the spelling that rows have.
    Column { column: &'static str, spelling: fn(&str, &str) -> String },
}

impl RecordKind {
    /// `finders` are fields by which a list is filtered, each with the tool.
    pub(super) fn of<R: Resource>(
        (reader, finder): (Option<&'static str>, Option<&'static str>),
        finders: &[(&'static str, &'static str)],
    ) -> RecordKind {
        let finder_of = |field: &str| finders.iter().find(|(name, _)| *name == field).map(|(_, tool)| *tool);
        let identifiers = columns(R::FIELDS).into_iter().filter_map(|field| {
            let by_column =
                || unique_column::<R>(field).map(|column| KnownBy::Column { column, spelling: R::match_text });
            let known_by = form(field).map(KnownBy::Form).or_else(by_column)?;
            Some(Identifier { field: field.name, known_by, finder: finder_of(field.name) })
        });
        RecordKind {
            table: R::table(),
            noun: R::NOUN,
            id_prefix: R::ID_PREFIX,
            read: Scope::new(R::DOMAIN.read),
            max_login_age: R::MAX_LOGIN_AGE,
            reader,
            finder,
            identifiers: identifiers.collect(),
        }
    }

    fn is_readable(&self, permitted: &Permitted<'_>) -> bool {
        permitted.caller().scopes.has(&self.read) && permitted.has_login_within(self.max_login_age)
    }

    fn has_id(&self, text: &str) -> bool {
        let own = text.strip_prefix(self.id_prefix).and_then(|rest| rest.strip_prefix('_'));
        own.is_some_and(|own| own.len() == ID_LENGTH && own.bytes().all(|sign| sign.is_ascii_alphanumeric()))
    }

    fn with_article(&self) -> String {
        let article = if self.noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {}", self.noun)
    }
}

/// What follows the prefix of an id.
const ID_LENGTH: usize = 26;

/// The fields that can be told by their form, whatever record they stand in.
fn form(field: &FieldSpec) -> Option<fn(&str) -> bool> {
    match (field.name, (field.input)()) {
        ("vin", _) => Some(|text| Vin::parse(text).is_ok()),
        (_, Schema::Text(TextFormat::Email)) => Some(|text| fits(Schema::Text(TextFormat::Email), text)),
        (_, Schema::Text(TextFormat::Phone)) => Some(|text| fits(Schema::Text(TextFormat::Phone), text)),
        (_, _) => None,
    }
}

fn fits(schema: Schema, text: &str) -> bool {
    let value = Map::from_iter([("text".to_owned(), Value::from(text))]);
    Schema::object([required("text", schema, "")]).check(value).is_ok()
}

/// The message for an id that no record of `table` has.
pub(in crate::automotive) async fn missing_message(
    kinds: &[RecordKind],
    permitted: &Permitted<'_>,
    table: &'static TableSpec,
    id: &str,
) -> Result<String, Fault> {
    let Some(meant) = kinds.iter().find(|kind| kind.table.name == table.name) else {
        return Ok(Fault::not_found().message.into_owned());
    };
    let noun = meant.noun;
    let rest = match recognize(kinds, permitted, table, id).await? {
        Some(instead) => instead,
        None => {
            let find = meant.finder.filter(|_| meant.is_readable(permitted));
            let find = find.map(|tool| format!(" Find it with {tool}.")).unwrap_or_default();
            let prefix = meant.id_prefix;
            format!("An id looks like {prefix}_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a {noun} is one.{find}")
        }
    };
    Ok(format!("No {noun} with this id exists here. {rest}"))
}

/// What this text is, of which no record of `table` is the id. Numbers are looked up among what the caller may read in
/// its own tenant; without the scope, and for another tenant's numbers, the answer is as if they did not exist.
async fn recognize(
    kinds: &[RecordKind],
    permitted: &Permitted<'_>,
    table: &'static TableSpec,
    text: &str,
) -> Result<Option<String>, Fault> {
    if let Some(kind) = kinds.iter().find(|kind| kind.has_id(text)) {
        // An id of the right kind that does not exist has nothing to explain it.
        return Ok((kind.table.name != table.name).then(|| kind.id_text(permitted)));
    }
    // Those of the kind that was meant come first.
    let (own, other): (Vec<&RecordKind>, Vec<&RecordKind>) =
        kinds.iter().partition(|kind| kind.table.name == table.name);
    let mut unique = Vec::new();
    let mut by_form = Vec::new();
    for kind in own.into_iter().chain(other) {
        for identifier in &kind.identifiers {
            match identifier.known_by {
                KnownBy::Form(has_form) if has_form(text) => by_form.push((kind, identifier)),
                KnownBy::Form(_) => {}
                KnownBy::Column { column, spelling } => unique.push((kind, identifier, column, spelling)),
            }
        }
    }
    if let Some((kind, identifier)) = by_form.first() {
        return Ok(Some(identifier.text(kind, permitted, ["looks like", "like "])));
    }
    for (kind, identifier, column, spelling) in unique {
        let cell = Cell::Text(spelling(identifier.field, text));
        if kind.is_readable(permitted) && permitted.find(kind.table, column, cell).await?.is_some() {
            return Ok(Some(identifier.text(kind, permitted, ["is", ""])));
        }
    }
    Ok(None)
}

impl RecordKind {
    fn id_text(&self, permitted: &Permitted<'_>) -> String {
        let read = self.reader.filter(|_| self.is_readable(permitted));
        let read = read.map(|tool| format!(": read that with {tool}")).unwrap_or_default();
        format!("What was sent is the id of {}{read}.", self.with_article())
    }
}

impl Identifier {
    /// `is` and `like` say how sure it is.
    fn text(&self, kind: &RecordKind, permitted: &Permitted<'_>, [is, like]: [&str; 2]) -> String {
        let field = self.field;
        let find = self.finder.filter(|_| kind.is_readable(permitted));
        let find = find.map(|tool| format!("; search by {field} with {tool}")).unwrap_or_default();
        format!("What was sent {is} the {} of {}, not {like}an id{find}.", field.replace('_', " "), kind.with_article())
    }
}
