//! A lead: somebody's interest, who looks after it and how far it has come. Who that somebody is and
//! every text that anybody wrote stand in a part of their own, which is sealed at rest and masked by
//! default.

use std::sync::LazyLock;

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Field, Schema, Text, optional, required};
use frontdesk_engine::model::table::{
    Cell, ColumnSpec, ColumnType, Row, SearchTerm, StoredRow, TableSpec, joined, search_terms,
};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use serde::{Deserialize, Serialize};

use super::json;
use super::shapes::{self, Contact, instant, maybe_instant, normal_email};
use super::vocabulary::{
    Channel, ConsentChannel, ConsentStatus, Interest, LeadStatus, LostReason, Term, Timeframe, Vocabulary,
};

pub const PREFIX: &str = "led";

/// The name of a row in a fault's cause.
const KEPT: &str = "a kept lead";

pub static KIND: TableSpec = TableSpec {
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
};

#[derive(Debug, Clone, PartialEq)]
pub struct Lead {
    pub receipt: Receipt,
    pub open: Open,
    pub personal: Personal,
}

/// What a caller who may only write learns of the lead it wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: String,
    pub r#type: Type,
    pub dealership_id: String,
    pub status: Term<LeadStatus>,
    #[serde(with = "instant")]
    pub created_at: Millis,
    #[serde(with = "instant")]
    pub updated_at: Millis,
    pub version: i64,
}

/// What every caller who may read leads sees beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    pub interest: Term<Interest>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub customer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeframe: Option<Term<Timeframe>>,
    pub consent: Consent,
    #[serde(with = "instant")]
    pub received_at: Millis,
    #[serde(with = "maybe_instant", skip_serializing_if = "Option::is_none", default)]
    pub last_contact_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost_reason: Option<Term<LostReason>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    Lead,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub channel: Term<Channel>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub external_id: Option<String>,
}

/// The employee who looks after the lead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    pub id: String,
    /// Absent only where masked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    pub make: String,
    pub model: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub year: Option<i64>,
}

/// What the person agreed to. The words they agreed to are personal and stand elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consent {
    pub status: Term<ConsentStatus>,
    pub channels: Vec<Term<ConsentChannel>>,
    #[serde(with = "instant")]
    pub granted_at: Millis,
    #[serde(with = "maybe_instant", skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Millis>,
}

/// What only callers with the scope for it see whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Personal {
    pub contact: Contact,
    pub source: Source,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<Owner>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vehicle_of_interest: Option<Wanted>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub consent_text: Option<String>,
    /// Empty in the full form; the masked form says what it hides.
    #[serde(default)]
    pub redacted: Vec<String>,
}

impl Personal {
    /// Free text is left out whole: nobody knows what people write into it.
    fn masked(&self) -> Personal {
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
        Personal {
            contact: self.contact.masked(),
            source: Source { channel: self.source.channel, provider: None, external_id: None },
            owner: self.owner.as_ref().map(|owner| Owner { id: owner.id.clone(), name: None }),
            vehicle_of_interest: None,
            comments: None,
            consent_text: None,
            redacted,
        }
    }
}

impl Lead {
    /// Reads back a row that was found with its personal part.
    pub fn from_found(found: &StoredRow) -> Result<Lead, Fault> {
        let personal = found.personal.as_deref().ok_or_else(|| Fault::internal("a lead without its personal part"))?;
        Ok(Lead {
            receipt: json::read(KEPT, &found.body)?,
            open: json::read(KEPT, &found.body)?,
            personal: json::read(KEPT, personal)?,
        })
    }

    pub fn row(&self) -> Result<Row, Fault> {
        self.row_of(self.texts()?)
    }

    /// The row, and the answer to the write that makes it. Who may write leads may not therefore read them (A6-10), so
    /// all but the receipt counts as personal in the answer.
    pub fn row_and_answer(&self) -> Result<(Row, Item), Fault> {
        let texts = self.texts()?;
        let answer = Item {
            id: self.receipt.id.clone(),
            body: texts.receipt.clone(),
            masked: Some(LEFT_OUT_TEXT.clone()),
            personal: Some(joined(&texts.open, Some(&texts.personal))),
        };
        Ok((self.row_of(texts)?, answer))
    }

    fn texts(&self) -> Result<Texts, Fault> {
        Ok(Texts {
            receipt: json::write(KEPT, &self.receipt)?,
            open: json::write(KEPT, &self.open)?,
            personal: json::write(KEPT, &self.personal)?,
        })
    }

    fn row_of(&self, texts: Texts) -> Result<Row, Fault> {
        let Lead { receipt, open, personal } = self;
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
                ("customer_id", text(open.customer_id.clone())),
                ("vehicle_id", text(open.vehicle_id.clone())),
                ("received_at", Cell::Integer(open.received_at.0)),
                ("email", digest(contact.email.as_deref().map(normal_email))),
                ("phone", digest(contact.phone.clone())),
            ],
            search_terms: search_terms(&contact.name).into_iter().map(SearchTerm::Personal).collect(),
            body: joined(&texts.receipt, Some(&texts.open)),
            masked: Some(json::write(KEPT, &personal.masked())?),
            personal: Some(texts.personal),
        })
    }
}

/// The parts of a lead as JSON. Row and answer are both made of them.
struct Texts {
    receipt: String,
    open: String,
    personal: String,
}

/// What a receipt leaves out, also where the lead has none of it: which fields are filled is part of
/// what must be read to be known.
const LEFT_OUT: &[&str] = &[
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

/// The same as the object that stands in its place.
static LEFT_OUT_TEXT: LazyLock<String> = LazyLock::new(|| format!(r#"{{"redacted":["{}"]}}"#, LEFT_OUT.join(r#"",""#)));

pub fn schema() -> Schema {
    shape(required)
}

/// As `schema`, or the receipt alone.
pub fn written_schema() -> Schema {
    shape(optional)
}

/// `always` makes the fields that every lead has and a receipt has not.
fn shape(always: fn(&'static str, Schema, &'static str) -> Field) -> Schema {
    let consent = Schema::object([
        required("status", Schema::one_of(ConsentStatus::WORDS), "Whether it holds."),
        required(
            "channels",
            Schema::list(Schema::one_of(ConsentChannel::WORDS), 10),
            "How the person may be contacted.",
        ),
        required("granted_at", Schema::Text(Text::Timestamp), "When it was given."),
        optional("expires_at", Schema::Text(Text::Timestamp), "When it ends."),
    ]);
    shapes::resource(
        &["lead"],
        [
            required("status", Schema::one_of(LeadStatus::WORDS), "How far it has come."),
            always("interest", Schema::one_of(Interest::WORDS), "What the person wants."),
            always("source", source(), "Where it came from; only the channel where masked."),
            optional("owner", owner(optional), "The employee who looks after it; only the id where masked."),
            optional("customer_id", Schema::text(64), "The customer, where known."),
            optional("vehicle_id", Schema::text(64), "The vehicle in play, where it is in stock."),
            optional("vehicle_of_interest", wanted(), "What kind of vehicle is wanted; left out where masked."),
            optional("timeframe", Schema::one_of(Timeframe::WORDS), "How soon."),
            always("consent", consent, "What the person agreed to."),
            always("received_at", Schema::Text(Text::Timestamp), "When it came in."),
            optional("last_contact_at", Schema::Text(Text::Timestamp), "When somebody last spoke with the person."),
            optional("lost_reason", Schema::one_of(LostReason::WORDS), "Why it was lost."),
            always("contact", Contact::schema(), "Who it is; masked in lists."),
            optional("comments", Schema::text(4000), "What the person wrote; left out where masked."),
            optional("consent_text", Schema::text(4000), "The words agreed to; left out where masked."),
            shapes::redacted(),
        ],
    )
}

pub fn source() -> Schema {
    Schema::object([
        required("channel", Schema::one_of(Channel::WORDS), "By which way it came."),
        optional("provider", Schema::text(80), "Which site, agent or partner sent it."),
        optional("external_id", Schema::text(80), "The id it has there."),
    ])
}

pub fn owner(name: fn(&'static str, Schema, &'static str) -> Field) -> Schema {
    Schema::object([
        required("id", Schema::text(64), "The employee's id: letters A to Z, digits, _ and -."),
        name("name", Schema::text(120), "The employee's name."),
    ])
}

pub fn wanted() -> Schema {
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

const fn column(name: &'static str, holds: ColumnType) -> ColumnSpec {
    ColumnSpec { name, column_type: holds }
}
