//! No lint is switched off without a reason, no test is switched off at all, and no code is left unfinished.

use super::Finding;
use super::tree::Tree;

const FORBIDDEN: &[(&str, &str)] = &[
    ("#[allow(", "use #[expect(.., reason = \"..\")], which complains when it is no longer needed"),
    ("#![allow(", "use #![expect(.., reason = \"..\")], which complains when it is no longer needed"),
    ("#[ignore", "a test that does not run proves nothing: repair it or remove it"),
    ("todo!(", "finish it, or leave it out"),
    ("unimplemented!(", "finish it, or leave it out"),
];

pub fn nothing_is_switched_off(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.inside("", ".rs") {
        for (index, line) in file.code().lines().enumerate() {
            // White space inside an attribute is legal, and no way around the rule.
            let dense: String = line.split_whitespace().collect();
            for (pattern, advice) in FORBIDDEN.iter().filter(|(pattern, _)| dense.contains(pattern)) {
                findings.push(Finding::at(&file.path, index + 1, format!("`{pattern}`: {advice}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/wire/src/a.rs", line)]);
        nothing_is_switched_off(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_switched_off_lint_or_test_and_a_promise_are_found() {
        for line in [
            "#[allow(dead_code)]",
            "#![allow(dead_code)]",
            "# [ allow (dead_code)]",
            "#[ignore]",
            "#[ignore = \"slow\"]",
            "fn a() { todo!() }",
            "fn a() { unimplemented!(\"b\") }",
        ] {
            assert_eq!(found(line).len(), 1, "{line}");
        }
        assert_eq!(
            found("\n#[ignore]"),
            ["crates/wire/src/a.rs:2: `#[ignore`: a test that does not run proves nothing: repair it or remove it"]
        );
    }

    #[test]
    fn words_about_them_are_left_alone() {
        for line in ["// never #[allow(..)]", "let a = \"todo!()\";", "#[expect(dead_code, reason = \"b\")]"] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }
}
