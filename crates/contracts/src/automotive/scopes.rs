//! The scopes of the contract, one per domain and kind of access (A6-07). Reading customers needs
//! the scope of leads: the text puts both into one domain and names no third.

use frontdesk_engine::Scope;

pub const INVENTORY_READ: &str = "amcp:inventory:read";
pub const LEADS_READ: &str = "amcp:leads:read";
pub const LEADS_WRITE: &str = "amcp:leads:write";

pub const ALL: &[&str] = &[INVENTORY_READ, LEADS_READ, LEADS_WRITE];

/// What a token gets that asks for nothing: the only scope without personal data behind it.
pub fn least() -> Scope {
    Scope::new(INVENTORY_READ)
}

pub fn all() -> Vec<Scope> {
    ALL.iter().copied().map(Scope::new).collect()
}
