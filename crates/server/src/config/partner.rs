//! A mount whose contract requires a partner: what the business says of itself, and the credentials of the one party
//! that calls it. The contract checks what is said; secrets are read when the mount is opened, not here.

mod backend;
mod keys;
mod manifest;
mod read;
mod shown;

use std::path::PathBuf;
use std::time::Duration;

use frontdesk_contracts::partner::PartnerSettings;
use frontdesk_engine::TenantId;

pub(super) use keys::{AUTH, COMPLETION, MANIFEST, NOTIFICATIONS, PARTNER, PARTNER_MOUNT};
pub(super) use read::read;
pub(super) use shown::shown;

#[derive(Debug, Clone, PartialEq)]
pub struct PartnerConfig {
    /// The business whose goods are sold.
    pub tenant: TenantId,
    pub settings: PartnerSettings,
    pub auth: PartnerAuthConfig,
    /// The file of keys that requests to the business's own system are signed with, one a line, the newest first.
    pub backend_keys: Option<PathBuf>,
    pub completion: CompletionConfig,
    /// Whether its tools are closed for maintenance.
    pub maintenance: bool,
    /// How long callers may watch something; zero for one look.
    pub stream_time: Duration,
    /// The file of keys that notifications are signed with, one a line; without one all are refused.
    pub notification_keys: Option<PathBuf>,
    pub clock: BookingClock,
}

/// What moves bookings when no system reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BookingClock {
    /// Whether those with stages go through them by themselves, for trying out.
    pub plays_stages: bool,
    /// Those whose time has passed so many hours ago are completed.
    pub complete_after_hours: Option<u32>,
}

impl BookingClock {
    pub fn is_on(self) -> bool {
        self != BookingClock::default()
    }
}

/// How the caller is told about orders that have ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletionConfig {
    /// A file of keys, one a line, the newest first. Without one nothing is sent.
    pub keys: Option<PathBuf>,
    pub key_format: KeyFormat,
}

/// How a key is written in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyFormat {
    /// The characters of the line are the key.
    #[default]
    Text,
    /// The line has two hexadecimal digits for each byte.
    Hex,
}

impl KeyFormat {
    pub const ALL: [KeyFormat; 2] = [KeyFormat::Text, KeyFormat::Hex];

    pub fn as_str(self) -> &'static str {
        match self {
            KeyFormat::Text => "text",
            KeyFormat::Hex => "hex",
        }
    }
}

/// Where the credentials are: those of live operation, and those of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartnerAuthConfig {
    pub live: PartnerCredentials,
    pub sandbox: PartnerCredentials,
}

impl PartnerAuthConfig {
    /// Whether clients may present a certificate.
    pub fn pins_certificates(&self) -> bool {
        [&self.live, &self.sandbox].iter().any(|credentials| !credentials.certificates.is_empty())
    }
}

/// Files; a way to authenticate that has none is off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartnerCredentials {
    /// Bearer tokens, one a line.
    pub tokens: Option<PathBuf>,
    /// Keys in a header of their own, one a line.
    pub keys: Option<PathBuf>,
    /// PEM files, each with the certificate that a client presents.
    pub certificates: Vec<PathBuf>,
}
