//! How a value is compared with an expression. It is decided here, because the databases compare a text with a number
//! in three different ways.

use frontdesk_engine::ports::site_db::Literal;
use frontdesk_engine::{Fault, FaultKind};

use super::decimal::Decimal;

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExprType {
    Integer,
    Text,
    Decimal,
    /// NULL in every row.
    Null,
}

/// A value, converted to the type in which it is compared.
pub(super) enum Comparand {
    /// The expression is NULL in every row.
    Null,
    /// The expression is an integer and the value is no number.
    NotANumber,
    Integer(i64),
    Text(String),
    Decimal(Decimal),
}

impl Comparand {
    pub(super) fn new(expr_type: ExprType, value: &Literal) -> Result<Comparand, Fault> {
        if let Literal::Text(text) = value {
            without_nul(text)?;
        }
        let text = || match value {
            Literal::Integer(number) => number.to_string(),
            Literal::Text(text) | Literal::Decimal(text) => text.clone(),
        };
        Ok(match (expr_type, value) {
            (ExprType::Null, _) => Comparand::Null,
            (ExprType::Text, _) => Comparand::Text(text()),
            (ExprType::Integer, Literal::Integer(number)) => Comparand::Integer(*number),
            (ExprType::Integer, Literal::Text(_) | Literal::Decimal(_)) => match decimal(value) {
                Some(number) => number.as_integer().map_or(Comparand::Decimal(number), Comparand::Integer),
                None => Comparand::NotANumber,
            },
            (ExprType::Decimal, _) => {
                Comparand::Decimal(decimal(value).unwrap_or_else(|| Decimal::parse_prefix(&text())))
            }
        })
    }

    /// Whether some character sets cannot hold it.
    pub(super) fn is_non_ascii(&self) -> bool {
        match self {
            Comparand::Text(text) => !text.is_ascii(),
            Comparand::Null | Comparand::NotANumber | Comparand::Integer(_) | Comparand::Decimal(_) => false,
        }
    }
}

fn decimal(value: &Literal) -> Option<Decimal> {
    match value {
        Literal::Integer(number) => Some(Decimal::from(*number)),
        Literal::Text(text) => Decimal::parse(text.trim_matches(|letter| matches!(letter, '\t'..='\r' | ' '))),
        Literal::Decimal(text) => Some(Decimal::parse(text).unwrap_or_else(|| Decimal::parse_prefix(text))),
    }
}

/// PostgreSQL and MySQL reject NUL in a text.
pub(super) fn without_nul(text: &str) -> Result<&str, Fault> {
    if text.contains('\0') {
        return Err(Fault::new(FaultKind::InvalidArgument, "A text must not contain the character NUL."));
    }
    Ok(text)
}
