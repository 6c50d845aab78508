//! Contracts are named in crates/contracts only. The engine serves any contract and names none, not even in a comment,
//! because a name would be the first step to a special case. The server and the store use none of their nouns either: a
//! contract brings its tools, commands and routes as values.

use super::Finding;
use super::exceptions::rows;
use super::tree::{File, Tree};

/// As whole words: `leading` and `tomorrow` are English, `Lead` and `tomo_error` are names.
const WORDS: &[&str] =
    &["automotive", "amcp", "dealership", "dealerships", "emcp", "evo", "lead", "leads", "tomo", "vehicle", "vehicles"];

/// What the server and the store must not name. `amcp` and `emcp` are missing: they stand in examples of scopes and in
/// names of documents, which operators need.
const NOUNS: &[&str] =
    &["automotive", "dealership", "dealerships", "evo", "lead", "leads", "tomo", "vehicle", "vehicles"];

/// One line an exception: the path of a file, the word and the reason.
const EXCEPTIONS: &str = "xtask/contract-names.tsv";

pub fn are_unknown_to_the_engine(tree: &Tree) -> Vec<Finding> {
    let sources = tree.inside("crates/engine/src/", ".rs");
    sources.flat_map(|file| named(&file.path, file.lines(), WORDS)).map(|(finding, _)| finding).collect()
}

pub fn are_unknown_to_server_and_store(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let exceptions = rows(tree, EXCEPTIONS, ["path", "word", "reason"], &mut findings);
    let mut used = vec![false; exceptions.len()];
    let sources = ["crates/server/src/", "crates/store/src/"].into_iter().flat_map(|folder| tree.inside(folder, ".rs"));
    for file in sources.filter(|file| !is_test(file)) {
        for (finding, word) in
            named(&file.path, file.lines().map(|(number, line)| (number, without_verbs(line))), NOUNS)
        {
            let exception = exceptions.iter().position(|(_, [path, name, _])| *path == file.path && *name == word);
            match exception.and_then(|index| used.get_mut(index)) {
                Some(used) => *used = true,
                None => findings.push(finding),
            }
        }
    }
    for ((number, [path, word, _]), _) in exceptions.iter().zip(used).filter(|(_, used)| !used) {
        findings.push(Finding::at(EXCEPTIONS, *number, format!("{path} needs no exception for `{word}` (any more)")));
    }
    findings
}

/// The ids of clauses belong to the contracts; the engine's comments give the reason itself.
pub fn no_clause_in_the_engine(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.inside("crates/engine/src/", ".rs") {
        for (number, line) in file.lines() {
            let parts = line.split(|character: char| !(character.is_ascii_alphanumeric() || character == '-'));
            for id in parts.filter(|word| is_clause_id(word)) {
                let message = format!("`{id}` is a clause of one contract; say what the engine does, and why");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// `A3-07`, `E-66` or `T-012`.
fn is_clause_id(word: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    match word.split_once('-') {
        Some(("E", number)) => digits(number, 2),
        Some(("T", number)) => digits(number, 3),
        Some((section, number)) => section.strip_prefix('A').is_some_and(|rest| digits(rest, 1)) && digits(number, 2),
        None => false,
    }
}

/// A header may lead to a refusal; the noun of a contract is not meant then.
fn without_verbs(line: &str) -> String {
    ["leads to ", "lead to ", "leads from "].iter().fold(line.to_owned(), |line, verb| line.replace(verb, ""))
}

fn named(
    path: &str,
    lines: impl Iterator<Item = (usize, impl AsRef<str>)>,
    forbidden: &[&str],
) -> Vec<(Finding, String)> {
    let mut found = Vec::new();
    for (number, line) in lines {
        for word in words(line.as_ref()).into_iter().filter(|word| forbidden.contains(&word.as_str())) {
            let message = format!("`{word}` belongs to a contract; use a general word or move it to crates/contracts");
            found.push((Finding::at(path, number, message), word));
        }
    }
    found
}

/// Tests name the contract that they use.
fn is_test(file: &File) -> bool {
    file.path.ends_with("tests.rs") || file.path.contains("/tests/")
}

/// The words of a line in lower case. `TomoDialect` is two words, `tomo_error` too, and an unbroken run of letters
/// counts once more as a whole, so that `eMCP` is found although its capitals fall oddly.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in line.split(|character: char| !character.is_alphabetic()).filter(|run| !run.is_empty()) {
        let parts = split_at_capitals(run);
        if parts.len() > 1 {
            found.push(run.to_lowercase());
        }
        found.extend(parts);
    }
    found
}

/// A new word begins at a capital after a small letter, and at the last capital of a row of them (`MCPTool`).
fn split_at_capitals(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let next = letters.get(index + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || next.is_some_and(|next| next.is_lowercase()));
        match parts.last_mut() {
            Some(part) if !begins => part.extend(letter.to_lowercase()),
            Some(_) | None => parts.push(letter.to_lowercase().collect()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/engine/src/serve.rs", line)]);
        are_unknown_to_the_engine(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_contract_word_in_the_engine_is_found_in_code_and_comment() {
        for line in [
            "struct TomoDialect;",
            "let tomo_error_code = 1;",
            "// the eMCP way",
            "\"evo.content.get\"",
            "const SCOPE: &str = \"amcp:x:read\";",
            "fn lead() {}",
            "enum Kind { Vehicle }",
            "type DEALERSHIP = u8;",
            "mod automotive;",
        ] {
            assert_eq!(found(line).len(), 1, "{line}");
        }
        assert_eq!(
            found("struct Lead;"),
            ["`lead` belongs to a contract; use a general word or move it to crates/contracts"]
        );
    }

    #[test]
    fn plain_english_is_left_alone() {
        for line in [
            "// the leading byte",
            "// not tomorrow",
            "// evolves",
            "fn serve_mcp() {}",
            "struct ServeMcp;",
            "// misleads",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn other_crates_may_name_contracts() {
        let tree = Tree::of(&[("crates/contracts/src/lib.rs", "mod automotive;")]);
        assert_eq!(are_unknown_to_the_engine(&tree), []);
        assert_eq!(are_unknown_to_server_and_store(&tree), []);
    }

    fn outside_the_engine(files: &[(&str, &str)]) -> Vec<String> {
        are_unknown_to_server_and_store(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_contract_noun_in_server_or_store_is_found() {
        for line in ["struct ExportDealership;", "// most leads", "\"evo_\"", "Tomo => {}", "mod automotive;"] {
            for folder in ["server", "store"] {
                assert_eq!(outside_the_engine(&[(&format!("crates/{folder}/src/a.rs"), line)]).len(), 1, "{line}");
                let tests = outside_the_engine(&[(&format!("crates/{folder}/src/a/tests.rs"), line)]);
                assert_eq!(tests, [""; 0], "{line}");
            }
        }
        for line in ["// docs/guides/emcp.html, amcp:x:read", "// it leads to an error", "// can lead to this file"] {
            assert_eq!(outside_the_engine(&[("crates/server/src/a.rs", line)]), [""; 0], "{line}");
        }
    }

    #[test]
    fn an_exception_holds_for_one_word_of_one_file_and_must_be_needed() {
        let list = (EXCEPTIONS, "crates/server/src/a.rs\tdealership\tan old alias of the option\n");
        let alias = ("crates/server/src/a.rs", "alias = \"dealership\"");
        assert_eq!(outside_the_engine(&[alias, list]), [""; 0]);
        let other = ("crates/server/src/b.rs", "alias = \"dealership\"");
        assert_eq!(outside_the_engine(&[alias, other, list]).len(), 1);
        assert_eq!(
            outside_the_engine(&[list]),
            ["xtask/contract-names.tsv:1: crates/server/src/a.rs needs no exception for `dealership` (any more)"]
        );
    }

    #[test]
    fn a_clause_id_in_the_engine_is_found() {
        let found = |line: &str| {
            let tree = Tree::of(&[("crates/engine/src/a.rs", line), ("crates/contracts/src/a.rs", line)]);
            no_clause_in_the_engine(&tree).len()
        };
        for line in ["// as A3-07 asks", "/// E-66.", "(T-012)"] {
            assert_eq!(found(line), 1, "{line}");
        }
        for line in ["// SHA-256", "// A-07", "// UTF-8 and 2025-11-25", "let x = E-6;", "// TLS-12"] {
            assert_eq!(found(line), 0, "{line}");
        }
    }
}
