//! On which line of a file each of its values stands, so that an error can be found there. It reads JSON that is known to
//! be valid, once and from front to back.

use std::collections::BTreeMap;

use serde_json::Value;

/// More references on the way to a value are a circle.
const MAX_JUMPS: usize = 12;

pub(super) struct Lines {
    /// By JSON Pointer. A member stands where its name does.
    lines: BTreeMap<String, usize>,
    /// Members that an object has twice, by pointer and the line of the second.
    pub(super) duplicates: Vec<(String, usize)>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Lines {
        let mut scan = Scan {
            text,
            at: 0,
            line: 1,
            found: Lines { lines: BTreeMap::from([(String::new(), 1)]), duplicates: Vec::new() },
        };
        scan.value("");
        scan.found
    }

    /// Where a pointer into a schema without references stands in the file: what a `$ref` stands for is found in its
    /// definition, and what is missing where it would have to be.
    pub(super) fn locate(&self, file: &Value, pointer: &str) -> (String, usize) {
        let mut pointer = pointer.to_owned();
        for _ in 0..MAX_JUMPS {
            if let Some(line) = self.lines.get(&pointer) {
                return (pointer, *line);
            }
            let (known, rest) = self.split(&pointer);
            let reference = file.pointer(known).and_then(|value| value.get("$ref")).and_then(Value::as_str);
            match reference.and_then(|reference| reference.strip_prefix('#')) {
                Some(target) if target.starts_with("/definitions/") => pointer = format!("{target}{rest}"),
                Some(_) | None => break,
            }
        }
        let (known, _) = self.split(&pointer);
        let line = self.lines.get(known).copied().unwrap_or(1);
        (pointer, line)
    }

    /// The longest beginning that stands in the file, and what is left.
    fn split<'p>(&self, pointer: &'p str) -> (&'p str, &'p str) {
        let mut known = pointer;
        while !self.lines.contains_key(known) {
            let Some(shorter) = known.rfind('/') else { return ("", pointer) };
            known = known.get(..shorter).unwrap_or_default();
        }
        (known, pointer.get(known.len()..).unwrap_or_default())
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    found: Lines,
}

impl Scan<'_> {
    /// Recurses as deeply as the text, which is as deep as the parser of JSON allows.
    fn value(&mut self, pointer: &str) {
        match self.next() {
            Some(b'{') => self.object(pointer),
            Some(b'[') => self.list(pointer),
            Some(b'"') => drop(self.string()),
            Some(_) | None => {
                while self.here().is_some_and(|byte| !b",]} \t\r\n".contains(&byte)) {
                    self.at += 1;
                }
            }
        }
    }

    fn object(&mut self, pointer: &str) {
        self.at += 1;
        while self.next().is_some_and(|byte| byte == b'"') {
            let line = self.line;
            let name = self.string();
            let below = format!("{pointer}/{}", escaped(&name));
            if self.found.lines.insert(below.clone(), line).is_some() {
                self.found.duplicates.push((below.clone(), line));
            }
            // The colon.
            self.next();
            self.at += 1;
            self.value(&below);
            if self.next() == Some(b',') {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn list(&mut self, pointer: &str) {
        self.at += 1;
        let mut place = 0;
        while self.next().is_some_and(|byte| byte != b']') {
            let below = format!("{pointer}/{place}");
            self.found.lines.insert(below.clone(), self.line);
            self.value(&below);
            place += 1;
            if self.next() == Some(b',') {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    /// The text of a string, from its first quote to behind its last.
    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.here().filter(|byte| *byte != b'"') {
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        self.text.get(start..self.at).and_then(|quoted| serde_json::from_str(quoted).ok()).unwrap_or_default()
    }

    fn here(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        while let Some(byte) = self.here().filter(|byte| b" \t\r\n".contains(byte)) {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
        self.here()
    }
}

/// A name as a part of a JSON Pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::Lines;

    const TEXT: &str = r##"{
  "name": "a \"quoted\" name: {[",
  "tools": [
    {"name": "one", "input": {"$ref": "#/definitions/x"}},
    {
      "name": "two",
      "list": [1, [2,
        3], {"deep": null}],
      "a/b": true
    }
  ],
  "definitions": {
    "x": {"type": "object",
      "properties": {"y": {"$ref": "#/definitions/y"}}},
    "y": {
      "oneOf": []}
  }
}"##;

    #[test]
    fn every_value_is_found_on_its_line() {
        let file: Value = serde_json::from_str(TEXT).unwrap();
        let lines = Lines::of(TEXT);
        for (pointer, place, line) in [
            ("", "", 1),
            ("/name", "/name", 2),
            ("/tools/0/name", "/tools/0/name", 4),
            ("/tools/1", "/tools/1", 5),
            ("/tools/1/name", "/tools/1/name", 6),
            ("/tools/1/list/1/1", "/tools/1/list/1/1", 8),
            ("/tools/1/list/2/deep", "/tools/1/list/2/deep", 8),
            ("/tools/1/a~1b", "/tools/1/a~1b", 9),
            // What is missing stands where it would have to be.
            ("/tools/1/output/properties", "/tools/1/output/properties", 5),
            // What a reference stands for stands in its definition.
            ("/tools/0/input/properties/y/oneOf", "/definitions/y/oneOf", 16),
            ("/nowhere", "/nowhere", 1),
        ] {
            assert_eq!(lines.locate(&file, pointer), (place.to_owned(), line), "{pointer}");
        }
    }

    #[test]
    fn every_line_of_the_intents_built_in_is_the_one_of_its_name() {
        for (id, text) in crate::tomo::intent::BUILT_IN {
            for (pointer, line) in Lines::of(text).lines {
                let name = pointer.rsplit('/').next().unwrap_or_default();
                if name.parse::<usize>().is_err() && !name.is_empty() {
                    let written = text.lines().nth(line - 1).unwrap();
                    assert!(
                        written.contains(&format!("\"{name}\"")),
                        "{id} {pointer} is not in line {line}: {written}"
                    );
                }
            }
        }
    }

    #[test]
    fn members_that_stand_twice_are_found() {
        let lines = Lines::of("{\"a\": {\"b\": 1,\n\"b\": 2}, \"c\": [{\"d\": 1}, {\"d\": 2}]}");
        assert_eq!(lines.duplicates, [("/a/b".to_owned(), 2)]);
    }
}
