//! What there is to say about a dispatched message. The contract's dialect makes a reply of it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchStatus {
    /// It is stored and will be run.
    Accepted,
    Completed,
    /// It was interrupted `MAX_ATTEMPTS` times, or could not be answered within the retention of answers.
    Failed,
}

/// Whether the message had been sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reused {
    Yes,
    No,
}

/// The answer of the call.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallAnswer {
    pub http_status: u16,
    pub trace_id: String,
    /// JSON text.
    pub response: String,
}

pub struct DispatchReply<'a> {
    pub status: DispatchStatus,
    /// None for a message without a key.
    pub task_id: Option<&'a str>,
    /// Of the first request with this key.
    pub trace_id: &'a str,
    pub key: Option<&'a str>,
    pub reused: Reused,
    pub answer: Option<&'a CallAnswer>,
}
