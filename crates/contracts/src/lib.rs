//! The published contracts that Frontdesk serves: their tools, vocabularies and dialects.
//! The only place where a contract is named; it reaches no database and no network.

pub mod automotive;
pub mod demo;
pub mod emcp;

use frontdesk_engine::offer::{Bounds, Needs, Offer};
use frontdesk_engine::{Contract, TenantId};

/// The contracts of this build, as a configuration can mount them.
pub const OFFERS: &[Offer] =
    &[Offer::plain(automotive::ID), Offer { name: emcp::ID, needs: Needs::SiteDb(emcp::USUAL) }];

pub fn all() -> Vec<Contract> {
    vec![automotive::contract(), emcp::contract(emcp::Settings::default())]
}

pub fn by_id(id: &str) -> Option<Contract> {
    all().into_iter().find(|contract| contract.id == id)
}

/// A contract that reads a site, for the callers of this tenant and within these bounds.
pub fn reading(id: &str, tenant: &TenantId, bounds: Bounds) -> Option<Contract> {
    (id == emcp::ID).then(|| emcp::contract(emcp::Settings::of(tenant, bounds)))
}
