//! The log: one line for each call and one for each operational event, as JSON or for people.

use std::io::IsTerminal as _;
use std::sync::Arc;

use frontdesk_engine::TenantId;
use frontdesk_engine::audit::Observation;
use frontdesk_engine::ports::{Clock, Observer};
use frontdesk_engine::timestamp::Millis;
use frontdesk_wire::answer::quote;
use frontdesk_wire::json::{write_quoted, write_whole};

use super::log_writer::LogWriter;
use crate::config::LogFormat;

pub struct Log {
    style: LogStyle,
    clock: Arc<dyn Clock>,
    writer: LogWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogStyle {
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
        let lost = move |count: u64| style.message(lost_at.now(), &format!("{count} log lines were lost"));
        Log { style, clock, writer: LogWriter::to_stderr(lost) }
    }

    /// Logs an operational event.
    pub fn say(&self, message: &str) {
        let line = self.style.message(self.clock.now(), message);
        self.writer.write(|out| out.push_str(&line));
    }
}

impl LogStyle {
    fn message(self, at: Millis, message: &str) -> String {
        let at = at.to_rfc3339();
        match self {
            LogStyle::Pretty => format!("{at:<24}  {message}"),
            LogStyle::Json => format!("{{\"at\":\"{at}\",\"message\":{}}}", quote(message)),
        }
    }
}

impl Observer for Log {
    fn seen(&self, seen: &Observation, cause: Option<&str>) {
        match self.style {
            LogStyle::Pretty => {
                let line = pretty(seen, cause);
                self.writer.write(|out| out.push_str(&line));
            }
            // The log line is the audit record with a few more fields.
            LogStyle::Json => match &seen.kept {
                Some(kept) => self.writer.write(|out| json(seen, kept, cause, out)),
                None => {
                    let line = seen.line();
                    self.writer.write(|out| json(seen, &line, cause, out));
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
    // A caller that has disconnected gets no status.
    let status = seen.status.map_or("-".to_owned(), |status| status.to_string());
    format!(
        "{:<24}  {:<22} {status:<3} {:<24} {client} {tenant}  {:.1} ms  {}{cause}",
        seen.at.to_rfc3339(),
        what,
        seen.code.unwrap_or(seen.outcome),
        seen.micros as f64 / 1000.0,
        seen.trace.shown(),
    )
}

/// The audit record, followed by the fields that only the log has.
fn json(seen: &Observation, line: &str, cause: Option<&str>, out: &mut String) {
    out.push_str(line.strip_suffix('}').unwrap_or(line));
    out.push_str(",\"message\":\"call\"");
    if let Some(status) = seen.status {
        out.push_str(",\"status\":");
        write_whole(i64::from(status), out);
    }
    if let Some(code) = seen.code {
        out.push_str(",\"code\":");
        write_quoted(code, out);
    }
    out.push_str(",\"micros\":");
    write_whole(i64::try_from(seen.micros).unwrap_or(i64::MAX), out);
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
