//! The project's rules that no compiler checks, each a function from the tree to its findings. A rule must never touch
//! the disk: it reads the `Tree` it is given, so that a test can show it failing.

mod attacks;
mod attributes;
mod clauses;
mod code;
mod contract_names;
mod dependencies;
mod exceptions;
mod invariants;
mod layout;
mod old_names;
mod sql;
mod test_names;
mod text;
mod tree;
mod types;

use std::path::Path;

use tree::Tree;

/// One violation of a rule: where it is, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub path: String,
    /// Counted from one; zero when the whole file is meant.
    pub line: usize,
    pub message: String,
}

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("the engine names no contract", contract_names::are_unknown_to_the_engine),
    ("server and store name no contract", contract_names::are_unknown_to_server_and_store),
    ("the engine cites no clause", contract_names::no_clause_in_the_engine),
    ("a public type name is defined once", types::are_defined_once),
    ("old names do not return", old_names::do_not_return),
    ("a crate has few modules", layout::crates_have_few_modules),
    ("the engine reaches neither SQL nor HTTP", dependencies::engine_reaches_no_sql_or_http),
    ("SQL is written in the store only", sql::only_in_the_store),
    ("authenticated tables have one module", sql::authenticated_tables_in_one_module),
    ("files are short", layout::files_are_short),
    ("every module says what it is for", layout::modules_are_introduced),
    ("test names are short", test_names::are_short),
    ("every clause has a test", clauses::every_clause_has_a_test),
    ("every attack has a test", attacks::every_attack_has_a_test),
    ("every invariant names its test", invariants::every_invariant_names_its_test),
    ("no machine paths and index hosts", text::names_no_machine_or_index),
    ("documents named in the text exist", text::documents_exist),
    ("no lint or test is switched off", attributes::nothing_is_switched_off),
    ("dependencies have one direction", dependencies::point_one_way),
];

/// A summary in one line, or all findings.
pub fn check(root: &Path) -> Result<String, String> {
    let tree = Tree::read(root)?;
    let mut wrong = Vec::new();
    for (title, rule) in RULES {
        let findings = rule(&tree);
        if !findings.is_empty() {
            wrong.push(format!("{title}:"));
            wrong.extend(findings.iter().map(|finding| format!("  {finding}")));
        }
    }
    if wrong.is_empty() {
        Ok(format!("{} rules over {} files", RULES.len(), tree.files.len()))
    } else {
        Err(wrong.join("\n"))
    }
}

/// Whether rustdoc would find code to run in a comment of crates/*/src: a fence, or four spaces at its beginning.
pub fn has_documented_examples(root: &Path) -> Result<bool, String> {
    Ok(documented_examples(&Tree::read(root)?))
}

fn documented_examples(tree: &Tree) -> bool {
    let is_example = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or_default();
        text.trim_start().starts_with("```") || text.starts_with("     ")
    };
    let sources = tree.files.iter().filter(|file| file.is_crate_source());
    sources.flat_map(|file| file.lines()).any(|(_, line)| is_example(line))
}

impl Finding {
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    fn in_file(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.path, self.message),
            line => write!(out, "{}:{line}: {}", self.path, self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tree_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        if let Err(findings) = check(root) {
            panic!("{findings}");
        }
    }

    #[test]
    fn examples_in_comments_are_found() {
        let found = |line: &str| documented_examples(&Tree::of(&[("crates/a/src/lib.rs", line)]));
        assert!(found("/// ```\n/// a();\n/// ```") && found("    //! ```text") && found("///     a();"));
        assert!(!found("// ```") && !found("/// a `b` c") && !found("let a = 1; /// ```"));
    }

    #[test]
    fn a_finding_reads_like_a_compiler_message() {
        assert_eq!(Finding::at("a.rs", 3, "too long").to_string(), "a.rs:3: too long");
        assert_eq!(Finding::in_file("a.rs", "too long").to_string(), "a.rs: too long");
    }
}
