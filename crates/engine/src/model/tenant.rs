//! What is known about a tenant beside its rows: where it is, when it is open, what it counts in, and which group it is in.
//! Every value is checked when it is made, so what is stored is valid.

mod hours;
mod places;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use hours::OpeningHours;
pub use places::{CountryCode, TimeZone};

use super::caller::TenantId;
use super::schema::is_currency;
use super::timestamp::Millis;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    /// A name for people.
    pub name: String,
    pub profile: TenantProfile,
    pub group: Option<GroupId>,
    /// Set from when its erasure has begun: no call and no token is for it any more.
    pub erasing_since: Option<Millis>,
}

impl Tenant {
    /// With a name only.
    pub fn new(id: TenantId, name: impl Into<String>) -> Tenant {
        Tenant { id, name: name.into(), profile: TenantProfile::default(), group: None, erasing_since: None }
    }
}

/// A set of tenants: those that name it. Clients can be registered for a group, and a call still names one tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(Arc<str>);

impl GroupId {
    /// Written like the id of a tenant.
    pub fn parse(text: &str) -> Option<GroupId> {
        TenantId::parse(text).map(|id| GroupId(id.as_str().into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Everything is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TenantProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<TimeZone>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street: Option<ProfileText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<ProfileText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<ProfileText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<ProfileText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<CountryCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening_hours: Option<OpeningHours>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<CurrencyCode>,
}

/// A change of a tenant: fields that are `Keep` stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TenantUpdate {
    pub name: Option<String>,
    pub time_zone: FieldUpdate<TimeZone>,
    pub street: FieldUpdate<ProfileText>,
    pub city: FieldUpdate<ProfileText>,
    pub region: FieldUpdate<ProfileText>,
    pub postal_code: FieldUpdate<ProfileText>,
    pub country: FieldUpdate<CountryCode>,
    pub opening_hours: FieldUpdate<OpeningHours>,
    pub currency: FieldUpdate<CurrencyCode>,
    pub group: FieldUpdate<GroupId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldUpdate<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T: Clone> FieldUpdate<T> {
    fn apply(&self, field: &mut Option<T>) {
        match self {
            FieldUpdate::Keep => {}
            FieldUpdate::Clear => *field = None,
            FieldUpdate::Set(value) => *field = Some(value.clone()),
        }
    }
}

impl TenantUpdate {
    pub fn apply(&self, tenant: &mut Tenant) {
        if let Some(name) = &self.name {
            tenant.name.clone_from(name);
        }
        let profile = &mut tenant.profile;
        self.time_zone.apply(&mut profile.time_zone);
        self.street.apply(&mut profile.street);
        self.city.apply(&mut profile.city);
        self.region.apply(&mut profile.region);
        self.postal_code.apply(&mut profile.postal_code);
        self.country.apply(&mut profile.country);
        self.opening_hours.apply(&mut profile.opening_hours);
        self.currency.apply(&mut profile.currency);
        self.group.apply(&mut tenant.group);
    }
}

/// A line of an address: 1 to 200 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProfileText(String);

impl ProfileText {
    pub fn parse(text: &str) -> Result<ProfileText, String> {
        let text = text.trim();
        if (1..=200).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
            Ok(ProfileText(text.to_owned()))
        } else {
            Err("a line of an address has 1 to 200 characters, none of them a control character".to_owned())
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A currency of ISO 4217.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CurrencyCode(String);

impl CurrencyCode {
    pub fn parse(text: &str) -> Result<CurrencyCode, String> {
        let code = text.to_ascii_uppercase();
        if is_currency(&code) {
            Ok(CurrencyCode(code))
        } else {
            Err("a currency is a code of ISO 4217, such as EUR or USD".to_owned())
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `TryFrom<String>` and `Into<String>`, by which a checked text is read from and written to JSON.
macro_rules! text_conversions {
    ($($name:ident),+) => {$(
        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<$name, String> {
                $name::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.as_str().to_owned()
            }
        }
    )+};
}

text_conversions!(ProfileText, CurrencyCode, TimeZone, CountryCode);

#[cfg(test)]
mod tests;
