//! The published contracts that Frontdesk serves: their tools, vocabularies and dialects.
//! The only place where a contract is named; it reaches no database and no network.

pub mod automotive;
pub mod demo;

use frontdesk_engine::Contract;
use frontdesk_engine::offer::Offer;

/// The contracts of this build, as a configuration can mount them.
pub const OFFERS: &[Offer] = &[Offer::plain(automotive::ID)];

pub fn all() -> Vec<Contract> {
    vec![automotive::contract()]
}

pub fn by_id(id: &str) -> Option<Contract> {
    all().into_iter().find(|contract| contract.id == id)
}
