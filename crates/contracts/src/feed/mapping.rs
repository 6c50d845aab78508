//! The mapping file: how the columns and words of one feed are meant, in TOML. Everything in it is optional, and a key
//! that is not known is refused.

use std::collections::BTreeMap;

use encoding_rs::Encoding;
use frontdesk_engine::model::nearest::nearest;
use toml::{Table, Value};

use super::cell::{money, number};
use super::error::FeedError;
use super::target::folded;

/// How a feed is to be read. The default is no mapping at all.
#[derive(Debug, Clone, Default)]
pub struct FeedMapping {
    /// The header as the file has it, and the field; none to ignore the column.
    pub columns: Vec<(String, Option<String>)>,
    /// For a field: texts of the feed and what is meant.
    pub values: BTreeMap<String, Vec<(String, String)>>,
    /// Values of fields that the feed does not have.
    pub constants: BTreeMap<String, String>,
    /// For a field that is a list: what stands between its items.
    pub lists: BTreeMap<String, char>,
    pub defaults: FeedDefaults,
}

/// What holds where the feed itself does not say it.
#[derive(Debug, Clone, Default)]
pub struct FeedDefaults {
    /// ISO 4217, upper case.
    pub currency: Option<String>,
    /// The unit of distances, such as `mi`.
    pub distance: Option<String>,
    pub dates: DateOrder,
    pub numbers: NumberStyle,
    /// The country calling code of telephone numbers without one, such as `1`.
    pub calling_code: Option<String>,
    pub separator: Option<u8>,
    pub encoding: Option<&'static Encoding>,
}

/// What the first number of 11/12/2026 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    #[default]
    MonthFirst,
    DayFirst,
}

/// What the dot of 32.000 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NumberStyle {
    #[default]
    DecimalPoint,
    DecimalComma,
}

const SECTIONS: &[&str] = &["columns", "values", "constants", "lists", "defaults"];
const DEFAULTS: &[&str] = &["currency", "distance", "dates", "numbers", "calling_code", "separator", "encoding"];

impl FeedMapping {
    pub fn from_toml(text: &str) -> Result<FeedMapping, FeedError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
            FeedError::whole(format!("The mapping file is not valid TOML{line}: {}.", error.message()))
        })?;
        let mut mapping = FeedMapping::default();
        for (section, value) in &table {
            match section.as_str() {
                "columns" => mapping.columns = columns(table_of(section, value)?)?,
                "values" => mapping.values = values(table_of(section, value)?)?,
                "constants" => mapping.constants = texts("constants", table_of(section, value)?)?.into_iter().collect(),
                "lists" => mapping.lists = lists(table_of(section, value)?)?,
                "defaults" => mapping.defaults = defaults(table_of(section, value)?)?,
                other => return Err(unknown("section", other, SECTIONS)),
            }
        }
        Ok(mapping)
    }

    /// What a text of the feed means for this field.
    pub(super) fn meaning(&self, field: &str, text: &str) -> Option<&str> {
        let words = self.values.get(field)?;
        let wanted = folded(text);
        let meant =
            words.iter().find(|(from, _)| if wanted.is_empty() { from == text } else { folded(from) == wanted });
        meant.map(|(_, to)| to.as_str())
    }
}

fn columns(table: &Table) -> Result<Vec<(String, Option<String>)>, FeedError> {
    let columns = texts("columns", table)?;
    Ok(columns.into_iter().map(|(header, field)| (header, (!field.is_empty()).then_some(field))).collect())
}

fn values(table: &Table) -> Result<BTreeMap<String, Vec<(String, String)>>, FeedError> {
    let mut values = BTreeMap::new();
    for (field, words) in table {
        let section = format!("values.{field}");
        values.insert(field.clone(), texts(&section, table_of(&section, words)?)?);
    }
    Ok(values)
}

fn lists(table: &Table) -> Result<BTreeMap<String, char>, FeedError> {
    let mut lists = BTreeMap::new();
    for (field, separator) in texts("lists", table)? {
        let mut letters = separator.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => drop(lists.insert(field, letter)),
            _ => return Err(invalid("lists", &field, "one character, such as \"|\"")),
        }
    }
    Ok(lists)
}

fn defaults(table: &Table) -> Result<FeedDefaults, FeedError> {
    let mut defaults = FeedDefaults::default();
    let wrong = |key: &str, expected: &str| Err(invalid("defaults", key, expected));
    for (key, value) in texts("defaults", table)? {
        match key.as_str() {
            "currency" => {
                let code = value.to_ascii_uppercase();
                if !money::is_currency(&code) {
                    return wrong(&key, "an ISO 4217 code, such as \"USD\"");
                }
                defaults.currency = Some(code);
            }
            "distance" => match number::unit_word(&value) {
                Some(unit) => defaults.distance = Some(unit.to_owned()),
                None => return wrong(&key, "\"mi\" or \"km\""),
            },
            "dates" => match value.as_str() {
                "month_first" => defaults.dates = DateOrder::MonthFirst,
                "day_first" => defaults.dates = DateOrder::DayFirst,
                _ => return wrong(&key, "\"month_first\" or \"day_first\""),
            },
            "numbers" => match value.as_str() {
                "decimal_point" => defaults.numbers = NumberStyle::DecimalPoint,
                "decimal_comma" => defaults.numbers = NumberStyle::DecimalComma,
                _ => return wrong(&key, "\"decimal_point\" or \"decimal_comma\""),
            },
            "calling_code" => {
                let code = value.trim_start_matches('+');
                if !(1..=3).contains(&code.len()) || code.starts_with('0') || !code.bytes().all(|b| b.is_ascii_digit())
                {
                    return wrong(&key, "a country calling code, such as \"1\"");
                }
                defaults.calling_code = Some(code.to_owned());
            }
            "separator" => match value.as_bytes() {
                [byte]
                    if byte.is_ascii()
                        && !byte.is_ascii_alphanumeric()
                        && !matches!(byte, b'"' | b'\n' | b'\r' | 0) =>
                {
                    defaults.separator = Some(*byte);
                }
                _ => return wrong(&key, "one character, such as \";\" or \"\\t\""),
            },
            "encoding" => match Encoding::for_label(value.as_bytes()) {
                Some(encoding) => defaults.encoding = Some(encoding),
                None => return wrong(&key, "the name of an encoding, such as \"windows-1252\""),
            },
            other => return Err(unknown("key under [defaults]", other, DEFAULTS)),
        }
    }
    Ok(defaults)
}

fn table_of<'a>(section: &str, value: &'a Value) -> Result<&'a Table, FeedError> {
    value.as_table().ok_or_else(|| FeedError::whole(format!("In the mapping file [{section}] must be a table.")))
}

/// Numbers and truth values may be written without quotes.
fn texts(section: &str, table: &Table) -> Result<Vec<(String, String)>, FeedError> {
    let mut texts = Vec::new();
    for (key, value) in table {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
            Value::Datetime(time) => time.to_string(),
            Value::Float(_) | Value::Array(_) | Value::Table(_) => {
                return Err(invalid(section, key, "a text in quotes"));
            }
        };
        texts.push((key.clone(), text));
    }
    Ok(texts)
}

fn invalid(section: &str, key: &str, expected: &str) -> FeedError {
    FeedError::whole(format!("In the mapping file, [{section}] {key:?} must be {expected}."))
}

fn unknown(what: &str, name: &str, known: &[&str]) -> FeedError {
    let nearest = nearest(name, known.iter().copied()).map(|right| format!(" Did you mean {right:?}?"));
    FeedError::whole(format!(
        "The mapping file has an unknown {what}, {name:?}; there are {}.{}",
        known.join(", "),
        nearest.unwrap_or_default()
    ))
}
