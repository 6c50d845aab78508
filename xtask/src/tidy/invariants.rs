//! Every invariant of ARCHITECTURE.md names a test that exists.

use super::Finding;
use super::tree::Tree;

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "| invariant |";

pub fn every_invariant_names_its_test(tree: &Tree) -> Vec<Finding> {
    let Some(document) = tree.files.iter().find(|file| file.path == DOCUMENT) else {
        return vec![Finding::in_file(DOCUMENT, "it is missing")];
    };
    let rows: Vec<(usize, &str)> = document
        .lines()
        .skip_while(|(_, line)| !line.starts_with(HEADING))
        .skip(2)
        .take_while(|(_, line)| line.starts_with('|'))
        .collect();
    if rows.is_empty() {
        return vec![Finding::in_file(DOCUMENT, "the table of invariants is missing")];
    }
    let mut findings = Vec::new();
    for (number, row) in rows {
        let guards = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
        let named: Vec<&str> = guards.split('`').skip(1).step_by(2).filter(|name| is_test_name(name)).collect();
        if named.is_empty() {
            findings.push(Finding::at(DOCUMENT, number, "this invariant names no test"));
        }
        for name in named.into_iter().filter(|name| !is_defined(tree, name)) {
            findings.push(Finding::at(DOCUMENT, number, format!("there is no test `{name}`")));
        }
    }
    findings
}

fn is_test_name(text: &str) -> bool {
    text.contains('_')
        && text.len() > 8
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_defined(tree: &Tree, name: &str) -> bool {
    let definition = format!("fn {name}(");
    let rust = tree.files.iter().filter(|file| file.path.ends_with(".rs"));
    rust.flat_map(|file| file.lines()).any(|(_, line)| line.contains(&definition))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(document: &str) -> Vec<String> {
        let tree = Tree::of(&[("ARCHITECTURE.md", document), ("crates/a/tests/b.rs", "fn doors_are_locked() {}")]);
        every_invariant_names_its_test(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn an_invariant_without_its_test_is_found() {
        let table = |row: &str| format!("# A\n\n| invariant | guarded by |\n|---|---|\n{row}\n");
        assert_eq!(messages(&table("| Doors are locked. | `doors_are_locked` |")), [""; 0]);
        let gone = messages(&table("| Doors are locked. | `doors_are_shut` |"));
        assert_eq!(gone, ["ARCHITECTURE.md:5: there is no test `doors_are_shut`"]);
        let none = messages(&table("| Doors are locked. | `xtask` and care |"));
        assert_eq!(none, ["ARCHITECTURE.md:5: this invariant names no test"]);
        assert_eq!(messages("# A"), ["ARCHITECTURE.md: the table of invariants is missing"]);
    }
}
