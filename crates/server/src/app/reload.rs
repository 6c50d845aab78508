//! Reloading the configuration without a restart: it is read and checked completely before any of it takes effect;
//! if anything is wrong, the current one stays. Keys that need a restart keep their values and are reported.

use std::net::SocketAddr;

use crate::config::{Config, ConfigErrors, LoadedConfig, ShownSetting};

/// Keys that are only read at startup.
pub const RESTART_KEYS: [&str; 10] = [
    "data",
    "listen",
    "database",
    "database_ca",
    "master_key",
    "operator.listen",
    "limits.connections",
    "limits.connections_per_address",
    "deadlines.drain_seconds",
    "log.format",
];

pub type ReadConfig = Box<dyn Fn() -> Result<LoadedConfig, ConfigErrors> + Send>;

/// Where the configuration comes from, and what was read last.
pub struct Reload {
    read_config: ReadConfig,
    listen_addr: SocketAddr,
    /// At startup, which decides the keys that need a restart.
    initial: LoadedConfig,
    latest: LoadedConfig,
}

/// A valid configuration that is not in effect yet.
pub struct ReloadedConfig {
    pub config: Config,
    loaded: LoadedConfig,
    /// Keys with a new value.
    changed: Vec<&'static str>,
    /// Keys whose new value needs a restart.
    needs_restart: Vec<&'static str>,
}

impl Reload {
    pub fn new(loaded: LoadedConfig, listen_addr: SocketAddr, read_config: ReadConfig) -> Reload {
        Reload { read_config, listen_addr, initial: loaded.clone(), latest: loaded }
    }

    pub fn read(&self) -> Result<ReloadedConfig, ConfigErrors> {
        let loaded = (self.read_config)()?;
        let needs_restart = differing(&self.initial.settings, &loaded.settings);
        // Defaults that depend on `listen` follow the address in use, not the one in the file.
        let changed = differing(&self.latest.settings_at(self.listen_addr), &loaded.settings_at(self.listen_addr));
        Ok(ReloadedConfig {
            config: keep_startup_values(&self.initial.bound_to(self.listen_addr), loaded.bound_to(self.listen_addr)),
            changed: changed.into_iter().filter(|key| !RESTART_KEYS.contains(key)).collect(),
            needs_restart: needs_restart.into_iter().filter(|key| RESTART_KEYS.contains(key)).collect(),
            loaded,
        })
    }

    /// The configuration is in effect; logs what has changed.
    pub fn finish(&mut self, reloaded: ReloadedConfig) {
        if reloaded.changed.is_empty() {
            tracing::info!("configuration reloaded: no keys changed");
        } else {
            tracing::info!(changed = reloaded.changed.join(", "), "configuration reloaded");
        }
        if !reloaded.needs_restart.is_empty() {
            tracing::warn!(keys = reloaded.needs_restart.join(", "), "restart required");
        }
        reloaded.loaded.log_warnings();
        self.latest = reloaded.loaded;
    }
}

fn differing(before: &[ShownSetting], after: &[ShownSetting]) -> Vec<&'static str> {
    before.iter().zip(after).filter(|(old, new)| old.value != new.value).map(|(_, new)| new.key).collect()
}

/// The new configuration with the startup values of [`RESTART_KEYS`], so that it says what is in effect.
fn keep_startup_values(initial: &Config, mut reloaded: Config) -> Config {
    reloaded.data.clone_from(&initial.data);
    reloaded.master_key.clone_from(&initial.master_key);
    reloaded.listen = initial.listen;
    reloaded.database = initial.database.clone();
    reloaded.admin = initial.admin.clone();
    reloaded.limits.connections = initial.limits.connections;
    reloaded.limits.connections_per_address = initial.limits.connections_per_address;
    reloaded.deadlines.drain = initial.deadlines.drain;
    reloaded.log = initial.log.clone();
    reloaded
}
