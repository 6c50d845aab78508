//! What a mount asks of signed tokens, and what is wrong with asking it.

use std::fmt;

use frontdesk_engine::model::caller::{Scopes, TenantId};

use super::secret::SigningSecret;

#[derive(Debug, Clone)]
pub struct JwtSettings {
    /// Any of them may have signed a token, so that a new one can be in use before the old one goes.
    pub secrets: Vec<SigningSecret>,
    /// What `iss` must be, byte for byte. Without one, `iss` is not looked at.
    pub issuer: Option<String>,
    /// What `aud` must name, byte for byte. Without one a token may leave `aud` out; if it has one, it must name the
    /// resource that is asked for.
    pub audience: Option<String>,
    /// Whom every caller with a good token belongs to.
    pub tenant: TenantId,
    /// Every scope of the mount: what `*` stands for. Others that a token names mean nothing here.
    pub scopes: Scopes,
    /// How far the issuer's clock may be from ours.
    pub leeway_seconds: u32,
    /// How long a token may live, from its `iat` to its `exp`.
    pub lifetime_seconds: u32,
}

impl JwtSettings {
    pub const MOST_LEEWAY_SECONDS: u32 = 30;
    /// A day. Many issuers give an hour.
    pub const LIFETIME_SECONDS: u32 = 24 * 60 * 60;
    /// Thirty days: a token that leaks is good until it ends.
    pub const MOST_LIFETIME_SECONDS: u32 = 30 * 24 * 60 * 60;

    /// The usual: any issuer that has the secret, thirty seconds of leeway, a day of life.
    pub fn new(secrets: Vec<SigningSecret>, tenant: TenantId, scopes: Scopes) -> JwtSettings {
        JwtSettings {
            secrets,
            issuer: None,
            audience: None,
            tenant,
            scopes,
            leeway_seconds: JwtSettings::MOST_LEEWAY_SECONDS,
            lifetime_seconds: JwtSettings::LIFETIME_SECONDS,
        }
    }

    pub(super) fn check(&self) -> Result<(), JwtError> {
        if self.secrets.is_empty() {
            return Err(JwtError::NoSecret);
        }
        if self.issuer.as_deref() == Some("") {
            return Err(JwtError::EmptyIssuer);
        }
        if self.audience.as_deref() == Some("") {
            return Err(JwtError::EmptyAudience);
        }
        if self.leeway_seconds > JwtSettings::MOST_LEEWAY_SECONDS {
            return Err(JwtError::Leeway);
        }
        if !(1..=JwtSettings::MOST_LIFETIME_SECONDS).contains(&self.lifetime_seconds) {
            return Err(JwtError::Lifetime);
        }
        Ok(())
    }
}

/// Why signed tokens cannot be judged this way. Says what to do, and nothing of a secret but its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtError {
    NoSecret,
    ShortSecret { bytes: usize },
    EmptyIssuer,
    EmptyAudience,
    Leeway,
    Lifetime,
}

impl fmt::Display for JwtError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            JwtError::NoSecret => "There is no secret to check tokens with. Give the one that the issuer signs with.",
            JwtError::ShortSecret { bytes } => {
                return write!(
                    out,
                    "The secret has {bytes} bytes, and tokens under it could be forged by guessing it. Give the issuer \
                     and this mount a new one of at least 32 bytes, such as `openssl rand -hex 32` prints."
                );
            }
            JwtError::EmptyIssuer => "The issuer is empty. Write what the tokens have as iss, or leave the setting out.",
            JwtError::EmptyAudience => {
                "The audience is empty. Write what the tokens have as aud, or leave the setting out."
            }
            JwtError::Leeway => "The leeway is more than 30 seconds. Set the issuer's clock right instead.",
            JwtError::Lifetime => {
                "The longest life of a token must be between 1 second and 30 days. Have the issuer sign new ones more often."
            }
        })
    }
}

impl std::error::Error for JwtError {}
