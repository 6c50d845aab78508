//! Patterns of an operator, and which of them a method falls under.

use frontdesk_engine::Scope;
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::mount_policy::MethodScopes;

#[test]
fn a_star_stands_for_any_characters_also_none() {
    for (pattern, yes, no) in [
        ("content", &["content"][..], &["", "Content", "contents", "a content"][..]),
        ("*", &["", "anything"], &[]),
        ("public-*", &["public-", "public-api"], &["public", "a public-api", "Public-api"]),
        ("evo.model.*", &["evo.model.list", "evo.model."], &["evo.model", "evo.content.get", "evoxmodel.list"]),
        ("*.get", &["a.get", ".get"], &["get", "a.get.b"]),
        ("a*b*c", &["abc", "aXbYc", "abbcc"], &["ac", "acb", "abcd", "ab"]),
        ("a*a", &["aa", "aba"], &["a"]),
        ("a**b", &["ab", "axb"], &["a", "b"]),
        ("é*", &["é", "éa"], &["e"]),
        ("", &[""], &["a"]),
    ] {
        let glob = Glob::new(pattern);
        assert!(yes.iter().all(|text| glob.matches(text)), "{pattern}");
        assert!(!no.iter().any(|text| glob.matches(text)), "{pattern}");
    }
}

#[test]
fn a_pattern_of_many_stars_takes_no_longer_than_its_pieces() {
    let glob = Glob::new("*a".repeat(2000) + "*b");
    assert!(!glob.matches(&"a".repeat(20_000)));
}

#[test]
fn exact_scope_rules_win_over_patterns_and_the_default() {
    let rule = |pattern: &str, scope: &str| (Glob::new(pattern), Scope::new(scope));
    let rules = [rule("tools/*", "wide"), rule("tools/call", "call"), rule("tools/l*", "never"), rule("ping", "read")];
    let scopes = MethodScopes::new(rules, Scope::new("admin"));
    let needed = ["tools/call", "tools/list", "tools/", "tools", "ping", "PING", ""]
        .map(|it| scopes.required_scope(&it.to_owned().into()).as_str());
    assert_eq!(needed, ["call", "wide", "wide", "admin", "read", "admin", "admin"]);
}
