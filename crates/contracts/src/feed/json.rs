//! The records of a JSON feed: an array of objects, an object whose member `items` is one, or one object per line. One
//! record is parsed at a time, and numbers are kept as they are written.

use std::fmt;
use std::io::Read;

use frontdesk_wire::json::parse;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::cell::FeedCell;
use super::decode::TextBuffer;
use super::error::FeedError;
use super::{MAX_COLUMNS, MAX_RECORD_BYTES};

pub(super) struct JsonRecords {
    shape: JsonShape,
    position: JsonPosition,
}

/// What the records are in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonShape {
    Array,
    /// An object; the array is its member `items`.
    Wrapped,
    Lines,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonPosition {
    First,
    Later,
    End,
}

/// The members of one record, in their order.
pub(super) type JsonMembers = Vec<(String, Option<FeedCell>)>;

impl JsonRecords {
    /// Finds the first record.
    pub(super) fn open<R: Read>(input: &mut TextBuffer<R>) -> Result<JsonRecords, FeedError> {
        let shape = match input.skip_while(is_space)? {
            Some(b'[') => {
                input.consume(1);
                JsonShape::Array
            }
            Some(b'{') => match items_array(input.peek(MAX_RECORD_BYTES)?) {
                Some(after_bracket) => {
                    input.consume(after_bracket);
                    JsonShape::Wrapped
                }
                None => JsonShape::Lines,
            },
            Some(_) => return Err(FeedError::json(input.line(), "an array or an object is expected")),
            None => return Err(FeedError::empty()),
        };
        Ok(JsonRecords { shape, position: JsonPosition::First })
    }

    /// The next record, and the line of the file where it begins.
    pub(super) fn next<R: Read>(&mut self, input: &mut TextBuffer<R>) -> Result<Option<(u64, JsonMembers)>, FeedError> {
        let mut next = input.skip_while(is_space)?;
        if self.position == JsonPosition::End {
            return Ok(None);
        }
        if self.shape == JsonShape::Lines {
            if next.is_none() {
                return Ok(None);
            }
        } else {
            match (next, self.position) {
                (Some(b']'), _) => {
                    input.consume(1);
                    self.position = JsonPosition::End;
                    return self.end(input).map(|()| None);
                }
                (Some(b','), JsonPosition::Later) => {
                    input.consume(1);
                    next = input.skip_while(is_space)?;
                }
                (Some(_), JsonPosition::First) => {}
                (Some(_), _) => return Err(FeedError::json(input.line(), "a comma is expected between two records")),
                (None, _) => return Err(FeedError::json(input.line(), "it is cut off before the end of the array")),
            }
        }
        self.position = JsonPosition::Later;
        let line = input.line();
        match next {
            Some(b'{') => {}
            Some(_) => return Err(FeedError::json(line, "every record must be an object")),
            None => return Err(FeedError::json(line, "it is cut off before the end of the array")),
        }
        let record = object(input, line)?;
        let members = serde_json::Deserializer::from_slice(&record).deserialize_map(MemberVisitor);
        let members = members.map_err(|_| FeedError::json(line, "the record that begins here has a mistake"))?;
        if members.len() > MAX_COLUMNS {
            return Err(FeedError::many_columns(line));
        }
        Ok(Some((line, members)))
    }

    /// After the array only the rest of the object around it may come, which is not kept.
    fn end<R: Read>(&self, input: &mut TextBuffer<R>) -> Result<(), FeedError> {
        if self.shape == JsonShape::Wrapped {
            let mut scan = JsonScan { depth: 1, ..JsonScan::default() };
            while scan.depth > 0 {
                let available = input.available()?;
                if available.is_empty() {
                    return Err(FeedError::json(input.line(), "it is cut off before the end of the object"));
                }
                let length = scan.until_closed(available);
                input.consume(length);
            }
        }
        match input.skip_while(is_space)? {
            None => Ok(()),
            Some(_) => Err(FeedError::json(input.line(), "there is more after its end")),
        }
    }
}

/// The bytes of the object that begins here.
fn object<R: Read>(input: &mut TextBuffer<R>, line: u64) -> Result<Vec<u8>, FeedError> {
    let (mut scan, mut record) = (JsonScan::default(), Vec::new());
    loop {
        let available = input.available()?;
        if available.is_empty() {
            return Err(FeedError::json(line, "it is cut off in the record that begins here"));
        }
        let length = scan.until_closed(available);
        record.extend_from_slice(available.get(..length).unwrap_or_default());
        input.consume(length);
        if record.len() > MAX_RECORD_BYTES {
            return Err(FeedError::long_record(line));
        }
        if scan.depth == 0 {
            return Ok(record);
        }
    }
}

/// Follows brackets and strings, which is all that is needed to find where an object ends.
#[derive(Default)]
struct JsonScan {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl JsonScan {
    /// How many bytes there are up to and with the one that closes the outermost bracket, or all.
    fn until_closed(&mut self, bytes: &[u8]) -> usize {
        for (position, byte) in bytes.iter().enumerate() {
            self.step(*byte);
            if self.depth == 0 && !self.is_in_string {
                return position + 1;
            }
        }
        bytes.len()
    }

    fn step(&mut self, byte: u8) {
        if self.is_in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Where the array of the member `items` begins in the object at the start of this text; behind its bracket.
fn items_array(text: &[u8]) -> Option<usize> {
    let mut scan = JsonScan::default();
    for (position, byte) in text.iter().enumerate() {
        let is_member = scan.depth == 1 && !scan.is_in_string && *byte == b'"';
        scan.step(*byte);
        if scan.depth == 0 {
            return None;
        }
        if is_member && let Some(value) = text.get(position..).and_then(|rest| rest.strip_prefix(b"\"items\"")) {
            let value = value.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
            if let Some(rest) = value.and_then(|value| value.strip_prefix(b"[")) {
                return Some(text.len() - rest.len());
            }
        }
    }
    None
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = JsonMembers;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            members.push((name, cell(value.get())));
        }
        Ok(members)
    }
}

/// A text, number or truth value as text, so that it is read as a cell of a CSV feed is; `null` is an empty cell.
fn cell(raw: &str) -> Option<FeedCell> {
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw).ok().map(FeedCell::Text),
        // A name that occurs twice or absurd nesting; what is wrong is said where it is converted.
        Some(b'{' | b'[') => Some(parse(raw.as_bytes()).map_or(FeedCell::Invalid, FeedCell::Json)),
        Some(b'n') | None => None,
        Some(_) => Some(FeedCell::Text(raw.to_owned())),
    }
}
