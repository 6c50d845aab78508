//! Names that were replaced by plain ones and must not return. The list holds only identifiers that have no other use.

use super::Finding;
use super::exceptions::rows;
use super::tree::Tree;

/// One line a name: the old identifier, a tab, and what it is called now.
const LIST: &str = "xtask/old-names.tsv";

pub fn do_not_return(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names = rows(tree, LIST, ["old name", "new name"], &mut findings);
    for file in tree.inside("", ".rs") {
        for ((number, line), code) in file.lines().zip(file.code().lines()) {
            let found = identifiers(code).chain(quoted(line));
            for (_, [old, new]) in found.filter_map(|word| names.iter().find(|(_, [old, _])| *old == word)) {
                findings.push(Finding::at(&file.path, number, format!("`{old}` is called `{new}` now")));
            }
        }
    }
    findings
}

fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|character: char| !(character.is_alphanumeric() || character == '_')).filter(|word| !word.is_empty())
}

/// The identifiers that a comment names in backticks; its other words are English.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    // Two slashes after an odd number of quotes stand in a string.
    let comment =
        line.match_indices("//").find(|(at, _)| line.get(..*at).is_some_and(|code| code.matches('"').count() % 2 == 0));
    let text = comment.and_then(|(at, _)| line.get(at..)).unwrap_or_default();
    text.split('`').skip(1).step_by(2).flat_map(identifiers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(source: &str) -> Vec<String> {
        let list = "# old, new\nSighting\tCallRecord\nbring_home\tcheckpoint\n";
        let tree = Tree::of(&[("crates/a/src/lib.rs", source), (LIST, list)]);
        do_not_return(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_old_name_in_code_or_in_a_comment_is_found_with_the_new_one() {
        assert_eq!(
            messages("fn a(b: &Sighting) {\n    wal.bring_home(); // see `Sighting::new`\n}"),
            [
                "crates/a/src/lib.rs:1: `Sighting` is called `CallRecord` now",
                "crates/a/src/lib.rs:2: `bring_home` is called `checkpoint` now",
                "crates/a/src/lib.rs:2: `Sighting` is called `CallRecord` now",
            ]
        );
    }

    #[test]
    fn longer_names_texts_and_english_are_left_alone() {
        for source in ["struct Sightings;", "fn bring_home_later() {}", "let a = \"Sighting\";", "// Sighting land"] {
            assert_eq!(messages(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn a_row_without_the_new_name_is_found() {
        let tree = Tree::of(&[(LIST, "Sighting\n")]);
        assert_eq!(do_not_return(&tree).len(), 1);
    }
}
