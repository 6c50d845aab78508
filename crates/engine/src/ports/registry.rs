//! Who may come at all: tenants, clients and the tokens they were given. Secrets are known here only
//! by their hashes.

use crate::model::caller::{ClientId, Scopes, TenantId};
use crate::model::fault::Fault;
use crate::model::timestamp::Millis;
use crate::model::tool::Future;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub id: ClientId,
    pub name: String,
    /// SHA-256 of a secret of 256 random bits.
    pub secret: [u8; 32],
    pub tenants: Vec<TenantId>,
    /// The most a token of this client can carry.
    pub scopes: Scopes,
    pub created_at: Millis,
    pub revoked_at: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    pub client: ClientId,
    pub tenants: Vec<TenantId>,
    pub scopes: Scopes,
    /// The only address it is good for.
    pub resource: String,
    pub expires_at: Millis,
}

/// Whether a change found what it was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Done,
    Nothing,
}

/// Every change takes `record`, one line of JSON, and appends it to this node's audit chain in the
/// same transaction: there is no change without its record, and no record of what did not happen.
pub trait Registry: Send + Sync {
    fn tenants(&self) -> Future<'_, Result<Vec<Tenant>, Fault>>;
    /// `Nothing` if the tenant exists already.
    fn add_tenant(&self, tenant: Tenant, record: String) -> Future<'_, Result<Changed, Fault>>;

    fn clients(&self) -> Future<'_, Result<Vec<Client>, Fault>>;
    fn client<'a>(&'a self, id: &'a ClientId) -> Future<'a, Result<Option<Client>, Fault>>;
    /// `Nothing` if the id is taken.
    fn add_client(&self, client: Client, record: String) -> Future<'_, Result<Changed, Fault>>;
    /// Gives the client another secret; its tokens end at once.
    fn rotate_client<'a>(
        &'a self,
        id: &'a ClientId,
        secret: [u8; 32],
        record: String,
    ) -> Future<'a, Result<Changed, Fault>>;
    /// Ends the client and its tokens.
    fn revoke_client<'a>(&'a self, id: &'a ClientId, at: Millis, record: String) -> Future<'a, Result<Changed, Fault>>;

    fn token(&self, hash: [u8; 32]) -> Future<'_, Result<Option<Token>, Fault>>;
    /// Keeps a token; expired ones are forgotten on the way.
    fn add_token(&self, token: Token, now: Millis, record: String) -> Future<'_, Result<(), Fault>>;
    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>>;
}
