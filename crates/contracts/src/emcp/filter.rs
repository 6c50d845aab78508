//! Structured filters of the content and model tools: thirteen operators, values always bound (E-16, E-32). A problem
//! names the argument and the rule, and never repeats the value.

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};
use frontdesk_engine::ports::site_db::{Comparison, Expr, Like, Literal, Number, Operand, Predicate};
use serde_json::{Map, Value as Json};

use super::patterns;

const OPERATORS: &[&str] =
    &["=", "!=", ">", ">=", "<", "<=", "in", "not_in", "like", "like-l", "like-r", "null", "!null"];

const MAX_VALUE_LENGTH: usize = 2_000;
const MAX_VALUES: usize = 200;

/// Beyond it a JSON parser may round; a text is exact.
const MAX_NUMBER: f64 = 1e15;

/// Longer than any number that a supported database can store.
const MAX_NUMBER_LENGTH: usize = 64;

enum Operator {
    Compare(Comparison),
    In,
    NotIn,
    Like(Like),
    IsNull,
    IsNotNull,
}

/// What a filter applies to, which decides how its values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterTarget {
    /// Trimmed, not empty, and without the delimiters of the original's textual filters (E-18).
    Variable,
    /// Unchanged.
    Field,
}

/// The fields `op` and `value` of a filter.
pub(super) fn fields() -> [Field; 2] {
    // A number or a truth value is read as its text before it is checked; see `dialect::lenient`.
    let text = Schema::Text(TextFormat::Free { min: 0, max: MAX_VALUE_LENGTH });
    let number = Schema::Number { min: -MAX_NUMBER, max: MAX_NUMBER };
    let [texts, numbers] = [text.clone(), number.clone()].map(|one| Schema::list(one, MAX_VALUES));
    let value = Schema::AnyOf {
        shapes: vec![text, texts, number, Schema::Boolean, numbers],
        expected: "a text of at most 2000 characters, or for in and not_in an array of at most 200 of them, is expected",
    };
    [
        required(
            "op",
            Schema::one_of(OPERATORS),
            "How to compare. like finds the value anywhere, like-l at the end, like-r at the beginning; null and !null \
             take no value. What has no value is found by null only.",
        ),
        optional(
            "value",
            value,
            "What to compare with, a text or a number; for in and not_in an array, or a text with commas.",
        ),
    ]
}

/// The predicate of a checked filter, which stands at this JSON pointer.
pub(super) fn condition(
    expr: Expr,
    filter: &Map<String, Json>,
    pointer: &str,
    target: FilterTarget,
) -> Result<Predicate, Fault> {
    let cast = filter.get("cast").and_then(Json::as_str).and_then(patterns::cast);
    let operator = operator(filter.get("op").and_then(Json::as_str).unwrap_or_default())
        .ok_or_else(|| Fault::internal("a checked filter has an unknown operator"))?;
    let value = FilterValue { value: filter.get("value"), pointer, target };
    match (operator, cast) {
        (Operator::Compare(comparison), Some(cast)) => {
            let expr = Expr::Number(cast, Box::new(expr));
            Ok(Predicate::Compare(expr, comparison, Operand::Literal(value.number()?)))
        }
        (Operator::In | Operator::NotIn | Operator::Like(_) | Operator::IsNull | Operator::IsNotNull, Some(_)) => {
            Err(Fault::invalid_argument(
                &format!("{pointer}/cast"),
                "not",
                "a cast is allowed with =, !=, >, >=, < and <= only",
            ))
        }
        (Operator::Compare(comparison), None) => {
            Ok(Predicate::Compare(expr, comparison, Operand::Literal(Literal::Text(value.single()?))))
        }
        (Operator::In, None) => Ok(Predicate::AnyOf(expr, value.list()?)),
        (Operator::NotIn, None) => Ok(Predicate::NoneOf(expr, value.list()?)),
        (Operator::Like(like), None) => Ok(Predicate::Like(expr, like, value.non_empty()?)),
        (Operator::IsNull, None) => Ok(Predicate::IsNull(expr)),
        (Operator::IsNotNull, None) => Ok(Predicate::IsNotNull(expr)),
    }
}

pub(super) fn cast_expr(expr: Expr, cast: Option<Number>) -> Expr {
    match cast {
        Some(cast) => Expr::Number(cast, Box::new(expr)),
        None => expr,
    }
}

/// The original builds textual filters from names and values, with these delimiters between them (E-18).
pub(super) fn has_no_delimiter(text: &str) -> bool {
    !text.contains([':', ';'])
}

fn operator(text: &str) -> Option<Operator> {
    Some(match text {
        "=" => Operator::Compare(Comparison::Equal),
        "!=" => Operator::Compare(Comparison::NotEqual),
        ">" => Operator::Compare(Comparison::Greater),
        ">=" => Operator::Compare(Comparison::AtLeast),
        "<" => Operator::Compare(Comparison::Less),
        "<=" => Operator::Compare(Comparison::AtMost),
        "in" => Operator::In,
        "not_in" => Operator::NotIn,
        "like" => Operator::Like(Like::Contains),
        "like-l" => Operator::Like(Like::EndsWith),
        "like-r" => Operator::Like(Like::StartsWith),
        "null" => Operator::IsNull,
        "!null" => Operator::IsNotNull,
        _ => return None,
    })
}

/// The `value` of a filter; the operator decides which of the methods reads it.
struct FilterValue<'a> {
    value: Option<&'a Json>,
    pointer: &'a str,
    target: FilterTarget,
}

impl FilterValue<'_> {
    fn single(&self) -> Result<String, Fault> {
        match self.value {
            Some(Json::String(text)) => self.read(text),
            Some(Json::Array(_)) => Err(self.invalid("type", "this operator takes one value, not an array")),
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => {
                Err(self.invalid("required", "this operator needs a value"))
            }
        }
    }

    fn non_empty(&self) -> Result<String, Fault> {
        match self.single()? {
            empty if empty.is_empty() => {
                Err(self.invalid("minLength", "this operator needs a value that is not empty"))
            }
            text => Ok(text),
        }
    }

    fn number(&self) -> Result<Literal, Fault> {
        let text = self.single()?;
        if text.len() > MAX_NUMBER_LENGTH || !is_number(&text) {
            let expected = "a cast needs a number such as 100 or -2.5 (digits, at most 64 characters)";
            return Err(self.invalid("pattern", expected));
        }
        Ok(Literal::Decimal(text))
    }

    fn list(&self) -> Result<Vec<Literal>, Fault> {
        let texts: Vec<&str> = match self.value {
            Some(Json::String(text)) => text.split(',').collect(),
            Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).collect(),
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => Vec::new(),
        };
        let filled = texts.into_iter().map(str::trim).filter(|text| !text.is_empty());
        let values = filled.map(|text| self.read(text).map(Literal::Text)).collect::<Result<Vec<Literal>, Fault>>()?;
        if values.is_empty() {
            return Err(self.invalid("minItems", "this operator needs at least one value"));
        }
        Ok(values)
    }

    fn read(&self, text: &str) -> Result<String, Fault> {
        match self.target {
            FilterTarget::Field => Ok(text.to_owned()),
            FilterTarget::Variable => match text.trim() {
                "" => Err(self.invalid("minLength", "a value that is not empty is expected")),
                plain if has_no_delimiter(plain) => Ok(plain.to_owned()),
                _ => Err(self.invalid("pattern", "a value must not contain : or ;")),
            },
        }
    }

    fn invalid(&self, keyword: &'static str, expected: &str) -> Fault {
        Fault::invalid_argument(&format!("{}/value", self.pointer), keyword, expected)
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
