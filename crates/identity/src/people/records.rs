//! What is stored about people and what they have allowed. Secrets are stored as hashes only.

use frontdesk_engine::ports::login_records::LoginRecordKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::password::PasswordHash;
use super::role::UserRole;
use super::stored::RecordContent;

/// By `usr_…`, which logs and the audit log have instead of the name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) role: UserRole,
    /// What they can prove who they are with. Empty until they have opened their link.
    pub(crate) credentials: Vec<StoredCredential>,
    pub(crate) created_at: i64,
    pub(crate) disabled_at: Option<i64>,
}

/// A way to log in. A passkey would be another kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum StoredCredential {
    Password(PasswordHash),
}

/// By the hash of the name, so that a name is taken once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UserName {
    pub(crate) user: String,
}

/// Which tenants a user may act for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Membership {
    Tenant(String),
    /// Whichever tenants are in the group at the time.
    Group(String),
    All,
}

/// By the hash of the cookie.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) user: String,
    /// In seconds since 1970.
    pub(crate) authenticated_at: i64,
    pub(crate) created_at: i64,
}

/// By its hash. It stays for a while after it was redeemed, so that a second redemption is recognized.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AuthorizationCode {
    pub(crate) client: String,
    pub(crate) client_name: String,
    pub(crate) redirect_uri: String,
    pub(crate) challenge: String,
    pub(crate) resource: String,
    pub(crate) scopes: String,
    pub(crate) user: String,
    pub(crate) tenant: String,
    pub(crate) authenticated_at: i64,
    /// What it was redeemed for.
    pub(crate) grant: Option<String>,
}

/// By `grt_…`. As long as it is there, its tokens are valid.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) user: String,
    pub(crate) client: String,
    pub(crate) client_name: String,
    pub(crate) resource: String,
    pub(crate) scopes: String,
    pub(crate) tenant: String,
    pub(crate) authenticated_at: i64,
    pub(crate) created_at: i64,
    pub(crate) last_used_at: i64,
}

/// By the family part of the token. A token of the family with another secret has been used already.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RefreshToken {
    pub(crate) grant: String,
    pub(crate) client: String,
    /// The hash of the current token, in hexadecimal.
    pub(crate) current: String,
    pub(crate) generation: u64,
}

/// By its hash.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AccessToken {
    pub(crate) grant: String,
    pub(crate) user: String,
    pub(crate) client: String,
    pub(crate) resource: String,
    pub(crate) scopes: String,
    pub(crate) tenant: String,
    pub(crate) authenticated_at: i64,
}

/// By user, client and resource: what was allowed the last time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RememberedConsent {
    pub(crate) tenant: String,
    pub(crate) scopes: String,
}

/// A client with redirect URIs, which acts for people.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoginClient {
    pub(crate) name: String,
    pub(crate) redirect_uris: Vec<String>,
    /// The hash of its secret, in hexadecimal.
    pub(crate) secret: Option<String>,
    /// Its public keys, a JSON Web Key Set.
    pub(crate) jwks: Option<Value>,
    /// The most that its tokens can have; everything if absent.
    pub(crate) scopes: Option<String>,
    pub(crate) source: ClientSource,
    pub(crate) created_at: i64,
}

/// Who has registered a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientSource {
    Operator,
    /// The client itself.
    Registration,
}

/// By the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OneTimeLink {
    /// Makes the first user.
    FirstUser,
    /// Lets this user choose a password.
    ChoosePassword { user: String },
}

/// By client and `jti`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UsedAssertion {}

/// By its hash.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OperatorToken {
    pub(crate) client: String,
    /// The secret of the client, hashed, when the token was issued: a new secret ends the token.
    pub(crate) client_secret: String,
    pub(crate) scopes: String,
    pub(crate) resource: String,
    pub(crate) created_at: i64,
}

impl RecordContent for User {
    const KIND: LoginRecordKind = LoginRecordKind::User;
}
impl RecordContent for UserName {
    const KIND: LoginRecordKind = LoginRecordKind::UserName;
}
impl RecordContent for Membership {
    const KIND: LoginRecordKind = LoginRecordKind::Membership;
}
impl RecordContent for Session {
    const KIND: LoginRecordKind = LoginRecordKind::Session;
}
impl RecordContent for AuthorizationCode {
    const KIND: LoginRecordKind = LoginRecordKind::Code;
}
impl RecordContent for Grant {
    const KIND: LoginRecordKind = LoginRecordKind::Grant;
}
impl RecordContent for RefreshToken {
    const KIND: LoginRecordKind = LoginRecordKind::RefreshToken;
}
impl RecordContent for AccessToken {
    const KIND: LoginRecordKind = LoginRecordKind::AccessToken;
}
impl RecordContent for RememberedConsent {
    const KIND: LoginRecordKind = LoginRecordKind::Consent;
}
impl RecordContent for LoginClient {
    const KIND: LoginRecordKind = LoginRecordKind::LoginClient;
}
impl RecordContent for OneTimeLink {
    const KIND: LoginRecordKind = LoginRecordKind::OneTimeLink;
}
impl RecordContent for UsedAssertion {
    const KIND: LoginRecordKind = LoginRecordKind::UsedAssertion;
}
impl RecordContent for OperatorToken {
    const KIND: LoginRecordKind = LoginRecordKind::OperatorToken;
}
