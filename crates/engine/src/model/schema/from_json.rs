//! A schema from a file. It becomes ours only if every keyword of it is one that we check: a rule that is published and
//! not enforced would be a lie to callers.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::{Field, Presence, Schema, TextFormat};
use crate::model::intern::intern;

/// What is wrong with the schema, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON Pointer into the schema.
    pub pointer: String,
    pub reason: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(out, "{place}: {}", self.reason)
    }
}

/// A regular expression of a file, with the lengths that stand beside it.
#[derive(Debug, Clone)]
pub struct TextPattern {
    regex: Regex,
    min: usize,
    max: usize,
}

impl TextPattern {
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        (self.min..=self.max).contains(&text.chars().count()) && self.regex.is_match(text)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({"type": "string", "pattern": self.as_str(), "minLength": self.min, "maxLength": self.max})
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &TextPattern) -> bool {
        self.as_str() == other.as_str() && (self.min, self.max) == (other.min, other.max)
    }
}

/// Texts and lists without a bound of their own get these.
const MAX_TEXT: usize = 4_000;
const MAX_ITEMS: usize = 1_000;
/// How large a compiled pattern may be. The time of a match grows with this and with the length of the text.
const MAX_PATTERN: usize = 64 << 10;
/// Up to here every integer is exact in every client.
const MAX_INTEGER: i64 = 9_007_199_254_740_991;
/// Deeper schemas than this are not written by people.
const MAX_DEPTH: usize = 16;

/// Keywords that say something to readers and demand nothing.
const ANNOTATIONS: [&str; 4] = ["description", "title", "$comment", "examples"];

impl Schema {
    /// Reads a JSON Schema. References must have been resolved.
    pub fn from_json(schema: &Value) -> Result<Schema, SchemaError> {
        read(schema, &mut Path::default())
    }
}

/// Where the reader is.
#[derive(Default)]
struct Path(Vec<String>);

impl Path {
    fn error(&self, reason: impl Into<String>) -> SchemaError {
        let pointer = self.0.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect();
        SchemaError { pointer, reason: reason.into() }
    }

    fn below<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Path) -> Result<T, SchemaError>,
    ) -> Result<T, SchemaError> {
        self.0.push(name.to_owned());
        let result =
            if self.0.len() > MAX_DEPTH * 2 { Err(self.error("the schema is nested too deeply")) } else { read(self) };
        self.0.pop();
        result
    }
}

fn read(schema: &Value, path: &mut Path) -> Result<Schema, SchemaError> {
    let Some(schema) = schema.as_object() else {
        return Err(path.error("an object with `type` is expected"));
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => object(schema, path),
        Some("array") => array(schema, path),
        Some("string") => string(schema, path),
        Some("integer") => {
            only(schema, &["minimum", "maximum", "const"], path)?;
            if let Some(only) = schema.get("const") {
                let only = only.as_i64().ok_or_else(|| path.error("const must be an integer here"))?;
                return Ok(Schema::Integer { min: only, max: only });
            }
            let bound = |name: &str, default: i64| match schema.get(name) {
                None => Ok(default),
                Some(value) => value.as_i64().ok_or_else(|| path.error(format!("{name} must be an integer"))),
            };
            Ok(Schema::Integer { min: bound("minimum", -MAX_INTEGER)?, max: bound("maximum", MAX_INTEGER)? })
        }
        Some("number") => {
            only(schema, &["minimum", "maximum"], path)?;
            let bound = |name: &str, default: f64| match schema.get(name) {
                None => Ok(default),
                Some(value) => value.as_f64().ok_or_else(|| path.error(format!("{name} must be a number"))),
            };
            Ok(Schema::Number { min: bound("minimum", -1e15)?, max: bound("maximum", 1e15)? })
        }
        Some("boolean") => {
            only(schema, &[], path)?;
            Ok(Schema::Boolean)
        }
        Some(other) => {
            Err(path
                .error(format!("the type {other:?} is not one of object, array, string, integer, number and boolean")))
        }
        None => Err(path.error("`type` is required, as one word")),
    }
}

fn object(schema: &Map<String, Value>, path: &mut Path) -> Result<Schema, SchemaError> {
    only(schema, &["properties", "required", "additionalProperties"], path)?;
    let Some(properties) = schema.get("properties") else {
        return match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) if !schema.contains_key("required") => Ok(Schema::AnyObject),
            Some(Value::Bool(false)) if !schema.contains_key("required") => Ok(Schema::Object(Vec::new())),
            Some(of @ Value::Object(_)) if !schema.contains_key("required") => {
                path.below("additionalProperties", |path| read(of, path)).map(Schema::map)
            }
            _ => Err(path.error("`required` without `properties` cannot be checked")),
        };
    };
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(
            path.error("an object with `properties` needs `additionalProperties: false`: other members are refused")
        );
    }
    let properties = properties.as_object().ok_or_else(|| path.error("properties must be an object"))?;
    let required = names(schema.get("required"), path)?;
    if let Some(unknown) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(path.error(format!("{unknown:?} is required, but no property")));
    }
    let mut fields = Vec::new();
    for (name, property) in properties {
        let schema = path.below("properties", |path| path.below(name, |path| read(property, path)))?;
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let presence = if required.contains(&name.as_str()) { Presence::Required } else { Presence::Optional };
        fields.push(Field { name: intern(name), about: intern(about), schema, presence });
    }
    Ok(Schema::Object(fields))
}

fn array(schema: &Map<String, Value>, path: &mut Path) -> Result<Schema, SchemaError> {
    only(schema, &["items", "minItems", "maxItems"], path)?;
    let items = schema.get("items").ok_or_else(|| path.error("`items` is required"))?;
    let of = path.below("items", |path| read(items, path))?;
    let (min, max) = (count(schema, "minItems", 0, path)?, count(schema, "maxItems", MAX_ITEMS, path)?);
    Ok(Schema::List { of: Box::new(of), min, max })
}

fn string(schema: &Map<String, Value>, path: &mut Path) -> Result<Schema, SchemaError> {
    let text = |format| Ok(Schema::Text(format));
    if let Some(only_word) = schema.get("const") {
        only(schema, &["const"], path)?;
        let word = only_word.as_str().ok_or_else(|| path.error("const must be a string here"))?;
        return text(TextFormat::OneOf(words(&[word])));
    }
    if schema.contains_key("enum") {
        only(schema, &["enum"], path)?;
        let allowed = names(schema.get("enum"), path)?;
        if allowed.is_empty() {
            return Err(path.error("enum needs at least one word"));
        }
        return text(TextFormat::OneOf(words(&allowed)));
    }
    if let Some(format) = schema.get("format") {
        only(schema, &["format"], path)?;
        return match format.as_str() {
            Some("date-time") => text(TextFormat::Timestamp),
            Some("date") => text(TextFormat::Date),
            Some("email") => text(TextFormat::Email),
            Some("uri") => text(TextFormat::HttpsUrl),
            Some(_) | None => Err(path.error("format must be one of date-time, date, email and uri")),
        };
    }
    only(schema, &["minLength", "maxLength", "pattern"], path)?;
    let (min, max) = (count(schema, "minLength", 0, path)?, count(schema, "maxLength", MAX_TEXT, path)?);
    match schema.get("pattern") {
        None => text(TextFormat::Free { min, max }),
        Some(pattern) => {
            let pattern = pattern.as_str().ok_or_else(|| path.error("pattern must be a string"))?;
            let regex = RegexBuilder::new(pattern)
                .size_limit(MAX_PATTERN)
                .build()
                .map_err(|_| path.error("pattern is no regular expression that we can check"))?;
            text(TextFormat::Matching(TextPattern { regex, min, max }))
        }
    }
}

/// Refuses every keyword that would not be checked.
fn only(schema: &Map<String, Value>, checked: &[&str], path: &mut Path) -> Result<(), SchemaError> {
    let is_known = |name: &str| name == "type" || checked.contains(&name) || ANNOTATIONS.contains(&name);
    match schema.keys().find(|name| !is_known(name)) {
        Some(unknown) => path.below(unknown, |path| Err(path.error("this keyword would not be checked here"))),
        None => Ok(()),
    }
}

fn names<'v>(value: Option<&'v Value>, path: &Path) -> Result<Vec<&'v str>, SchemaError> {
    let wrong = || path.error("a list of strings is expected");
    let Some(value) = value else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or_else(wrong)?;
    items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
}

fn count(schema: &Map<String, Value>, name: &str, default: usize, path: &Path) -> Result<usize, SchemaError> {
    match schema.get(name) {
        None => Ok(default),
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| path.error(format!("{name} must be a whole number")))
        }
    }
}

/// A list of words for the rest of the process. Lists of equal words share one allocation.
fn words(words: &[&str]) -> &'static [&'static str] {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};
    static LISTS: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    let words: Vec<&'static str> = words.iter().map(|word| intern(word)).collect();
    match lists.get(words.as_slice()) {
        Some(known) => known,
        None => {
            let kept: &'static [&'static str] = words.leak();
            lists.insert(kept);
            kept
        }
    }
}
