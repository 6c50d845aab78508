//! The log: one line for each call and one for each operational event, as JSON or for people.

use std::io::IsTerminal as _;
use std::sync::Arc;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::{Clock, Observer};
use frontdesk_wire::json::{write_integer, write_quoted};
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt as _;

use super::events::{EventLayer, EventLine};
use super::log_writer::LogWriter;
use crate::config::LogFormat;

/// Writes to standard error. Dropping it flushes what is buffered.
pub struct Log {
    style: LogStyle,
    clock: Arc<dyn Clock>,
    writer: LogWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogStyle {
    Pretty,
    Json,
}

impl Log {
    pub fn new(format: LogFormat, clock: Arc<dyn Clock>) -> Log {
        let style = match format {
            LogFormat::Pretty => LogStyle::Pretty,
            LogFormat::Json => LogStyle::Json,
            LogFormat::Auto if std::io::stderr().is_terminal() => LogStyle::Pretty,
            LogFormat::Auto => LogStyle::Json,
        };
        let lost_at = Arc::clone(&clock);
        let lost = move |count: u64, out: &mut String| {
            EventLine::new("log lines lost").number("count", count).write(style, lost_at.now(), Level::WARN, out);
        };
        Log { style, clock, writer: LogWriter::to_stderr(lost) }
    }

    /// Writes nothing; for a command whose own output says what happened.
    pub fn silent(clock: Arc<dyn Clock>) -> Log {
        Log { style: LogStyle::Json, clock, writer: LogWriter::to_nowhere() }
    }

    /// Sends the operational events of this process to this log. Only the first log of a process can be installed.
    pub fn install(&self) {
        let layer =
            EventLayer { style: self.style, clock: Arc::clone(&self.clock), buffer: Arc::clone(self.writer.buffer()) };
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer));
    }
}

impl Observer for Log {
    fn on_call(&self, call: &Observation, cause: Option<&str>) {
        match self.style {
            LogStyle::Pretty => {
                let line = pretty(call, cause);
                self.writer.write(|out| out.push_str(&line));
            }
            // The log line is the audit record with a few more fields.
            LogStyle::Json => match &call.stored_line {
                Some(stored) => self.writer.write(|out| json(call, stored, cause, out)),
                None => {
                    let line = call.to_line();
                    self.writer.write(|out| json(call, &line, cause, out));
                }
            },
        }
    }
}

fn pretty(call: &Observation, cause: Option<&str>) -> String {
    let client = call.caller.as_ref().map_or("-", |caller| caller.client.as_str());
    let what = call.tool.or(call.method).unwrap_or("-");
    let tenant = call.tenant.as_ref().map_or("-", TenantId::as_str);
    let cause = cause.map(|cause| format!("  ({})", one_line(cause))).unwrap_or_default();
    // A caller that has disconnected gets no status.
    let status = call.status.map_or("-".to_owned(), |status| status.to_string());
    format!(
        "{:<24}  {:<22} {status:<3} {:<24} {client} {tenant}  {:.1} ms  {}{cause}",
        call.at.to_rfc3339(),
        what,
        call.code.unwrap_or(call.outcome),
        call.micros as f64 / 1000.0,
        call.trace.display_id(),
    )
}

/// The audit record, followed by the fields that only the log has.
fn json(call: &Observation, line: &str, cause: Option<&str>, out: &mut String) {
    out.push_str(line.strip_suffix('}').unwrap_or(line));
    out.push_str(",\"message\":\"call\"");
    if let Some(status) = call.status {
        out.push_str(",\"status\":");
        write_integer(i64::from(status), out);
    }
    if let Some(code) = call.code {
        out.push_str(",\"code\":");
        write_quoted(code, out);
    }
    out.push_str(",\"micros\":");
    write_integer(i64::try_from(call.micros).unwrap_or(i64::MAX), out);
    if let Some(cause) = cause {
        out.push_str(",\"cause\":");
        write_quoted(cause, out);
    }
    out.push('}');
}

/// Control characters could forge log lines.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
