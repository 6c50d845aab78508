//! The scopes of the contract, one per domain and kind of access (A6-07). Reading customers needs the scope of leads:
//! the specification puts both into one domain.

use frontdesk_engine::Scope;

pub const INVENTORY_READ: &str = "amcp:inventory:read";
pub const LEADS_READ: &str = "amcp:leads:read";
pub const LEADS_WRITE: &str = "amcp:leads:write";

pub const ALL: &[&str] = &[INVENTORY_READ, LEADS_READ, LEADS_WRITE];

/// The scope of a token that requests none: the only one without access to personal data.
pub fn default_scope() -> Scope {
    Scope::new(INVENTORY_READ)
}

pub fn all() -> Vec<Scope> {
    ALL.iter().copied().map(Scope::new).collect()
}
