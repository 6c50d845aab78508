//! What the business's own system has answered, after it was checked: exactly the members of the response schema, and no
//! forbidden name anywhere. An answer that breaks a rule is refused as a whole, and why goes to the log without its values.

use std::sync::Arc;

use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use frontdesk_wire::json::parse_answer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::refusal::refusal;
use crate::record::{FieldType as _, Vocabulary as _};
use crate::tomo::booking::{BookingMode, BookingStatus, Rupees};
use crate::tomo::facts::project;
use crate::tomo::forbidden;
use crate::tomo::intent::{Intent, IntentTool, Role};

/// An answer that can be used.
#[derive(Debug, Clone)]
pub(super) enum BackendAnswer {
    Done(Answered),
    Refused(Refusal),
}

#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) fault: Fault,
    pub(super) finality: Finality,
}

/// Whether the system has decided, or does not know itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finality {
    Decided,
    Unknown,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answered {
    /// Exactly what the response schema asks for.
    pub(super) payload: Map<String, Value>,
    pub(super) booking: BookingNews,
}

/// What is said about a booking beside the payload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct BookingNews {
    pub(super) reference: Option<String>,
    status: Option<String>,
    pub(super) stage: Option<String>,
    pub(super) total_inr: Option<i64>,
    pub(super) net_inr: Option<i64>,
    pub(super) refund_inr: Option<i64>,
    starts_at: Option<i64>,
    ends_at: Option<i64>,
}

impl BookingNews {
    pub(super) fn status(&self) -> Option<BookingStatus> {
        self.status.as_deref().map(BookingStatus::from_word)
    }

    pub(super) fn starts_at(&self) -> Option<Millis> {
        self.starts_at.map(Millis)
    }

    pub(super) fn ends_at(&self) -> Option<Millis> {
        self.ends_at.map(Millis)
    }
}

/// The longest name of a stage.
pub(super) const MAX_STAGE: usize = 40;
const MAX_REFERENCE: usize = 64;

pub(super) fn read(
    intent: &Arc<Intent>,
    tool: &IntentTool,
    permitted: &Permitted<'_>,
    body: &[u8],
) -> Result<BackendAnswer, String> {
    let answer = parse_answer(body).map_err(|_| "backend: the answer is no strict JSON".to_owned())?;
    if let Some(pointer) = forbidden::find(&answer) {
        // The pointer has names of the backend's own choice, which are not for the log in any length.
        let pointer: String = pointer.chars().take(120).filter(|letter| letter.is_ascii_graphic()).collect();
        return Err(format!("backend: forbidden field {pointer}"));
    }
    match (answer.get("result"), answer.get("error")) {
        (Some(Value::Object(result)), None) => {
            let payload = payload(tool, permitted, result)?;
            let booking = news(tool, answer.get("booking"), &payload)?;
            Ok(BackendAnswer::Done(Answered { payload, booking }))
        }
        (None, Some(error)) => refusal(intent, tool, error).map(BackendAnswer::Refused),
        _ => Err("backend: neither a result nor an error".to_owned()),
    }
}

fn payload(
    tool: &IntentTool,
    permitted: &Permitted<'_>,
    result: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut result = result.clone();
    // Whether something is meant is decided by the credential, and by nobody else.
    let mode = BookingMode::of(permitted).as_str();
    if tool.output.fields().iter().any(|field| field.name == "mode") {
        let said = result.entry("mode").or_insert_with(|| mode.into());
        if *said != *mode {
            return Err("backend: mode is not the one of the call".to_owned());
        }
    }
    let projected = project(&tool.output, &Value::Object(result))
        .map_err(|missing| format!("backend: {} is missing or wrong", missing.0))?;
    let Value::Object(payload) = projected else { return Err("backend: the result is no object".to_owned()) };
    let expires_at = payload.get("expires_at").and_then(Value::as_str).and_then(Millis::parse);
    if tool.role == Role::Search && expires_at.is_some_and(|at| at <= permitted.now()) {
        return Err("backend: expires_at has passed".to_owned());
    }
    Ok(payload)
}

/// What is said about the booking. Where it is not, the payload may say it under the same name.
fn news(tool: &IntentTool, booking: Option<&Value>, payload: &Map<String, Value>) -> Result<BookingNews, String> {
    let none = Map::new();
    let given = match booking {
        Some(Value::Object(given)) => given,
        None | Some(Value::Null) => &none,
        Some(_) => return Err("backend: booking is no object".to_owned()),
    };
    let known: Map<String, Value> = booking_fields()
        .iter()
        .filter_map(|field| {
            Some((field.name.to_owned(), given.get(field.name).filter(|value| !value.is_null())?.clone()))
        })
        .collect();
    let known = Schema::object(booking_fields()).check(known).map_err(|fault| {
        let places: Vec<&str> = fault.problems.iter().map(|problem| problem.pointer.as_str()).collect();
        format!("backend: booking{} is wrong", places.join(", booking"))
    })?;
    let has = |name: &str| tool.output.fields().iter().any(|field| field.name == name);
    let either = |name: &str| known.get(name).or_else(|| payload.get(name).filter(|_| has(name)));
    let whole = |name: &str| either(name).and_then(Value::as_i64);
    let time = |name: &str| either(name).and_then(Value::as_str).and_then(Millis::parse).map(|at| at.0);
    let text = |name: &str| known.get(name).and_then(Value::as_str).map(str::to_owned);
    let reference = match (text("ref"), payload.get("booking_ref").and_then(Value::as_str)) {
        (Some(said), Some(answered)) if said != answered => {
            return Err("backend: booking.ref is not booking_ref".to_owned());
        }
        (said, answered) => said.or_else(|| answered.map(str::to_owned)),
    };
    if reference.as_deref().is_some_and(|reference| !is_reference(reference)) {
        return Err("backend: booking_ref has other characters than letters, digits and . _ : -".to_owned());
    }
    Ok(BookingNews {
        reference,
        status: text("status"),
        stage: text("stage"),
        total_inr: whole("total_inr"),
        net_inr: known.get("net_inr").and_then(Value::as_i64),
        refund_inr: whole("refund_inr"),
        starts_at: time("starts_at"),
        ends_at: time("ends_at"),
    })
}

fn booking_fields() -> [Field; 8] {
    let instant = || Schema::Text(TextFormat::Timestamp);
    [
        optional("ref", Schema::text(MAX_REFERENCE), "The reference."),
        optional("status", Schema::one_of(STATUSES), "How far it has come."),
        optional("stage", Schema::text(MAX_STAGE), "The stage."),
        optional("total_inr", Rupees::input(), "What was promised."),
        optional("net_inr", Rupees::input(), "What the business earns."),
        optional("refund_inr", Rupees::input(), "What is paid back."),
        optional("starts_at", instant(), "When it begins."),
        optional("ends_at", instant(), "When it ends."),
    ]
}

/// The words of a status that a system may say.
pub(super) const STATUSES: &[&str] = &["confirmed", "cancelled", "completed", "failed"];

/// Whether a text can be a reference: it is part of addresses and of logs.
fn is_reference(text: &str) -> bool {
    (1..=MAX_REFERENCE).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
}
