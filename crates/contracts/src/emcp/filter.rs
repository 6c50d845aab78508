//! Structured filters of both families of tools: thirteen operators and values that are always bound (E-16, E-32). A
//! problem names the place and the rule, and never repeats the value.

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Field, Schema, Text, optional, required};
use frontdesk_engine::ports::site_db::{Comparison, Expr, Like, Literal, Number, Operand, Predicate};
use serde_json::{Map, Value as Json};

use super::forms;

const OPERATORS: &[&str] =
    &["=", "!=", ">", ">=", "<", "<=", "in", "not_in", "like", "like-l", "like-r", "null", "!null"];

/// No value that is worth looking for is longer.
const LONGEST_VALUE: usize = 2_000;
const MOST_VALUES: usize = 200;

/// No database has numbers with more digits.
const LONGEST_NUMBER: usize = 64;

enum Operator {
    Compare(Comparison),
    AnyOf,
    NoneOf,
    Like(Like),
    Missing,
    Present,
}

/// How the values of a filter are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Trimmed, never empty, and without the signs of the old text form of filters (E-18).
    OfVariables,
    /// As they are.
    OfFields,
}

/// The fields `op` and `value` of a filter.
pub(super) fn fields() -> [Field; 2] {
    let one = Schema::Text(Text::Free { min: 0, max: LONGEST_VALUE });
    let value = Schema::AnyOf {
        shapes: vec![one.clone(), Schema::list(one, MOST_VALUES)],
        expected: "a text of at most 2000 characters, or for in and not_in an array of at most 200 of them, is expected",
    };
    [
        required(
            "op",
            Schema::one_of(OPERATORS),
            "How to compare. like finds the value anywhere, like-l at the end, like-r at the beginning; null and !null \
             take no value. What has no value is found by null only.",
        ),
        optional("value", value, "What to compare with, as text; for in and not_in an array, or a text with commas."),
    ]
}

/// What the checked filter at this place says about the term.
pub(super) fn test(term: Expr, filter: &Map<String, Json>, at: &str, values: Values) -> Result<Predicate, Fault> {
    let cast = filter.get("cast").and_then(Json::as_str).and_then(forms::cast);
    let operator = operator(filter.get("op").and_then(Json::as_str).unwrap_or_default())
        .ok_or_else(|| Fault::internal("a checked filter has an operator that nobody knows"))?;
    let given = Given { value: filter.get("value"), at, values };
    match (operator, cast) {
        (Operator::Compare(comparison), Some(cast)) => {
            let term = Expr::Number(cast, Box::new(term));
            Ok(Predicate::Compare(term, comparison, Operand::Literal(given.number()?)))
        }
        (Operator::AnyOf | Operator::NoneOf | Operator::Like(_) | Operator::Missing | Operator::Present, Some(_)) => {
            Err(Fault::invalid_argument(
                &format!("{at}/cast"),
                "not",
                "a cast is allowed with =, !=, >, >=, < and <= only",
            ))
        }
        (Operator::Compare(comparison), None) => {
            Ok(Predicate::Compare(term, comparison, Operand::Literal(Literal::Text(given.one()?))))
        }
        (Operator::AnyOf, None) => Ok(Predicate::AnyOf(term, given.several()?)),
        (Operator::NoneOf, None) => Ok(Predicate::NoneOf(term, given.several()?)),
        (Operator::Like(likeness), None) => Ok(Predicate::Like(term, likeness, given.some()?)),
        (Operator::Missing, None) => Ok(Predicate::IsNull(term)),
        (Operator::Present, None) => Ok(Predicate::IsNotNull(term)),
    }
}

/// The term as this cast reads it, for an order.
pub(super) fn read_as(term: Expr, cast: Option<Number>) -> Expr {
    match cast {
        Some(cast) => Expr::Number(cast, Box::new(term)),
        None => term,
    }
}

/// A text that may stand where the old text form of filters once stood (E-18).
pub(super) fn is_plain(text: &str) -> bool {
    !text.contains([':', ';'])
}

fn operator(word: &str) -> Option<Operator> {
    Some(match word {
        "=" => Operator::Compare(Comparison::Equal),
        "!=" => Operator::Compare(Comparison::NotEqual),
        ">" => Operator::Compare(Comparison::Greater),
        ">=" => Operator::Compare(Comparison::AtLeast),
        "<" => Operator::Compare(Comparison::Less),
        "<=" => Operator::Compare(Comparison::AtMost),
        "in" => Operator::AnyOf,
        "not_in" => Operator::NoneOf,
        "like" => Operator::Like(Like::Contains),
        "like-l" => Operator::Like(Like::EndsWith),
        "like-r" => Operator::Like(Like::StartsWith),
        "null" => Operator::Missing,
        "!null" => Operator::Present,
        _ => return None,
    })
}

/// The value of a filter before its operator has said what it must be.
struct Given<'a> {
    value: Option<&'a Json>,
    at: &'a str,
    values: Values,
}

impl Given<'_> {
    fn one(&self) -> Result<String, Fault> {
        match self.value {
            Some(Json::String(text)) => self.read(text),
            Some(Json::Array(_)) => Err(self.wrong("type", "this operator takes one value, not an array")),
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => {
                Err(self.wrong("required", "this operator needs a value"))
            }
        }
    }

    fn some(&self) -> Result<String, Fault> {
        match self.one()? {
            empty if empty.is_empty() => Err(self.wrong("minLength", "this operator needs a value that is not empty")),
            text => Ok(text),
        }
    }

    fn number(&self) -> Result<Literal, Fault> {
        let text = self.one()?;
        match text.len() <= LONGEST_NUMBER && is_number(&text) {
            true => Ok(Literal::Decimal(text)),
            false => {
                Err(self.wrong("pattern", "a cast needs a number such as 100 or -2.5 (digits, at most 64 characters)"))
            }
        }
    }

    fn several(&self) -> Result<Vec<Literal>, Fault> {
        let given: Vec<&str> = match self.value {
            Some(Json::String(text)) => text.split(',').collect(),
            Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).collect(),
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => Vec::new(),
        };
        let filled = given.into_iter().map(str::trim).filter(|text| !text.is_empty());
        let values = filled.map(|text| self.read(text).map(Literal::Text)).collect::<Result<Vec<Literal>, Fault>>()?;
        match values.is_empty() {
            true => Err(self.wrong("minItems", "this operator needs at least one value")),
            false => Ok(values),
        }
    }

    fn read(&self, text: &str) -> Result<String, Fault> {
        match self.values {
            Values::OfFields => Ok(text.to_owned()),
            Values::OfVariables => match text.trim() {
                "" => Err(self.wrong("minLength", "a value that is not empty is expected")),
                plain if is_plain(plain) => Ok(plain.to_owned()),
                _ => Err(self.wrong("pattern", "a value must not contain : or ;")),
            },
        }
    }

    fn wrong(&self, keyword: &'static str, expected: &str) -> Fault {
        Fault::invalid_argument(&format!("{}/value", self.at), keyword, expected)
    }
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(unsigned),
    }
}
