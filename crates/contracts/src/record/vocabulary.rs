//! Controlled vocabularies: enums whose members are published words. A value outside of one is read as `unknown`, so no
//! answer can contain a word that was not published.

use frontdesk_engine::model::schema::{Schema, TextFormat};
use frontdesk_engine::model::table::{Cell, ColumnType};
use frontdesk_wire::json::write_quoted;
use serde_json::Value;

use super::field::{FieldType, FieldValue};
use super::text::add_word;

/// The last word of a vocabulary that is not closed.
pub const UNKNOWN: &str = "unknown";

/// An enum with `#[derive(Vocabulary)]`.
pub trait Vocabulary: Copy + PartialEq + Send + Sync + 'static {
    const NAME: &'static str;
    const WORDS: &'static [&'static str];

    fn as_str(self) -> &'static str;

    /// The member of this word; another word is `unknown`, or none where the vocabulary is closed.
    fn parse(word: &str) -> Option<Self>;
}

/// A vocabulary, for documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VocabularySpec {
    pub name: &'static str,
    pub words: &'static [&'static str],
}

impl<V: Vocabulary> FieldType for V {
    fn input() -> Schema {
        Schema::one_of(V::WORDS)
    }

    fn column_types() -> Vec<ColumnType> {
        vec![ColumnType::Text]
    }

    fn vocabulary() -> Option<VocabularySpec> {
        Some(VocabularySpec { name: V::NAME, words: V::WORDS })
    }

    fn read(value: &Value) -> Option<V> {
        value.as_str().and_then(V::parse)
    }
}

impl<V: Vocabulary> FieldValue for V {
    fn write(&self, out: &mut String) {
        write_quoted(self.as_str(), out);
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Text(self.as_str().to_owned()));
    }

    fn add_words(&self, words: &mut String) {
        add_word(self.as_str(), words);
    }
}

/// The schema of an argument that must say something: the words without `unknown`.
pub fn without_unknown(schema: Schema) -> Schema {
    match schema {
        Schema::Text(TextFormat::OneOf(words)) => match words.split_last() {
            Some((&UNKNOWN, known)) => Schema::one_of(known),
            Some(_) | None => Schema::one_of(words),
        },
        Schema::List { of, min, max } => Schema::List { of: Box::new(without_unknown(*of)), min, max },
        Schema::Object(_)
        | Schema::Extended { .. }
        | Schema::Map(_)
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Boolean
        | Schema::Nullable(_)
        | Schema::Clearable(_)
        | Schema::AnyOf { .. } => schema,
    }
}
