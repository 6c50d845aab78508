//! The shape of files: short enough to be read at once, and opened by a sentence that says why they exist.

use super::Finding;
use super::tree::{File, Tree};

const LONGEST_SOURCE: usize = 400;
const LONGEST_TEST: usize = 600;
/// One line a file: its path, a tab, and the reason why it may be longer.
const EXCEPTIONS: &str = "xtask/long-files.tsv";

pub fn files_are_short(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut excused = Vec::new();
    if let Some(list) = tree.file(EXCEPTIONS) {
        for (number, line) in list.lines().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once('\t') {
                Some((path, reason)) if !reason.trim().is_empty() => excused.push((number, path)),
                Some(_) | None => {
                    findings.push(Finding::at(EXCEPTIONS, number, "a path, a tab and a reason are needed"))
                }
            }
        }
    }
    for file in tree.inside("", ".rs") {
        let limit = if is_test(file) { LONGEST_TEST } else { LONGEST_SOURCE };
        let length = file.text.lines().count();
        let excuse = excused.iter().any(|(_, path)| *path == file.path);
        if length > limit && !excuse {
            let message = format!("{length} lines, {limit} at most: it tells more than one thing, so split it");
            findings.push(Finding::in_file(&file.path, message));
        }
    }
    for (number, path) in excused {
        let needed = tree.file(path).is_some_and(|file| file.text.lines().count() > LONGEST_SOURCE);
        if !needed {
            findings.push(Finding::at(EXCEPTIONS, number, format!("{path} needs no exception (any more)")));
        }
    }
    findings
}

pub fn modules_are_introduced(tree: &Tree) -> Vec<Finding> {
    tree.inside("", ".rs")
        .filter(|file| file.is_crate_source() || file.path.starts_with("xtask/src/"))
        .filter(|file| !file.text.trim_start().starts_with("//!"))
        .map(|file| Finding::in_file(&file.path, "must open with `//!`: what it is for, and what it must never do"))
        .collect()
}

fn is_test(file: &File) -> bool {
    file.path.contains("/tests/") || file.path.ends_with("tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_file_is_found_and_a_long_test_is_given_more_room() {
        let long = "//! x\n".repeat(401);
        let longer = "//! x\n".repeat(601);
        let tree = Tree::of(&[
            ("crates/wire/src/a.rs", &long),
            ("crates/wire/tests/a.rs", &long),
            ("crates/wire/tests/b.rs", &longer),
        ]);
        assert_eq!(
            messages(files_are_short(&tree)),
            [
                "crates/wire/src/a.rs: 401 lines, 400 at most: it tells more than one thing, so split it",
                "crates/wire/tests/b.rs: 601 lines, 600 at most: it tells more than one thing, so split it",
            ]
        );
    }

    #[test]
    fn an_exception_needs_a_reason_and_a_file_that_is_still_long() {
        let long = "//! x\n".repeat(401);
        let list = "crates/a/src/a.rs\ta table\ncrates/b/src/b.rs\t\ncrates/c/src/c.rs\tgone";
        let tree = Tree::of(&[("crates/a/src/a.rs", &long), (EXCEPTIONS, list)]);
        assert_eq!(
            messages(files_are_short(&tree)),
            [
                "xtask/long-files.tsv:2: a path, a tab and a reason are needed",
                "xtask/long-files.tsv:3: crates/c/src/c.rs needs no exception (any more)",
            ]
        );
    }

    #[test]
    fn a_module_without_an_introduction_is_found() {
        let tree = Tree::of(&[
            ("crates/wire/src/a.rs", "//! For a.\n"),
            ("crates/wire/src/b.rs", "use std::fmt;\n"),
            ("crates/wire/src/c.rs", ""),
            ("crates/wire/tests/d.rs", "use std::fmt;\n"),
        ]);
        assert_eq!(
            messages(modules_are_introduced(&tree)),
            [
                "crates/wire/src/b.rs: must open with `//!`: what it is for, and what it must never do",
                "crates/wire/src/c.rs: must open with `//!`: what it is for, and what it must never do",
            ]
        );
    }
}
