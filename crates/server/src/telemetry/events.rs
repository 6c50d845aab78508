//! Operational events (`tracing`) as lines of the log: a level, a constant message and fields. Fields contain no personal
//! data and no secrets.

use std::fmt::{Debug, Write as _};
use std::sync::Arc;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Clock;
use frontdesk_wire::json::write_quoted;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::log::LogStyle;
use super::log_writer::LogBuffer;

/// Writes the events of Frontdesk's own crates to the log; those of other crates are ignored.
pub(super) struct EventLayer {
    pub(super) style: LogStyle,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) buffer: Arc<LogBuffer>,
}

impl<S: Subscriber> Layer<S> for EventLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::INFO && metadata.target().starts_with("frontdesk")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = EventLine::default();
        event.record(&mut line);
        let (at, level) = (self.clock.now(), *event.metadata().level());
        self.buffer.write(|out| line.write(self.style, at, level, out));
    }
}

/// The message and the fields of an event.
#[derive(Default)]
pub(super) struct EventLine {
    message: String,
    fields: Vec<(&'static str, FieldValue)>,
}

enum FieldValue {
    Number(i128),
    Text(String),
}

impl EventLine {
    pub(super) fn new(message: &str) -> EventLine {
        EventLine { message: message.to_owned(), fields: Vec::new() }
    }

    pub(super) fn number(mut self, name: &'static str, value: u64) -> EventLine {
        self.fields.push((name, FieldValue::Number(value.into())));
        self
    }

    pub(super) fn write(&self, style: LogStyle, at: Millis, level: Level, out: &mut String) {
        let (at, level) = (at.to_rfc3339(), level_name(level));
        // Writing to a string cannot fail.
        match style {
            LogStyle::Json => {
                let _ = write!(out, "{{\"at\":\"{at}\",\"level\":\"{level}\",\"message\":");
                write_quoted(&self.message, out);
                for (name, value) in &self.fields {
                    let _ = write!(out, ",\"{name}\":");
                    match value {
                        FieldValue::Number(number) => {
                            let _ = write!(out, "{number}");
                        }
                        FieldValue::Text(text) => write_quoted(text, out),
                    }
                }
                out.push('}');
            }
            LogStyle::Pretty => {
                let _ = write!(out, "{at:<24}  {level:<5}  {}", self.message);
                for (name, value) in &self.fields {
                    let _ = match value {
                        FieldValue::Number(number) => write!(out, "  {name}={number}"),
                        FieldValue::Text(text) => write!(out, "  {name}={}", indented(text)),
                    };
                }
            }
        }
    }

    fn add(&mut self, field: &Field, value: FieldValue) {
        match (field.name(), value) {
            ("message", FieldValue::Text(message)) => self.message = message,
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Visit for EventLine {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, FieldValue::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, FieldValue::Text(value.to_owned()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, FieldValue::Number(value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, FieldValue::Number(value.into()));
    }
}

fn level_name(level: Level) -> &'static str {
    if level == Level::ERROR {
        "error"
    } else if level == Level::WARN {
        "warn"
    } else {
        "info"
    }
}

/// Errors of a configuration have several lines; other control characters could forge lines.
fn indented(text: &str) -> String {
    let printable = |letter: char| if letter.is_control() && letter != '\n' { ' ' } else { letter };
    text.chars().map(printable).collect::<String>().replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(style: LogStyle) -> String {
        let mut event = EventLine::new("trace export failed").number("calls", 3);
        event.fields.push(("error", FieldValue::Text("a \"b\"\nc\u{1b}".to_owned())));
        let mut out = String::new();
        event.write(style, Millis(1_700_000_000_000), Level::WARN, &mut out);
        out
    }

    #[test]
    fn an_event_has_time_level_message_and_fields() {
        assert_eq!(
            line(LogStyle::Json),
            r#"{"at":"2023-11-14T22:13:20Z","level":"warn","message":"trace export failed","calls":3,"error":"a \"b\"\nc\u001b"}"#
        );
        assert_eq!(
            line(LogStyle::Pretty),
            "2023-11-14T22:13:20Z      warn   trace export failed  calls=3  error=a \"b\"\n    c "
        );
    }
}
