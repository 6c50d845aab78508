//! Who is calling: the client, the tenants it belongs to and the scopes its token carries.
//! Never holds a credential.

use std::fmt;
use std::sync::Arc;

use crate::model::timestamp::Millis;

/// The tenant every row, cursor and event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Letters, digits, `_` and `-`, at most 64: safe in keys, URIs and file names.
    pub fn parse(text: &str) -> Option<TenantId> {
        let fits = !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        fits.then(|| TenantId(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The registered client, the principal that rates and idempotency keys belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(Arc<str>);

impl ClientId {
    pub fn new(text: impl Into<Arc<str>>) -> ClientId {
        ClientId(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As the subject of a service, which acts for itself.
    pub fn itself(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

/// One scope, compared byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(Arc<str>);

impl Scope {
    pub fn new(text: impl Into<Arc<str>>) -> Scope {
        Scope(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A set of scopes, sorted, without repeats. Shared, because every call's caller has the same ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Scopes(Arc<[Scope]>);

impl Scopes {
    pub fn new(scopes: impl IntoIterator<Item = Scope>) -> Scopes {
        let mut all: Vec<Scope> = scopes.into_iter().collect();
        all.sort();
        all.dedup();
        Scopes(all.into())
    }

    /// Reads the space-separated form of OAuth. Anything but single spaces between non-empty
    /// printable words is refused, so that no two spellings of a set exist.
    pub fn parse(text: &str) -> Option<Scopes> {
        if text.is_empty() {
            return Some(Scopes::default());
        }
        let words: Vec<&str> = text.split(' ').collect();
        let plain =
            |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\');
        words.iter().all(plain).then(|| Scopes::new(words.into_iter().map(Scope::new)))
    }

    pub fn has(&self, scope: &Scope) -> bool {
        self.0.binary_search(scope).is_ok()
    }

    pub fn covers(&self, others: &Scopes) -> bool {
        others.0.iter().all(|scope| self.has(scope))
    }

    pub fn with(&self, more: &[Scope]) -> Scopes {
        Scopes::new(self.0.iter().cloned().chain(more.iter().cloned()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, scope) in self.0.iter().enumerate() {
            if position > 0 {
                out.write_str(" ")?;
            }
            out.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

/// A caller whose credential has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub client: ClientId,
    /// The person or service the client acts for; the client itself for a service.
    pub subject: Arc<str>,
    pub tenants: Vec<TenantId>,
    pub scopes: Scopes,
    /// When a person last proved who they are, in seconds since 1970; never for a service.
    pub authenticated_at: Option<i64>,
}

/// The clock of whoever saw the login may be ahead of ours by this much.
const LOGIN_SKEW_SECONDS: i64 = 30;

impl Caller {
    /// Whether a person has logged in at most `max_age` seconds ago. A login in the future is none.
    pub fn has_login_within(&self, max_age: u32, now: Millis) -> bool {
        let age = self.authenticated_at.map(|at| now.seconds().saturating_sub(at));
        age.is_some_and(|age| (-LOGIN_SKEW_SECONDS..=i64::from(max_age)).contains(&age))
    }
}
