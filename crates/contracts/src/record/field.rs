//! What is known of one field, and what a type must offer to be the type of a field.

use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::{Cell, ColumnType};
use serde_json::Value;

use super::personal::Redacted;
use super::reference::Reference;
use super::vocabulary::VocabularySpec;

/// One field of a record, as declared. `#[derive(Record)]` makes these.
#[derive(Debug, Clone, Copy)]
pub struct FieldSpec {
    pub name: &'static str,
    /// Its published description, and the one where it is an argument.
    pub about: &'static str,
    pub argument_about: &'static str,
    /// Whether its type always has a value.
    pub required: bool,
    /// Whether its type contains personal data and can mask it.
    pub maskable: bool,
    /// The columns of its parts; empty without `column`.
    pub columns: &'static [&'static str],
    pub index: Option<ColumnIndex>,
    pub create: bool,
    pub update: bool,
    pub receipt: bool,
    pub write_only: bool,
    pub searched: bool,
    pub nested_columns: bool,
    pub sealed: bool,
    /// Callers may not send `unknown`.
    pub known: bool,
    pub has_default: bool,
    pub input: fn() -> Schema,
    pub output: fn() -> Schema,
    pub column_types: fn() -> Vec<ColumnType>,
    /// The cells of an argument of this type, for filters.
    pub cells_of: fn(&Value) -> Option<Vec<Cell>>,
    /// The fields of the record that it is or contains.
    pub nested: fn() -> &'static [FieldSpec],
    pub vocabulary: fn() -> Option<VocabularySpec>,
    pub reference: fn() -> Option<Reference>,
}

impl FieldSpec {
    /// Whether it is stored sealed and masked by default.
    pub const fn is_personal(&self) -> bool {
        self.sealed || self.maskable
    }

    /// Whether who may write but not read sees it. Nothing personal is.
    pub const fn is_in_receipt(&self) -> bool {
        self.receipt && !self.is_personal()
    }

    /// Whether a masked answer omits it altogether.
    pub const fn is_left_out(&self) -> bool {
        self.sealed && !self.maskable
    }
}

/// How the first column of a field is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnIndex {
    Filtered,
    Sorted,
    Unique,
}

/// The type of a field: what it is called in schemas, and how it is read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a field",
    label = "not a field type",
    note = "field types are Text<N>, NameText<N>, Integer<MIN, MAX>, MinorUnits, bool, Timestamp, Currency, Email, Phone, \
            PersonName, Ref<R>, Option<T>, List<T, N>, an enum with #[derive(Vocabulary)] and a struct with #[derive(Record)]"
)]
pub trait FieldType: FieldValue + Sized + 'static {
    const REQUIRED: bool = true;
    const MASKABLE: bool = false;
    /// Whether it is a record with a searched field.
    const SEARCHED: bool = false;

    /// Its schema as an argument.
    fn input() -> Schema;

    /// Its schema in an answer, which may be masked.
    fn output() -> Schema {
        Self::input()
    }

    /// What its columns hold, one for each part.
    fn column_types() -> Vec<ColumnType> {
        Vec::new()
    }

    fn nested() -> &'static [FieldSpec] {
        &[]
    }

    fn vocabulary() -> Option<VocabularySpec> {
        None
    }

    fn reference() -> Option<Reference> {
        None
    }

    /// Reads a checked argument or a stored value.
    fn read(value: &Value) -> Option<Self>;

    /// The value where none is given.
    fn missing() -> Option<Self> {
        None
    }
}

/// The value of a field.
pub trait FieldValue: Send + Sync {
    fn is_missing(&self) -> bool {
        false
    }

    /// Writes it as JSON.
    fn write(&self, out: &mut String);

    /// Writes it without its personal data, and notes what is masked or left out. `path` is that of the field.
    fn write_masked(&self, path: &str, out: &mut String, redacted: &mut Redacted) {
        let _ = (path, redacted);
        self.write(out);
    }

    /// The values of its columns, one for each part.
    fn cells(&self, cells: &mut Vec<Cell>) {
        let _ = cells;
    }

    /// The columns that its own record declares.
    fn named_cells(&self, cells: &mut Vec<(&'static str, Cell)>) {
        let _ = cells;
    }

    /// Appends the text that it can be found by.
    fn add_words(&self, words: &mut String) {
        let _ = words;
    }

    /// The id of the row that it refers to.
    fn referenced_id(&self) -> Option<&str> {
        None
    }
}

pub const INTEGER: ColumnType = ColumnType::Integer;

pub fn integer_cell(value: i64) -> Cell {
    Cell::Integer(value)
}

/// The cells of a checked argument.
pub fn cells_of<T: FieldType>(value: &Value) -> Option<Vec<Cell>> {
    let mut cells = Vec::new();
    T::read(value)?.cells(&mut cells);
    Some(cells)
}

impl<T: FieldType> FieldType for Option<T> {
    const REQUIRED: bool = false;
    const MASKABLE: bool = T::MASKABLE;
    const SEARCHED: bool = T::SEARCHED;

    fn input() -> Schema {
        T::input()
    }

    fn output() -> Schema {
        T::output()
    }

    fn column_types() -> Vec<ColumnType> {
        T::column_types()
    }

    fn nested() -> &'static [FieldSpec] {
        T::nested()
    }

    fn vocabulary() -> Option<VocabularySpec> {
        T::vocabulary()
    }

    fn reference() -> Option<Reference> {
        T::reference()
    }

    fn read(value: &Value) -> Option<Option<T>> {
        if value.is_null() { Some(None) } else { T::read(value).map(Some) }
    }

    fn missing() -> Option<Option<T>> {
        Some(None)
    }
}

impl<T: FieldType> FieldValue for Option<T> {
    fn is_missing(&self) -> bool {
        self.is_none()
    }

    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }

    fn write_masked(&self, path: &str, out: &mut String, redacted: &mut Redacted) {
        match self {
            Some(value) => value.write_masked(path, out, redacted),
            None => out.push_str("null"),
        }
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        if let Some(value) = self {
            value.cells(cells);
        }
    }

    fn named_cells(&self, cells: &mut Vec<(&'static str, Cell)>) {
        if let Some(value) = self {
            value.named_cells(cells);
        }
    }

    fn add_words(&self, words: &mut String) {
        if let Some(value) = self {
            value.add_words(words);
        }
    }

    fn referenced_id(&self) -> Option<&str> {
        self.as_ref().and_then(FieldValue::referenced_id)
    }
}

impl FieldType for bool {
    fn input() -> Schema {
        Schema::Boolean
    }

    fn column_types() -> Vec<ColumnType> {
        vec![INTEGER]
    }

    fn read(value: &Value) -> Option<bool> {
        value.as_bool()
    }
}

impl FieldValue for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Integer(i64::from(*self)));
    }
}
