//! The report: one entry for each point of a checklist. What a server sent is shown short and without control
//! characters, so that it can neither flood nor steer a terminal.

use serde_json::json;

use crate::command::ProbeReport;

/// More findings of one point are counted only.
const MAX_FINDINGS: usize = 12;
/// Longer texts of a server are cut.
const MAX_SHOWN: usize = 120;

/// A text of the server for a line of the report.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(MAX_SHOWN)
        .map(|letter| if letter.is_control() || is_format(letter) { '?' } else { letter })
        .collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        out.push('…');
    }
    out
}

/// Characters that turn the direction of a line or hide in it.
fn is_format(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    problem: String,
    remedy: String,
}

/// One point of the checklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckPoint {
    number: usize,
    title: &'static str,
    notes: Vec<String>,
    findings: Vec<Finding>,
    unchecked: Vec<String>,
}

impl CheckPoint {
    pub(crate) fn new(number: usize, title: &'static str) -> CheckPoint {
        CheckPoint { number, title, notes: Vec::new(), findings: Vec::new(), unchecked: Vec::new() }
    }

    /// What was seen, for a point that holds.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn wrong(&mut self, problem: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(Finding { problem: problem.into(), remedy: remedy.into() });
    }

    pub(crate) fn not_checked(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.unchecked.contains(&why) {
            self.unchecked.push(why);
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        !self.findings.is_empty()
    }

    pub(crate) fn problems(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().map(|finding| finding.problem.as_str())
    }

    fn status(&self) -> &'static str {
        match (self.findings.is_empty(), self.unchecked.is_empty()) {
            (false, _) => "failed",
            (true, false) => "not checked",
            (true, true) => "passed",
        }
    }

    fn text(&self) -> String {
        let (mark, line) = match (self.findings.is_empty(), self.unchecked.is_empty()) {
            (false, _) => ("✗", self.title.to_owned()),
            (true, false) => ("–", format!("{}: not checked", self.title)),
            (true, true) if self.notes.is_empty() => ("✓", self.title.to_owned()),
            (true, true) => ("✓", format!("{}: {}", self.title, self.notes.join("; "))),
        };
        let mut out = format!("{mark} {:>2}. {line}\n", self.number);
        for finding in self.findings.iter().take(MAX_FINDINGS) {
            out += &format!("      {}\n        {}\n", finding.problem, finding.remedy);
        }
        if self.findings.len() > MAX_FINDINGS {
            out += &format!("      and {} more like these\n", self.findings.len() - MAX_FINDINGS);
        }
        for why in &self.unchecked {
            out += &format!("      not checked: {why}\n");
        }
        out
    }

    fn json(&self) -> String {
        let findings: Vec<_> = self
            .findings
            .iter()
            .take(MAX_FINDINGS)
            .map(|finding| json!({"problem": finding.problem, "remedy": finding.remedy}))
            .collect();
        json!({
            "point": self.number,
            "title": self.title,
            "status": self.status().replace(' ', "_"),
            "notes": self.notes,
            "findings": findings,
            "findings_left_out": self.findings.len().saturating_sub(MAX_FINDINGS),
            "not_checked": self.unchecked,
        })
        .to_string()
    }
}

pub(crate) fn report(points: &[&CheckPoint]) -> ProbeReport {
    let count = |status: &str| points.iter().filter(|point| point.status() == status).count();
    let failed = count("failed");
    let texts: String = points.iter().map(|point| point.text()).collect();
    let text = format!("{texts}\n{} passed, {failed} failed, {} not checked", count("passed"), count("not checked"));
    let json: Vec<String> = points.iter().map(|point| point.json()).collect();
    ProbeReport { text, json: json.join("\n"), failed }
}

#[cfg(test)]
mod tests {
    use super::{CheckPoint, report, shown};

    #[test]
    fn texts_of_a_server_are_short_and_harmless() {
        assert_eq!(shown("a\u{1b}[2Jb\nc\u{202e}d"), "a?[2Jb?c?d");
        assert_eq!(shown(&"x".repeat(200)), format!("{}…", "x".repeat(120)));
    }

    #[test]
    fn a_report_marks_each_point() {
        let (mut one, mut two, mut three) =
            (CheckPoint::new(1, "one"), CheckPoint::new(2, "two"), CheckPoint::new(10, "three"));
        one.note("seen");
        two.wrong("it is missing.", "Add it.");
        three.not_checked("nobody knows");
        let report = report(&[&one, &two, &three]);
        assert_eq!(
            report.text,
            "✓  1. one: seen\n✗  2. two\n      it is missing.\n        Add it.\n– 10. three: not checked\n      \
             not checked: nobody knows\n\n1 passed, 1 failed, 1 not checked"
        );
        assert_eq!(report.failed, 1);
        assert_eq!(
            report.json.lines().nth(1),
            Some(
                r#"{"findings":[{"problem":"it is missing.","remedy":"Add it."}],"findings_left_out":0,"not_checked":[],"notes":[],"point":2,"status":"failed","title":"two"}"#
            )
        );
    }
}
