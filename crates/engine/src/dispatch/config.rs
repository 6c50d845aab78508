//! How a mount takes dispatched messages.

use std::time::Duration;

use crate::model::caller::TenantId;

/// How a mount handles dispatched messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchConfig {
    /// The tenant that the tasks are stored for.
    pub tenant: TenantId,
    /// The server's name, the same at all its addresses and unique: tasks find their server by it after a restart.
    pub server: String,
    pub when: DispatchMode,
    pub full: OnQueueFull,
    /// How long an answer is stored for its key.
    pub retain: Duration,
}

/// When a message without a preference is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchMode {
    Now,
    Later,
}

/// What happens when the queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnQueueFull {
    Refuse,
    RunNow,
}

/// What the request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchPreference {
    AsConfigured,
    Later,
}

impl DispatchPreference {
    /// Reads a `Prefer` header (RFC 7240). Other preferences are ignored.
    pub fn preferred(prefer: Option<&str>) -> DispatchPreference {
        let words = prefer.unwrap_or_default().split(',');
        let mut names = words.map(|word| word.split(';').next().unwrap_or_default().trim());
        if names.any(|name| name.eq_ignore_ascii_case("respond-async")) {
            DispatchPreference::Later
        } else {
            DispatchPreference::AsConfigured
        }
    }
}
