//! Counts the values and the depth of a JSON text before anything is made of it. One pass, no memory, and it stops at the
//! first value too many, so that the cost of a refusal does not depend on the length of the text. What is no JSON is
//! counted somehow and refused by the parser.

use super::JsonError;

/// Whether the text stays within both limits.
pub(super) fn check(text: &[u8], max_values: usize, max_depth: usize) -> Result<(), JsonError> {
    // Every value but the last is followed by a byte that belongs to no value, so a short text cannot hold too many. The
    // parser itself stops at the depth.
    if text.len() / 2 < max_values {
        return Ok(());
    }
    let mut counts = Counts { values: 1, depth: 0 };
    let mut bytes = text.iter();
    // Whether a container was opened of which nothing was seen yet.
    let mut is_empty = false;
    while let Some(byte) = bytes.next() {
        if is_empty && !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b']' | b'}') {
            is_empty = false;
            counts.values += 1;
        }
        match byte {
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => {
                is_empty = true;
                counts.depth += 1;
            }
            b']' | b'}' => {
                is_empty = false;
                counts.depth = counts.depth.saturating_sub(1);
            }
            b',' => counts.values += 1,
            _ => continue,
        }
        if counts.depth > max_depth {
            return Err(JsonError::TooDeep);
        }
        if counts.values > max_values {
            return Err(JsonError::TooManyValues);
        }
    }
    Ok(())
}

struct Counts {
    values: usize,
    depth: usize,
}

/// Goes on behind the quote that ends the string.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::json::JsonError;

    /// Values of a text, as the smallest limit that it stays within.
    fn values(text: &str) -> usize {
        let padded = format!("{text}{}", " ".repeat(1000));
        (1..400).find(|limit| check(padded.as_bytes(), *limit, 64).is_ok()).unwrap()
    }

    #[test]
    fn values_are_counted_and_not_names_or_texts() {
        for (text, count) in [
            ("1", 1),
            ("\"a,b[c{\"", 1),
            (r#""a\"b,c\\""#, 1),
            ("[]", 1),
            ("[ ]", 1),
            ("[1]", 2),
            ("[1,2 , 3]", 4),
            ("[[],[],[]]", 4),
            (r#"{"a":1,"b":[1,2],"c":{}}"#, 6),
            ("[[[[1]]]]", 5),
        ] {
            assert_eq!(values(text), count, "{text}");
        }
    }

    #[test]
    fn the_scan_stops_at_the_first_value_too_many() {
        // What follows is no JSON, and is not looked at.
        let text = format!("[{}\"", "0,".repeat(20_001));
        assert_eq!(check(text.as_bytes(), 20_000, 64), Err(JsonError::TooManyValues));
        let deep = format!("{}{}", "[".repeat(65), " ".repeat(100_000));
        assert_eq!(check(deep.as_bytes(), 20_000, 64), Err(JsonError::TooDeep));
        assert_eq!(check(deep.as_bytes(), 20_000, 65), Ok(()));
    }
}
