//! The tests of the tree by name: for the lists that name them, and how long a name may be.

use super::Finding;
use super::tree::{File, Tree};

/// The clause id and the behaviour must fit into one line of a report.
const LONGEST_NAME: usize = 64;

pub fn are_short(tree: &Tree) -> Vec<Finding> {
    tree.inside("", ".rs")
        .flat_map(rust_tests)
        .filter(|test| test.name.len() > LONGEST_NAME)
        .map(|test| {
            let message = format!("`{}` has {} characters, {LONGEST_NAME} at most", test.name, test.name.len());
            Finding::at(&test.path, test.line, message)
        })
        .collect()
}

pub(super) struct Test {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) name: String,
}

/// Functions under `#[test]` and similar attributes in `crates/*/tests`, and functions of the interop scripts.
pub(super) fn tests(tree: &Tree) -> Vec<Test> {
    let files = tree
        .inside("crates/", ".rs")
        .filter(|file| file.in_crate().is_some_and(|(_, rest)| rest.starts_with("tests/")));
    let mut found: Vec<Test> = files.flat_map(rust_tests).collect();
    for file in tree.inside("scripts/interop/", ".py") {
        for (number, line) in file.lines() {
            if let Some(name) = function(line.trim(), "def ") {
                found.push(Test { path: file.path.clone(), line: number, name });
            }
        }
    }
    found
}

/// The same, and those inside the sources of a crate.
pub(super) fn tests_with_unit_tests(tree: &Tree) -> Vec<Test> {
    let sources =
        tree.inside("crates/", ".rs").filter(|file| file.in_crate().is_some_and(|(_, rest)| rest.starts_with("src/")));
    let mut found = tests(tree);
    found.extend(sources.flat_map(rust_tests));
    found
}

fn rust_tests(file: &File) -> Vec<Test> {
    let mut found = Vec::new();
    let mut is_marked = false;
    for (index, line) in file.code().lines().enumerate() {
        let line = line.trim();
        if let Some(attribute) = line.strip_prefix("#[") {
            is_marked |= is_test_attribute(attribute);
        } else if let Some(name) = function(line, "fn ") {
            if is_marked {
                found.push(Test { path: file.path.clone(), line: index + 1, name });
            }
            is_marked = false;
        } else if line.ends_with(';') || line.ends_with('}') {
            is_marked = false;
        }
    }
    found
}

/// `test]`, `tokio::test]` and `tokio::test(..)]`, but not `cfg(test)]`.
fn is_test_attribute(attribute: &str) -> bool {
    let path = attribute.split(['(', ']']).next().unwrap_or_default().trim();
    path.rsplit("::").next() == Some("test")
}

fn function(line: &str, keyword: &str) -> Option<String> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    let name: String =
        line.strip_prefix(keyword)?.chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
    Some(name)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_long_test_name_is_found_and_a_long_helper_is_not() {
        let (long, short) = ("a".repeat(65), "a".repeat(64));
        let text =
            format!("#[test]\nfn {long}() {{}}\n\n#[tokio::test]\nasync fn {short}() {{}}\n\nfn {long}_too() {{}}\n");
        let tree = Tree::of(&[("crates/wire/tests/a.rs", &text)]);
        let found: Vec<String> = are_short(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("crates/wire/tests/a.rs:2: `{long}` has 65 characters, 64 at most")]);
    }
}
