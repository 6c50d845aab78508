//! Configuration: a TOML file and `FRONTDESK_*` variables become one [`Config`] in which every value is present and checked.
//! Nothing outside this module may read the environment or the file, and no later code needs to check a value again.

mod env;
mod fields;
mod finding;
mod key;
mod keys;
mod layers;
mod mount;
mod network;
mod partner;
mod raw;
mod reference;
mod show;
mod site;
mod traces;
mod url;
mod value_type;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use env::{StdioLogin, environment, login};
pub use finding::{ConfigErrors, Finding};
use frontdesk_contracts::SignalSettings;
use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_identity::LoginSettings;
use frontdesk_store::{Address, StorageLimits};
pub use key::{ConfigKey, DefaultValue};
pub use keys::KEYS;
pub use mount::MountConfig;
pub use network::IpNetwork;
pub use partner::{BookingClock, CompletionConfig, KeyFormat, PartnerAuthConfig, PartnerConfig, PartnerCredentials};
use raw::RawConfig;
pub use reference::{example, reference};
pub use show::{ShownSetting, ValueSource, show};
pub use site::{Dispatch, Failover, JwtConfig, OwnTokens, SecretSource, SiteAuth, SiteConfig, SiteLimits, SiteServer};
pub use traces::{Collector, CollectorChannel, CollectorUrl, SampleRatio, TracesConfig};
pub use url::PublicUrl;
pub use value_type::parse_address;

/// Reads the configuration: the environment outranks the file, the file outranks the defaults.
///
/// Without `file`, the variable `FRONTDESK_CONFIG` may name one. A later pair of `environment` replaces an earlier one
/// of the same name, so a command can append its flags. `entries` are the contracts this build can mount. All problems are
/// reported together, so that one run is enough to fix a file.
pub fn load(
    file: Option<&Path>,
    environment: impl Iterator<Item = (String, String)>,
    entries: &[ContractEntry],
) -> Result<LoadedConfig, ConfigErrors> {
    let CheckedConfig { loaded, problems, .. } = check(file, environment, entries);
    if problems.is_empty() { Ok(loaded) } else { Err(ConfigErrors { problems }) }
}

/// As [`load`], but also returns the valid part of a configuration with problems.
pub fn check(
    file: Option<&Path>,
    environment: impl Iterator<Item = (String, String)>,
    entries: &[ContractEntry],
) -> CheckedConfig {
    let layers = layers::read_layers(file, environment, entries);
    let resolved = raw::resolve(&layers, entries);
    let mut problems = layers.problems;
    problems.extend(resolved.problems);
    let loaded = LoadedConfig {
        settings: show::settings(&resolved.raw, &layers.sources),
        config: resolved.config,
        warnings: resolved.warnings,
        file: layers.file,
        raw: resolved.given,
    };
    CheckedConfig { loaded, problems, invalid: layers.invalid }
}

/// A configuration that may have problems.
pub struct CheckedConfig {
    /// With defaults in place of invalid values.
    pub loaded: LoadedConfig,
    pub problems: Vec<Finding>,
    invalid: BTreeSet<&'static str>,
}

impl CheckedConfig {
    /// Whether the values of all these keys are valid.
    pub fn are_valid(&self, keys: &[&str]) -> bool {
        !keys.iter().any(|key| self.invalid.contains(key))
    }
}

/// The configuration, the source of each value, and warnings.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    pub config: Config,
    pub settings: Vec<ShownSetting>,
    pub warnings: Vec<Finding>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    raw: RawConfig,
}

impl LoadedConfig {
    /// Logs the warnings of [`load`].
    pub fn log_warnings(&self) {
        for Finding { key, problem, advice, .. } in &self.warnings {
            tracing::warn!(key, problem, advice, "configuration warning");
        }
    }

    /// Adds a mount that is not in the file.
    pub fn with_mount(mut self, mount: MountConfig) -> LoadedConfig {
        self.raw.mounts.get_or_insert_default().push(mount.clone());
        self.config.mounts.push(mount);
        self
    }

    /// The configuration when the port is known: with `listen` on port 0, the defaults of public URL, hosts and origins
    /// follow the port that the system chose.
    pub fn bound_to(&self, listening: SocketAddr) -> Config {
        raw::build(self.raw_at(listening))
    }

    /// The settings of [`bound_to`](LoadedConfig::bound_to).
    pub fn settings_at(&self, listening: SocketAddr) -> Vec<ShownSetting> {
        let sources = self.settings.iter().map(|setting| (setting.key, setting.source)).collect();
        show::settings(&self.raw_at(listening).derived(), &sources)
    }

    fn raw_at(&self, listening: SocketAddr) -> RawConfig {
        let mut raw = self.raw.clone();
        raw.listen = listening;
        raw
    }
}

/// Everything that can be configured. No field is optional: what was not set has its default.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The folder of the database, keys and development certificates.
    pub data: PathBuf,
    /// The file of the master key.
    pub master_key: PathBuf,
    /// Where the public HTTPS endpoint listens.
    pub listen: SocketAddr,
    /// The base of every URL that Frontdesk publishes about itself.
    pub public_url: PublicUrl,
    /// Host names without port, in lower case, that a request may be addressed to.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, as a browser writes them.
    pub allowed_origins: Vec<String>,
    /// Whose word about the address of a client counts.
    pub trusted_proxies: Vec<IpNetwork>,
    pub certificate: CertificateConfig,
    pub admin: AdminConfig,
    pub token: TokenConfig,
    pub login: LoginSettings,
    pub limits: LimitsConfig,
    pub deadlines: DeadlinesConfig,
    pub idempotency: IdempotencyConfig,
    pub audit: AuditConfig,
    pub log: LogConfig,
    pub traces: TracesConfig,
    pub outbound: OutboundConfig,
    pub signals: SignalSettings,
    pub database: DatabaseConfig,
    /// At least one, with distinct paths.
    pub mounts: Vec<MountConfig>,
}

impl Config {
    /// Whether some mount pins certificates of clients.
    pub fn asks_for_certificates(&self) -> bool {
        self.mounts.iter().filter_map(|mount| mount.partner.as_ref()).any(|partner| partner.auth.pins_certificates())
    }
}

/// Which certificate the server uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateConfig {
    /// Issued by the development CA in the data folder.
    Development,
    Files {
        certificate: PathBuf,
        key: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminConfig {
    /// Always a loopback address: metrics and health are not for the network.
    pub listen: SocketAddr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenConfig {
    pub lifetime: Duration,
    /// How long a verified token is cached; a revocation takes effect within this time.
    pub cache: Duration,
    /// The most days that a token of the operator may be valid.
    pub operator_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsConfig {
    pub body_bytes: usize,
    pub import_bytes: usize,
    /// For all bodies together.
    pub body_memory_bytes: usize,
    pub page_bytes: usize,
    pub connections: usize,
    pub connections_per_address: usize,
    /// Answers that stay open.
    pub streams: usize,
    pub streams_per_client: usize,
    /// For each client.
    pub calls_per_minute: u32,
    pub burst: u32,
    pub token_requests_per_minute: u32,
    pub storage: StorageLimits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlinesConfig {
    pub call: Duration,
    pub drain: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyConfig {
    pub retain: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditConfig {
    pub writes: Retention,
    pub reads: Retention,
    pub administration: Retention,
    pub anchor: Option<AnchorConfig>,
}

/// Where audit anchors are appended, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorConfig {
    pub file: PathBuf,
    pub interval: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    Forever,
    Days(u32),
}

impl Retention {
    /// 0 is for ever.
    fn of_days(days: u32) -> Retention {
        if days == 0 { Retention::Forever } else { Retention::Days(days) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    pub format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON otherwise.
    Auto,
    Pretty,
    Json,
}

/// What requests of this server itself may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutboundConfig {
    /// Addresses that are not public and may be reached all the same.
    pub allow: Vec<IpNetwork>,
    /// The PEM file of the CAs that are trusted instead of the public ones.
    pub ca: Option<PathBuf>,
}

/// Where rows are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseConfig {
    /// SQLite in the data folder.
    Embedded,
    /// Shared by several nodes, if they have the same master key.
    Postgres(Address),
}
