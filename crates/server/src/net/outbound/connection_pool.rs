//! Connections that were used and can be used again: a few for each target, for a short time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::exchange::Sender;
use super::target::{Target, TargetHost};

const MAX_IDLE: usize = 32;
const MAX_TARGETS: usize = 64;
/// Shorter than what servers usually wait before they close.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

type TargetKey = (TargetHost, u16);

#[derive(Default)]
pub(super) struct HttpsPool(Mutex<HashMap<TargetKey, Vec<Idle>>>);

struct Idle {
    connection: Sender,
    since: Instant,
}

impl Idle {
    fn is_usable(&self) -> bool {
        !self.connection.is_closed() && self.since.elapsed() < IDLE_TIMEOUT
    }
}

impl HttpsPool {
    /// The one that was used last, because the other side keeps it longest.
    pub(super) fn take(&self, target: &Target) -> Option<Sender> {
        let mut targets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = targets.get_mut(&key(target))?;
        idle.retain(Idle::is_usable);
        idle.pop().map(|idle| idle.connection)
    }

    pub(super) fn put(&self, target: &Target, connection: Sender) {
        let idle = Idle { connection, since: Instant::now() };
        if !idle.is_usable() {
            return;
        }
        let mut targets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(target);
        if !targets.contains_key(&key) && targets.len() >= MAX_TARGETS {
            targets.retain(|_, connections| connections.iter().any(Idle::is_usable));
            if targets.len() >= MAX_TARGETS {
                return;
            }
        }
        let connections = targets.entry(key).or_default();
        if connections.len() < MAX_IDLE {
            connections.push(idle);
        }
    }
}

fn key(target: &Target) -> TargetKey {
    (target.host.clone(), target.port)
}
