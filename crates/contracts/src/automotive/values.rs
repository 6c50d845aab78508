//! Value types that several resources share: money, distances, contacts, instants. Each has the schema it is
//! published under.

use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::model::timestamp::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::mask;
use super::schemas::MAX_SAFE_INTEGER;
use super::vocabulary::DISTANCE_UNIT;

/// An integer amount of minor units and a currency (A3-33).
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
                Schema::integer(0, MAX_SAFE_INTEGER),
                "Whole minor units of the currency: 2899900 is 28,999.00 USD.",
            ),
            required("currency", Schema::Text(TextFormat::Currency), "ISO 4217 code, such as USD."),
        ])
    }

    /// Reads an argument that has passed its schema.
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

    /// Miles and kilometres are both integers in this unit, so that distances compare exactly.
    pub fn millimetres(&self) -> i64 {
        let unit = match self.unit.as_str() {
            "km" => 1_000_000,
            _ => 1_609_344,
        };
        self.value.saturating_mul(unit)
    }
}

/// How to reach a person. Answered in full only to callers with the unmask scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phone: Option<String>,
}

impl Contact {
    /// The masked form has this schema too, so addresses and numbers are plain text.
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

/// The vehicle somebody looks for. A customer's has no model year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleInterest {
    pub make: String,
    pub model: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub year: Option<i64>,
}

/// E-mail addresses are compared in this form.
pub fn normalize_email(email: &str) -> String {
    email.trim().to_lowercase()
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
        Millis::parse(&text).ok_or_else(|| de::Error::custom("not an RFC 3339 instant"))
    }
}

/// The same for an optional instant; use it with `skip_serializing_if`.
pub mod optional_instant {
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
        Millis::parse(&text).map(Some).ok_or_else(|| de::Error::custom("not an RFC 3339 instant"))
    }
}
