//! Every known attack has a row in the list, and a row that says it is tested names tests that exist. So no attack is
//! forgotten because its test was renamed.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::test_names::tests_with_unit_tests;
use super::tree::Tree;

const LIST: &str = "spec/attacks.tsv";

/// The letters of the list and how many attacks each comes to; the numbers run from 1 without a gap.
const FAMILIES: &[(char, usize)] =
    &[('T', 22), ('K', 46), ('I', 29), ('X', 25), ('S', 12), ('O', 35), ('L', 9), ('W', 6), ('A', 6), ('D', 4)];

pub fn every_attack_has_a_test(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.file(LIST) else {
        return vec![Finding::in_file(LIST, "the list of attacks is missing")];
    };
    let known: BTreeSet<String> = tests_with_unit_tests(tree).into_iter().map(|test| test.name).collect();
    let mut findings = Vec::new();
    let mut rows = BTreeMap::new();
    for (number, line) in list.lines().filter(|(_, line)| !line.starts_with('#')) {
        match row(line) {
            Ok((id, named)) => {
                if rows.insert(id, number).is_some() {
                    findings.push(Finding::at(LIST, number, format!("{id} is listed twice")));
                }
                for name in named.into_iter().filter(|name| !known.contains(*name)) {
                    findings.push(Finding::at(LIST, number, format!("there is no test `{name}`")));
                }
            }
            Err(problem) => findings.push(Finding::at(LIST, number, problem)),
        }
    }
    let expected = expected();
    for id in expected.iter().filter(|id| !rows.contains_key(id.as_str())) {
        findings.push(Finding::in_file(LIST, format!("{id} is missing from the list")));
    }
    for (id, number) in rows.iter().filter(|(id, _)| !expected.contains(**id)) {
        findings.push(Finding::at(LIST, *number, format!("there is no attack {id}; raise its family's count")));
    }
    findings
}

/// The id of a row and the tests that it names.
fn row(line: &str) -> Result<(&str, Vec<&str>), String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [id, words, status] = cells.as_slice() else {
        return Err("three cells are needed: id, what it is, status".to_owned());
    };
    if words.trim().is_empty() {
        return Err(format!("{id} does not say what it is"));
    }
    let reason = |prefix: &str| status.strip_prefix(prefix).is_some_and(|why| !why.trim().is_empty());
    if let Some(names) = status.strip_prefix("test ").filter(|names| !names.trim().is_empty()) {
        return Ok((id, names.split(' ').collect()));
    }
    if reason("later: ") || reason("n/a: ") {
        return Ok((id, Vec::new()));
    }
    Err(format!("`{status}` is no status; `test <names>`, `later: <why>` or `n/a: <why>`"))
}

fn expected() -> BTreeSet<String> {
    FAMILIES.iter().flat_map(|(family, count)| (1..=*count).map(move |number| format!("{family}{number}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list in which nothing can be tried yet, so that nothing is missing.
    fn list() -> String {
        expected().iter().map(|id| format!("{id}\tsomething\tlater: no endpoint yet\n")).collect()
    }

    fn found(list: &str) -> Vec<String> {
        let tests = "#[test]\nfn the_check_holds() {}\n\nfn a_helper() {}";
        let tree = Tree::of(&[("crates/server/tests/a.rs", tests), (LIST, list)]);
        every_attack_has_a_test(&tree).iter().map(ToString::to_string).collect()
    }

    fn with(status: &str) -> String {
        list().replace("T1\tsomething\tlater: no endpoint yet\n", &format!("T1\tsomething\t{status}\n"))
    }

    #[test]
    fn a_whole_list_with_its_tests_is_clean() {
        for status in ["test the_check_holds", "test the_check_holds the_check_holds", "n/a: there is no endpoint"] {
            assert_eq!(found(&with(status)), [""; 0], "{status}");
        }
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        for name in ["the_check_is_gone", "a_helper"] {
            let messages = found(&with(&format!("test the_check_holds {name}")));
            assert_eq!(messages.len(), 1);
            assert!(messages.concat().ends_with(&format!(": there is no test `{name}`")), "{messages:?}");
        }
    }

    #[test]
    fn a_test_inside_the_sources_counts() {
        let source = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn the_guard_holds() {}\n}\n";
        let list = with("test the_guard_holds");
        let tree = Tree::of(&[("crates/server/src/a.rs", source), (LIST, &list)]);
        assert!(every_attack_has_a_test(&tree).is_empty());
    }

    #[test]
    fn an_attack_that_is_missing_doubled_or_invented_is_found() {
        let text = list();
        let row = "X20\tsomething\tlater: no endpoint yet\n";
        assert_eq!(found(&text.replace(row, "")), ["spec/attacks.tsv: X20 is missing from the list"]);
        let line = FAMILIES.iter().map(|(_, count)| count).sum::<usize>() + 1;
        assert_eq!(found(&format!("{text}{row}")), [format!("spec/attacks.tsv:{line}: X20 is listed twice")]);
        let invented = found(&format!("{text}X26\tsomething\tn/a: no endpoint\n"));
        let expected = format!("spec/attacks.tsv:{line}: there is no attack X26; raise its family's count");
        assert_eq!(invented, [expected]);
        assert_eq!(every_attack_has_a_test(&Tree::of(&[])).len(), 1);
    }

    #[test]
    fn a_row_that_cannot_be_read_is_found() {
        for (row, problem) in [
            ("T1\tsomething", "three cells are needed: id, what it is, status"),
            ("T1\t \ttest the_check_holds", "T1 does not say what it is"),
            ("T1\tsomething\ttest", "`test` is no status; `test <names>`, `later: <why>` or `n/a: <why>`"),
            ("T1\tsomething\tlater: ", "`later: ` is no status; `test <names>`, `later: <why>` or `n/a: <why>`"),
        ] {
            let messages = found(&list().replace("T1\tsomething\tlater: no endpoint yet", row));
            assert!(messages.iter().any(|message| message.ends_with(problem)), "{messages:?}");
        }
    }
}
