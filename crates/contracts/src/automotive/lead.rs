//! A lead: a person's interest, its owner and its status. The identity of the person and all free text are a separate
//! personal part, which is encrypted at rest and masked by default.

use std::sync::LazyLock;

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};
use frontdesk_engine::model::table::{
    Cell, ColumnSpec, ColumnType, Row, SearchTerm, StoredRow, TableSpec, joined, search_terms,
};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use serde::{Deserialize, Serialize};

use super::json;
use super::schemas;
use super::values::{Contact, VehicleInterest, instant, normalize_email, optional_instant};
use super::vocabulary::{
    Channel, ConsentChannel, ConsentStatus, Interest, LeadStatus, LostReason, Timeframe, Vocabulary, VocabularyTerm,
};

pub const PREFIX: &str = "led";

/// Names a row in the cause of a fault.
const ROW_LABEL: &str = "a stored lead";

pub static TABLE: TableSpec = TableSpec {
    name: "lead",
    columns: &[
        column("status", ColumnType::Text),
        column("channel", ColumnType::Text),
        column("owner_id", ColumnType::Text),
        column("customer_id", ColumnType::Text),
        column("vehicle_id", ColumnType::Text),
        column("received_at", ColumnType::Integer),
        column("email", ColumnType::Digest),
        column("phone", ColumnType::Digest),
    ],
    unique: &[],
    sorted: &[],
    filtered: &["status", "owner_id", "customer_id", "vehicle_id", "email", "phone"],
    searched: &[],
    index: None,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Lead {
    pub receipt: Receipt,
    pub public: LeadPublicPart,
    pub personal: LeadPersonalPart,
}

/// What a caller with write access only sees of the lead it wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: String,
    pub r#type: LeadType,
    pub dealership_id: String,
    pub status: VocabularyTerm<LeadStatus>,
    #[serde(with = "instant")]
    pub created_at: Millis,
    #[serde(with = "instant")]
    pub updated_at: Millis,
    pub version: i64,
}

/// What every caller with read access sees in addition to the receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadPublicPart {
    pub interest: VocabularyTerm<Interest>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub customer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeframe: Option<VocabularyTerm<Timeframe>>,
    pub consent: Consent,
    #[serde(with = "instant")]
    pub received_at: Millis,
    #[serde(with = "optional_instant", skip_serializing_if = "Option::is_none", default)]
    pub last_contact_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost_reason: Option<VocabularyTerm<LostReason>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeadType {
    Lead,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadSource {
    pub channel: VocabularyTerm<Channel>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub external_id: Option<String>,
}

/// The employee who looks after the lead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadOwner {
    pub id: String,
    /// Absent only where masked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
}

/// What the person agreed to. The text they agreed to is in the personal part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consent {
    pub status: VocabularyTerm<ConsentStatus>,
    pub channels: Vec<VocabularyTerm<ConsentChannel>>,
    #[serde(with = "instant")]
    pub granted_at: Millis,
    #[serde(with = "optional_instant", skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Millis>,
}

/// What only callers with the unmask scope see in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadPersonalPart {
    pub contact: Contact,
    pub source: LeadSource,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<LeadOwner>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle_of_interest: Option<VehicleInterest>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub consent_text: Option<String>,
    /// Empty in the full form; the masked form lists what it hides.
    #[serde(default)]
    pub redacted: Vec<String>,
}

impl LeadPersonalPart {
    /// Free text is omitted entirely, because it can contain anything.
    fn masked(&self) -> LeadPersonalPart {
        let texts = [
            ("source.provider", self.source.provider.is_some()),
            ("source.external_id", self.source.external_id.is_some()),
            ("owner.name", self.owner.as_ref().is_some_and(|owner| owner.name.is_some())),
            ("vehicle_of_interest", self.vehicle_of_interest.is_some()),
            ("comments", self.comments.is_some()),
            ("consent_text", self.consent_text.is_some()),
        ];
        let mut redacted = self.contact.redacted("contact");
        redacted.extend(texts.iter().filter(|(_, there)| *there).map(|(field, _)| (*field).to_owned()));
        LeadPersonalPart {
            contact: self.contact.masked(),
            source: LeadSource { channel: self.source.channel, provider: None, external_id: None },
            owner: self.owner.as_ref().map(|owner| LeadOwner { id: owner.id.clone(), name: None }),
            vehicle_of_interest: None,
            comments: None,
            consent_text: None,
            redacted,
        }
    }
}

impl Lead {
    /// Parses a row that was read with its personal part.
    pub fn from_stored_row(row: &StoredRow) -> Result<Lead, Fault> {
        let personal = row.personal.as_deref().ok_or_else(|| Fault::internal("a lead without its personal part"))?;
        Ok(Lead {
            receipt: json::read(ROW_LABEL, &row.body)?,
            public: json::read(ROW_LABEL, &row.body)?,
            personal: json::read(ROW_LABEL, personal)?,
        })
    }

    pub fn row(&self) -> Result<Row, Fault> {
        self.build_row(self.json_parts()?)
    }

    /// The row, and the answer to the call that writes it. Write access does not imply read access (A6-10), so
    /// everything but the receipt is personal in the answer.
    pub fn row_and_answer(&self) -> Result<(Row, Item), Fault> {
        let json = self.json_parts()?;
        let answer = Item {
            id: self.receipt.id.clone(),
            version: self.receipt.version,
            body: json.receipt.clone(),
            masked: Some(RECEIPT_REDACTED_JSON.clone()),
            personal: Some(joined(&json.public, Some(&json.personal))),
        };
        Ok((self.build_row(json)?, answer))
    }

    fn json_parts(&self) -> Result<LeadJson, Fault> {
        Ok(LeadJson {
            receipt: json::write(ROW_LABEL, &self.receipt)?,
            public: json::write(ROW_LABEL, &self.public)?,
            personal: json::write(ROW_LABEL, &self.personal)?,
        })
    }

    fn build_row(&self, json: LeadJson) -> Result<Row, Fault> {
        let Lead { receipt, public, personal } = self;
        let contact = &personal.contact;
        Ok(Row {
            id: receipt.id.clone(),
            version: receipt.version,
            created_at: receipt.created_at.0,
            updated_at: receipt.updated_at.0,
            cells: vec![
                ("status", Cell::Text(receipt.status.as_str().to_owned())),
                ("channel", Cell::Text(personal.source.channel.as_str().to_owned())),
                ("owner_id", text(personal.owner.as_ref().map(|owner| owner.id.clone()))),
                ("customer_id", text(public.customer_id.clone())),
                ("vehicle_id", text(public.vehicle_id.clone())),
                ("received_at", Cell::Integer(public.received_at.0)),
                ("email", digest(contact.email.as_deref().map(normalize_email))),
                ("phone", digest(contact.phone.clone())),
            ],
            search_terms: search_terms(&contact.name).into_iter().map(SearchTerm::Personal).collect(),
            body: joined(&json.receipt, Some(&json.public)),
            masked: Some(json::write(ROW_LABEL, &personal.masked())?),
            personal: Some(json.personal),
            secret: None,
        })
    }
}

/// The parts of a lead as JSON; row and answer are built from them.
struct LeadJson {
    receipt: String,
    public: String,
    personal: String,
}

/// What a receipt omits, whether or not the lead has the field: which fields are set is visible to readers only.
const RECEIPT_REDACTED: &[&str] = &[
    "interest",
    "source",
    "owner",
    "customer_id",
    "vehicle_id",
    "vehicle_of_interest",
    "timeframe",
    "consent",
    "received_at",
    "last_contact_at",
    "lost_reason",
    "contact",
    "comments",
    "consent_text",
];

/// The JSON object in place of the omitted fields.
static RECEIPT_REDACTED_JSON: LazyLock<String> =
    LazyLock::new(|| format!(r#"{{"redacted":["{}"]}}"#, RECEIPT_REDACTED.join(r#"",""#)));

pub fn schema() -> Schema {
    lead_schema(required)
}

/// Allows the whole lead or only the receipt.
pub fn written_lead_schema() -> Schema {
    lead_schema(optional)
}

/// `always` builds the fields that every lead has and a receipt lacks.
fn lead_schema(always: fn(&'static str, Schema, &'static str) -> Field) -> Schema {
    let consent = Schema::object([
        required("status", Schema::one_of(ConsentStatus::WORDS), "Whether it holds."),
        required(
            "channels",
            Schema::list(Schema::one_of(ConsentChannel::WORDS), 10),
            "How the person may be contacted.",
        ),
        required("granted_at", Schema::Text(TextFormat::Timestamp), "When it was given."),
        optional("expires_at", Schema::Text(TextFormat::Timestamp), "When it ends."),
    ]);
    schemas::resource(
        &["lead"],
        [
            required("status", Schema::one_of(LeadStatus::WORDS), "How far it has come."),
            always("interest", Schema::one_of(Interest::WORDS), "What the person wants."),
            always("source", source_schema(), "Where it came from; only the channel where masked."),
            optional("owner", owner_schema(optional), "The employee who looks after it; only the id where masked."),
            optional("customer_id", Schema::text(64), "The customer, where known."),
            optional("vehicle_id", Schema::text(64), "The vehicle in play, where it is in stock."),
            optional(
                "vehicle_of_interest",
                vehicle_interest_schema(),
                "What kind of vehicle is wanted; left out where masked.",
            ),
            optional("timeframe", Schema::one_of(Timeframe::WORDS), "How soon."),
            always("consent", consent, "What the person agreed to."),
            always("received_at", Schema::Text(TextFormat::Timestamp), "When it came in."),
            optional("last_contact_at", Schema::Text(TextFormat::Timestamp), "When somebody last spoke with the person."),
            optional("lost_reason", Schema::one_of(LostReason::WORDS), "Why it was lost."),
            always("contact", Contact::schema(), "Who it is; masked in lists."),
            optional("comments", Schema::text(4000), "What the person wrote; left out where masked."),
            optional("consent_text", Schema::text(4000), "The words agreed to; left out where masked."),
            schemas::redacted(),
        ],
    )
}

pub fn source_schema() -> Schema {
    Schema::object([
        required("channel", Schema::one_of(Channel::WORDS), "By which way it came."),
        optional("provider", Schema::text(80), "Which site, agent or partner sent it."),
        optional("external_id", Schema::text(80), "The id it has there."),
    ])
}

pub fn owner_schema(name: fn(&'static str, Schema, &'static str) -> Field) -> Schema {
    Schema::object([
        required("id", Schema::text(64), "The employee's id: letters A to Z, digits, _ and -."),
        name("name", Schema::text(120), "The employee's name."),
    ])
}

pub fn vehicle_interest_schema() -> Schema {
    Schema::object([
        required("make", Schema::text(60), "Make."),
        required("model", Schema::text(60), "Model."),
        optional("year", Schema::integer(1900, 2100), "Model year."),
    ])
}

fn text(value: Option<String>) -> Cell {
    value.map(Cell::Text).unwrap_or(Cell::Null)
}

fn digest(value: Option<String>) -> Cell {
    value.map(Cell::Digest).unwrap_or(Cell::Null)
}

const fn column(name: &'static str, column_type: ColumnType) -> ColumnSpec {
    ColumnSpec { name, column_type }
}
