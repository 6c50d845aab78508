//! Shapes of arguments and answers: one definition from which the published JSON Schema and the check
//! of incoming arguments are both made, so that they cannot disagree.

mod check;
mod currency;
mod form;
mod publish;

pub use check::Checked;
pub use form::Form;

/// A shape. Objects are closed: an argument nobody knows is a mistake worth naming.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    Object(Vec<Field>),
    /// Any names, each with a value of this shape: for what is named by somebody's data.
    Map(Box<Schema>),
    List {
        of: Box<Schema>,
        least: usize,
        most: usize,
    },
    Text(Text),
    Integer {
        least: i64,
        most: i64,
    },
    Boolean,
    Nullable(Box<Schema>),
    /// One of several shapes, and what to say when none of them fits.
    AnyOf {
        shapes: Vec<Schema>,
        expected: &'static str,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub about: &'static str,
    pub shape: Schema,
    pub presence: Presence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
}

/// Text by what it means.
#[derive(Debug, Clone, PartialEq)]
pub enum Text {
    /// Between these many characters.
    Free {
        least: usize,
        most: usize,
    },
    /// One word of a controlled vocabulary.
    OneOf(&'static [&'static str]),
    /// RFC 3339 with an explicit offset.
    Instant,
    Email,
    /// E.164: `+` and 7 to 15 digits.
    Phone,
    /// ISO 4217, upper case.
    Currency,
    /// A form of the contract's own.
    Formed(&'static Form),
}

impl Schema {
    pub fn object(fields: impl IntoIterator<Item = Field>) -> Schema {
        Schema::Object(fields.into_iter().collect())
    }

    pub fn list(of: Schema, most: usize) -> Schema {
        Schema::List { of: Box::new(of), least: 0, most }
    }

    /// As `list`, with at least one item.
    pub fn filled_list(of: Schema, most: usize) -> Schema {
        Schema::List { of: Box::new(of), least: 1, most }
    }

    pub fn map(of: Schema) -> Schema {
        Schema::Map(Box::new(of))
    }

    pub fn nullable(of: Schema) -> Schema {
        Schema::Nullable(Box::new(of))
    }

    pub fn text(most: usize) -> Schema {
        Schema::Text(Text::Free { least: 1, most })
    }

    pub fn one_of(words: &'static [&'static str]) -> Schema {
        Schema::Text(Text::OneOf(words))
    }

    pub fn integer(least: i64, most: i64) -> Schema {
        Schema::Integer { least, most }
    }
}

pub fn required(name: &'static str, shape: Schema, about: &'static str) -> Field {
    Field { name, about, shape, presence: Presence::Required }
}

pub fn optional(name: &'static str, shape: Schema, about: &'static str) -> Field {
    Field { name, about, shape, presence: Presence::Optional }
}
