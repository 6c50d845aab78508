//! What the rows of a feed become: the arguments of one tool, the names that columns have elsewhere, and the rules that
//! need several columns.

use frontdesk_engine::model::schema::Schema;

use super::row::RowDraft;

/// Where the rows of a feed go.
pub struct FeedTarget {
    /// The object schema of the arguments. Every row that is handed out as right fits it.
    pub input: Schema,
    pub aliases: &'static [HeaderAlias],
    pub synonyms: &'static [Synonym],
    /// Required fields that `finish` can make of other columns.
    pub derived: &'static [DerivedField],
    /// Runs on every row after its cells were read.
    pub finish: Option<fn(&mut RowDraft<'_>)>,
}

/// A name that a column has elsewhere, compared without case and punctuation.
#[derive(Debug, Clone, Copy)]
pub struct HeaderAlias {
    pub header: &'static str,
    pub to: AliasTarget,
    /// The unit or currency that the name implies: `Miles` are miles.
    pub unit: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasTarget {
    /// A field, dotted if it is one of a nested record.
    Field(&'static str),
    /// The same, unless another column gives that field.
    FieldIfMissing(&'static str),
    /// Text that `finish` uses under this name.
    Extra(&'static str),
    /// Known and not needed.
    Ignored,
}

impl HeaderAlias {
    pub const fn field(header: &'static str, field: &'static str) -> HeaderAlias {
        HeaderAlias { header, to: AliasTarget::Field(field), unit: None }
    }

    pub const fn field_if_missing(header: &'static str, field: &'static str) -> HeaderAlias {
        HeaderAlias { header, to: AliasTarget::FieldIfMissing(field), unit: None }
    }

    pub const fn extra(header: &'static str, name: &'static str) -> HeaderAlias {
        HeaderAlias { header, to: AliasTarget::Extra(name), unit: None }
    }

    pub const fn ignored(header: &'static str) -> HeaderAlias {
        HeaderAlias { header, to: AliasTarget::Ignored, unit: None }
    }

    pub const fn in_unit(self, unit: &'static str) -> HeaderAlias {
        HeaderAlias { unit: Some(unit), ..self }
    }
}

/// Another word for one of a vocabulary, compared without case and punctuation. The first that fits is taken.
#[derive(Debug, Clone, Copy)]
pub struct Synonym {
    pub field: &'static str,
    pub text: &'static str,
    pub word: &'static str,
    pub fits: SynonymMatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SynonymMatch {
    /// The cell is this text.
    Whole,
    /// The cell contains it: `6-Speed Automatic` contains `automatic`.
    Contained,
}

/// A required field that need not be a column, if one of these names of extras or fields is.
#[derive(Debug, Clone, Copy)]
pub struct DerivedField {
    pub field: &'static str,
    pub from: &'static [&'static str],
}

impl FeedTarget {
    /// Columns are named like the fields.
    pub fn of(input: Schema) -> FeedTarget {
        FeedTarget { input, aliases: &[], synonyms: &[], derived: &[], finish: None }
    }

    /// The schema of a field by its dotted path.
    pub(super) fn schema(&self, path: &str) -> Option<&Schema> {
        let mut schema = &self.input;
        for name in path.split('.') {
            schema = match plain(schema).fields().iter().find(|field| field.name == name) {
                Some(field) => &field.schema,
                None => extension(schema, name)?,
            };
        }
        Some(plain(schema))
    }

    /// All dotted paths, a record before its fields.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        add_paths("", &self.input, &mut paths);
        paths
    }
}

fn extension<'a>(schema: &'a Schema, name: &str) -> Option<&'a Schema> {
    if let Schema::Extended { extensions, .. } = schema
        && (extensions.names.fits)(name)
    {
        return Some(&extensions.of);
    }
    None
}

fn add_paths(above: &str, schema: &Schema, paths: &mut Vec<String>) {
    for field in plain(schema).fields() {
        let path = if above.is_empty() { field.name.to_owned() } else { format!("{above}.{}", field.name) };
        paths.push(path.clone());
        add_paths(&path, &field.schema, paths);
    }
}

/// The schema of a value that is there.
pub(super) fn plain(schema: &Schema) -> &Schema {
    match schema {
        Schema::Nullable(of) | Schema::Clearable(of) => plain(of),
        Schema::Object(_)
        | Schema::Extended { .. }
        | Schema::Map(_)
        | Schema::AnyObject
        | Schema::List { .. }
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Number { .. }
        | Schema::Boolean
        | Schema::AnyOf { .. } => schema,
    }
}

/// A name of a column or a word, without case and punctuation.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
