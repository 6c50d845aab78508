//! Made-up businesses for the demo, as plan steps that a store can commit. It writes nothing itself.

use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_engine::model::tenant::{CountryCode, CurrencyCode, FieldUpdate, ProfileText, TenantUpdate, TimeZone};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Event, Scopes, Step};

use crate::partner::PartnerSettings;
use crate::{automotive, emcp, tomo};

pub struct DemoInfo {
    pub businesses: Vec<Business>,
    /// The argument by which the contract names a tenant.
    pub tenant_key: &'static str,
    /// The scopes of a demo client: all of the contract.
    pub scopes: Scopes,
    pub example: ExampleCall,
    pub form: DemoForm,
}

/// A search that the demo's page offers to anybody: data that is public, and no personal data.
pub struct DemoForm {
    pub tool: &'static str,
    /// All that its caller may do.
    pub scopes: Scopes,
    /// Whose data is searched.
    pub business: Business,
    pub fields: &'static [DemoField],
    /// Further arguments, as a JSON object.
    pub arguments: &'static str,
    pub columns: &'static [DemoColumn],
}

/// An argument of the search, as text.
pub struct DemoField {
    pub argument: &'static str,
    pub label: &'static str,
    pub example: &'static str,
}

/// A column of the result.
pub struct DemoColumn {
    pub label: &'static str,
    /// The fields of an item, joined by a space.
    pub fields: &'static [&'static str],
    pub format: ColumnFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnFormat {
    Text,
    /// An amount in the smallest unit and its currency.
    Money,
    /// A value and its unit.
    Measure,
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

/// A made-up partner of the one party that calls it, and what it is mounted as.
pub struct DemoPartner {
    pub entry: &'static ContractEntry,
    /// What it has besides the businesses of [`info`].
    pub businesses: Vec<Business>,
    pub mounts: Vec<DemoPartnerMount>,
}

/// One intent at a path of its own.
pub struct DemoPartnerMount {
    pub path: String,
    pub intent: &'static str,
    /// The business whose goods are sold.
    pub business: &'static str,
    pub settings: PartnerSettings,
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
    automotive::demo::rows::business_data(now, new_id).map(move |contents| tomo::demo::completed(contents, now))
}

pub fn partner() -> Option<DemoPartner> {
    tomo::demo::partner()
}

/// The data of the partner's own businesses.
pub fn partner_data(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> Vec<BusinessData> {
    tomo::demo::business_data(now, new_id)
}

/// The name and the profile of a business. Those of most are empty.
pub fn registration(business: &Business) -> TenantUpdate {
    let name = Some(business.name.to_owned());
    let Some((city, region)) = tomo::demo::place(business.id) else {
        return TenantUpdate { name, ..TenantUpdate::default() };
    };
    let set = |text: &str| ProfileText::parse(text).map_or(FieldUpdate::Keep, FieldUpdate::Set);
    TenantUpdate {
        name,
        time_zone: TimeZone::parse("Asia/Kolkata").map_or(FieldUpdate::Keep, FieldUpdate::Set),
        city: set(city),
        region: set(region),
        country: CountryCode::parse("IN").map_or(FieldUpdate::Keep, FieldUpdate::Set),
        currency: CurrencyCode::parse(crate::partner::PARTNER_CURRENCY).map_or(FieldUpdate::Keep, FieldUpdate::Set),
        ..TenantUpdate::default()
    }
}

pub fn site() -> Option<DemoSite> {
    emcp::demo::site()
}
