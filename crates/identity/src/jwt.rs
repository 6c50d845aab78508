//! Verifies JSON Web Tokens (HS256) that another issuer signed with a shared secret. It stores nothing, sends no request,
//! and never writes the content of a token into an answer or a log line.

mod claims;
mod error;
mod settings;
mod signing_secret;
mod token;

use std::fmt;
use std::sync::Arc;

use frontdesk_engine::model::caller::Caller;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Clock, Identity};

pub use settings::{JwtConfigError, JwtSettings};
pub use signing_secret::SigningSecret;

use crate::server::invalid_token;
use error::JwtError;

/// Identifies the caller of a signed token (`engine::ports::Identity`). A token cannot be revoked before it expires, except
/// by changing the secret.
pub struct JwtVerifier {
    settings: JwtSettings,
    clock: Arc<dyn Clock>,
}

impl JwtVerifier {
    pub fn new(settings: JwtSettings, clock: Arc<dyn Clock>) -> Result<JwtVerifier, JwtConfigError> {
        settings.check()?;
        Ok(JwtVerifier { settings, clock })
    }

    /// The claims are not read before the signature is verified.
    fn verify(&self, text: &str, resource: &str) -> Result<Caller, JwtError> {
        let claims = token::verify_signature(text, &self.settings.secrets)?;
        claims::verify(&claims, &self.settings, resource, self.clock.now())
    }
}

impl Identity for JwtVerifier {
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let result = match credential {
            Credential::Bearer(text) => {
                self.verify(text, resource).map_err(|error| invalid_token().caused_by(error.to_string()))
            }
            Credential::Missing | Credential::ApiKey(_) | Credential::Certificate(_) | Credential::Unusable => {
                Err(invalid_token())
            }
        };
        Box::pin(std::future::ready(result.map(Arc::new)))
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("JwtVerifier").field("settings", &self.settings).finish_non_exhaustive()
    }
}
