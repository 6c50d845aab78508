//! Texts that a spreadsheet would take for formulas. Exports put an apostrophe in front of them, and reading a CSV file
//! removes it again.

/// What a formula begins with in some spreadsheet.
const STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// One apostrophe more in front of a text that begins like a formula, also after apostrophes, so that removing one again
/// always gives the original.
pub fn escape_formula(text: String) -> String {
    if begins_like_formula(&text) { format!("'{text}") } else { text }
}

/// The text that `escape_formula` was given.
pub fn unescape_formula(text: String) -> String {
    match text.strip_prefix('\'') {
        Some(rest) if begins_like_formula(rest) => rest.to_owned(),
        Some(_) | None => text,
    }
}

fn begins_like_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(STARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_text_is_no_formula_and_comes_back() {
        for (text, escaped) in [
            ("=1+1", "'=1+1"),
            ("+15125550123", "'+15125550123"),
            ("-5", "'-5"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("'=1", "''=1"),
            ("''+", "'''+"),
            ("'quoted'", "'quoted'"),
            ("'", "'"),
            ("plain=1", "plain=1"),
            ("", ""),
        ] {
            assert_eq!(escape_formula(text.to_owned()), escaped);
            assert_eq!(unescape_formula(escaped.to_owned()), text);
        }
    }

    /// Nobody else writes the apostrophe, so other files are read as they are.
    #[test]
    fn texts_of_other_programs_stay() {
        for text in ["=1", "+15125550123", "'98 Civic", "it's"] {
            assert_eq!(unescape_formula(text.to_owned()), text);
        }
    }
}
