//! Lists of ids in one column, separated by spaces: the tenants and groups of clients and tokens.

/// Joined as they are stored.
pub(super) fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.collect();
    words.join(" ")
}

/// Whether the list in this column has the word in this parameter. With `replace` and not with `LIKE`, in which `_` has
/// a meaning.
pub(super) fn has_word(column: &str, parameter: usize) -> String {
    format!("' ' || {column} || ' ' <> {}", replaced(column, parameter))
}

/// The list in this column without the word in this parameter.
pub(super) fn without_word(column: &str, parameter: usize) -> String {
    format!("trim({})", replaced(column, parameter))
}

fn replaced(column: &str, parameter: usize) -> String {
    format!("replace(' ' || {column} || ' ', ' ' || CAST(${parameter} AS TEXT) || ' ', ' ')")
}
