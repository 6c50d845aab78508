//! JSON as the desk accepts it: one meaning per text, or a refusal. It must never repeat the text
//! it refuses, since that text may hold personal data.

mod scan;

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_json::map::Entry;
pub use serde_json::{Map, Value};

/// Containers within containers that a text may hold. No contract comes near it, and every later
/// walk over a value may recurse without fear for the stack.
const MAX_DEPTH: u8 = 64;

/// Values that a text may hold, whatever its length. A tool is called with a few dozen; each costs memory for itself.
const MAX_VALUES: usize = 20_000;

/// Why a text is not JSON that the desk takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonError {
    Encoding,
    Syntax,
    DuplicateKey,
    TooDeep,
    TooManyValues,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encoding => "The text is not UTF-8 without a byte order mark.",
            Self::Syntax => "The text is not valid JSON.",
            Self::DuplicateKey => "An object names the same key twice.",
            Self::TooDeep => "The text is nested too deeply.",
            Self::TooManyValues => "The text holds too many values; send at most 20,000 in one request.",
        })
    }
}

impl std::error::Error for JsonError {}

/// Reads one JSON text and nothing after it. Duplicate keys are refused at every level: two readers
/// of such a text (a gateway and the desk) could each see another meaning.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    read(bytes, |level, reader| level.deserialize(reader))
}

/// As `parse`, for the answer of another server, which may hold any number of values.
pub fn parse_answer(bytes: &[u8]) -> Result<Value, JsonError> {
    read_text(text(bytes)?, |level, reader| level.deserialize(reader))
}

pub(crate) type Reader<'a> = serde_json::Deserializer<serde_json::de::StrRead<'a>>;

/// As `parse`, into whatever is made of the outermost level.
pub(crate) fn read<T>(
    bytes: &[u8],
    make: impl FnOnce(Level<'_>, &mut Reader<'_>) -> Result<T, serde_json::Error>,
) -> Result<T, JsonError> {
    let text = text(bytes)?;
    scan::check(bytes, MAX_VALUES, usize::from(MAX_DEPTH))?;
    read_text(text, make)
}

fn text(bytes: &[u8]) -> Result<&str, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::Encoding)?;
    if text.starts_with('\u{feff}') { Err(JsonError::Encoding) } else { Ok(text) }
}

fn read_text<T>(
    text: &str,
    make: impl FnOnce(Level<'_>, &mut Reader<'_>) -> Result<T, serde_json::Error>,
) -> Result<T, JsonError> {
    let refusal = Cell::new(JsonError::Syntax);
    let mut reader = serde_json::Deserializer::from_str(text);
    let level = Level { room: MAX_DEPTH, refusal: &refusal };
    let value = make(level, &mut reader).map_err(|_| refusal.get())?;
    reader.end().map_err(|_| JsonError::Syntax)?;
    Ok(value)
}

/// The bytes that two equal meanings share: keys sorted, no white space, a whole number written
/// without fraction or exponent however it was sent.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out.into_bytes()
}

/// The same for an object.
pub fn canonical_object(map: &Map<String, Value>) -> Vec<u8> {
    let mut out = String::new();
    write_canonical_object(map, &mut out);
    out.into_bytes()
}

/// Joins the texts of two objects into one, `{"a":1}` and `{"b":2}` into `{"a":1,"b":2}`, without
/// reading them. The caller sees to it that they share no key. A text that is no object adds
/// nothing, so the answer is an object always.
pub fn splice(first: &str, second: &str) -> String {
    let (first, second) = (members(first), members(second));
    let comma = if first.is_empty() || second.is_empty() { "" } else { "," };
    let mut joined = String::with_capacity(first.len() + second.len() + 3);
    for piece in ["{", first, comma, second, "}"] {
        joined.push_str(piece);
    }
    joined
}

/// Writes `text` as a JSON string literal. Stretches without escapes are copied whole, because tool
/// results are quoted JSON and long.
pub fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    // Both ends of a stretch are beside ASCII characters, so every cut falls between characters.
    let mut begin = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(begin..at).unwrap_or_default());
        begin = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
    }
    out.push_str(text.get(begin..).unwrap_or_default());
    out.push('"');
}

/// Writes an integer. A page of a list has hundreds of them, for which the formatting machinery of `std` is slow.
pub fn write_integer(number: i64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}

fn members(object: &str) -> &str {
    let inner = object.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.unwrap_or_default().trim()
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_quoted(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => write_canonical_object(map, out),
    }
}

fn write_canonical_object(map: &Map<String, Value>, out: &mut String) {
    // Sorted here and not by trust in the map, whose order a feature of serde_json could change.
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| key.as_str());
    out.push('{');
    for (at, (key, item)) in entries.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_quoted(key, out);
        out.push(':');
        write_canonical(item, out);
    }
    out.push('}');
}

fn write_number(number: &Number, out: &mut String) {
    /// Below it every whole number has a float of its own, so two numbers cannot come out as one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            out.push_str(&(float as i64).to_string());
        }
        Some(_) | None => out.push_str(&number.to_string()),
    }
}

/// One level of the text: how many levels may still open below it, and where to leave the reason of
/// a refusal, which serde's own error could only carry as words.
#[derive(Clone, Copy)]
pub(crate) struct Level<'a> {
    room: u8,
    refusal: &'a Cell<JsonError>,
}

impl Level<'_> {
    pub(crate) fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.room.checked_sub(1) {
            Some(room) => Ok(Self { room, ..self }),
            None => Err(self.refuse(JsonError::TooDeep)),
        }
    }

    pub(crate) fn refuse<E: serde::de::Error>(self, reason: JsonError) -> E {
        self.refusal.set(reason);
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| self.refuse(JsonError::Syntax))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match map.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(entries.next_value_seed(below)?);
                }
                Entry::Occupied(_) => return Err(self.refuse(JsonError::DuplicateKey)),
            }
        }
        Ok(Value::Object(map))
    }
}
