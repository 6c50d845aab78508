//! What operators see of a call: one line in the log and one more in the counts when it has ended. Lines
//! carry ids and codes, never arguments, answers or credentials. No call ever waits for whoever reads the log.

mod lines;
mod meter;

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;

use frontdesk_engine::audit::Observation;
use frontdesk_engine::ports::Observer;
use frontdesk_wire::answer::quote;

use crate::config::LogFormat;
use lines::Lines;
pub use meter::Meter;
pub(crate) use meter::{CLASSES, Readings};

/// Whoever sees a finished call: the log and the counts.
pub struct Witness {
    pub log: Arc<Log>,
    pub meter: Arc<Meter>,
}

impl Observer for Witness {
    fn seen(&self, seen: &Observation, cause: Option<&str>) {
        self.meter.count(seen);
        self.log.seen(seen, cause);
    }
}

pub struct Log {
    style: Style,
    lines: Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Pretty,
    Json,
}

impl Log {
    pub fn new(format: LogFormat) -> Log {
        let style = match format {
            LogFormat::Pretty => Style::Pretty,
            LogFormat::Json => Style::Json,
            LogFormat::Auto if std::io::stderr().is_terminal() => Style::Pretty,
            LogFormat::Auto => Style::Json,
        };
        let lost = move |count: u64| style.message(&format!("{count} log lines were lost"));
        Log { style, lines: Lines::to_stderr(lost) }
    }

    /// Says something that is not about a call.
    pub fn say(&self, message: &str) {
        self.lines.write(self.style.message(message));
    }
}

impl Style {
    fn message(self, message: &str) -> String {
        match self {
            Style::Pretty => message.to_owned(),
            Style::Json => format!("{{\"message\":{}}}", quote(message)),
        }
    }
}

impl Observer for Log {
    fn seen(&self, seen: &Observation, cause: Option<&str>) {
        self.lines.write(match self.style {
            Style::Pretty => pretty(seen, cause),
            Style::Json => json(seen, cause),
        });
    }
}

fn pretty(seen: &Observation, cause: Option<&str>) -> String {
    let client = seen.caller.as_ref().map_or("-", |caller| caller.client.as_str());
    let what = seen.tool.or(seen.method).unwrap_or("-");
    let tenant = seen.tenant.as_deref().unwrap_or("-");
    let cause = cause.map(|cause| format!("  ({})", one_line(cause))).unwrap_or_default();
    format!(
        "{}  {:<22} {:<24} {client} {tenant}  {:.1} ms{cause}",
        seen.at.to_rfc3339(),
        what,
        seen.outcome,
        seen.micros as f64 / 1000.0,
    )
}

fn json(seen: &Observation, cause: Option<&str>) -> String {
    let mut line = seen.line();
    line.pop();
    let _ = write!(line, ",\"message\":\"call\",\"micros\":{}", seen.micros);
    if let Some(cause) = cause {
        line.push_str(&format!(",\"cause\":{}", quote(cause)));
    }
    line.push('}');
    line
}

/// Control characters would let text from elsewhere draw lines of its own.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
