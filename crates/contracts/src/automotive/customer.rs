//! A customer of the dealership, with their latest lead and sale. The identity is a separate personal part, which is
//! encrypted at rest and masked by default.

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::model::table::{
    Cell, ColumnSpec, ColumnType, Row, SearchTerm, StoredRow, TableSpec, search_terms,
};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use serde::{Deserialize, Serialize};

use super::json;
use super::schemas;
use super::values::{Contact, Money, VehicleInterest, instant, normalize_email};
use super::vocabulary::{CustomerKind, LeadStatus, Vocabulary, VocabularyTerm};

pub const PREFIX: &str = "cus";

/// Names a row in the cause of a fault.
const ROW_LABEL: &str = "a stored customer";

pub static TABLE: TableSpec = TableSpec {
    name: "customer",
    columns: &[
        ColumnSpec { name: "email", column_type: ColumnType::Digest },
        ColumnSpec { name: "phone", column_type: ColumnType::Digest },
    ],
    unique: &[],
    sorted: &[],
    filtered: &["email", "phone"],
    searched: &[],
    index: None,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Customer {
    pub public: CustomerPublicPart,
    pub personal: CustomerPersonalPart,
}

/// What every caller with read access sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CustomerPublicPart {
    pub id: String,
    pub r#type: CustomerType,
    pub dealership_id: String,
    pub kind: VocabularyTerm<CustomerKind>,
    pub location: Location,
    pub lifetime_value: Money,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_lead: Option<LatestLead>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_sale: Option<LatestSale>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle_of_interest: Option<VehicleInterest>,
    #[serde(with = "instant")]
    pub created_at: Millis,
    #[serde(with = "instant")]
    pub updated_at: Millis,
    pub version: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomerType {
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
    pub status: VocabularyTerm<LeadStatus>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatestSale {
    pub id: String,
    #[serde(with = "instant")]
    pub closed_at: Millis,
}

/// What only callers with the unmask scope see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CustomerPersonalPart {
    pub primary_contact: Contact,
    /// Empty in the full form; the masked form lists what it hides.
    #[serde(default)]
    pub redacted: Vec<String>,
}

impl CustomerPersonalPart {
    fn masked(&self) -> CustomerPersonalPart {
        CustomerPersonalPart {
            primary_contact: self.primary_contact.masked(),
            redacted: self.primary_contact.redacted("primary_contact"),
        }
    }
}

impl Customer {
    /// Parses a row that was read with its personal part.
    pub fn from_stored_row(row: &StoredRow) -> Result<Customer, Fault> {
        let personal = row.personal.as_deref();
        let personal = personal.ok_or_else(|| Fault::internal("a customer without its personal part"))?;
        Ok(Customer { public: json::read(ROW_LABEL, &row.body)?, personal: json::read(ROW_LABEL, personal)? })
    }

    pub fn row(&self) -> Result<Row, Fault> {
        let item = self.item()?;
        let contact = &self.personal.primary_contact;
        let digest = |value: Option<String>| value.map(Cell::Digest).unwrap_or(Cell::Null);
        Ok(Row {
            id: item.id,
            version: self.public.version,
            created_at: self.public.created_at.0,
            updated_at: self.public.updated_at.0,
            cells: vec![
                ("email", digest(contact.email.as_deref().map(normalize_email))),
                ("phone", digest(contact.phone.clone())),
            ],
            search_terms: search_terms(&contact.name).into_iter().map(SearchTerm::Personal).collect(),
            body: item.body,
            masked: item.masked,
            personal: item.personal,
            secret: None,
        })
    }

    pub fn item(&self) -> Result<Item, Fault> {
        Ok(Item {
            id: self.public.id.clone(),
            version: self.public.version,
            body: json::write(ROW_LABEL, &self.public)?,
            masked: Some(json::write(ROW_LABEL, &self.personal.masked())?),
            personal: Some(json::write(ROW_LABEL, &self.personal)?),
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
        required("closed_at", Schema::Text(TextFormat::Timestamp), "When it was closed."),
    ]);
    let interest =
        Schema::object([required("make", Schema::text(60), "Make."), required("model", Schema::text(60), "Model.")]);
    schemas::resource(
        &["customer"],
        [
            required("kind", Schema::one_of(CustomerKind::WORDS), "A person or a business."),
            required("location", location, "Where they live; no street."),
            required("lifetime_value", Money::schema(), "What they have spent here so far."),
            optional("latest_lead", latest_lead, "Their newest lead."),
            optional("latest_sale", latest_sale, "Their newest purchase."),
            optional("vehicle_of_interest", interest, "What they are looking for."),
            required("primary_contact", Contact::schema(), "Who it is; masked in lists."),
            schemas::redacted(),
        ],
    )
}
