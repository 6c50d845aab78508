//! A mount whose contract requires a partner: what the business says of itself, and the credentials of the one party
//! that calls it. The contract checks what is said; secrets are read when the mount is opened, not here.

mod keys;
mod read;
mod shown;

use std::path::PathBuf;

use frontdesk_contracts::partner::PartnerSettings;
use frontdesk_engine::TenantId;

pub(super) use keys::{AUTH, PARTNER, PARTNER_MOUNT};
pub(super) use read::read;
pub(super) use shown::shown;

#[derive(Debug, Clone, PartialEq)]
pub struct PartnerConfig {
    /// The business whose goods are sold.
    pub tenant: TenantId,
    pub settings: PartnerSettings,
    pub auth: PartnerAuthConfig,
    /// Whether its tools are closed for maintenance.
    pub maintenance: bool,
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
