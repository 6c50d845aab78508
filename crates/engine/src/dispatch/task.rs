//! A task: a message under its key, how far it has come and what was answered. How far is kept in clear, so that it
//! can be looked for; everything else is sealed.

use serde::{Deserialize, Serialize};

use super::letter::Letter;
use super::told::Answer;
use crate::table::{Cell, Column, Found, Holds, Kind, Row};

/// What is kept of dispatched messages. A contract that takes them has this among its kinds.
pub static TASK: Kind = Kind {
    name: "dispatch_task",
    columns: &[
        Column { name: SLOT, holds: Holds::Digest },
        Column { name: OWNER, holds: Holds::Digest },
        Column { name: OPEN, holds: Holds::Text },
        Column { name: DUE_AT, holds: Holds::Integer },
        Column { name: EXPIRES_AT, holds: Holds::Integer },
    ],
    unique: &[SLOT],
    sorted: &[EXPIRES_AT],
    filtered: &[OPEN, OWNER],
};

/// Whose key it is, and which.
pub(crate) const SLOT: &str = "slot";
/// Whose it is, at which server.
pub(crate) const OWNER: &str = "owner";
/// The server that must still answer; nothing once it has.
pub(crate) const OPEN: &str = "open_for";
pub(crate) const DUE_AT: &str = "due_at";
/// From then on the task is as good as forgotten.
pub const EXPIRES_AT: &str = "expires_at";

/// A message that has been begun so often, and cut off each time, ends whoever begins it.
pub(crate) const MOST_ATTEMPTS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Waiting,
    Running,
    Completed,
    Failed,
}

#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) state: State,
    pub(crate) server: String,
    /// How often it was begun, not counting runs that ended by themselves.
    pub(crate) attempts: u32,
    /// How often it was put off.
    pub(crate) pauses: u32,
    /// While it is open: from when on anybody may take it. Until then it is somebody's.
    pub(crate) due_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) changed_at: i64,
    pub(crate) letter: Letter,
    pub(crate) answer: Option<Answer>,
}

#[derive(Serialize, Deserialize)]
struct Clear {
    state: State,
    server: String,
    attempts: u32,
    pauses: u32,
    due_at: i64,
    expires_at: i64,
    changed_at: i64,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    letter: Letter,
    answer: Option<Answer>,
}

impl Task {
    pub(crate) fn is_open(&self) -> bool {
        match self.state {
            State::Waiting | State::Running => true,
            State::Completed | State::Failed => false,
        }
    }

    /// `None` for a task without a key, which is never kept.
    pub(crate) fn row(&self, now: i64) -> Option<Row> {
        let clear = Clear {
            state: self.state,
            server: self.server.clone(),
            attempts: self.attempts,
            pauses: self.pauses,
            due_at: self.due_at,
            expires_at: self.expires_at,
            changed_at: now,
        };
        let sealed = Sealed { letter: self.letter.clone(), answer: self.answer.clone() };
        Some(Row {
            id: self.id.clone(),
            version: self.version,
            created_at: self.created_at,
            updated_at: now,
            cells: vec![
                (SLOT, Cell::Digest(self.letter.slot()?)),
                (OWNER, Cell::Digest(self.letter.owner())),
                (OPEN, if self.is_open() { Cell::Text(self.server.clone()) } else { Cell::Null }),
                (DUE_AT, Cell::Integer(self.due_at)),
                (EXPIRES_AT, Cell::Integer(self.expires_at)),
            ],
            words: Vec::new(),
            body: serde_json::to_string(&clear).ok()?,
            masked: None,
            personal: Some(serde_json::to_string(&sealed).ok()?),
        })
    }

    pub(crate) fn found(found: Found) -> Option<Task> {
        let clear: Clear = serde_json::from_str(&found.body).ok()?;
        let sealed: Sealed = serde_json::from_str(&found.personal?).ok()?;
        Some(Task {
            id: found.id,
            version: found.version,
            created_at: found.created_at,
            state: clear.state,
            server: clear.server,
            attempts: clear.attempts,
            pauses: clear.pauses,
            due_at: clear.due_at,
            expires_at: clear.expires_at,
            changed_at: clear.changed_at,
            letter: sealed.letter,
            answer: sealed.answer,
        })
    }
}
