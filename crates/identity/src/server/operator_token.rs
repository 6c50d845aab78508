//! Tokens that the operator issues for a client that can only send a header. They live for days, are shown once, and end
//! with the client, with its secret, or when the operator revokes them. They never count as a login.

use std::fmt;

use frontdesk_engine::model::caller::{Caller, ClientId, Scopes, TenantId};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, RecordChange};
use frontdesk_engine::ports::registry::{Changed, Client, Tenant, Token};

use super::token_cache::CachedToken;
use super::{EmbeddedServer, ProtectedResource};
use crate::people::records::OperatorToken;
use crate::people::stored::{StoredRecord, find_all, find_valid, new_record};
use crate::people::users::hex;
use crate::secret::{OPERATOR_TOKEN_PREFIX, PlaintextSecret};

/// How much of a token's hash is shown as its id.
const ID_LENGTH: usize = 16;
const MAX_LISTED: u32 = 10_000;

/// Whom the token is for, for what, and for how long.
#[derive(Debug, Clone)]
pub struct OperatorTokenRequest<'a> {
    pub client: &'a ClientId,
    pub scopes: &'a Scopes,
    /// The path of a mount; the first one that has the scopes if absent.
    pub path: Option<&'a str>,
    pub days: u32,
    /// The audit record.
    pub record: String,
}

/// A token that was issued, to show once.
#[derive(Debug, Clone)]
pub struct IssuedToken {
    pub secret: PlaintextSecret,
    pub token: ListedToken,
}

/// A token as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedToken {
    pub id: String,
    pub client: String,
    pub resource: String,
    pub scopes: Scopes,
    pub created_at: Millis,
    pub expires_at: Millis,
}

/// Why no token was issued or revoked. Displays as a sentence for the operator.
#[derive(Debug)]
pub enum OperatorTokenError {
    UnknownClient,
    /// The scopes that the client was registered for.
    ScopeNotAllowed(Scopes),
    /// The paths that there are.
    UnknownMount(Vec<String>),
    /// No mount has all of the scopes.
    NoMount,
    /// The most days that there may be.
    TooLong(u32),
    UnknownToken,
    Store(Fault),
}

impl fmt::Display for OperatorTokenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperatorTokenError::UnknownClient => {
                out.write_str("there is no active client with this id and a secret; `frontdesk client list` shows them")
            }
            OperatorTokenError::ScopeNotAllowed(allowed) => {
                write!(out, "the client was not registered for all of these scopes; it has: {allowed}")
            }
            OperatorTokenError::UnknownMount(paths) => {
                write!(out, "no tokens are issued for a mount at this path; there are: {}", paths.join(", "))
            }
            OperatorTokenError::NoMount => {
                out.write_str("no mount has all of these scopes; ask for those of one mount")
            }
            OperatorTokenError::TooLong(days) => {
                write!(out, "a token is valid for 1 to {days} days; `token.operator_days` in the configuration says so")
            }
            OperatorTokenError::UnknownToken => {
                out.write_str("there is no token with this id; `frontdesk token list` shows them")
            }
            OperatorTokenError::Store(fault) => out.write_str(fault.cause.as_deref().unwrap_or(&fault.message)),
        }
    }
}

impl std::error::Error for OperatorTokenError {}

impl From<Fault> for OperatorTokenError {
    fn from(fault: Fault) -> OperatorTokenError {
        OperatorTokenError::Store(fault)
    }
}

impl EmbeddedServer {
    /// It has exactly these scopes, for which the client must be registered.
    pub async fn issue_operator_token(
        &self,
        request: OperatorTokenRequest<'_>,
    ) -> Result<IssuedToken, OperatorTokenError> {
        let most = self.settings.operator_days;
        if !(1..=most).contains(&request.days) {
            return Err(OperatorTokenError::TooLong(most));
        }
        let client = self.active_client(request.client).await?.ok_or(OperatorTokenError::UnknownClient)?;
        if request.scopes.is_empty() || !client.scopes.covers(request.scopes) {
            return Err(OperatorTokenError::ScopeNotAllowed(client.scopes));
        }
        let resource = self.resource_with(request.scopes, request.path)?;
        let now = self.clock.now();
        let secret = PlaintextSecret::random(OPERATOR_TOKEN_PREFIX, self.random.as_ref());
        let content = OperatorToken {
            client: client.id.as_str().to_owned(),
            client_secret: hex(&client.secret),
            scopes: request.scopes.to_string(),
            resource: resource.url.clone(),
            created_at: now.0,
        };
        let expires_at = Some(now.plus_seconds(i64::from(request.days) * 24 * 60 * 60));
        let record = LoginRecord { expires_at, ..new_record(hex(&secret.hash()), client.id.as_str(), &content) };
        let token = listed(&StoredRecord { record: record.clone(), content });
        let audit = LoginAudit::Administration(request.record);
        self.records().change_login_records(vec![RecordChange::Add(record)], now, audit).await?;
        Ok(IssuedToken { secret, token })
    }

    pub async fn operator_tokens(&self) -> Result<Vec<ListedToken>, OperatorTokenError> {
        let now = self.clock.now();
        let found = find_all::<OperatorToken>(self.records(), MAX_LISTED).await?;
        let mut tokens: Vec<ListedToken> = found.iter().filter(|token| !token.is_expired(now)).map(listed).collect();
        tokens.sort_by_key(|token| token.created_at.0);
        Ok(tokens)
    }

    pub async fn revoke_operator_token(&self, id: &str, record: String) -> Result<(), OperatorTokenError> {
        let found = find_all::<OperatorToken>(self.records(), MAX_LISTED).await?;
        let token = found.iter().find(|token| listed(token).id == id).ok_or(OperatorTokenError::UnknownToken)?;
        let audit = LoginAudit::Administration(record);
        match self.records().change_login_records(vec![token.remove()], self.clock.now(), audit).await? {
            Changed::Done => Ok(()),
            Changed::Nothing => Err(OperatorTokenError::UnknownToken),
        }
    }

    /// Looked up with the client as it is now: its tenants, and whether its secret is still the same.
    pub(crate) async fn operator_token(&self, hash: [u8; 32]) -> Result<Option<CachedToken>, Fault> {
        let found = find_valid::<OperatorToken>(self.records(), &hex(&hash), self.clock.now()).await?;
        let Some(stored) = found else {
            return Ok(None);
        };
        let client = self.active_client(&ClientId::new(stored.content.client.as_str())).await?;
        let Some(client) = client.filter(|client| hex(&client.secret) == stored.content.client_secret) else {
            return Ok(None);
        };
        let tenants = self.tenants_of_client(&client).await?;
        let scopes = Scopes::parse(&stored.content.scopes).unwrap_or_default();
        let token = Token {
            hash,
            client: client.id.clone(),
            tenants: tenants.clone(),
            scopes: scopes.clone(),
            resource: stored.content.resource,
            expires_at: stored.record.expires_at.unwrap_or(Millis(0)),
            authenticated_at: None,
        };
        let subject = client.id.itself();
        let caller = Caller { client: client.id, subject, tenants, scopes, authenticated_at: None };
        Ok(Some(CachedToken { token, caller: caller.into() }))
    }

    async fn tenants_of_client(&self, client: &Client) -> Result<Vec<TenantId>, Fault> {
        let is_one = |tenant: &Tenant| {
            client.tenants.contains(&tenant.id)
                || tenant.group.as_ref().is_some_and(|group| client.groups.contains(group))
        };
        let tenants = self.registry.tenants().await?;
        let own = tenants.into_iter().filter(|tenant| tenant.erasing_since.is_none() && is_one(tenant));
        Ok(own.map(|tenant| tenant.id).collect())
    }

    async fn active_client(&self, id: &ClientId) -> Result<Option<Client>, Fault> {
        Ok(self.registry.client(id).await?.filter(|client| client.revoked_at.is_none()))
    }

    fn resource_with(&self, scopes: &Scopes, path: Option<&str>) -> Result<&ProtectedResource, OperatorTokenError> {
        let paths = || self.resources.iter().map(|resource| resource.path.clone()).collect();
        if path.is_some_and(|path| !self.resources.iter().any(|resource| resource.path == path)) {
            return Err(OperatorTokenError::UnknownMount(paths()));
        }
        let mut named = self.resources.iter().filter(|resource| path.is_none_or(|path| resource.path == path));
        named
            .find(|resource| scopes.iter().all(|scope| resource.scopes.contains(scope)))
            .ok_or(OperatorTokenError::NoMount)
    }
}

fn listed(token: &StoredRecord<OperatorToken>) -> ListedToken {
    ListedToken {
        id: format!("tok_{}", token.id().get(..ID_LENGTH).unwrap_or_default()),
        client: token.content.client.clone(),
        resource: token.content.resource.clone(),
        scopes: Scopes::parse(&token.content.scopes).unwrap_or_default(),
        created_at: Millis(token.content.created_at),
        expires_at: token.record.expires_at.unwrap_or(Millis(0)),
    }
}
