//! The partners that a configuration mounts: their credentials are read before anything is served, and their tenants
//! must count in the currency of the contract. Errors of all partners are reported together, and no secret is in any.

mod auth;
mod current;
mod endpoint;

use std::path::Path;

use frontdesk_contracts::partner::PARTNER_CURRENCY;
use frontdesk_engine::seal::sha256;
use frontdesk_engine::seal::signing_key::SigningKey;

use zeroize::Zeroizing;

use crate::config::{Config, KeyFormat, PartnerConfig, PartnerCredentials, SecretSource};
use crate::net::certificate_digests;
pub(super) use auth::PartnerAuth;
pub(super) use current::CurrentSecrets;
pub(crate) use endpoint::PartnerEndpoint;

/// A shorter secret could be guessed.
const MIN_SECRET: usize = 32;
/// Of a key to sign with, which others may have made.
const MIN_KEY_BYTES: usize = 16;

/// One entry for each mount, in the order of the configuration; none for a mount without a partner.
#[derive(Default)]
pub(super) struct Partners(Vec<Option<PartnerSecrets>>);

/// The SHA-256 of everything that is accepted: the secrets themselves are not kept. And the keys that we sign with.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct PartnerSecrets {
    pub(super) live: SecretDigests,
    pub(super) sandbox: SecretDigests,
    /// What notifications are signed with, the newest first. To verify a signature, the key itself is needed.
    pub(super) notification_keys: Vec<SigningKey>,
    /// The newest first.
    pub(super) completion: Vec<SigningKey>,
    /// What requests to the business's own system are signed with, the newest first.
    pub(super) backend: Vec<SigningKey>,
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
            partners.push(
                mount
                    .partner
                    .as_ref()
                    .map(|partner| read(partner, &mut |key, why| errors.push(format!("mount[{index}].{key}: {why}")))),
            );
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
    .map(|(credentials, keys)| digests(credentials, keys, &mut |key, why| wrong(&format!("auth.{key}"), why)));
    let pairs = [
        ("sandbox_tokens", &live.tokens, &sandbox.tokens),
        ("sandbox_keys", &live.keys, &sandbox.keys),
        ("sandbox_client_certificates", &live.certificates, &sandbox.certificates),
    ];
    for (key, live, sandbox) in pairs {
        if sandbox.iter().any(|digest| live.contains(digest)) {
            let advice = "Give the sandbox a credential of its own";
            wrong(&format!("auth.{key}"), format!("it has a credential that is also one of live operation. {advice}"));
        }
    }
    let notification_keys = partner.notification_keys.as_deref().map(signing_keys).unwrap_or(Ok(Vec::new()));
    let notification_keys = notification_keys.unwrap_or_else(|why| {
        wrong("notifications.keys", why);
        Vec::new()
    });
    let format = partner.completion.key_format;
    let completion = partner.completion.keys.as_deref().map(|file| completion_keys(file, format));
    let completion = completion.unwrap_or(Ok(Vec::new())).unwrap_or_else(|why| {
        wrong("completion.keys", why);
        Vec::new()
    });
    let backend = partner.backend_keys.as_deref().map(signing_keys).unwrap_or(Ok(Vec::new()));
    let backend = backend.unwrap_or_else(|why| {
        wrong("backend_keys", why);
        Vec::new()
    });
    PartnerSecrets { live, sandbox, notification_keys, completion, backend }
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

/// The digest of each line.
fn lines(file: &Path, fits: fn(u8) -> bool) -> Result<Vec<[u8; 32]>, String> {
    Ok(secrets_of(file, fits)?.iter().map(|line| sha256(line.as_bytes())).collect())
}

/// The keys of a file, one a line.
fn signing_keys(file: &Path) -> Result<Vec<SigningKey>, String> {
    let secrets = secrets_of(file, |byte| byte.is_ascii_graphic())?;
    if secrets.is_empty() {
        return Err(format!("{} has no key. Make one, such as by: openssl rand -hex 32", file.display()));
    }
    Ok(secrets.iter().map(|line| SigningKey::new(line.as_bytes().to_vec())).collect())
}

/// The lines of a file that are secrets, and no others. An error names a line and never quotes it.
fn secrets_of(file: &Path, fits: fn(u8) -> bool) -> Result<Vec<Zeroizing<String>>, String> {
    let text = SecretSource::File(file.to_owned()).reveal()?;
    let mut secrets = Vec::new();
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
        secrets.push(Zeroizing::new(line.to_owned()));
    }
    Ok(secrets)
}

/// The keys of a file, one a line. An error names a line and never quotes it.
fn completion_keys(file: &Path, format: KeyFormat) -> Result<Vec<SigningKey>, String> {
    let text = SecretSource::File(file.to_owned()).reveal()?;
    let mut keys = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (number, file) = (index + 1, file.display());
        let bytes = match format {
            KeyFormat::Text => line.as_bytes().to_vec(),
            KeyFormat::Hex => bytes_of_hex(line.trim()).ok_or_else(|| {
                format!("line {number} of {file} is not hexadecimal. Use key_format = \"text\" for other keys")
            })?,
        };
        if bytes.len() < MIN_KEY_BYTES {
            return Err(format!(
                "line {number} of {file} has fewer than {MIN_KEY_BYTES} bytes, so it could be guessed. Agree on a longer key"
            ));
        }
        keys.push(SigningKey::new(bytes));
    }
    Ok(keys)
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    if is_hex { (0..text.len()).step_by(2).map(byte).collect() } else { None }
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
