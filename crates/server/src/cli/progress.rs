//! The progress of long work: a bar on a terminal, otherwise a line every few seconds. Always on standard error, so that
//! a script can read the result from standard output.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

const BAR_INTERVAL: Duration = Duration::from_millis(100);
const LINE_INTERVAL: Duration = Duration::from_secs(3);
const WIDTH: u64 = 30;

pub(super) struct ProgressBar {
    verb: &'static str,
    unit: &'static str,
    total: u64,
    done: u64,
    started: Instant,
    /// When it was last shown.
    shown_at: Option<Instant>,
    style: ProgressStyle,
}

enum ProgressStyle {
    Bar,
    Lines,
}

impl ProgressBar {
    pub(super) fn new(verb: &'static str, total: u64) -> ProgressBar {
        let style = if io::stderr().is_terminal() { ProgressStyle::Bar } else { ProgressStyle::Lines };
        ProgressBar { verb, unit: "rows", total, done: 0, started: Instant::now(), shown_at: None, style }
    }

    /// Of a file whose rows have not been counted yet.
    pub(super) fn of_file(verb: &'static str, size: u64) -> ProgressBar {
        let mut progress = ProgressBar::new(verb, size.div_ceil(1024));
        progress.unit = "KiB";
        progress
    }

    /// One row more.
    pub(super) fn step(&mut self) {
        self.done += 1;
        // Reading the clock takes longer than a row, so it is not read for each.
        if self.done.is_multiple_of(64) {
            self.show();
        }
    }

    /// So much is done.
    pub(super) fn set(&mut self, done: u64) {
        self.done = done.min(self.total);
        self.show();
    }

    /// Shows the final state.
    pub(super) fn end(mut self) {
        self.shown_at = None;
        let mut err = io::stderr().lock();
        let _ = match self.style {
            ProgressStyle::Bar => writeln!(err, "\r{}", self.bar()),
            ProgressStyle::Lines => writeln!(err, "{}", self.line()),
        };
    }

    fn show(&mut self) {
        let pause = match self.style {
            ProgressStyle::Bar => BAR_INTERVAL,
            ProgressStyle::Lines => LINE_INTERVAL,
        };
        if self.shown_at.is_some_and(|shown_at| shown_at.elapsed() < pause) {
            return;
        }
        self.shown_at = Some(Instant::now());
        let mut err = io::stderr().lock();
        // A closed terminal does not stop the work.
        let _ = match self.style {
            ProgressStyle::Bar => write!(err, "\r{}", self.bar()).and_then(|()| err.flush()),
            ProgressStyle::Lines => writeln!(err, "{}", self.line()),
        };
    }

    fn bar(&self) -> String {
        let filled = self.done * WIDTH / self.total.max(1);
        let bar: String = (0..WIDTH).map(|place| if place < filled { '#' } else { '-' }).collect();
        format!("{:<9} [{bar}] {:>3}%  {}", self.verb, self.percent(), self.numbers())
    }

    fn line(&self) -> String {
        format!("{} {}%: {}", self.verb, self.percent(), self.numbers())
    }

    fn percent(&self) -> u64 {
        (self.done * 100).checked_div(self.total).unwrap_or(100)
    }

    fn numbers(&self) -> String {
        let milliseconds = self.started.elapsed().as_millis().max(1);
        let rate = u128::from(self.done) * 1_000 / milliseconds;
        format!("{} of {} {unit}, {rate} {unit}/s", self.done, self.total, unit = self.unit)
    }
}

/// The error message of failed work starts on a new line.
impl Drop for ProgressBar {
    fn drop(&mut self) {
        if let (ProgressStyle::Bar, Some(_)) = (&self.style, self.shown_at) {
            let _ = writeln!(io::stderr().lock());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_and_line_show_the_progress() {
        let mut progress = ProgressBar::new("importing", 200);
        progress.done = 100;
        let (bar, line) = (progress.bar(), progress.line());
        assert!(bar.starts_with("importing [###############---------------]  50%  100 of 200 rows, "), "{bar}");
        assert!(line.starts_with("importing 50%: 100 of 200 rows, ") && line.ends_with(" rows/s"), "{line}");
        assert!(ProgressBar::new("checking", 0).line().starts_with("checking 100%: 0 of 0 rows, "));
    }
}
