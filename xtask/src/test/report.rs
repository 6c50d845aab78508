//! The result of each step, and the table at the end. A step that could not be checked is shown as such, never as a pass.

use std::fmt::Write;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The text adds a count or a remark, and may be empty.
    Passed(String),
    Failed(String),
    /// Something outside of the tree was missing. Neither a pass nor a failure.
    NotChecked(String),
}

impl From<Result<(), String>> for Verdict {
    fn from(result: Result<(), String>) -> Self {
        result.map(|()| String::new()).into()
    }
}

impl From<Result<String, String>> for Verdict {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(seen) => Self::Passed(seen),
            Err(problem) => Self::Failed(problem),
        }
    }
}

pub struct Line {
    pub step: &'static str,
    pub verdict: Verdict,
    pub took: Duration,
    pub covers: &'static str,
}

#[derive(Default)]
pub struct Report {
    pub lines: Vec<Line>,
    /// Of the whole run; steps that ran side by side take less than the sum of their times.
    pub took: Duration,
    /// What else the machine did, as a remark behind the time; empty when it is not known.
    pub load: String,
    /// As lines to be shown.
    pub slowest_tests: Vec<String>,
}

impl Report {
    pub fn failed(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line.verdict, Verdict::Failed(_))).count()
    }

    fn passed(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line.verdict, Verdict::Passed(_))).count()
    }

    /// The reasons of everything that did not pass, the table, the slowest tests, and the count as the very last line.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            match &line.verdict {
                Verdict::Failed(reason) => put(&mut text, format_args!("{} FAILED: {reason}\n", line.step)),
                Verdict::NotChecked(reason) => put(&mut text, format_args!("{}: not checked ({reason})\n", line.step)),
                Verdict::Passed(_) => {}
            }
        }
        put(&mut text, format_args!("\n{}", self.table()));
        if !self.slowest_tests.is_empty() {
            put(&mut text, format_args!("\nThe slowest tests:\n{}\n", self.slowest_tests.join("\n")));
        }
        let seconds = self.took.as_secs();
        put(&mut text, format_args!("\nIn all: {} min {:02} s{}\n", seconds / 60, seconds % 60, self.load));
        put(&mut text, format_args!("{} passed, {} failed\n", self.passed(), self.failed()));
        text
    }

    fn table(&self) -> String {
        let mut rows = vec![["step".to_owned(), "result".to_owned(), "time".to_owned(), "what it covers".to_owned()]];
        for line in &self.lines {
            let (result, seen) = match &line.verdict {
                Verdict::Passed(seen) => ("passed", seen.clone()),
                Verdict::Failed(_) => ("FAILED", String::new()),
                Verdict::NotChecked(reason) => ("not checked", reason.clone()),
            };
            let covers = if seen.is_empty() { line.covers.to_owned() } else { format!("{} ({seen})", line.covers) };
            rows.push([line.step.to_owned(), result.to_owned(), format!("{:.1} s", line.took.as_secs_f64()), covers]);
        }
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let (first, second, third) = (width(0), width(1), width(2));
        let mut text = String::new();
        for (number, [step, result, time, covers]) in rows.iter().enumerate() {
            put(&mut text, format_args!("| {step:first$} | {result:second$} | {time:>third$} | {covers}\n"));
            if number == 0 {
                let dashes = |count: usize| "-".repeat(count);
                put(
                    &mut text,
                    format_args!("|-{}-|-{}-|-{}-|-{}\n", dashes(first), dashes(second), dashes(third), dashes(14)),
                );
            }
        }
        text
    }
}

fn put(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = text.write_fmt(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(step: &'static str, verdict: Verdict) -> Line {
        Line { step, verdict, took: Duration::from_millis(1_240), covers: "something" }
    }

    #[test]
    fn the_report_ends_with_the_count_and_an_unchecked_step_counts_as_neither() {
        let report = Report {
            lines: vec![
                line("fmt", Verdict::Passed(String::new())),
                line("tests", Verdict::Passed("3 tests run: 3 passed".to_owned())),
                line("tidy", Verdict::Failed("a.rs: too long".to_owned())),
                line("advisories", Verdict::NotChecked("database unreachable".to_owned())),
            ],
            took: Duration::from_secs(61),
            load: ", load average 0.10 before".to_owned(),
            slowest_tests: vec!["   2.0 s  a::b".to_owned()],
        };
        assert_eq!(
            report.render(),
            "\
tidy FAILED: a.rs: too long
advisories: not checked (database unreachable)

| step       | result      |  time | what it covers
|------------|-------------|-------|---------------
| fmt        | passed      | 1.2 s | something
| tests      | passed      | 1.2 s | something (3 tests run: 3 passed)
| tidy       | FAILED      | 1.2 s | something
| advisories | not checked | 1.2 s | something (database unreachable)

The slowest tests:
   2.0 s  a::b

In all: 1 min 01 s, load average 0.10 before
2 passed, 1 failed
"
        );
    }

    #[test]
    fn only_a_failure_makes_the_report_fail() {
        let not_checked = vec![line("advisories", Verdict::NotChecked("offline".to_owned()))];
        let report = Report { lines: not_checked, ..Report::default() };
        assert_eq!(report.failed(), 0);
        let report = Report { lines: vec![line("deny", Verdict::Failed("no".to_owned()))], ..Report::default() };
        assert_eq!(report.failed(), 1);
    }
}
