//! One meaning per name: a type that other modules can see has a name that no other such type of the workspace has.

use std::collections::BTreeMap;

use super::Finding;
use super::exceptions::rows;
use super::tree::{File, Tree};

/// One line a name: the name, a tab, and the reason why it may be defined more than once.
const SHARED: &str = "xtask/shared-names.tsv";
const KEYWORDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

pub fn are_defined_once(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shared = rows(tree, SHARED, ["name", "reason"], &mut findings);
    let mut definitions: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for file in tree.files.iter().filter(|file| file.is_crate_source()) {
        for (number, name) in public_types(file) {
            definitions.entry(name).or_default().push((&file.path, number));
        }
    }
    for (name, places) in &definitions {
        let Some(((first, number), others)) = places.split_first() else { continue };
        if shared.iter().any(|(_, [excepted, _])| excepted == name) {
            continue;
        }
        for (path, line) in others {
            let message = format!(
                "`{name}` is also defined in {first}:{number}: rename one of them, or give the reason in {SHARED}"
            );
            findings.push(Finding::at(path, *line, message));
        }
    }
    for (number, [name, _]) in shared {
        if definitions.get(name).is_none_or(|places| places.len() < 2) {
            findings.push(Finding::at(SHARED, number, format!("{name} needs no exception (any more)")));
        }
    }
    findings
}

/// The types with a visibility of their own, each with its line: `pub`, `pub(crate)`, `pub(super)`, `pub(in ..)`.
fn public_types(file: &File) -> Vec<(usize, String)> {
    file.code().lines().enumerate().filter_map(|(index, line)| Some((index + 1, public_type(line)?))).collect()
}

fn public_type(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')')?.1,
        None => rest,
    };
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (keyword, rest) = rest.split_once(char::is_whitespace)?;
    let name: String = rest.trim_start().chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
    (KEYWORDS.contains(&keyword) && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        are_defined_once(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_second_definition_is_found_in_every_visible_form() {
        for second in [
            "pub enum Place {}",
            "    pub(crate) type Place = u8;",
            "pub(super) trait Place {}",
            "pub(in crate::a) struct Place<T>(T);",
            "pub unsafe trait Place {}",
        ] {
            assert_eq!(
                messages(&[("crates/a/src/lib.rs", "pub struct Place;"), ("crates/b/src/x.rs", second)]),
                ["crates/b/src/x.rs:1: `Place` is also defined in crates/a/src/lib.rs:1: rename one of them, or give \
                  the reason in xtask/shared-names.tsv"],
                "{second}"
            );
        }
    }

    #[test]
    fn private_types_words_and_tests_are_left_alone() {
        for second in [
            "struct Place;",
            "// pub struct Place;",
            "let a = \"pub struct Place\";",
            "pub struct Places;",
            "pub fn Place() {}",
            "pub use other::Place;",
        ] {
            let found = messages(&[("crates/a/src/lib.rs", "pub struct Place;"), ("crates/b/src/x.rs", second)]);
            assert_eq!(found, [""; 0], "{second}");
        }
        let tests = [("crates/a/src/lib.rs", "pub struct Place;"), ("crates/a/tests/x.rs", "pub struct Place;")];
        assert_eq!(messages(&tests), [""; 0]);
    }

    #[test]
    fn an_exception_needs_a_second_definition() {
        let (one, two) = (("crates/a/src/lib.rs", "pub struct Id;"), ("crates/b/src/lib.rs", "pub struct Id;"));
        assert_eq!(messages(&[one, two, (SHARED, "Id\tJSON-RPC's and the database's\n")]), [""; 0]);
        assert_eq!(
            messages(&[one, (SHARED, "Id\tJSON-RPC's and the database's\n")]),
            ["xtask/shared-names.tsv:1: Id needs no exception (any more)"]
        );
    }
}
