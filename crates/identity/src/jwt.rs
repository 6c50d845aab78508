//! Judges tokens that somebody else signed with a secret shared with us: JSON Web Tokens under HS256. It keeps
//! nothing, asks nobody, and never says in an answer or a log line what a token holds.

mod claims;
mod flaw;
mod secret;
mod settings;
mod token;

use std::fmt;
use std::sync::Arc;

use frontdesk_engine::model::caller::Caller;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Clock, Identity};

pub use secret::SigningSecret;
pub use settings::{JwtError, JwtSettings};

use crate::identify::refused;
use flaw::Flaw;

/// Says whose a signed token is (`engine::ports::Identity`). A token cannot be taken back before it ends, except by
/// changing the secret.
pub struct JwtJudge {
    settings: JwtSettings,
    clock: Arc<dyn Clock>,
}

impl JwtJudge {
    pub fn new(settings: JwtSettings, clock: Arc<dyn Clock>) -> Result<JwtJudge, JwtError> {
        settings.check()?;
        Ok(JwtJudge { settings, clock })
    }

    /// Nothing in the claims is read before the signature holds: until then they are a stranger's words.
    fn judge(&self, text: &str, resource: &str) -> Result<Caller, Flaw> {
        let claims = token::open(text, &self.settings.secrets)?;
        claims::judge(&claims, &self.settings, resource, self.clock.now())
    }
}

impl Identity for JwtJudge {
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let judged = match credential {
            Credential::Bearer(text) => {
                self.judge(text, resource).map_err(|flaw| refused().caused_by(flaw.to_string()))
            }
            Credential::Missing | Credential::Unusable => Err(refused()),
        };
        Box::pin(std::future::ready(judged.map(Arc::new)))
    }
}

impl fmt::Debug for JwtJudge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("JwtJudge").field("settings", &self.settings).finish_non_exhaustive()
    }
}
