//! Schemas of arguments and answers: one definition from which the published JSON Schema and the check
//! of incoming arguments are both made, so that they cannot disagree.

mod check;
mod currency;
mod from_json;
mod pattern;
mod publish;
mod whole;

pub use check::Checked;
pub(crate) use currency::is_currency;
pub use from_json::{SchemaError, TextPattern};
pub use pattern::Pattern;
pub use whole::exact_integer;

/// A schema. Objects are closed: an unknown argument is refused by name.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    Object(Vec<Field>),
    /// An object to which callers may add members of their own, under certain names.
    Extended {
        fields: Vec<Field>,
        extensions: Extensions,
    },
    /// Any member names, each with a value of this schema.
    Map(Box<Schema>),
    /// An object of any content, which is checked by what it is handed on to.
    AnyObject,
    List {
        of: Box<Schema>,
        min: usize,
        max: usize,
    },
    Text(TextFormat),
    Integer {
        min: i64,
        max: i64,
    },
    /// An amount of money in minor units. It must not pass through floats, so unlike other integers it is never written
    /// with a fraction or an exponent.
    MinorUnits {
        max: i64,
    },
    /// A number that may have a fraction, such as a coordinate. Never for money.
    Number {
        min: f64,
        max: f64,
    },
    Boolean,
    Nullable(Box<Schema>),
    /// As `Nullable`, but published without null: some hosts refuse a field with two types.
    Clearable(Box<Schema>),
    /// One of several shapes, and what to say when none of them fits.
    AnyOf {
        shapes: Vec<Schema>,
        expected: &'static str,
    },
}

/// Members beside the declared ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Extensions {
    pub names: &'static Pattern,
    pub of: Box<Schema>,
    /// How many there may be.
    pub max: usize,
    pub publication: Publication,
}

/// Whether the published schema says that members may be added. Hosts hand input schemas on to models, and some refuse
/// `patternProperties`; clients check answers, and refuse members that the schema does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    Published,
    /// Accepted, but only described in documents.
    Unpublished,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: Schema,
    pub presence: Presence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
}

/// Text by what it means.
#[derive(Debug, Clone, PartialEq)]
pub enum TextFormat {
    /// Between these many characters.
    Free {
        min: usize,
        max: usize,
    },
    /// One word of a controlled vocabulary.
    OneOf(&'static [&'static str]),
    /// RFC 3339 with an explicit offset.
    Timestamp,
    Email,
    /// E.164: `+` and 7 to 15 digits.
    Phone,
    /// ISO 4217, upper case.
    Currency,
    /// A day of the calendar, such as 2026-01-31.
    Date,
    /// An absolute URL with the scheme https.
    HttpsUrl,
    /// A regular expression of a file.
    Matching(TextPattern),
    /// A form of the contract's own.
    Pattern(&'static Pattern),
}

impl Schema {
    pub fn object(fields: impl IntoIterator<Item = Field>) -> Schema {
        Schema::Object(fields.into_iter().collect())
    }

    /// As `object`, with members that callers may add.
    pub fn extended(fields: impl IntoIterator<Item = Field>, extensions: Extensions) -> Schema {
        Schema::Extended { fields: fields.into_iter().collect(), extensions }
    }

    /// The declared members of an object; none of anything else.
    pub fn fields(&self) -> &[Field] {
        match self {
            Schema::Object(fields) | Schema::Extended { fields, .. } => fields,
            Schema::Map(_)
            | Schema::AnyObject
            | Schema::List { .. }
            | Schema::Text(_)
            | Schema::Integer { .. }
            | Schema::MinorUnits { .. }
            | Schema::Number { .. }
            | Schema::Boolean
            | Schema::Nullable(_)
            | Schema::Clearable(_)
            | Schema::AnyOf { .. } => &[],
        }
    }

    pub fn list(of: Schema, max: usize) -> Schema {
        Schema::List { of: Box::new(of), min: 0, max }
    }

    /// As `list`, with at least one item.
    pub fn non_empty_list(of: Schema, max: usize) -> Schema {
        Schema::List { of: Box::new(of), min: 1, max }
    }

    pub fn map(of: Schema) -> Schema {
        Schema::Map(Box::new(of))
    }

    pub fn nullable(of: Schema) -> Schema {
        Schema::Nullable(Box::new(of))
    }

    pub fn clearable(of: Schema) -> Schema {
        Schema::Clearable(Box::new(of))
    }

    pub fn text(max: usize) -> Schema {
        Schema::Text(TextFormat::Free { min: 1, max })
    }

    pub fn one_of(words: &'static [&'static str]) -> Schema {
        Schema::Text(TextFormat::OneOf(words))
    }

    pub fn integer(min: i64, max: i64) -> Schema {
        Schema::Integer { min, max }
    }
}

pub fn required(name: &'static str, shape: Schema, about: &'static str) -> Field {
    Field { name, about, schema: shape, presence: Presence::Required }
}

pub fn optional(name: &'static str, shape: Schema, about: &'static str) -> Field {
    Field { name, about, schema: shape, presence: Presence::Optional }
}
