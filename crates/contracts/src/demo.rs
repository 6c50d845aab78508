//! Made-up businesses for the demo, as plan steps that a store can commit. It writes nothing itself.

use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Event, Scopes, Step};

use crate::{automotive, emcp};

pub struct DemoInfo {
    pub businesses: Vec<Business>,
    /// The argument by which the contract names a tenant.
    pub tenant_key: &'static str,
    /// The scopes of a demo client: all of the contract.
    pub scopes: Scopes,
    pub example: ExampleCall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Business {
    pub id: &'static str,
    pub name: &'static str,
}

/// The rows and events of one business.
pub struct BusinessData {
    pub business: Business,
    pub steps: Vec<Step>,
    pub events: Vec<Event>,
}

/// A made-up site and who may read it. Its content is in `cms-fixture`.
pub struct DemoSite {
    pub entry: &'static ContractEntry,
    pub business: &'static str,
    pub scopes: Scopes,
    pub example: ExampleCall,
}

/// The first call that a new user is shown.
#[derive(Debug, Clone, Copy)]
pub struct ExampleCall {
    pub tool: &'static str,
    /// JSON text without single quotes, so that it can be quoted in a shell command.
    pub arguments: &'static str,
}

pub fn info() -> DemoInfo {
    automotive::demo::rows::info()
}

/// The data of the businesses as of `now`, in the order of `info`. The iterator is lazy because generating a business
/// takes a while. `new_id` generates an id with a prefix.
pub fn business_data(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> impl Iterator<Item = BusinessData> {
    automotive::demo::rows::business_data(now, new_id)
}

pub fn site() -> Option<DemoSite> {
    emcp::demo::site()
}
