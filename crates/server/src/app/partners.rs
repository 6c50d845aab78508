//! The partners that a configuration mounts: their credentials are read before anything is served, and their tenants
//! must count in the currency of the contract. Errors of all partners are reported together, and no secret is in any.

mod auth;

use std::path::Path;

use frontdesk_contracts::partner::PARTNER_CURRENCY;
use frontdesk_engine::seal::sha256;

use crate::config::{Config, PartnerConfig, PartnerCredentials, SecretSource};
use crate::net::certificate_digests;
pub(super) use auth::PartnerAuth;

/// A shorter secret could be guessed.
const MIN_SECRET: usize = 32;

/// One entry for each mount, in the order of the configuration; none for a mount without a partner.
#[derive(Default)]
pub(super) struct Partners(Vec<Option<PartnerSecrets>>);

/// The SHA-256 of everything that is accepted. The secrets themselves are not kept.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct PartnerSecrets {
    pub(super) live: SecretDigests,
    pub(super) sandbox: SecretDigests,
}

#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct SecretDigests {
    pub(super) tokens: Vec<[u8; 32]>,
    pub(super) keys: Vec<[u8; 32]>,
    pub(super) certificates: Vec<[u8; 32]>,
}

impl Partners {
    /// Reads the credentials, or says everything that is wrong with them, each with its key.
    pub(super) fn open(config: &Config) -> Result<Partners, Vec<String>> {
        let (mut partners, mut errors) = (Vec::new(), Vec::new());
        for (index, mount) in config.mounts.iter().enumerate() {
            partners.push(mount.partner.as_ref().map(|partner| {
                read(partner, &mut |key, why| errors.push(format!("mount[{index}].auth.{key}: {why}")))
            }));
        }
        if errors.is_empty() { Ok(Partners(partners)) } else { Err(errors) }
    }

    pub(super) fn get(&self, mount: usize) -> Option<&PartnerSecrets> {
        self.0.get(mount)?.as_ref()
    }
}

fn read(partner: &PartnerConfig, wrong: &mut dyn FnMut(&str, String)) -> PartnerSecrets {
    let [live, sandbox] = [
        (&partner.auth.live, ["live_tokens", "live_keys", "client_certificates"]),
        (&partner.auth.sandbox, ["sandbox_tokens", "sandbox_keys", "sandbox_client_certificates"]),
    ]
    .map(|(credentials, keys)| digests(credentials, keys, wrong));
    let pairs = [
        ("sandbox_tokens", &live.tokens, &sandbox.tokens),
        ("sandbox_keys", &live.keys, &sandbox.keys),
        ("sandbox_client_certificates", &live.certificates, &sandbox.certificates),
    ];
    for (key, live, sandbox) in pairs {
        if sandbox.iter().any(|digest| live.contains(digest)) {
            let advice = "Give the sandbox a credential of its own";
            wrong(key, format!("it has a credential that is also one of live operation. {advice}"));
        }
    }
    PartnerSecrets { live, sandbox }
}

fn digests(
    PartnerCredentials { tokens, keys, certificates }: &PartnerCredentials,
    [for_tokens, for_keys, for_certificates]: [&str; 3],
    wrong: &mut dyn FnMut(&str, String),
) -> SecretDigests {
    let mut of_file = |file: Option<&Path>, key: &str, fits: fn(u8) -> bool| match file.map(|file| lines(file, fits)) {
        Some(Ok(digests)) => digests,
        Some(Err(why)) => {
            wrong(key, why);
            Vec::new()
        }
        None => Vec::new(),
    };
    let tokens = of_file(tokens.as_deref(), for_tokens, is_token_byte);
    let keys = of_file(keys.as_deref(), for_keys, |byte| byte.is_ascii_graphic());
    let mut pinned = Vec::new();
    for file in certificates {
        match certificate_digests(file) {
            Ok(digests) => pinned.extend(digests),
            Err(error) => wrong(for_certificates, error.to_string()),
        }
    }
    SecretDigests { tokens, keys, certificates: pinned }
}

/// The characters of a token by RFC 6750: another one could never be presented.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// The digest of each line. An error names a line and never quotes it.
fn lines(file: &Path, fits: fn(u8) -> bool) -> Result<Vec<[u8; 32]>, String> {
    let text = SecretSource::File(file.to_owned()).reveal()?;
    let mut digests = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (number, file) = (index + 1, file.display());
        if line.chars().count() < MIN_SECRET {
            return Err(format!(
                "line {number} of {file} has fewer than {MIN_SECRET} characters. Make a new secret, such as by: openssl rand -hex 32"
            ));
        }
        if !line.bytes().all(fits) {
            return Err(format!(
                "line {number} of {file} has a character that cannot be sent in the header. Make a new secret, such as by: openssl rand -hex 32"
            ));
        }
        digests.push(sha256(line.as_bytes()));
    }
    Ok(digests)
}

/// A tenant and the currency of its profile.
pub struct TenantCurrency {
    pub tenant: String,
    pub currency: Option<String>,
}

/// Why tenants cannot be served to the partners of a configuration; one that does not exist can, for it will be created.
pub fn check_currencies(config: &Config, known: &[TenantCurrency]) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, mount) in config.mounts.iter().enumerate() {
        let Some(partner) = &mount.partner else { continue };
        let Some(TenantCurrency { tenant, currency }) =
            known.iter().find(|known| known.tenant == partner.tenant.as_str())
        else {
            continue;
        };
        let counts = match currency.as_deref() {
            Some(PARTNER_CURRENCY) => continue,
            Some(other) => format!("the tenant {tenant} counts in {other}"),
            None => format!("the tenant {tenant} has no currency in its profile"),
        };
        problems.push(format!(
            "mount[{index}].tenant: {counts}, and {} counts in {PARTNER_CURRENCY}. Run: frontdesk tenant update {tenant} --currency {PARTNER_CURRENCY}",
            mount.contract
        ));
    }
    problems
}
