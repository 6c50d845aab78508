//! Every clause of a published contract has a row in the list, and every row that this server must meet has a test whose
//! name begins with its id.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::test_names::tests;
use super::tree::Tree;

/// What there is to know about the clauses of one published text.
struct Text {
    list: &'static str,
    /// Every id that the text comes to, so that none is lost on the way.
    published: fn() -> BTreeSet<String>,
    /// The id that a test's name begins with, and the rest of the name.
    leading_id: fn(&str) -> Option<(String, &str)>,
}

const TEXTS: &[Text] = &[
    Text { list: "spec/automotive/clauses.tsv", published: automotive_ids, leading_id: automotive_id },
    Text { list: "spec/emcp/clauses.tsv", published: emcp_ids, leading_id: emcp_id },
    Text { list: "spec/tomo/clauses.tsv", published: tomo_ids, leading_id: tomo_id },
];

/// How many clauses each section of the automotive text comes to; the ids run from 01 without a gap.
const SECTIONS: &[(u8, usize)] = &[(2, 7), (3, 34), (4, 8), (5, 16), (6, 24)];

/// From which number to which the clauses of the eMCP toolset run.
const RUNS: &[(u8, u8)] = &[(1, 8), (10, 27), (30, 34), (40, 41), (50, 58), (60, 67)];

/// The same for the TOMO text.
const TOMO_RUNS: &[(u8, u8)] = &[
    (1, 4),
    (10, 15),
    (20, 41),
    (50, 57),
    (60, 64),
    (70, 82),
    (85, 89),
    (100, 108),
    (110, 122),
    (130, 130),
    (140, 151),
    (160, 162),
];

const LEVELS: &[&str] = &["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "fact", "forbidden", "derived"];

pub fn every_clause_has_a_test(tree: &Tree) -> Vec<Finding> {
    TEXTS.iter().flat_map(|text| every_clause_of(text, tree)).collect()
}

fn every_clause_of(text: &Text, tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.file(text.list) else {
        return vec![Finding::in_file(text.list, "the list of clauses is missing")];
    };
    let mut findings = Vec::new();
    let mut rows = BTreeMap::new();
    for (number, line) in list.lines().filter(|(_, line)| !line.starts_with('#')) {
        match row(line) {
            Ok((id, status)) => {
                if rows.insert(id, (number, status)).is_some() {
                    findings.push(Finding::at(text.list, number, format!("{id} is listed twice")));
                }
            }
            Err(problem) => findings.push(Finding::at(text.list, number, problem)),
        }
    }

    let published = (text.published)();
    for id in published.iter().filter(|id| !rows.contains_key(id.as_str())) {
        findings.push(Finding::in_file(text.list, format!("{id} is missing from the list")));
    }
    for (id, (number, _)) in rows.iter().filter(|(id, _)| !published.contains(**id)) {
        findings.push(Finding::at(text.list, *number, format!("the text has no clause {id}")));
    }

    let mut tested = BTreeSet::new();
    for test in tests(tree) {
        for id in ids(text, &test.name) {
            match rows.get(id.as_str()) {
                None => findings.push(Finding::at(
                    &test.path,
                    test.line,
                    format!("`{}` names {id}, which is no clause", test.name),
                )),
                Some((_, Status::Later)) => {
                    let message =
                        format!("`{}` proves {id}, which {} puts off: set it to `test`", test.name, text.list);
                    findings.push(Finding::at(&test.path, test.line, message));
                }
                Some((_, Status::Test | Status::Client)) => {}
            }
            tested.insert(id);
        }
    }
    for (id, (number, _)) in rows.iter().filter(|(id, (_, status))| *status == Status::Test && !tested.contains(**id)) {
        let name = id.to_lowercase().replace('-', "_");
        findings.push(Finding::at(text.list, *number, format!("{id} has no test: none is named `{name}_..`")));
    }
    findings
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Test,
    /// The other side's duty.
    Client,
    /// Not served yet; the row says why.
    Later,
}

fn row(line: &str) -> Result<(&str, Status), String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [id, level, paraphrase, status] = cells.as_slice() else {
        return Err("four cells are needed: id, level, paraphrase, status".to_owned());
    };
    if !LEVELS.contains(level) {
        return Err(format!("`{level}` is no level; one of {}", LEVELS.join(", ")));
    }
    if paraphrase.trim().is_empty() {
        return Err(format!("{id} does not say what it asks"));
    }
    match *status {
        "test" => Ok((id, Status::Test)),
        "client" => Ok((id, Status::Client)),
        other if other.strip_prefix("later: ").is_some_and(|why| !why.trim().is_empty()) => Ok((id, Status::Later)),
        other => Err(format!("`{other}` is no status; `test`, `client` or `later: <why>`")),
    }
}

/// The ids a name begins with: one test may prove several clauses, as in `a3_17_a3_18_lists_are_paged`.
fn ids(text: &Text, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = name;
    while let Some((id, after)) = (text.leading_id)(rest) {
        found.push(id);
        rest = after;
    }
    found
}

fn automotive_ids() -> BTreeSet<String> {
    SECTIONS
        .iter()
        .flat_map(|(section, count)| (1..=*count).map(move |number| format!("A{section}-{number:02}")))
        .collect()
}

fn automotive_id(name: &str) -> Option<(String, &str)> {
    let (section, rest) = name.strip_prefix('a')?.split_once('_')?;
    let (number, rest) = rest.split_once('_')?;
    (digits(section, 1) && digits(number, 2)).then(|| (format!("A{section}-{number}"), rest))
}

fn emcp_ids() -> BTreeSet<String> {
    RUNS.iter().flat_map(|(from, to)| (*from..=*to).map(|number| format!("E-{number:02}"))).collect()
}

fn emcp_id(name: &str) -> Option<(String, &str)> {
    let (number, rest) = name.strip_prefix("e_")?.split_once('_')?;
    digits(number, 2).then(|| (format!("E-{number}"), rest))
}

fn tomo_ids() -> BTreeSet<String> {
    TOMO_RUNS.iter().flat_map(|(from, to)| (*from..=*to).map(|number| format!("T-{number:03}"))).collect()
}

fn tomo_id(name: &str) -> Option<(String, &str)> {
    let (number, rest) = name.strip_prefix("t_")?.split_once('_')?;
    digits(number, 3).then(|| (format!("T-{number}"), rest))
}

fn digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "clauses_tests.rs"]
mod clauses_tests;
