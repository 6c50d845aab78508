//! A customer: somebody the dealership knows, with their latest lead and sale. Who that is stands in
//! a part of its own, which is sealed at rest and masked by default.

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Schema, Text, optional, required};
use frontdesk_engine::model::table::{
    Cell, ColumnSpec, ColumnType, Row, SearchTerm, StoredRow, TableSpec, search_terms,
};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use serde::{Deserialize, Serialize};

use super::json;
use super::shapes::{self, Contact, Money, instant, normal_email};
use super::vocabulary::{CustomerKind, LeadStatus, Term, Vocabulary};

pub const PREFIX: &str = "cus";

/// The name of a row in a fault's cause.
const KEPT: &str = "a kept customer";

pub static KIND: TableSpec = TableSpec {
    name: "customer",
    columns: &[
        ColumnSpec { name: "email", column_type: ColumnType::Digest },
        ColumnSpec { name: "phone", column_type: ColumnType::Digest },
    ],
    unique: &[],
    sorted: &[],
    filtered: &["email", "phone"],
};

#[derive(Debug, Clone, PartialEq)]
pub struct Customer {
    pub open: Open,
    pub personal: Personal,
}

/// What every caller who may read customers sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    pub id: String,
    pub r#type: Type,
    pub dealership_id: String,
    pub kind: Term<CustomerKind>,
    pub location: Location,
    pub lifetime_value: Money,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_lead: Option<LatestLead>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_sale: Option<LatestSale>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle_of_interest: Option<Wanted>,
    #[serde(with = "instant")]
    pub created_at: Millis,
    #[serde(with = "instant")]
    pub updated_at: Millis,
    pub version: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    Customer,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    pub city: String,
    pub region: String,
    pub country: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatestLead {
    pub id: String,
    pub status: Term<LeadStatus>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatestSale {
    pub id: String,
    #[serde(with = "instant")]
    pub closed_at: Millis,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    pub make: String,
    pub model: String,
}

/// What only callers with the scope for it see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Personal {
    pub primary_contact: Contact,
    /// Empty in the full form; the masked form says what it hides.
    #[serde(default)]
    pub redacted: Vec<String>,
}

impl Personal {
    fn masked(&self) -> Personal {
        Personal {
            primary_contact: self.primary_contact.masked(),
            redacted: self.primary_contact.redacted("primary_contact"),
        }
    }
}

impl Customer {
    /// Reads back a row that was found with its personal part.
    pub fn from_found(found: &StoredRow) -> Result<Customer, Fault> {
        let personal = found.personal.as_deref();
        let personal = personal.ok_or_else(|| Fault::internal("a customer without their personal part"))?;
        Ok(Customer { open: json::read(KEPT, &found.body)?, personal: json::read(KEPT, personal)? })
    }

    pub fn row(&self) -> Result<Row, Fault> {
        let item = self.item()?;
        let contact = &self.personal.primary_contact;
        let digest = |value: Option<String>| value.map(Cell::Digest).unwrap_or(Cell::Null);
        Ok(Row {
            id: item.id,
            version: self.open.version,
            created_at: self.open.created_at.0,
            updated_at: self.open.updated_at.0,
            cells: vec![
                ("email", digest(contact.email.as_deref().map(normal_email))),
                ("phone", digest(contact.phone.clone())),
            ],
            search_terms: search_terms(&contact.name).into_iter().map(SearchTerm::Personal).collect(),
            body: item.body,
            masked: item.masked,
            personal: item.personal,
        })
    }

    pub fn item(&self) -> Result<Item, Fault> {
        Ok(Item {
            id: self.open.id.clone(),
            body: json::write(KEPT, &self.open)?,
            masked: Some(json::write(KEPT, &self.personal.masked())?),
            personal: Some(json::write(KEPT, &self.personal)?),
        })
    }
}

pub fn schema() -> Schema {
    let location = Schema::object([
        required("city", Schema::text(120), "City."),
        required("region", Schema::text(120), "State or region."),
        required("country", Schema::text(2), "ISO 3166-1 code, such as US."),
    ]);
    let latest_lead = Schema::object([
        required("id", Schema::text(64), "The lead's id."),
        required("status", Schema::one_of(LeadStatus::WORDS), "How far it has come."),
    ]);
    let latest_sale = Schema::object([
        required("id", Schema::text(64), "The sale's id."),
        required("closed_at", Schema::Text(Text::Timestamp), "When it was closed."),
    ]);
    let wanted =
        Schema::object([required("make", Schema::text(60), "Make."), required("model", Schema::text(60), "Model.")]);
    shapes::resource(
        &["customer"],
        [
            required("kind", Schema::one_of(CustomerKind::WORDS), "A person or a business."),
            required("location", location, "Where they live; no street."),
            required("lifetime_value", Money::schema(), "What they have spent here so far."),
            optional("latest_lead", latest_lead, "Their newest lead."),
            optional("latest_sale", latest_sale, "Their newest purchase."),
            optional("vehicle_of_interest", wanted, "What they are looking for."),
            required("primary_contact", Contact::schema(), "Who it is; masked in lists."),
            shapes::redacted(),
        ],
    )
}
