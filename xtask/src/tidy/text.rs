//! Text that means the same on every machine: no path of one disk, no mirror of a package index, no name of a document
//! that is not in the repository. This file contains what it forbids, so the rule skips it.

use super::Finding;
use super::tree::{File, Tree};

const THIS_FILE: &str = "xtask/src/tidy/text.rs";

/// First folders of paths that exist for one person on one machine.
const MACHINE_FOLDERS: &[&str] = &["/home/", "/root/", "/Users/", "/work/", "/workspace/"];

/// A build that needs these by name works only where they are reachable; cargo and pip know where to look.
const INDEX_HOSTS: &[&str] =
    &["index.crates.io", "static.crates.io", "files.pythonhosted.org", "pypi.org", "registry.npmjs.org"];

pub fn names_no_machine_or_index(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != THIS_FILE && file.path != "LICENSE") {
        for (number, line) in file.lines() {
            for folder in MACHINE_FOLDERS.iter().filter(|folder| begins_a_path(line, folder)) {
                let message = format!("`{folder}..` is a path of one machine; name it from the root of the project");
                findings.push(Finding::at(&file.path, number, message));
            }
            for host in INDEX_HOSTS.iter().filter(|host| line.contains(*host)) {
                findings.push(Finding::at(
                    &file.path,
                    number,
                    format!("`{host}`: leave the address to the tool's own settings"),
                ));
            }
        }
    }
    findings
}

/// Every `.md` file that the text names is in the repository, from the root or from where it is named. A lock file names
/// those of other people's packages.
pub fn documents_exist(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_ours = |path: &str| path != THIS_FILE && !path.ends_with("package-lock.json");
    for file in tree.files.iter().filter(|file| is_ours(&file.path)) {
        for (number, line) in file.lines() {
            for name in documents(line).filter(|name| !exists(tree, file, name)) {
                findings.push(Finding::at(&file.path, number, format!("`{name}` is not in the repository")));
            }
        }
    }
    findings
}

/// `/work/` in `/work/a` begins a path; in `frame/work/a` and `https://host/work/a` it does not.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|before| {
            !before.is_alphanumeric() && !matches!(before, '_' | '-' | '.' | '}' | '*' | '~' | ')')
        })
    })
}

fn documents(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| {
        !(character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/' | ':' | '*'))
    })
    .map(|word| word.trim_end_matches(['.', ':']))
    .filter(|word| word.ends_with(".md") && !word.contains("://") && !word.contains('*') && *word != ".md")
}

fn exists(tree: &Tree, from: &File, name: &str) -> bool {
    let folder = from.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    tree.file(name).is_some() || resolve(folder, name).is_some_and(|path| tree.file(&path).is_some())
}

/// Walks a relative path; a path that climbs out of the repository has no end.
fn resolve(folder: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            word => parts.push(word),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let tree = Tree::of(&[
            ("README.md", "run /home/ann/frontdesk\nsee `/Users/ann/desk`"),
            ("scripts/a.py", "open(\"/root/x\")"),
            ("docs/ok.md", "https://example.com/home/ann and crates/a/home/b and {dir}/home/x"),
        ]);
        assert_eq!(
            messages(names_no_machine_or_index(&tree)),
            [
                "README.md:1: `/home/..` is a path of one machine; name it from the root of the project",
                "README.md:2: `/Users/..` is a path of one machine; name it from the root of the project",
                "scripts/a.py:1: `/root/..` is a path of one machine; name it from the root of the project",
            ]
        );
    }

    #[test]
    fn the_address_of_a_package_index_is_found() {
        let tree = Tree::of(&[("scripts/interop/requirements.txt", "--index-url https://pypi.org/simple\nvin==0.6.2")]);
        assert_eq!(
            messages(names_no_machine_or_index(&tree)),
            ["scripts/interop/requirements.txt:1: `pypi.org`: leave the address to the tool's own settings"]
        );
    }

    #[test]
    fn a_document_that_is_not_there_is_found() {
        let tree = Tree::of(&[
            ("README.md", "See docs/guide.md, [this](docs/gone.md) and https://example.com/far.md."),
            ("docs/guide.md", "Back to ../README.md and ../../outside.md, or any *.md."),
            ("crates/a/src/lib.rs", "//! As docs/guide.md says."),
        ]);
        assert_eq!(
            messages(documents_exist(&tree)),
            [
                "README.md:1: `docs/gone.md` is not in the repository",
                "docs/guide.md:1: `../../outside.md` is not in the repository",
            ]
        );
    }
}
