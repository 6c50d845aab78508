//! Who may come at all: tenants, clients and the tokens they were given. Secrets are known here only
//! by their hashes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::caller::{ClientId, Scopes, TenantId};
use crate::model::fault::Fault;
pub use crate::model::tenant::Tenant;
use crate::model::tenant::{GroupId, TenantUpdate};
use crate::model::timestamp::Millis;
use crate::model::tool::Future;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub id: ClientId,
    pub name: String,
    /// SHA-256 of a secret of 256 random bits.
    pub secret: [u8; 32],
    pub tenants: Vec<TenantId>,
    /// It may also act for the tenants that are in these groups when a token is issued.
    pub groups: Vec<GroupId>,
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
    /// When a person logged in for it, in seconds since 1970; never for client credentials.
    pub authenticated_at: Option<i64>,
}

/// Whether a change found what it was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Done,
    Nothing,
}

/// Rows of one table that were changed without the master key. They are treated as if they did not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedRows {
    pub table: &'static str,
    pub rows: usize,
}

/// What an erasure has removed so far, also by earlier runs that were interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ErasureReport {
    /// Rows by table. Tables without any are left out.
    pub rows: BTreeMap<String, u64>,
    /// Clients that belonged to this tenant alone.
    pub clients: u64,
    /// How the tenant's audit chain ended.
    pub chain: ErasedChain,
}

/// The last link of an erased audit chain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ErasedChain {
    /// 0 if the tenant had no chain.
    pub seq: i64,
    /// In hexadecimal.
    pub hash: String,
    /// How many links there were; earlier ones had been deleted by retention.
    pub links: u64,
    /// Whether the chain was as it had been written.
    pub intact: bool,
}

/// The audit records of an erasure, each a JSON object on one line. The store adds `removed` to the last one and
/// `erased_chain` to both, because it alone knows them.
#[derive(Debug, Clone)]
pub struct ErasureRecords {
    pub begin: String,
    pub end: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErasureProgress {
    UnknownTenant,
    /// Ask again to go on.
    More(ErasureReport),
    Done(ErasureReport),
}

/// Every change takes `record`, one line of JSON, and appends it to an audit chain of this node in the same
/// transaction: there is no change without its record, and no record of what did not happen. It is the chain of
/// administration, except for tokens without a login, of which there are many: they are recorded like reads.
pub trait Registry: Send + Sync {
    fn tenants(&self) -> Future<'_, Result<Vec<Tenant>, Fault>>;
    fn tenant<'a>(&'a self, id: &'a TenantId) -> Future<'a, Result<Option<Tenant>, Fault>>;
    /// `Nothing` if the tenant exists already.
    fn add_tenant(&self, tenant: Tenant, record: String) -> Future<'_, Result<Changed, Fault>>;
    /// `Nothing` if there is no such tenant, or it is being erased. If it leaves a group, tokens that were issued for
    /// it because of that group lose it.
    fn update_tenant<'a>(
        &'a self,
        id: &'a TenantId,
        update: TenantUpdate,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>>;
    /// Erases a tenant for about a second at a time. The first call only marks it: from then on no write for it succeeds, and
    /// within a second no read, and no token is issued for it. It may be interrupted at any point.
    fn erase_tenant<'a>(
        &'a self,
        id: &'a TenantId,
        at: Millis,
        records: ErasureRecords,
    ) -> Future<'a, Result<ErasureProgress, Fault>>;
    /// Records an act of administration that changes nothing here, such as an export.
    fn record_administration(&self, record: String) -> Future<'_, Result<(), Fault>>;

    /// Tables without any are left out. For lists of tenants and clients, which would otherwise not say what they lack.
    fn refused_rows(&self) -> Future<'_, Result<Vec<RefusedRows>, Fault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

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
    /// Stores a token for those of its tenants that exist and for those in these groups; expired tokens are deleted on
    /// the way. `Nothing` if no tenant is left.
    fn add_token(
        &self,
        token: Token,
        groups: Vec<GroupId>,
        now: Millis,
        record: String,
    ) -> Future<'_, Result<Changed, Fault>>;
    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>>;
}
