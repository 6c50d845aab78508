//! Intents are data: a file says which tools an intent has, what they take and answer, and with which codes they fail.
//! Reading one refuses everything that the server would not keep.

mod lines;
mod names;
mod parse;
mod references;

use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::tool::Effect;
use serde_json::Value;

use super::booking::BookingStatus;
use super::facts::{MissingFact, project};
use super::known_facts::{FactGroups, unlisted};
use super::shape::Shape;
pub(super) use parse::locate;
pub use parse::{IntentError, parse};

/// The intents that are built in, by id.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("travel.book_hotel", include_str!("../../../../../spec/tomo/intents/travel.book_hotel.json")),
    ("marketplace.buy_used_car", include_str!("../../../../../spec/tomo/intents/marketplace.buy_used_car.json")),
    ("auto.book_general_service", include_str!("../../../../../spec/tomo/intents/auto.book_general_service.json")),
    (
        "mobility.book_intracity_ride",
        include_str!("../../../../../spec/tomo/intents/mobility.book_intracity_ride.json"),
    ),
    ("food.order_delivery", include_str!("../../../../../spec/tomo/intents/food.order_delivery.json")),
];

pub fn built_in(id: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == id).map(|(_, text)| *text)
}

#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub id: String,
    /// Such as `v1.0.0`.
    pub version: String,
    pub shape: Shape,
    /// How long a search may be cached, which is also how long its prices are held at least.
    pub cache_seconds: i64,
    pub error_codes: Vec<String>,
    pub completion: CompletionWords,
    pub tools: Vec<IntentTool>,
}

/// How a completion says what became of a booking, in the words of the intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionWords {
    pub completed: String,
    pub cancelled: String,
    pub failed: String,
}

impl CompletionWords {
    /// The word of a final status; none while the booking can still change.
    pub fn word(&self, status: BookingStatus) -> Option<&str> {
        match status {
            BookingStatus::Completed => Some(&self.completed),
            BookingStatus::Cancelled => Some(&self.cancelled),
            BookingStatus::Failed => Some(&self.failed),
            BookingStatus::Confirmed | BookingStatus::Unknown => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct IntentTool {
    pub name: String,
    pub role: Role,
    pub description: String,
    pub widget: String,
    pub input: Schema,
    pub output: Schema,
    /// What the shape can know to answer with.
    pub facts: FactGroups,
    /// What it makes: also what only a cancelled booking has, which a repeated call may find.
    pub made: FactGroups,
    /// Arguments that work as they stand. A text `{{tool:/pointer}}` stands for a value of an earlier answer.
    pub examples: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Search,
    GetDetail,
    Create,
    Modify,
    Cancel,
    Track,
    Rate,
    Utility,
}

impl Role {
    pub const ALL: [Role; 8] = [
        Role::Search,
        Role::GetDetail,
        Role::Create,
        Role::Modify,
        Role::Cancel,
        Role::Track,
        Role::Rate,
        Role::Utility,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Search => "search",
            Role::GetDetail => "get_detail",
            Role::Create => "create",
            Role::Modify => "modify",
            Role::Cancel => "cancel",
            Role::Track => "track",
            Role::Rate => "rate",
            Role::Utility => "utility",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }

    pub fn effect(self) -> Effect {
        match self {
            Role::Search | Role::GetDetail | Role::Track | Role::Utility => Effect::Reads,
            Role::Create => Effect::Adds,
            Role::Modify | Role::Cancel | Role::Rate => Effect::Changes,
        }
    }
}

impl IntentTool {
    /// Exactly what the response schema asks for. While the server is being developed, a fact that is made and not listed
    /// is as bad as one that is missing: the list decides which intent files are taken.
    pub fn project(&self, facts: &Value) -> Result<Value, MissingFact> {
        if cfg!(debug_assertions)
            && let Some(path) = unlisted(facts, self.made)
        {
            return Err(MissingFact(format!("{path}, which is not listed")));
        }
        project(&self.output, facts)
    }
}

impl Intent {
    pub fn tool(&self, name: &str) -> Option<&IntentTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Whether the intent lets a call end with this code.
    pub fn has_code(&self, code: &str) -> bool {
        self.error_codes.iter().any(|known| known == code)
    }
}
