//! What the engine needs from outside: a store, an identity provider, time and randomness.
//! Implementations live elsewhere; nothing here knows how they work.

pub mod http_client;
pub mod login_records;
pub mod registry;
pub mod site_db;

use std::sync::Arc;

use crate::delivery::DeliveryNotice;
use crate::model::caller::{Caller, ClientId, TenantId};
use crate::model::fault::Fault;
use crate::model::idempotency_key::IdempotencyKey;
use crate::model::incoming::{Credential, OtherCredentials};
use crate::model::notice::Notice;
use crate::model::observation::Observation;
use crate::model::page::{CountQuery, Page, Query};
use crate::model::plan::{Change, Event, Step};
use crate::model::table::{Cell, StoredRow, TableSpec};
use crate::model::timestamp::{Millis, MonotonicMillis};
use crate::model::tool::{Future, Item};

pub trait Clock: Send + Sync {
    /// The wall clock. Somebody may set it.
    fn now(&self) -> Millis;

    /// A clock that nobody can set.
    fn monotonic(&self) -> MonotonicMillis;
}

pub trait Random: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

pub trait Identity: Send + Sync {
    /// Says who presents this credential at this resource, or faults with `Unauthenticated`. Only the identity
    /// of a single mount is asked about a missing or unusable credential.
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>>;

    /// What else than a bearer token it can judge.
    fn other_credentials(&self) -> OtherCredentials {
        OtherCredentials::default()
    }
}

/// Sees every finished call; makes log lines and metrics of it.
pub trait Observer: Send + Sync {
    fn on_call(&self, observation: &Observation, cause: Option<&str>);

    /// Sees what happens to deliveries.
    fn on_delivery(&self, notice: &DeliveryNotice<'_>) {
        let _ = notice;
    }

    /// Something that an operator should know and that is no call.
    fn on_notice(&self, notice: &Notice<'_>) {
        let _ = notice;
    }
}

/// Which sealed parts of a row leave the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disclosure {
    /// None.
    Masked,
    /// Personal data.
    Full,
    /// Personal data and write-only values, for a tool that rewrites the row and must keep them. Never for an answer.
    ToChange,
}

/// When an audit record must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before the answer leaves.
    Awaited,
    /// Soon, together with others.
    Grouped,
}

pub trait Store: Send + Sync {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>>;

    /// The one row with this value in a unique column.
    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>>;

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>>;

    /// How many rows there are, but never more than `query.max`.
    fn count<'a>(&'a self, tenant: &'a TenantId, query: CountQuery) -> Future<'a, Result<usize, Fault>>;

    /// What was answered under this key, if it has been claimed.
    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>>;

    /// The same before the tool runs, which saves planning a repeated call. A store may return `None` here if its
    /// `commit` finds the claim at no extra cost, even while it cannot write (SQLite does).
    fn find_claim_early<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        self.find_claim(tenant, claim)
    }

    /// Commits everything or nothing. Once handed over it continues even if the caller stops waiting.
    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>>;

    /// Events of a tenant in the order in which they were committed, at most `limit` of those behind `after`. The numbers
    /// have no gap, so a reader that stores the last one misses none.
    fn events<'a>(
        &'a self,
        tenant: &'a TenantId,
        after: i64,
        limit: usize,
    ) -> Future<'a, Result<Vec<OutboxEvent>, Fault>>;

    /// Appends to this node's audit chain. Once polled it continues even if the caller stops waiting.
    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>>;

    /// As `append_audit` with `Grouped`, for calls that nobody waits for. A full queue loses nothing that was
    /// answered: it is only called for calls whose client has gone or that panicked.
    fn append_audit_detached(&self, record: String);
}

/// An event that was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEvent {
    /// Its number in the tenant's sequence, from 1 on.
    pub seq: i64,
    pub event_id: String,
    /// The table of the record, and the record.
    pub kind: String,
    pub id: String,
    pub change: Change,
    pub at: Millis,
}

/// An idempotency key in its scope: tenant (given beside it), client and tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub client: ClientId,
    pub tool: &'static str,
    pub key: IdempotencyKey,
    /// Hash of what the arguments mean. It could be guessed at, so it is kept sealed.
    pub request_hash: [u8; 32],
}

/// What an earlier call under the same key meant and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    pub request_hash: [u8; 32],
    pub answer: Item,
}

#[derive(Debug, Clone)]
pub struct Commit {
    pub tenant: TenantId,
    pub at: Millis,
    pub steps: Vec<Step>,
    /// Each with the identifier it keeps through every delivery.
    pub events: Vec<(String, Event)>,
    pub claim: Option<Claim>,
    pub answer: Item,
    /// One line of JSON for the tenant's audit chain.
    pub audit: String,
    /// Who asked for it, for quotas; none for what the server does by itself, which no quota refuses.
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone)]
pub enum Committed {
    Done,
    /// The key was claimed first by another call.
    AlreadyClaimed(StoredAnswer),
    /// A step does not hold; nothing was changed.
    Refused(Fault),
    /// A row the tool had read has changed; nothing was changed.
    VersionConflict,
    /// Handed over, but not finished within the deadline. It may still commit.
    Unknown,
}
