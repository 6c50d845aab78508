//! From a cell to the value that its field's schema asks for. What is ambiguous is refused with what to do about it.

mod date;
pub(super) mod money;
pub(super) mod number;
pub(crate) mod phone;
mod word;

use frontdesk_engine::model::schema::{Field, Presence, Schema, TextFormat};
use frontdesk_wire::json::parse;
use serde_json::{Map, Value};

use super::mapping::FeedDefaults;
use super::target::{Synonym, folded, plain};

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FeedCell {
    Text(String),
    /// An object or an array of a JSON feed.
    Json(Value),
    /// An object or an array that no record of ours can be.
    Invalid,
}

/// What is known about a cell besides its text.
#[derive(Clone, Copy)]
pub(super) struct CellContext<'a> {
    pub(super) path: &'a str,
    pub(super) defaults: &'a FeedDefaults,
    pub(super) synonyms: &'a [Synonym],
    /// The unit or currency that the header implies.
    pub(super) header_unit: Option<&'a str>,
    /// The unit or currency that another column of the row says.
    pub(super) column_unit: Option<&'a str>,
    pub(super) list_separator: Option<char>,
}

const NESTING: &str = "this JSON names a member twice or is nested too deeply";

pub(super) fn convert(schema: &Schema, cell: &FeedCell, context: CellContext<'_>) -> Result<Value, String> {
    match cell {
        FeedCell::Text(text) => convert_text(schema, text.trim(), context),
        FeedCell::Json(Value::Array(items)) => {
            let Schema::List { of, .. } = plain(schema) else {
                return Err("a list is not expected here".to_owned());
            };
            items.iter().map(|item| convert_item(of, item, context)).collect()
        }
        FeedCell::Json(value) => Ok(value.clone()),
        FeedCell::Invalid => Err(NESTING.to_owned()),
    }
}

/// An item of a JSON list; a text is read as a cell is.
fn convert_item(schema: &Schema, item: &Value, context: CellContext<'_>) -> Result<Value, String> {
    match item {
        Value::String(text) => convert_text(schema, text.trim(), context),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Ok(item.clone()),
    }
}

fn convert_text(schema: &Schema, text: &str, context: CellContext<'_>) -> Result<Value, String> {
    match plain(schema) {
        Schema::Text(format) => convert_format(format, text, context).map(Value::String),
        Schema::Integer { .. } => number::parse(text, context.defaults.numbers)?.whole().map(Value::from),
        Schema::MinorUnits { .. } => match text.parse::<i64>() {
            Ok(amount) => Ok(Value::from(amount)),
            Err(_) => Err("whole minor units are expected, such as 2499999 for 24,999.99; a column for the whole \
                           price is named without .amount"
                .to_owned()),
        },
        Schema::Number { .. } => {
            let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            number.map(Value::Number).ok_or_else(|| "a number is expected, such as 12.5".to_owned())
        }
        Schema::Boolean => truth(text).map(Value::Bool).ok_or_else(|| "yes or no is expected".to_owned()),
        Schema::Object(fields) | Schema::Extended { fields, .. } => convert_record(fields, text, context),
        Schema::List { of, .. } => convert_list(of, text, context),
        Schema::Map(_) | Schema::AnyObject => json(text).ok_or_else(|| "a JSON object is expected".to_owned()),
        // A field of a vendor, which takes any text.
        Schema::AnyOf { .. } | Schema::Nullable(_) | Schema::Clearable(_) => Ok(Value::String(text.to_owned())),
    }
}

fn convert_format(format: &TextFormat, text: &str, context: CellContext<'_>) -> Result<String, String> {
    match format {
        TextFormat::OneOf(words) => word::parse(words, text, context.path, context.synonyms),
        TextFormat::Timestamp => date::parse(text, context.defaults.dates),
        TextFormat::Phone => phone::to_e164(text, context.defaults.calling_code.as_deref()),
        TextFormat::Currency => Ok(text.to_ascii_uppercase()),
        TextFormat::Free { .. }
        | TextFormat::Email
        | TextFormat::Date
        | TextFormat::HttpsUrl
        | TextFormat::Matching(_)
        | TextFormat::Pattern(_) => Ok(text.to_owned()),
    }
}

fn convert_record(fields: &[Field], text: &str, context: CellContext<'_>) -> Result<Value, String> {
    if text.starts_with('{') {
        return json(text).ok_or_else(|| "this JSON object is not valid".to_owned());
    }
    if let Some((amount, currency)) = money_fields(fields) {
        let (minor, code) = money::parse(text, context)?;
        return Ok(record([(amount, Value::from(minor)), (currency, Value::from(code))]));
    }
    if let Some((value, unit, units)) = quantity_fields(fields) {
        let (whole, word) = number::parse_quantity(text, units, context)?;
        return Ok(record([(value, Value::from(whole)), (unit, Value::from(word))]));
    }
    // A record of which only one text must be there is written as that text.
    let mut required = fields.iter().filter(|field| field.presence == Presence::Required);
    match (required.next(), required.next()) {
        (Some(field), None) if matches!(plain(&field.schema), Schema::Text(_)) => {
            Ok(record([(field.name, convert_text(&field.schema, text, context)?)]))
        }
        _ => {
            let columns: Vec<String> = fields.iter().map(|field| format!("{}.{}", context.path, field.name)).collect();
            Err(format!("this has several parts: make columns {}, or write it as JSON", columns.join(", ")))
        }
    }
}

fn record<const COUNT: usize>(members: [(&str, Value); COUNT]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<String, Value>>())
}

/// The names of amount and currency, if these are the fields of money.
pub(super) fn money_fields(fields: &[Field]) -> Option<(&'static str, &'static str)> {
    let amount = fields.iter().find(|field| matches!(field.schema, Schema::MinorUnits { .. }))?;
    let currency = fields.iter().find(|field| matches!(field.schema, Schema::Text(TextFormat::Currency)))?;
    Some((amount.name, currency.name))
}

/// The names of number and unit, and the units, if these are the fields of a quantity.
pub(super) fn quantity_fields(fields: &[Field]) -> Option<(&'static str, &'static str, &'static [&'static str])> {
    let [number, unit] = fields else {
        return None;
    };
    match (&number.schema, &unit.schema) {
        (Schema::Integer { .. }, Schema::Text(TextFormat::OneOf(units))) => Some((number.name, unit.name, units)),
        _ => None,
    }
}

fn convert_list(of: &Schema, text: &str, context: CellContext<'_>) -> Result<Value, String> {
    if text.starts_with('[') {
        return match json(text) {
            Some(Value::Array(items)) => items.iter().map(|item| convert_item(of, item, context)).collect(),
            _ => Err("this JSON list is not valid".to_owned()),
        };
    }
    let separator = context.list_separator.or_else(|| ['|', ';', ','].into_iter().find(|mark| text.contains(*mark)));
    let items = text.split(|letter| Some(letter) == separator).map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| convert_text(of, item, context)).collect()
}

fn json(text: &str) -> Option<Value> {
    parse(text.as_bytes()).ok()
}

/// What people write for yes and no.
pub(super) fn truth(text: &str) -> Option<bool> {
    match folded(text).as_str() {
        "yes" | "y" | "true" | "t" | "1" | "x" | "on" => Some(true),
        "no" | "n" | "false" | "f" | "0" | "off" => Some(false),
        _ => None,
    }
}
