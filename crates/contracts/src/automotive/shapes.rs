//! The small shapes that resources share: money, measures, contacts, instants. Each with the schema
//! it is published under.

use frontdesk_engine::model::schema::{Field, Schema, Text, optional, required};
use frontdesk_engine::model::timestamp::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::mask;
use super::vocabulary::DISTANCE_UNIT;

/// The largest whole number that every JSON reader keeps exactly.
pub const MOST_EXACT: i64 = 9_007_199_254_740_991;

/// Minor units and a currency, never a fraction (A3-33).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    pub amount: i64,
    pub currency: String,
}

impl Money {
    pub fn schema() -> Schema {
        Schema::object([
            required(
                "amount",
                Schema::integer(0, MOST_EXACT),
                "Whole minor units of the currency: 2899900 is 28,999.00 USD.",
            ),
            required("currency", Schema::Text(Text::Currency), "ISO 4217 code, such as USD."),
        ])
    }

    /// Reads an argument that its schema has already accepted.
    pub fn read(object: &Map<String, Value>) -> Option<Money> {
        Some(Money { amount: object.get("amount")?.as_i64()?, currency: object.get("currency")?.as_str()?.to_owned() })
    }
}

/// A distance with its unit (A3-34).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distance {
    pub value: i64,
    pub unit: String,
}

impl Distance {
    pub fn schema() -> Schema {
        Schema::object([
            required("value", Schema::integer(0, 9_999_999), "Whole miles or kilometres."),
            required("unit", Schema::one_of(DISTANCE_UNIT), "Unit of the value."),
        ])
    }

    pub fn read(object: &Map<String, Value>) -> Option<Distance> {
        Some(Distance { value: object.get("value")?.as_i64()?, unit: object.get("unit")?.as_str()?.to_owned() })
    }

    /// In this unit both miles and kilometres are whole, so that distances compare exactly.
    pub fn millimetres(&self) -> i64 {
        let unit = match self.unit.as_str() {
            "km" => 1_000_000,
            _ => 1_609_344,
        };
        self.value.saturating_mul(unit)
    }
}

/// How to reach somebody. Personal: leaves the desk whole only under the right scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phone: Option<String>,
}

impl Contact {
    /// Both forms have this shape, so addresses and numbers are only text here.
    pub fn schema() -> Schema {
        Schema::object([
            required("name", Schema::text(200), "Full name, or its initials where masked."),
            optional("email", Schema::text(254), "E-mail address, or what is left of it where masked."),
            optional("phone", Schema::text(20), "Number in E.164 form, or what is left of it where masked."),
        ])
    }

    pub fn masked(&self) -> Contact {
        Contact {
            name: mask::name(&self.name),
            email: self.email.as_deref().map(mask::email),
            phone: self.phone.as_deref().map(mask::phone),
        }
    }

    /// The fields that masking changes, under the name of the field that holds the contact.
    pub fn redacted(&self, holder: &str) -> Vec<String> {
        let fields = [("name", true), ("email", self.email.is_some()), ("phone", self.phone.is_some())];
        fields.iter().filter(|(_, there)| *there).map(|(field, _)| format!("{holder}.{field}")).collect()
    }
}

/// The form in which e-mail addresses are compared.
pub fn normal_email(email: &str) -> String {
    email.trim().to_lowercase()
}

/// What every resource has besides its own fields.
pub fn resource(kind: &'static [&'static str], own: impl IntoIterator<Item = Field>) -> Schema {
    let common = [
        required("id", Schema::text(64), "Stable id, unique within the dealership."),
        required("type", Schema::one_of(kind), "Type of the resource."),
        required("dealership_id", Schema::text(64), "The dealership it belongs to."),
    ];
    let kept = [
        required("created_at", Schema::Text(Text::Timestamp), "When it was first recorded."),
        required("updated_at", Schema::Text(Text::Timestamp), "When it last changed."),
        required(
            "version",
            Schema::integer(1, MOST_EXACT),
            "Counts changes; send it back as expected_version to change only what you have seen.",
        ),
    ];
    Schema::object(common.into_iter().chain(own).chain(kept))
}

/// A page of resources and, while there is more, where it goes on (A3-18).
pub fn list(of: Schema) -> Schema {
    Schema::object([
        required("items", Schema::list(of, 100), "This page."),
        optional(
            "next_cursor",
            Schema::text(8192),
            "Send it back as cursor for the next page; absent on the last one.",
        ),
    ])
}

/// Which fields were masked or left out.
pub fn redacted() -> Field {
    required(
        "redacted",
        Schema::list(Schema::text(64), 16),
        "Fields that are masked or left out for this caller; empty when nothing is.",
    )
}

/// Instants in JSON: RFC 3339 with an offset.
pub mod instant {
    use super::{Deserialize, Millis};
    use serde::{Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&at.to_rfc3339())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Millis, D::Error> {
        let text = String::deserialize(deserializer)?;
        Millis::parse(&text).ok_or_else(|| de::Error::custom("no instant"))
    }
}

/// The same where there may be none; goes with `skip_serializing_if`.
pub mod maybe_instant {
    use super::{Deserialize, Millis};
    use serde::{Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(at: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => serializer.serialize_str(&at.to_rfc3339()),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Millis>, D::Error> {
        let text = String::deserialize(deserializer)?;
        Millis::parse(&text).map(Some).ok_or_else(|| de::Error::custom("no instant"))
    }
}
