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

/// Whether the list has the word.
pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// The list without the word.
pub(super) fn remove(list: &str, word: &str) -> String {
    join(list.split(' ').filter(|one| !one.is_empty() && *one != word))
}

fn replaced(column: &str, parameter: usize) -> String {
    format!("replace(' ' || {column} || ' ', ' ' || CAST(${parameter} AS TEXT) || ' ', ' ')")
}
