//! The published contracts that Frontdesk serves: their tools, vocabularies and dialects.
//! No other crate names a contract. It accesses no database and no network.

pub mod automotive;
pub mod demo;
pub mod emcp;

use frontdesk_engine::offer::{Bounds, Needs, Offer};
use frontdesk_engine::{Contract, TenantId};

/// The contracts that a configuration can mount.
pub const ENTRIES: &[Offer] =
    &[Offer::plain(automotive::ID), Offer { name: emcp::ID, needs: Needs::SiteDb(emcp::DEFAULTS) }];

pub fn all() -> Vec<Contract> {
    vec![automotive::contract(), emcp::contract(emcp::EmcpSettings::default())]
}

pub fn by_id(id: &str) -> Option<Contract> {
    all().into_iter().find(|contract| contract.id == id)
}

/// A contract that reads a site, for the callers of this tenant and within these limits.
pub fn site_contract(id: &str, tenant: &TenantId, bounds: Bounds) -> Option<Contract> {
    (id == emcp::ID).then(|| emcp::contract(emcp::EmcpSettings::new(tenant, bounds)))
}
