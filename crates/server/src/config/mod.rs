//! Configuration: a TOML file and `FRONTDESK_*` variables become one [`Config`] in which every value is present and checked.
//! Nothing outside this module may read the environment or the file, and no later code needs to check a value again.

mod draft;
mod environment;
mod finding;
mod gather;
mod keys;
mod kind;
mod mount;
mod reference;
mod show;
mod site;
mod traces;
mod web;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use draft::Draft;
pub use environment::{Login, environment, login};
pub use finding::{ConfigError, Finding};
use frontdesk_engine::offer::Offer;
use frontdesk_store::Address;
pub use keys::{Fallback, KEYS, Key};
pub use kind::address;
pub use mount::Mount;
pub use reference::{example, reference};
pub use show::{Origin, Setting, show};
pub use site::{Auth, Dispatch, Failover, Jwt, OwnTokens, Secret, Server, Site, SiteLimits};
pub use traces::{Channel, Collector, Endpoint, Ratio, Traces};
pub use web::PublicUrl;

/// Reads the configuration: the environment outranks the file, the file outranks the defaults.
///
/// Without `file`, the variable `FRONTDESK_CONFIG` may name one. A later pair of `environment` replaces an earlier one
/// of the same name, so a command can append what its flags said. `offers` are the contracts this build can mount.
/// Every problem is found before any is reported, so that one run is enough to mend a file.
pub fn load(
    file: Option<&Path>,
    environment: impl Iterator<Item = (String, String)>,
    offers: &[Offer],
) -> Result<Loaded, ConfigError> {
    let Examined { loaded, problems, .. } = examine(file, environment, offers);
    match problems.is_empty() {
        true => Ok(loaded),
        false => Err(ConfigError { problems }),
    }
}

/// As [`load`], for whoever wants to look at what is right even if something else is wrong.
pub fn examine(file: Option<&Path>, environment: impl Iterator<Item = (String, String)>, offers: &[Offer]) -> Examined {
    let gathered = gather::gather(file, environment, offers);
    let settled = draft::settle(&gathered, offers);
    let mut problems = gathered.problems;
    problems.extend(settled.problems);
    let loaded = Loaded {
        origins: show::settings(&settled.draft, &gathered.origins),
        config: settled.config,
        warnings: settled.warnings,
        file: gathered.file,
        given: settled.given,
    };
    Examined { loaded, problems, broken: gathered.broken }
}

/// A configuration of which some may be wrong.
pub struct Examined {
    /// With the default in place of every value that is wrong.
    pub loaded: Loaded,
    pub problems: Vec<Finding>,
    broken: BTreeSet<&'static str>,
}

impl Examined {
    /// Whether what the configuration has for all of these keys is what was meant.
    pub fn means(&self, keys: &[&str]) -> bool {
        !keys.iter().any(|key| self.broken.contains(key))
    }
}

/// What [`load`] gives: the configuration, where each value came from, and what is allowed but unwise.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub config: Config,
    pub origins: Vec<Setting>,
    pub warnings: Vec<Finding>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    given: Draft,
}

impl Loaded {
    /// With one more mount than anybody has written down.
    pub fn and(mut self, mount: Mount) -> Loaded {
        self.given.mounts.get_or_insert_default().push(mount.clone());
        self.config.mounts.push(mount);
        self
    }

    /// The configuration once the real port is known: with `listen` on port 0 the public URL, hosts and origins that
    /// nobody set follow the port that the system chose.
    pub fn bound_to(&self, listening: SocketAddr) -> Config {
        draft::complete(self.given_at(listening))
    }

    /// The settings of [`bound_to`](Loaded::bound_to).
    pub fn settings_at(&self, listening: SocketAddr) -> Vec<Setting> {
        let origins = self.origins.iter().map(|setting| (setting.key, setting.origin)).collect();
        show::settings(&self.given_at(listening).derived(), &origins)
    }

    fn given_at(&self, listening: SocketAddr) -> Draft {
        let mut draft = self.given.clone();
        draft.listen = listening;
        draft
    }
}

/// Everything that can be configured. No field is optional: what was not said has its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The folder that holds the database, keys and development certificates.
    pub data: PathBuf,
    /// Where the public HTTPS endpoint listens.
    pub listen: SocketAddr,
    /// The one base of every URL that Frontdesk publishes about itself.
    pub public_url: PublicUrl,
    /// Host names without port, in lower case, that a request may be addressed to.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, as a browser writes them.
    pub allowed_origins: Vec<String>,
    pub certificate: Certificate,
    pub operator: Operator,
    pub token: Token,
    pub limits: Limits,
    pub deadlines: Deadlines,
    pub idempotency: Idempotency,
    pub audit: Audit,
    pub log: Log,
    pub traces: Traces,
    pub database: Database,
    /// At least one, with distinct paths.
    pub mounts: Vec<Mount>,
}

/// Which certificate the server shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// Made by the development authority in the data folder.
    Development,
    Files {
        certificate: PathBuf,
        key: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// Always a loopback address: metrics and health are not for the network.
    pub listen: SocketAddr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub lifetime: Duration,
    /// How long a token that was looked up may be believed; a revocation bites within it.
    pub cache: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes: usize,
    pub page_bytes: usize,
    pub connections: usize,
    pub connections_per_address: usize,
    /// For each client.
    pub calls_per_minute: u32,
    pub burst: u32,
    pub token_requests_per_minute: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlines {
    pub call: Duration,
    pub drain: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    pub retain: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    pub retain: Retention,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    Forever,
    Days(u32),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON otherwise.
    Auto,
    Pretty,
    Json,
}

/// Where rows are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// SQLite in the data folder.
    Embedded,
    /// Shared by several nodes, if they have the same master key.
    Postgres(Address),
}
