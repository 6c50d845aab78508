//! How a mount takes dispatched messages.

use std::time::Duration;

use crate::model::caller::TenantId;

/// That a mount takes dispatched messages, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchConfig {
    /// Whose rows the tasks are.
    pub tenant: TenantId,
    /// What the server is called, alike at all its addresses and like no other server: its tasks are nobody else's, and
    /// find it by this after a restart.
    pub server: String,
    pub when: DispatchMode,
    pub full: OnQueueFull,
    /// How long an answer is kept for its key.
    pub retain: Duration,
}

/// When a message is run that does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchMode {
    Now,
    Later,
}

/// What is done when the queue has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnQueueFull {
    Refuse,
    RunNow,
}

/// What the request itself says about when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchPreference {
    AsConfigured,
    Later,
}

impl DispatchPreference {
    /// Reads a `Prefer` header (RFC 7240). Preferences that mean nothing here are passed over.
    pub fn preferred(prefer: Option<&str>) -> DispatchPreference {
        let words = prefer.unwrap_or_default().split(',');
        let mut names = words.map(|word| word.split(';').next().unwrap_or_default().trim());
        match names.any(|name| name.eq_ignore_ascii_case("respond-async")) {
            true => DispatchPreference::Later,
            false => DispatchPreference::AsConfigured,
        }
    }
}
