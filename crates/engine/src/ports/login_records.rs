//! What is stored about people and what they have allowed: users, sessions, codes, grants and the like. Each is a record
//! of one kind whose content the identity writes and reads; a store authenticates everything that is said here, and
//! changes several of them all or none.

use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::timestamp::Millis;
use crate::model::tool::Future;
use crate::ports::registry::Changed;

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LoginRecordKind {
    User,
    /// The name somebody logs in with, by its hash.
    UserName,
    /// A tenant, or a group of them, that a user may act for.
    Membership,
    Session,
    /// An authorization code, by its hash.
    Code,
    /// What a user has allowed a client to do until they end it.
    Grant,
    /// The current refresh token of a grant.
    RefreshToken,
    /// An access token of a grant, by its hash.
    AccessToken,
    /// What a user need not be asked again.
    Consent,
    /// A client with redirect URIs.
    LoginClient,
    /// The public keys of a client.
    ClientKeys,
    /// A link that is opened once, by the hash of its secret.
    OneTimeLink,
    /// A signed assertion of a client that must not be used again.
    UsedAssertion,
    /// A token that the operator has issued, by its hash.
    OperatorToken,
}

impl LoginRecordKind {
    pub fn as_str(self) -> &'static str {
        match self {
            LoginRecordKind::User => "user",
            LoginRecordKind::UserName => "user_name",
            LoginRecordKind::Membership => "membership",
            LoginRecordKind::Session => "session",
            LoginRecordKind::Code => "code",
            LoginRecordKind::Grant => "grant",
            LoginRecordKind::RefreshToken => "refresh_token",
            LoginRecordKind::AccessToken => "access_token",
            LoginRecordKind::Consent => "consent",
            LoginRecordKind::LoginClient => "login_client",
            LoginRecordKind::ClientKeys => "client_keys",
            LoginRecordKind::OneTimeLink => "one_time_link",
            LoginRecordKind::UsedAssertion => "used_assertion",
            LoginRecordKind::OperatorToken => "operator_token",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginRecord {
    pub kind: LoginRecordKind,
    pub id: String,
    /// Whose it is: a user's, a grant's or a client's id, or empty.
    pub owner: String,
    /// It ends with this tenant.
    pub tenant: Option<TenantId>,
    /// It may be deleted from then on. A reader checks it by its own clock.
    pub expires_at: Option<Millis>,
    /// 1 when it is added, one more with each replacement. The store counts.
    pub version: i64,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordChange {
    /// Fails if there is one with this kind and id.
    Add(LoginRecord),
    /// Fails unless the stored one has this version.
    Replace(LoginRecord),
    /// Fails unless the stored one has this version.
    Remove { kind: LoginRecordKind, id: String, version: i64 },
    /// All of this owner, if there are any.
    RemoveOwned { kind: LoginRecordKind, owner: String },
}

/// The audit record of a change, one line of JSON, and the chain of this node that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginAudit {
    /// Who may come in has changed.
    Administration(String),
    /// Somebody has come in.
    Access(String),
    /// Nothing that anybody would look for.
    None,
}

pub trait LoginRecords: Send + Sync {
    fn login_record<'a>(&'a self, kind: LoginRecordKind, id: &'a str)
    -> Future<'a, Result<Option<LoginRecord>, Fault>>;

    /// By their ids.
    fn login_records_of<'a>(
        &'a self,
        kind: LoginRecordKind,
        owner: &'a str,
    ) -> Future<'a, Result<Vec<LoginRecord>, Fault>>;

    /// At most `limit` of this kind, by their ids.
    fn login_records(&self, kind: LoginRecordKind, limit: u32) -> Future<'_, Result<Vec<LoginRecord>, Fault>>;

    fn count_login_records(&self, kind: LoginRecordKind) -> Future<'_, Result<u64, Fault>>;

    /// Makes all changes and writes the audit record, or nothing if one of them fails: of several that change the same
    /// record at the same time, one is made. Expired records are deleted on the way.
    fn change_login_records(
        &self,
        changes: Vec<RecordChange>,
        now: Millis,
        audit: LoginAudit,
    ) -> Future<'_, Result<Changed, Fault>>;
}
