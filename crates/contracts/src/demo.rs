//! Made-up businesses for the demo, as steps a store can commit. It writes nothing itself.

use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Event, Scopes, Step};

use crate::{automotive, emcp};

pub struct Demo {
    pub businesses: Vec<Business>,
    /// What the contract calls a tenant's id.
    pub tenant_key: &'static str,
    /// What a demo client may do: everything.
    pub scopes: Scopes,
    pub example: Example,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Business {
    pub id: &'static str,
    pub name: &'static str,
}

/// All that a business has.
pub struct Contents {
    pub business: Business,
    pub steps: Vec<Step>,
    pub events: Vec<Event>,
}

/// A made-up site and who may read it. What is in it is made elsewhere.
pub struct DemoSite {
    pub entry: &'static ContractEntry,
    pub business: &'static str,
    pub scopes: Scopes,
    pub example: Example,
}

/// A call worth making first.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    pub tool: &'static str,
    /// As JSON text without single quotes, so that it can stand in a shell line.
    pub arguments: &'static str,
}

pub fn demo() -> Demo {
    automotive::seed::demo()
}

/// What the businesses have as of `now`, one after the other in their order, each made when it is asked for: that takes
/// a while. `new_id` makes an id from a prefix.
pub fn contents(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> impl Iterator<Item = Contents> {
    automotive::seed::contents(now, new_id)
}

pub fn site() -> Option<DemoSite> {
    emcp::demo::site()
}
