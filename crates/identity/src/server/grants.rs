//! Grants: what a user has allowed a client, and the tokens that come of it. A token is valid as long as its grant is
//! stored, so whoever ends a grant ends everything that came of it.

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, RecordChange};
use frontdesk_engine::ports::registry::Changed;
use serde::Serialize;

use super::error::{OAuthError, OAuthErrorKind, json};
use super::{AuditStatus, EmbeddedServer, EndpointOutcome, ScopeAccess};
use crate::people::records::{AccessToken, Grant, RefreshToken};
use crate::people::stored::{StoredRecord, find_valid, new_record, remove_owned};
use crate::people::users::hex;
use crate::secret::{PlaintextSecret, REFRESH_PREFIX, USER_TOKEN_PREFIX, is_encoded_secret};
use frontdesk_engine::seal::sha256;

/// Sensitive data is served this long after a login, so a token for it is valid as long.
const SENSITIVE_SECONDS: i64 = 300;

/// The part of a refresh token that says of which family it is.
const FAMILY_LENGTH: usize = 22;

/// A refresh token taken apart: the id of its family and the hash of all of it.
pub(crate) struct RefreshParts {
    pub(crate) family: String,
    pub(crate) hash: String,
}

/// Both tokens of a grant, as its client gets them and as they are stored.
pub(crate) struct TokenPair {
    access: PlaintextSecret,
    refresh: PlaintextSecret,
    scopes: Scopes,
    expires_in: i64,
    pub(crate) stored_access: RecordChange,
    pub(crate) refresh_hash: String,
    pub(crate) refresh_until: Millis,
}

impl RefreshParts {
    /// None for what cannot be one of ours.
    pub(crate) fn parse(text: &str) -> Option<RefreshParts> {
        let letters = text.strip_prefix(REFRESH_PREFIX)?;
        let (family, secret) = letters.split_at_checked(FAMILY_LENGTH)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_ours = family.bytes().all(plain) && is_encoded_secret(secret);
        is_ours.then(|| RefreshParts { family: family.to_owned(), hash: hex(&sha256(text.as_bytes())) })
    }
}

impl EmbeddedServer {
    /// New tokens of a grant. None if nothing of it can be given without a new login.
    pub(crate) fn new_pair(
        &self,
        grant_id: &str,
        grant: &Grant,
        family: &str,
        scopes: &Scopes,
        until: Millis,
    ) -> Option<TokenPair> {
        let now = self.clock.now();
        let resource = self.resources.iter().find(|resource| resource.url == grant.resource)?;
        let is_sensitive = |scope: &&_| resource.access(scope) == ScopeAccess::Sensitive;
        let left = grant.authenticated_at.saturating_add(SENSITIVE_SECONDS).saturating_sub(now.seconds());
        let mut expires_in = i64::from(self.settings.lifetime_seconds);
        let mut granted = scopes.clone();
        if scopes.iter().any(|scope| is_sensitive(&scope)) {
            if left > 0 {
                expires_in = expires_in.min(left);
            } else {
                // The client is told, and asks for a new login when it needs them again.
                granted = Scopes::new(scopes.iter().filter(|scope| !is_sensitive(scope)).cloned());
            }
        }
        if granted.is_empty() {
            return None;
        }
        let access = PlaintextSecret::random(USER_TOKEN_PREFIX, self.random.as_ref());
        let refresh = PlaintextSecret::random(&format!("{REFRESH_PREFIX}{family}"), self.random.as_ref());
        let content = AccessToken {
            grant: grant_id.to_owned(),
            user: grant.user.clone(),
            client: grant.client.clone(),
            resource: grant.resource.clone(),
            scopes: granted.to_string(),
            tenant: grant.tenant.clone(),
            authenticated_at: grant.authenticated_at,
        };
        let stored = LoginRecord {
            expires_at: Some(now.plus_seconds(expires_in)),
            ..new_record(hex(&access.hash()), grant_id, &content)
        };
        let idle = now.plus_seconds(i64::from(self.settings.login.idle_days) * 24 * 60 * 60);
        Some(TokenPair {
            refresh_hash: hex(&refresh.hash()),
            access,
            refresh,
            scopes: granted,
            expires_in,
            stored_access: RecordChange::Add(stored),
            refresh_until: Millis(idle.0.min(until.0)),
        })
    }

    /// Ends a grant and its tokens. `Nothing` if it has ended.
    pub(crate) async fn end_grant(&self, grant: &StoredRecord<Grant>, record: String) -> Result<Changed, Fault> {
        let steps =
            vec![grant.remove(), remove_owned::<RefreshToken>(grant.id()), remove_owned::<AccessToken>(grant.id())];
        self.records().change_login_records(steps, self.clock.now(), LoginAudit::Administration(record)).await
    }

    pub(crate) async fn grant_record(&self, id: &str) -> Result<Option<StoredRecord<Grant>>, Fault> {
        find_valid::<Grant>(self.records(), id, self.clock.now()).await
    }

    /// Somebody has used a code or a refresh token a second time: whoever has the tokens must not keep them.
    pub(crate) async fn end_stolen(&self, grant: &str, record: String) -> Result<(), Fault> {
        // It may change while it is being ended; a few attempts are more than it takes.
        for _ in 0..5 {
            match self.grant_record(grant).await? {
                None => return Ok(()),
                Some(found) => {
                    if self.end_grant(&found, record.clone()).await? == Changed::Done {
                        return Ok(());
                    }
                }
            }
        }
        Err(Fault::unavailable("a grant could not be ended, because it is changed all the time"))
    }
}

impl TokenPair {
    pub(crate) fn answer(&self) -> EndpointOutcome {
        let body = GrantResponse {
            access_token: self.access.expose(),
            token_type: "Bearer",
            expires_in: self.expires_in,
            refresh_token: self.refresh.expose(),
            scope: self.scopes.to_string(),
        };
        let reply = json(200, &body).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        EndpointOutcome { reply, audit: AuditStatus::Committed }
    }
}

/// The same answer for every code and refresh token that cannot be used.
pub(crate) fn invalid_grant() -> OAuthError {
    OAuthError::new(
        OAuthErrorKind::InvalidGrant,
        "This code or refresh token cannot be used, or not by this client or with these values. Start again at the \
         authorization endpoint.",
    )
}

pub(crate) fn wider_scope() -> OAuthError {
    OAuthError::new(
        OAuthErrorKind::InvalidScope,
        "Ask for at most the scopes that were granted. For more, start again at the authorization endpoint.",
    )
}

#[derive(Serialize)]
struct GrantResponse<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: &'a str,
    scope: String,
}
