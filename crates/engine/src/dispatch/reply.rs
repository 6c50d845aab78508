//! What there is to say about a dispatched message. The contract's dialect makes a reply of it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchStatus {
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
pub struct CallAnswer {
    pub http_status: u16,
    pub trace_id: String,
    /// JSON text.
    pub response: String,
}

pub struct DispatchReply<'a> {
    pub status: DispatchStatus,
    /// None for a message that nobody can ask for again.
    pub task_id: Option<&'a str>,
    /// Of the request that was sent first.
    pub trace_id: &'a str,
    pub key: Option<&'a str>,
    pub reused: Reused,
    pub answer: Option<&'a CallAnswer>,
}
