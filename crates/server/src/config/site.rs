//! A mount that reads a foreign database: its address, its authentication and its limits. The defaults come from the
//! contract.

mod auth;
mod keys;
mod read;
mod server;
mod shown;

use std::path::PathBuf;
use std::time::Duration;

use frontdesk_engine::TenantId;

pub use auth::{JwtConfig, OwnTokens, SecretSource, SiteAuth};
pub(super) use keys::{LIMITS, SERVER, SITE};
pub(super) use read::read;
pub(super) use shown::shown;

/// One site: a database, and the servers that answer from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteConfig {
    /// The address of the database, which may hold a password.
    pub database: SecretSource,
    /// The PEM file of the CA for a database on another machine.
    pub authority: Option<PathBuf>,
    /// The prefix of its table names.
    pub prefix: String,
    /// For lists; look-ups have half as many of their own.
    pub connections: u32,
    /// How long one query may take.
    pub statement_seconds: u32,
    /// Under which its callers, tasks and records are stored.
    pub tenant: TenantId,
    pub auth: SiteAuth,
    /// Patterns of the handles that are served.
    pub allow_servers: Vec<String>,
    pub dispatch: Dispatch,
    pub failover: Failover,
    /// At least one, with distinct handles.
    pub servers: Vec<SiteServer>,
}

/// One handle under which a site answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteServer {
    pub handle: String,
    /// An additional path.
    pub path: Option<String>,
    pub limits: SiteLimits,
    /// Patterns of the tools that nobody may call here.
    pub deny_tools: Vec<String>,
    /// Which methods each scope opens; each method once.
    pub scopes: Vec<(String, Vec<String>)>,
    /// The scope for all other methods.
    pub default_scope: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteLimits {
    pub payload_bytes: usize,
    pub result_items: u32,
    pub result_bytes: usize,
    pub depth: u32,
    pub offset: u32,
    /// Calls of one caller to one method.
    pub per_minute: u32,
    /// How long a dispatched answer is stored.
    pub retain: Duration,
}

/// How a dispatched message is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    Sync,
    Async,
}

/// What happens to a dispatched message when the queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failover {
    Sync,
    Fail,
}
