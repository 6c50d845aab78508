//! The scopes of the contract, one per domain and kind of access (A6-07): those that a tool needs.

use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::{Scope, Scopes};

use super::domains;

/// The scope of a token that requests none: the only one without access to personal data or to changes.
pub fn default_scope() -> Scope {
    Scope::new(domains::INVENTORY.read)
}

/// Those that a client is told to ask for that has no token yet: all but those of credit data, which need a client that was
/// registered for them and that asks for them by name (A6-17).
pub fn ordinary(all: &[Scope]) -> Scopes {
    let is_credit = |scope: &Scope| [domains::FNI.read, domains::FNI.write].contains(&scope.as_str());
    Scopes::new(all.iter().filter(|scope| !is_credit(scope)).cloned())
}

/// In the order of the domains, reading before writing.
pub fn of_tools<'a>(tools: impl Iterator<Item = &'a Tool>) -> Vec<Scope> {
    let needed: Vec<&str> = tools.flat_map(|tool| tool.spec.scope.all()).map(Scope::as_str).collect();
    let is_used = |scope: &&'static str| needed.contains(scope);
    let known = domains::ALL.iter().flat_map(|domain| [domain.read, domain.write]);
    known.filter(is_used).map(Scope::new).collect()
}
