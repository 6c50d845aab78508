//! How far long work has come: a bar on a terminal, otherwise a line every few seconds. Always on standard error,
//! so that a script can read the result.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

const REDRAW: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(3);
const WIDTH: u64 = 30;

pub(super) struct Progress {
    doing: &'static str,
    total: u64,
    done: u64,
    begun: Instant,
    /// When it was last said; nothing has been so far.
    said: Option<Instant>,
    style: Style,
}

enum Style {
    Bar,
    Lines,
}

impl Progress {
    pub(super) fn new(doing: &'static str, total: u64) -> Progress {
        let style = match io::stderr().is_terminal() {
            true => Style::Bar,
            false => Style::Lines,
        };
        Progress { doing, total, done: 0, begun: Instant::now(), said: None, style }
    }

    /// One row more.
    pub(super) fn step(&mut self) {
        self.done += 1;
        // The clock is asked now and then only: a row takes less time than asking.
        if self.done.is_multiple_of(64) {
            self.say();
        }
    }

    /// Leaves the last state standing.
    pub(super) fn end(mut self) {
        self.said = None;
        let mut err = io::stderr().lock();
        let _ = match self.style {
            Style::Bar => writeln!(err, "\r{}", self.bar()),
            Style::Lines => writeln!(err, "{}", self.line()),
        };
    }

    fn say(&mut self) {
        let pause = match self.style {
            Style::Bar => REDRAW,
            Style::Lines => LINE,
        };
        if self.said.is_some_and(|said| said.elapsed() < pause) {
            return;
        }
        self.said = Some(Instant::now());
        let mut err = io::stderr().lock();
        // A terminal that has gone is no reason to stop.
        let _ = match self.style {
            Style::Bar => write!(err, "\r{}", self.bar()).and_then(|()| err.flush()),
            Style::Lines => writeln!(err, "{}", self.line()),
        };
    }

    fn bar(&self) -> String {
        let filled = self.done * WIDTH / self.total.max(1);
        let bar: String = (0..WIDTH).map(|place| if place < filled { '#' } else { '-' }).collect();
        format!("{:<9} [{bar}] {:>3}%  {}", self.doing, self.percent(), self.numbers())
    }

    fn line(&self) -> String {
        format!("{} {}%: {}", self.doing, self.percent(), self.numbers())
    }

    fn percent(&self) -> u64 {
        (self.done * 100).checked_div(self.total).unwrap_or(100)
    }

    fn numbers(&self) -> String {
        let milliseconds = self.begun.elapsed().as_millis().max(1);
        let rate = u128::from(self.done) * 1_000 / milliseconds;
        format!("{} of {} rows, {rate} rows/s", self.done, self.total)
    }
}

/// What is said after work that failed begins on a line of its own.
impl Drop for Progress {
    fn drop(&mut self) {
        if let (Style::Bar, Some(_)) = (&self.style, self.said) {
            let _ = writeln!(io::stderr().lock());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_and_a_line_say_how_far_it_is() {
        let mut progress = Progress::new("importing", 200);
        progress.done = 100;
        let (bar, line) = (progress.bar(), progress.line());
        assert!(bar.starts_with("importing [###############---------------]  50%  100 of 200 rows, "), "{bar}");
        assert!(line.starts_with("importing 50%: 100 of 200 rows, ") && line.ends_with(" rows/s"), "{line}");
        assert!(Progress::new("checking", 0).line().starts_with("checking 100%: 0 of 0 rows, "));
    }
}
