//! What a caller is told about a message it dispatched. A dialect may say it otherwise.

use frontdesk_wire::answer::quote;
use serde::{Deserialize, Serialize};

use super::task::MOST_ATTEMPTS;
use crate::reply::Reply;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is written down and will be run.
    Accepted,
    Completed,
    /// It was cut off as often as anything is begun, or nobody could answer it for as long as an answer is kept.
    Failed,
}

/// Whether the message had been sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reused {
    Yes,
    No,
}

/// What the path of a call answered.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub http_status: u16,
    pub trace_id: String,
    /// JSON text.
    pub response: String,
}

pub struct Told<'a> {
    pub status: Status,
    /// None for a message that nobody can ask for again.
    pub task_id: Option<&'a str>,
    /// Of the request that was sent first.
    pub trace_id: &'a str,
    pub key: Option<&'a str>,
    pub reused: Reused,
    pub answer: Option<&'a Answer>,
}

impl Told<'_> {
    /// The answer where a contract does not say otherwise.
    pub fn plainly(&self) -> Reply {
        let (status, word) = match self.status {
            Status::Accepted => (202, "accepted"),
            Status::Completed => (200, "completed"),
            Status::Failed => (200, "failed"),
        };
        let or_null = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), quote);
        let mut body = format!(
            r#"{{"status":"{word}","task_id":{},"trace_id":{},"idempotency_key":{},"reused":{}"#,
            or_null(self.task_id),
            quote(self.trace_id),
            or_null(self.key),
            self.reused == Reused::Yes,
        );
        if let Some(Answer { http_status, trace_id, response }) = self.answer {
            body += &format!(
                r#","result":{{"http_status":{http_status},"session_id":"","trace_id":{},"response":{response}}}"#,
                quote(trace_id)
            );
        }
        if self.status == Status::Failed {
            let (code, message) = match self.answer {
                None => (
                    "attempts_exhausted",
                    format!("It was begun {MOST_ATTEMPTS} times and not completed. Send it under another key."),
                ),
                Some(_) => (
                    "time_exhausted",
                    "It could not be done for as long as an answer is kept. Send it under another key.".to_owned(),
                ),
            };
            body += &format!(r#","error":{{"code":"{code}","message":{}}}"#, quote(&message));
        }
        body.push('}');
        Reply::plain(status, body)
    }
}
