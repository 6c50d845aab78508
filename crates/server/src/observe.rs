//! What operators see of a call: one line in the log, one more in the counts and its spans when it has ended. Lines
//! carry ids and codes, never arguments, answers or credentials. No call ever waits for whoever reads them.

mod lines;
mod meter;

use std::io::IsTerminal as _;
use std::sync::Arc;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::{Clock, Observer};
use frontdesk_wire::answer::quote;
use frontdesk_wire::json::{write_integer, write_quoted};

use crate::config::LogFormat;
use crate::traces::Traces;
use lines::Lines;
pub use meter::Meter;
pub(crate) use meter::{CLASSES, Readings};

/// Whoever sees a finished call: the log, the counts and the traces.
pub struct Witness {
    pub log: Arc<Log>,
    pub meter: Arc<Meter>,
    pub traces: Arc<Traces>,
}

impl Observer for Witness {
    fn on_call(&self, seen: &Observation, cause: Option<&str>) {
        self.meter.count(seen);
        self.traces.seen(seen);
        self.log.on_call(seen, cause);
    }
}

pub struct Log {
    style: Style,
    clock: Arc<dyn Clock>,
    lines: Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Pretty,
    Json,
}

impl Log {
    pub fn new(format: LogFormat, clock: Arc<dyn Clock>) -> Log {
        let style = match format {
            LogFormat::Pretty => Style::Pretty,
            LogFormat::Json => Style::Json,
            LogFormat::Auto if std::io::stderr().is_terminal() => Style::Pretty,
            LogFormat::Auto => Style::Json,
        };
        let watch = Arc::clone(&clock);
        let lost = move |count: u64| style.message(watch.now(), &format!("{count} log lines were lost"));
        Log { style, clock, lines: Lines::to_stderr(lost) }
    }

    /// Says something that is not about a call.
    pub fn say(&self, message: &str) {
        let line = self.style.message(self.clock.now(), message);
        self.lines.write(|out| out.push_str(&line));
    }
}

impl Style {
    fn message(self, at: Millis, message: &str) -> String {
        let at = at.to_rfc3339();
        match self {
            Style::Pretty => format!("{at:<24}  {message}"),
            Style::Json => format!("{{\"at\":\"{at}\",\"message\":{}}}", quote(message)),
        }
    }
}

impl Observer for Log {
    fn on_call(&self, seen: &Observation, cause: Option<&str>) {
        match self.style {
            Style::Pretty => {
                let line = pretty(seen, cause);
                self.lines.write(|out| out.push_str(&line));
            }
            // The log says what the audit says, and more.
            Style::Json => match &seen.stored_line {
                Some(kept) => self.lines.write(|out| json(seen, kept, cause, out)),
                None => {
                    let line = seen.to_line();
                    self.lines.write(|out| json(seen, &line, cause, out));
                }
            },
        }
    }
}

fn pretty(seen: &Observation, cause: Option<&str>) -> String {
    let client = seen.caller.as_ref().map_or("-", |caller| caller.client.as_str());
    let what = seen.tool.or(seen.method).unwrap_or("-");
    let tenant = seen.tenant.as_ref().map_or("-", TenantId::as_str);
    let cause = cause.map(|cause| format!("  ({})", one_line(cause))).unwrap_or_default();
    // Nobody answers a caller who has hung up.
    let status = seen.status.map_or("-".to_owned(), |status| status.to_string());
    format!(
        "{:<24}  {:<22} {status:<3} {:<24} {client} {tenant}  {:.1} ms  {}{cause}",
        seen.at.to_rfc3339(),
        what,
        seen.code.unwrap_or(seen.outcome),
        seen.micros as f64 / 1000.0,
        seen.trace.display_id(),
    )
}

/// The audit's line, with what only the log says behind it.
fn json(seen: &Observation, line: &str, cause: Option<&str>, out: &mut String) {
    out.push_str(line.strip_suffix('}').unwrap_or(line));
    out.push_str(",\"message\":\"call\"");
    if let Some(status) = seen.status {
        out.push_str(",\"status\":");
        write_integer(i64::from(status), out);
    }
    if let Some(code) = seen.code {
        out.push_str(",\"code\":");
        write_quoted(code, out);
    }
    out.push_str(",\"micros\":");
    write_integer(i64::try_from(seen.micros).unwrap_or(i64::MAX), out);
    if let Some(cause) = cause {
        out.push_str(",\"cause\":");
        write_quoted(cause, out);
    }
    out.push('}');
}

/// Control characters would let text from elsewhere draw lines of its own.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
