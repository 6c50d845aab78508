//! The settings for signed tokens of a mount, and their validation.

use std::fmt;

use frontdesk_engine::model::caller::{Scopes, TenantId};

use super::signing_secret::SigningSecret;

#[derive(Debug, Clone)]
pub struct JwtSettings {
    /// A token may be signed with any of them, so that secrets can be rotated.
    pub secrets: Vec<SigningSecret>,
    /// The required `iss`, byte for byte. Without one, `iss` is not checked.
    pub issuer: Option<String>,
    /// The required `aud`, byte for byte. Without one, a token may omit `aud`; if it has one, it must name the requested
    /// resource.
    pub audience: Option<String>,
    /// The tenant of every caller with a valid token.
    pub tenant: TenantId,
    /// Every scope of the mount: the meaning of `*`. Other scopes of a token are ignored.
    pub scopes: Scopes,
    /// The allowed clock skew.
    pub leeway_seconds: u32,
    /// The maximum lifetime of a token, from its `iat` to its `exp`.
    pub max_lifetime_seconds: u32,
}

impl JwtSettings {
    pub const MAX_LEEWAY_SECONDS: u32 = 30;
    /// A day. Many issuers use an hour.
    pub const DEFAULT_LIFETIME_SECONDS: u32 = 24 * 60 * 60;
    /// Thirty days: a leaked token is valid until it expires.
    pub const MAX_LIFETIME_SECONDS: u32 = 30 * 24 * 60 * 60;

    /// The defaults: any issuer with the secret, thirty seconds of leeway, a lifetime of a day.
    pub fn new(secrets: Vec<SigningSecret>, tenant: TenantId, scopes: Scopes) -> JwtSettings {
        JwtSettings {
            secrets,
            issuer: None,
            audience: None,
            tenant,
            scopes,
            leeway_seconds: JwtSettings::MAX_LEEWAY_SECONDS,
            max_lifetime_seconds: JwtSettings::DEFAULT_LIFETIME_SECONDS,
        }
    }

    pub(super) fn check(&self) -> Result<(), JwtConfigError> {
        if self.secrets.is_empty() {
            return Err(JwtConfigError::NoSecret);
        }
        if self.issuer.as_deref() == Some("") {
            return Err(JwtConfigError::EmptyIssuer);
        }
        if self.audience.as_deref() == Some("") {
            return Err(JwtConfigError::EmptyAudience);
        }
        if self.leeway_seconds > JwtSettings::MAX_LEEWAY_SECONDS {
            return Err(JwtConfigError::Leeway);
        }
        if !(1..=JwtSettings::MAX_LIFETIME_SECONDS).contains(&self.max_lifetime_seconds) {
            return Err(JwtConfigError::Lifetime);
        }
        Ok(())
    }
}

/// Why the settings are invalid. Says what to do, and nothing about a secret but its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtConfigError {
    NoSecret,
    ShortSecret { bytes: usize },
    EmptyIssuer,
    EmptyAudience,
    Leeway,
    Lifetime,
}

impl fmt::Display for JwtConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            JwtConfigError::NoSecret => "No secret is configured to verify tokens with. Set the one that the issuer signs with.",
            JwtConfigError::ShortSecret { bytes } => {
                return write!(
                    out,
                    "The secret has {bytes} bytes, which is short enough to guess and forge tokens with. Give the issuer \
                     and this mount a new one of at least 32 bytes, for example from `openssl rand -hex 32`."
                );
            }
            JwtConfigError::EmptyIssuer => "The issuer is empty. Set it to the iss of the tokens, or remove the setting.",
            JwtConfigError::EmptyAudience => {
                "The audience is empty. Set it to the aud of the tokens, or remove the setting."
            }
            JwtConfigError::Leeway => "The leeway is more than 30 seconds. Synchronize the clocks instead.",
            JwtConfigError::Lifetime => {
                "The maximum token lifetime must be between 1 second and 30 days. Have the issuer sign new tokens more often."
            }
        })
    }
}

impl std::error::Error for JwtConfigError {}
