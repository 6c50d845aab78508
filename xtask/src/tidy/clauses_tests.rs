//! The rule about clauses, failing in each of its ways.

use super::*;

const LIST: &str = "spec/automotive/clauses.tsv";
const OTHER: &str = "spec/emcp/clauses.tsv";
const THIRD: &str = "spec/tomo/clauses.tsv";

/// A list in which the other side owes everything, so that nothing is missing.
fn list() -> String {
    automotive_ids().iter().map(|id| format!("{id}\tMUST\tsomething\tclient\n")).collect()
}

fn other_list() -> String {
    emcp_ids().iter().map(|id| format!("{id}\tMUST\tsomething\tclient\n")).collect()
}

fn third_list() -> String {
    tomo_ids().iter().map(|id| format!("{id}\tMUST\tsomething\tclient\n")).collect()
}

fn found(list: &str, tests: &str) -> Vec<String> {
    let lists = [(LIST, list), (OTHER, &other_list()), (THIRD, &third_list())];
    let tree = Tree::of(&[&[("crates/server/tests/a.rs", tests)], lists.as_slice()].concat());
    every_clause_has_a_test(&tree).iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_list_with_its_tests_is_clean() {
    let list = list().replace("A2-01\tMUST\tsomething\tclient", "A2-01\tMUST\tsomething\ttest");
    assert_eq!(found(&list, "#[test]\nfn a2_01_domains_are_declared() {}"), [""; 0]);
    assert_eq!(found(&list, "#[tokio::test(flavor = \"multi_thread\")]\nasync fn a2_01_declared() {}"), [""; 0]);
    assert_eq!(found(&list, "#[test]\nfn a2_02_a2_01_both() {}"), [""; 0]);
}

#[test]
fn a_judge_may_carry_the_test() {
    let list = list().replace("A2-01\tMUST\tsomething\tclient", "A2-01\tMUST\tsomething\ttest");
    let judge = ("scripts/interop/client.py", "def a2_01_declared(session):\n    pass");
    let tree = Tree::of(&[judge, (LIST, &list), (OTHER, &other_list()), (THIRD, &third_list())]);
    assert_eq!(every_clause_has_a_test(&tree), []);
}

#[test]
fn a_clause_without_a_test_is_found() {
    let list = list().replace("A2-01\tMUST\tsomething\tclient", "A2-01\tMUST\tsomething\ttest");
    let missing = ["spec/automotive/clauses.tsv:1: A2-01 has no test: none is named `a2_01_..`"];
    assert_eq!(found(&list, "#[test]\nfn something_else() {}"), missing);
    assert_eq!(found(&list, "fn a2_01_is_no_test() {}"), missing);
    assert_eq!(found(&list, "// #[test]\n// fn a2_01_is_a_comment() {}"), missing);
    assert_eq!(found(&list, "#[cfg(test)]\nfn a2_01_is_no_test() {}"), missing);
}

#[test]
fn a_test_of_an_unknown_clause_is_found() {
    assert_eq!(
        found(&list(), "#[test]\nfn a9_01_nothing() {}"),
        ["crates/server/tests/a.rs:2: `a9_01_nothing` names A9-01, which is no clause"]
    );
}

#[test]
fn a_clause_that_is_put_off_although_it_is_tested_is_found() {
    let list = list().replace("A2-01\tMUST\tsomething\tclient", "A2-01\tMUST\tsomething\tlater: no events");
    assert_eq!(
        found(&list, "#[test]\nfn a2_01_declared() {}"),
        [
            "crates/server/tests/a.rs:2: `a2_01_declared` proves A2-01, which spec/automotive/clauses.tsv puts off: set it to `test`"
        ]
    );
}

#[test]
fn a_clause_that_is_missing_doubled_or_invented_is_found() {
    let text = list();
    assert_eq!(
        found(&text.replace("A3-19\tMUST\tsomething\tclient\n", ""), ""),
        ["spec/automotive/clauses.tsv: A3-19 is missing from the list"]
    );
    assert_eq!(
        found(&format!("{text}A3-19\tMUST\tsomething\tclient\n"), ""),
        ["spec/automotive/clauses.tsv:90: A3-19 is listed twice"]
    );
    assert_eq!(
        found(&format!("{text}A3-99\tMUST\tsomething\tclient\n"), ""),
        ["spec/automotive/clauses.tsv:90: the text has no clause A3-99"]
    );
}

#[test]
fn a_row_that_cannot_be_read_is_found() {
    for (row, problem) in [
        ("A2-01\tMUST\tsomething", "four cells are needed: id, level, paraphrase, status"),
        (
            "A2-01\tmust\tsomething\ttest",
            "`must` is no level; one of MUST, MUST NOT, SHOULD, SHOULD NOT, MAY, fact, forbidden, derived",
        ),
        ("A2-01\tMUST\t \ttest", "A2-01 does not say what it asks"),
        ("A2-01\tMUST\tsomething\tlater", "`later` is no status; `test`, `client` or `later: <why>`"),
    ] {
        let list = list().replace("A2-01\tMUST\tsomething\tclient", row);
        assert_eq!(
            found(&list, ""),
            [
                format!("spec/automotive/clauses.tsv:1: {problem}"),
                "spec/automotive/clauses.tsv: A2-01 is missing from the list".to_owned(),
            ]
        );
    }
}

#[test]
fn a_missing_list_is_found() {
    let tree = Tree::of(&[]);
    assert_eq!(every_clause_has_a_test(&tree).len(), 3);
}

#[test]
fn each_text_has_its_own_list_and_its_own_names_of_tests() {
    let other = other_list().replace("E-15\tMUST\tsomething\tclient", "E-15\tMUST\tsomething\ttest");
    let third = third_list().replace("T-041\tMUST\tsomething\tclient", "T-041\tMUST\tsomething\ttest");
    let with = |tests: &str, third: &str| {
        let lists = [(LIST, &*list()), (OTHER, &other), (THIRD, third)];
        let tree = Tree::of(&[&[("crates/server/tests/a.rs", tests)], lists.as_slice()].concat());
        every_clause_has_a_test(&tree).iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    let found = |tests: &str| with(tests, &third_list());
    assert_eq!(found("#[test]\nfn e_16_e_15_filters() {}"), [""; 0]);
    assert_eq!(found(""), ["spec/emcp/clauses.tsv:14: E-15 has no test: none is named `e_15_..`"]);
    assert_eq!(
        found("#[test]\nfn e_15_filters() {}\n#[test]\nfn e_09_nothing() {}"),
        ["crates/server/tests/a.rs:4: `e_09_nothing` names E-09, which is no clause"]
    );
    let filters = "#[test]\nfn e_15_filters() {}\n#[test]\n";
    assert_eq!(with(&format!("{filters}fn t_040_t_041_listed() {{}}"), &third), [""; 0]);
    assert_eq!(
        with(&format!("{filters}fn t_005_nothing() {{}}"), &third),
        [
            "crates/server/tests/a.rs:4: `t_005_nothing` names T-005, which is no clause",
            "spec/tomo/clauses.tsv:32: T-041 has no test: none is named `t_041_..`",
        ]
    );
}
