//! What a value means to what it is compared with. It is decided here once, because left to themselves the databases
//! read a text beside a number in three ways.

use frontdesk_engine::ports::site_db::Literal;
use frontdesk_engine::{Fault, FaultKind};

use super::number::Decimal;

/// What a term gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole,
    Text,
    Number,
    /// Nothing, in every row.
    Missing,
}

/// What a term is compared as, and with which value.
pub(crate) enum Against {
    /// The term never has a value.
    Nothing,
    /// The term is a whole number and the value is none.
    NoNumber,
    Whole(i64),
    Text(String),
    Number(Decimal),
}

impl Against {
    /// Letters that some character sets lack.
    pub(crate) fn has_rare_letters(&self) -> bool {
        match self {
            Against::Text(text) => !text.is_ascii(),
            Against::Nothing | Against::NoNumber | Against::Whole(_) | Against::Number(_) => false,
        }
    }
}

/// What a value means to a term of this kind.
pub(crate) fn against(kind: Kind, value: &Literal) -> Result<Against, Fault> {
    if let Literal::Text(text) = value {
        clean(text)?;
    }
    let text = || match value {
        Literal::Integer(number) => number.to_string(),
        Literal::Text(text) | Literal::Decimal(text) => text.clone(),
    };
    Ok(match (kind, value) {
        (Kind::Missing, _) => Against::Nothing,
        (Kind::Text, _) => Against::Text(text()),
        (Kind::Whole, Literal::Integer(number)) => Against::Whole(*number),
        (Kind::Whole, Literal::Text(_) | Literal::Decimal(_)) => match decimal(value) {
            Some(number) => number.as_integer().map_or(Against::Number(number), Against::Whole),
            None => Against::NoNumber,
        },
        (Kind::Number, _) => Against::Number(decimal(value).unwrap_or_else(|| Decimal::leading(&text()))),
    })
}

fn decimal(value: &Literal) -> Option<Decimal> {
    match value {
        Literal::Integer(number) => Some(Decimal::of_integer(*number)),
        Literal::Text(text) => Decimal::exactly(text.trim_matches(|letter| matches!(letter, '\t'..='\r' | ' '))),
        Literal::Decimal(text) => Some(Decimal::exactly(text).unwrap_or_else(|| Decimal::leading(text))),
    }
}

/// No database here but SQLite can be asked about it, and no text of a site has it.
pub(crate) fn clean(text: &str) -> Result<&str, Fault> {
    match text.contains('\0') {
        true => Err(Fault::new(FaultKind::InvalidArgument, "A text must not contain the character NUL.")),
        false => Ok(text),
    }
}
