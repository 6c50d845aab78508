//! Taking in a changed configuration without a restart: all of it is read and checked first, then it is
//! in effect whole, or the last good one stays. What only a restart can change is said and left as it is.

use std::net::SocketAddr;

use crate::config::{Config, ConfigError, Loaded, Setting};

/// Keys that are used up while the desk opens.
pub const NEED_A_RESTART: [&str; 9] = [
    "data",
    "listen",
    "database",
    "database_ca",
    "operator.listen",
    "limits.connections",
    "limits.connections_per_address",
    "deadlines.drain_seconds",
    "log.format",
];

pub type Reread = Box<dyn Fn() -> Result<Loaded, ConfigError> + Send>;

/// Where the configuration comes from, and what came from there last.
pub struct Reload {
    reread: Reread,
    listening: SocketAddr,
    /// At the start of the process, whose word holds for the keys that need a restart.
    opened: Loaded,
    latest: Loaded,
}

/// A configuration that can be put into effect.
pub struct Fresh {
    pub config: Config,
    loaded: Loaded,
    /// Keys with a new value.
    changed: Vec<&'static str>,
    /// Keys whose new value waits for a restart.
    waiting: Vec<&'static str>,
}

impl Reload {
    pub fn new(loaded: Loaded, listening: SocketAddr, reread: Reread) -> Reload {
        Reload { reread, listening, opened: loaded.clone(), latest: loaded }
    }

    pub fn read(&self) -> Result<Fresh, ConfigError> {
        let loaded = (self.reread)()?;
        let waiting = differing(&self.opened.origins, &loaded.origins);
        // What follows from `listen` follows from where the desk does listen, whatever the file says now.
        let changed = differing(&self.latest.settings_at(self.listening), &loaded.settings_at(self.listening));
        Ok(Fresh {
            config: keep(&self.opened.bound_to(self.listening), loaded.bound_to(self.listening)),
            changed: changed.into_iter().filter(|key| !NEED_A_RESTART.contains(key)).collect(),
            waiting: waiting.into_iter().filter(|key| NEED_A_RESTART.contains(key)).collect(),
            loaded,
        })
    }

    /// The configuration is in effect; what there is to say about it.
    pub fn done(&mut self, fresh: Fresh) -> Vec<String> {
        let mut said = vec![match fresh.changed.is_empty() {
            true => "the configuration was read again; nothing to change while running".to_owned(),
            false => format!("the configuration was reloaded; changed: {}", fresh.changed.join(", ")),
        }];
        if !fresh.waiting.is_empty() {
            said.push(format!("a restart is needed for: {}", fresh.waiting.join(", ")));
        }
        said.extend(fresh.loaded.warnings.iter().map(|warning| format!("warning: {warning}")));
        self.latest = fresh.loaded;
        said
    }
}

fn differing(before: &[Setting], after: &[Setting]) -> Vec<&'static str> {
    before.iter().zip(after).filter(|(old, new)| old.value != new.value).map(|(_, new)| new.key).collect()
}

/// The new configuration with the old values of [`NEED_A_RESTART`], so that what it says is what is in effect.
fn keep(opened: &Config, mut fresh: Config) -> Config {
    fresh.data.clone_from(&opened.data);
    fresh.listen = opened.listen;
    fresh.database = opened.database.clone();
    fresh.operator = opened.operator.clone();
    fresh.limits.connections = opened.limits.connections;
    fresh.limits.connections_per_address = opened.limits.connections_per_address;
    fresh.deadlines.drain = opened.deadlines.drain;
    fresh.log = opened.log.clone();
    fresh
}
