//! The settings of the authorization server, and what it knows about the resources that it issues tokens for.

use std::time::Duration;

use frontdesk_engine::model::caller::Scope;

use super::client_document::ClientDocuments;

#[derive(Debug, Clone)]
pub struct OAuthSettings {
    /// The public URL, without a trailing slash. Every published URL starts with it.
    pub issuer: String,
    /// How long a token is valid.
    pub lifetime_seconds: u32,
    /// How long a token lookup is cached, which delays a revocation by as much. Capped at one second.
    pub cache_ttl: Duration,
    /// The rate limit and burst of a client; an IP address has ten times as much.
    pub token_requests_per_minute: u32,
    /// How long a token of the operator may be valid at most.
    pub operator_days: u32,
    pub login: LoginSettings,
}

/// How people log in, and what comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSettings {
    /// How long somebody stays logged in without doing anything.
    pub session_seconds: u32,
    pub code_seconds: u32,
    /// How long a client stays connected at most, and how long without being used.
    pub grant_days: u32,
    pub idle_days: u32,
    pub registration: Registration,
    /// How many clients there may be before none can register itself.
    pub max_clients: u32,
    pub client_documents: ClientDocuments,
}

impl Default for LoginSettings {
    fn default() -> LoginSettings {
        LoginSettings {
            session_seconds: 30 * 60,
            code_seconds: 60,
            grant_days: 90,
            idle_days: 14,
            registration: Registration::Off,
            max_clients: 1_000,
            client_documents: ClientDocuments::Any,
        }
    }
}

/// Whether clients may register themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    Off,
    On,
}

/// A mount, as OAuth sees it.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    /// Begins with a slash.
    pub path: String,
    /// The full URL, to which tokens are bound byte for byte.
    pub url: String,
    /// Every scope of the mount.
    pub scopes: Vec<Scope>,
    /// The scope of a token whose request names none.
    pub default_scope: Scope,
    /// A name for people.
    pub name: String,
    /// What people are told about the scopes. One that is missing is shown as it is, and taken for a change.
    pub scope_infos: Vec<ScopeInfo>,
}

/// A scope in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeInfo {
    pub scope: Scope,
    /// What it allows, as the end of a sentence.
    pub words: String,
    pub access: ScopeAccess,
    /// Whether it allows no change.
    pub is_reading: bool,
}

/// Who may pass a scope on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeAccess {
    Read,
    Change,
    /// Needs a recent login.
    Sensitive,
}

impl ProtectedResource {
    fn info(&self, scope: &Scope) -> Option<&ScopeInfo> {
        self.scope_infos.iter().find(|info| info.scope == *scope)
    }

    pub(crate) fn access(&self, scope: &Scope) -> ScopeAccess {
        self.info(scope).map_or(ScopeAccess::Change, |info| info.access)
    }

    pub(crate) fn words(&self, scope: &Scope) -> String {
        self.info(scope).map_or_else(|| scope.as_str().to_owned(), |info| info.words.clone())
    }

    pub(crate) fn is_reading(&self, scope: &Scope) -> bool {
        self.info(scope).is_some_and(|info| info.is_reading)
    }
}
