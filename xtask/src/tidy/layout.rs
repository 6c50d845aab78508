//! The layout of files and crates: files are short and open with a sentence about their purpose; crates have few modules.

use super::Finding;
use super::exceptions::rows;
use super::tree::{File, Tree};

const LONGEST_SOURCE: usize = 400;
const LONGEST_TEST: usize = 600;
const MOST_MODULES: usize = 12;
/// One line a file: its path, a tab, and the reason why it may be longer.
const EXCEPTIONS: &str = "xtask/long-files.tsv";

pub fn files_are_short(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let excepted = rows(tree, EXCEPTIONS, ["path", "reason"], &mut findings);
    for file in tree.inside("", ".rs") {
        let limit = if is_test(file) { LONGEST_TEST } else { LONGEST_SOURCE };
        let length = file.text.lines().count();
        let is_excepted = excepted.iter().any(|(_, [path, _])| *path == file.path);
        if length > limit && !is_excepted {
            let message = format!("{length} lines, {limit} at most: split it by what it is about");
            findings.push(Finding::in_file(&file.path, message));
        }
    }
    for (number, [path, _]) in excepted {
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

/// The root of a crate is its table of contents, so it must fit into one look.
pub fn crates_have_few_modules(tree: &Tree) -> Vec<Finding> {
    let roots = tree.files.iter().filter(|file| file.in_crate().is_some_and(|(_, rest)| rest == "src/lib.rs"));
    roots
        .map(|file| (file, modules(file)))
        .filter(|(_, count)| *count > MOST_MODULES)
        .map(|(file, count)| {
            let message =
                format!("{count} modules, {MOST_MODULES} at most: put those that belong together into a folder");
            Finding::in_file(&file.path, message)
        })
        .collect()
}

/// Those in files of their own; a `mod` with braces is a part of the root itself.
fn modules(file: &File) -> usize {
    let declares = |line: &str| {
        let line = line.strip_prefix("pub").unwrap_or(line);
        let line = line.strip_prefix('(').and_then(|scope| Some(scope.split_once(')')?.1)).unwrap_or(line);
        line.trim_start().strip_prefix("mod ").is_some_and(|name| name.trim_end().ends_with(';'))
    };
    file.code().lines().filter(|line| declares(line)).count()
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
                "crates/wire/src/a.rs: 401 lines, 400 at most: split it by what it is about",
                "crates/wire/tests/b.rs: 601 lines, 600 at most: split it by what it is about",
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
                "xtask/long-files.tsv:2: 2 cells are needed, separated by tabs: path, reason",
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

    #[test]
    fn a_crate_of_too_many_modules_is_found() {
        let of = |count: usize| {
            let lines: String = (0..count).map(|number| format!("pub(crate) mod m{number};\n")).collect();
            format!("//! mod a;\n#[cfg(test)]\nmod tests {{}}\n{lines}")
        };
        let found = |text: &str| messages(crates_have_few_modules(&Tree::of(&[("crates/wire/src/lib.rs", text)])));
        assert_eq!(found(&of(12)), [""; 0]);
        assert_eq!(
            found(&of(13)),
            ["crates/wire/src/lib.rs: 13 modules, 12 at most: put those that belong together into a folder"]
        );
    }
}
