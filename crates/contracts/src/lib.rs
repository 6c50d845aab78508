//! The published contracts that Frontdesk serves: their tools, vocabularies and dialects.
//! The only place where a contract is named; it reaches no database and no network.

pub mod automotive;
pub mod demo;
pub mod emcp;

use frontdesk_engine::model::contract_entry::{ContractEntry, QueryLimits, Requires};
use frontdesk_engine::{Contract, TenantId};

/// The contracts of this build: how a configuration mounts them, and the commands they add.
pub const ENTRIES: &[ContractEntry] = &[
    ContractEntry::new(automotive::ID).with_commands(automotive::COMMANDS),
    ContractEntry::new(emcp::ID).requiring(Requires::SiteDb(emcp::USUAL)),
];

pub fn all() -> Vec<Contract> {
    vec![automotive::contract(), emcp::contract(emcp::Settings::default())]
}

pub fn by_id(id: &str) -> Option<Contract> {
    all().into_iter().find(|contract| contract.id == id)
}

/// A contract that reads a site, for the callers of this tenant and within these limits.
pub fn reading(id: &str, tenant: &TenantId, limits: QueryLimits) -> Option<Contract> {
    (id == emcp::ID).then(|| emcp::contract(emcp::Settings::of(tenant, limits)))
}
