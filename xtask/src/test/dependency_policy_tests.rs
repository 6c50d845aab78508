//! Trees within and outside of a small policy.

use super::*;

fn policy() -> Policy {
    Policy {
        targets: vec!["x86_64-unknown-linux-gnu".to_owned()],
        allowed_licences: ["MIT", "Apache-2.0"].map(str::to_owned).to_vec(),
        skipped_duplicates: vec!["sha2@0.10".to_owned()],
        banned: vec!["openssl-sys".to_owned()],
    }
}

fn found(lines: &str) -> Vec<String> {
    let always = "a v1.0.0|MIT\nb v1.0.0|Apache-2.0\nsha2 v0.10.9|MIT\nsha2 v0.11.0|MIT\n";
    problems(&policy(), &packages(&format!("{always}{lines}")))
}

#[test]
fn the_policy_is_read_from_deny_toml() {
    let text = "[graph]\ntargets = [\n    \"x86_64-unknown-linux-gnu\",\n]\n\n[licenses]\nallow = [\n    \"MIT\",\n    # \
                \"GPL-3.0\"\n    \"Apache-2.0\", # most\n]\n[bans]\nskip = [\n    { crate = \"sha2@0.10\", reason = \"b\" \
                },\n]\ndeny = [\n    { crate = \"openssl-sys\", reason = \"a\" },\n]\n[sources]\n";
    assert_eq!(Policy::parse(text), Ok(policy()));
    assert_eq!(Policy::parse("[graph]\n[licenses]\n"), Err("deny.toml: no values in `targets` of [graph]".to_owned()));
}

#[test]
fn a_tree_within_the_policy_has_no_problems() {
    assert_eq!(
        found("c v2.0.0 (proc-macro)|MIT OR Apache-2.0 (*)\nfrontdesk v0.1.0 (/somewhere)|Apache-2.0\n"),
        [""; 0]
    );
}

#[test]
fn licences_bans_and_duplicates_are_found() {
    assert_eq!(
        found("c v2.0.0|GPL-3.0\nc v3.0.0|MIT\nopenssl-sys v0.9.1|MIT\n"),
        [
            "c 2.0.0: licence `GPL-3.0` is not allowed by deny.toml",
            "openssl-sys 0.9.1 is banned by deny.toml",
            "c has several versions: 2.0.0, 3.0.0",
        ]
    );
}

#[test]
fn exceptions_that_nothing_needs_are_found() {
    assert_eq!(
        problems(&policy(), &packages("a v1.0.0|MIT\nsha2 v0.11.0|MIT\n")),
        [
            "deny.toml allows `Apache-2.0`, which no dependency has",
            "deny.toml skips `sha2@0.10`, which is not in the tree"
        ]
    );
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned);
    for expression in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR MIT",
    ] {
        assert!(is_allowed(expression, &allowed), "{expression}");
    }
    for expression in
        ["", "GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0 WITH LLVM-exception", "(MIT", "MIT Apache-2.0", "MIT OR"]
    {
        assert!(!is_allowed(expression, &allowed), "{expression}");
    }
}

#[test]
fn a_version_prefix_ends_at_a_dot() {
    let package = Package { name: "a".to_owned(), version: "0.22.1".to_owned(), licence: "MIT".to_owned() };
    assert!(package.is("a@0.22") && package.is("a@0.22.1") && package.is("a"));
    assert!(!package.is("a@0.2") && !package.is("b@0.22"));
}

#[test]
fn other_sources_and_wildcards_are_found() {
    let lock = format!("source = \"{REGISTRY}\"\nsource = \"git+https://example.com/x\"\n");
    assert_eq!(unknown_sources(&lock), ["Cargo.lock: unknown source git+https://example.com/x"]);
    assert!(is_wildcard("a = \"*\"") && is_wildcard("a = { version = \"*\" }"));
    assert!(!is_wildcard("a = \"1\" # = \"*\"") && !is_wildcard("members = [\"crates/*\"]"));
}
