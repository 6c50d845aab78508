//! The published contracts that Frontdesk serves: their tools, vocabularies and dialects.
//! The only place where a contract is named; it reaches no database and no network.

pub mod automotive;
pub mod demo;
pub mod emcp;

use frontdesk_engine::Contract;

/// The contracts of this build, by the names a configuration uses.
pub const IDS: &[&str] = &[automotive::ID, emcp::ID];

pub fn all() -> Vec<Contract> {
    vec![automotive::contract(), emcp::contract(emcp::Settings::default())]
}

pub fn by_id(id: &str) -> Option<Contract> {
    all().into_iter().find(|contract| contract.id == id)
}
