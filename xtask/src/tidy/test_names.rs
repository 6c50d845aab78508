//! The tests of the tree by name, for the lists that name them.

use super::tree::Tree;

pub(super) struct Test {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) name: String,
}

/// Functions under `#[test]` and similar attributes in `crates/*/tests`, and functions of the interop scripts.
pub(super) fn tests(tree: &Tree) -> Vec<Test> {
    let mut found = Vec::new();
    for file in tree.inside("crates/", ".rs") {
        if file.in_crate().is_some_and(|(_, rest)| rest.starts_with("tests/")) {
            let mut marked = false;
            for (index, line) in file.code().lines().enumerate() {
                let line = line.trim();
                if let Some(attribute) = line.strip_prefix("#[") {
                    marked |= is_test_attribute(attribute);
                } else if let Some(name) = function(line, "fn ") {
                    if marked {
                        found.push(Test { path: file.path.clone(), line: index + 1, name });
                    }
                    marked = false;
                } else if line.ends_with(';') || line.ends_with('}') {
                    marked = false;
                }
            }
        }
    }
    for file in tree.inside("scripts/interop/", ".py") {
        for (number, line) in file.lines() {
            if let Some(name) = function(line.trim(), "def ") {
                found.push(Test { path: file.path.clone(), line: number, name });
            }
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
