//! The published contracts that Frontdesk serves: their tools, vocabularies and dialects.
//! No other crate names a contract. It accesses no database and no network.

pub mod automotive;
pub mod calendar;
pub mod demo;
pub mod emcp;
pub mod feed;
pub mod notification;
pub mod openapi;
pub mod partner;
pub mod record;
pub mod scope_words;
pub mod shared_page;
pub mod tomo;

/// The derives name this crate by its path, also here.
extern crate self as frontdesk_contracts;

pub use automotive::signal::SignalSettings;
use feed::{FeedTarget, XmlRow, XmlSettings};
pub use frontdesk_derive::{Record, Vocabulary};
use frontdesk_engine::model::contract_entry::{ContractEntry, QueryLimits, Requires};
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::{Contract, TenantId};

/// The contracts of this build: how a configuration mounts them, and the commands they add.
pub const ENTRIES: &[ContractEntry] = &[
    ContractEntry::new(automotive::ID)
        .with_commands(automotive::COMMANDS)
        .with_rest("/v1")
        .with_erasure(automotive::erasure::ERASURE),
    ContractEntry::new(emcp::ID).requiring(Requires::SiteDb(emcp::DEFAULTS)),
    ContractEntry::new(tomo::ID)
        .requiring(Requires::Partner)
        .with_erasure(automotive::erasure::ERASURE)
        .with_deliveries("completions"),
];

pub fn all() -> Vec<Contract> {
    vec![automotive::contract(), emcp::contract(emcp::EmcpSettings::default()), tomo::without_partner()]
}

pub fn by_id(id: &str) -> Option<Contract> {
    all().into_iter().find(|contract| contract.id == id)
}

/// As `by_id`, as a configuration mounts it.
pub fn mounted(id: &str, signals: SignalSettings) -> Option<Contract> {
    if id == automotive::ID {
        return Some(automotive::contract_with(automotive::resources(), signals));
    }
    by_id(id)
}

/// What rows of a feed of this kind become. `input` is the schema of the arguments.
pub fn feed_target(contract: &str, resource: &str, input: &Schema) -> FeedTarget {
    match contract {
        automotive::ID => automotive::feeds::target(resource, input),
        tomo::ID => tomo::managed::feed_target(input),
        _ => FeedTarget::of(input.clone()),
    }
}

/// The rows of an XML document, for kinds that have such a format.
pub fn read_xml(
    contract: &str,
    resource: &str,
    document: &[u8],
    settings: &XmlSettings,
) -> Option<Result<Vec<XmlRow>, String>> {
    (contract == automotive::ID && resource == automotive::adf::RESOURCE)
        .then(|| automotive::adf::rows(document, settings))
}

/// A contract that reads a site, for the callers of this tenant and within these limits.
pub fn site_contract(id: &str, tenant: &TenantId, limits: QueryLimits) -> Option<Contract> {
    (id == emcp::ID).then(|| emcp::contract(emcp::EmcpSettings::new(tenant, limits)))
}
