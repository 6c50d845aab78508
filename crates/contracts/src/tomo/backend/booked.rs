//! What is kept of a booking that is made in the business's own system: its reference there, and what was answered about
//! it, so that a repeated call gets the same answer. BackendAnswers may be personal and are sealed.

use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::{Fault, Permitted};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Forwarded;
use super::answer::{Answered, BookingNews};
use crate::Record;
use crate::record::{Entity, Integer, Stored as _, Text, Timestamp, Vocabulary as _};
use crate::tomo::TENANT;
use crate::tomo::booking::{Booking, BookingMode, BookingStatus, Rupees, events};
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::intent::IntentTool;

/// The business's own system has it.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct BackendBooking {
    /// Partner, intent, mode and reference: what it is found by.
    #[field(unique, column = "backend_ref")]
    pub unique_reference: Text<255>,
    /// Its reference there.
    pub reference: Text<64>,
    /// The key that it was sent with.
    pub key: Text<64>,
    /// When it ends.
    pub ends_at: Option<Timestamp>,
    /// How often it was changed through this contract.
    pub changes: Integer<0, 1_000_000>,
    /// What the last change asked for, as a hash.
    pub last_change: Option<Text<64>>,
    /// What was answered.
    #[field(sealed)]
    pub answers: Option<Text<4_000_000>>,
}

/// The column of `unique_reference`.
const COLUMN: &str = "backend_ref";

/// What was answered about a booking.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct BackendAnswers {
    /// The last payload of each tool.
    by_tool: Map<String, Value>,
    /// The newest value of each member.
    latest: Map<String, Value>,
}

impl BackendAnswers {
    pub(super) fn of(backend: &BackendBooking) -> BackendAnswers {
        backend.answers.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    pub(super) fn add(&mut self, tool: &IntentTool, payload: &Map<String, Value>) {
        self.by_tool.insert(tool.name.clone(), Value::Object(payload.clone()));
        self.latest.extend(payload.clone());
    }

    /// The status is no longer the one that was answered.
    pub(super) fn set_status(&mut self, status: BookingStatus) {
        self.latest.insert("status".to_owned(), status.as_str().into());
    }

    pub(super) fn text(&self) -> Option<Text<4_000_000>> {
        serde_json::to_string(self).ok().map(|text| Text::from(text.as_str()))
    }

    /// What the tool has answered before.
    pub(super) fn answered(&self, tool: &IntentTool) -> Option<Map<String, Value>> {
        self.by_tool.get(&tool.name)?.as_object().cloned()
    }

    /// The same with what has become of it since, as far as the tool has words for that (T-100).
    pub(super) fn current(&self, tool: &IntentTool) -> Option<Map<String, Value>> {
        let mut payload = self.answered(tool)?;
        for field in tool.output.fields() {
            if let Some(mut newer) = self.latest.get(field.name).cloned()
                && field.schema.accepts(&mut newer)
            {
                payload.insert(field.name.to_owned(), newer);
            }
        }
        Some(payload)
    }
}

/// The id of the booking with this reference, if it was made through this partner, intent and mode.
pub async fn find_by_reference(
    permitted: &Permitted<'_>,
    partner_id: &str,
    intent: &str,
    mode: BookingMode,
    reference: &str,
) -> Result<Option<String>, Fault> {
    let value = Cell::Text(unique_reference(partner_id, intent, mode, reference));
    Ok(permitted.find(Booking::table(), COLUMN, value).await?.map(|row| row.id))
}

/// Systems number the bookings of each intent, and of the sandbox, by themselves.
pub(super) fn unique_reference(partner_id: &str, intent: &str, mode: BookingMode, reference: &str) -> String {
    format!("{partner_id}/{intent}/{}/{reference}", mode.as_str())
}

impl Forwarded {
    /// The id and the reference of the booking that the call is about.
    pub(super) async fn booking_id(&self, permitted: &Permitted<'_>) -> Result<(String, String), Fault> {
        let reference = permitted.input().text("booking_ref").unwrap_or_default();
        let id = self.find(permitted, reference).await?.ok_or_else(missing)?;
        Ok((id, reference.to_owned()))
    }

    pub(super) async fn find(&self, permitted: &Permitted<'_>, reference: &str) -> Result<Option<String>, Fault> {
        let (partner_id, intent) = (&self.shared.partner_id, &self.shared.intent.id);
        find_by_reference(permitted, partner_id, intent, BookingMode::of(permitted), reference).await
    }

    /// The booking that the call is about, to be changed.
    pub(super) async fn load(&self, permitted: &Permitted<'_>) -> Result<Loaded, Fault> {
        let (id, _) = self.booking_id(permitted).await?;
        self.load_by_id(permitted, &id).await
    }

    pub(super) async fn load_by_id(&self, permitted: &Permitted<'_>, id: &str) -> Result<Loaded, Fault> {
        let booking = Booking::load_by_id(permitted, &self.shared, id).await?;
        let backend = booking.record.backend.clone().ok_or_else(missing)?;
        Ok(Loaded { booking, backend })
    }
}

/// A booking with its part of the business's own system.
pub(super) struct Loaded {
    pub(super) booking: Entity<Booking>,
    pub(super) backend: BackendBooking,
}

impl Loaded {
    /// Nothing is to be done: the answer is the one of then.
    pub(super) fn repeated(&self, payload: Map<String, Value>) -> Plan {
        let steps = vec![Step::Require {
            table: Booking::table(),
            id: self.booking.id.clone(),
            expect_version: self.booking.version,
            on_conflict: OnConflict::Retry,
        }];
        Plan { steps, events: Vec::new(), outcome: item(&self.booking, payload) }
    }

    /// The booking as it has become.
    pub(super) fn changed(self, permitted: &Permitted<'_>, payload: Map<String, Value>) -> Plan {
        let Loaded { mut booking, backend } = self;
        let expect_version = booking.version;
        booking.record.backend = Some(backend);
        booking.updated_at = permitted.now();
        booking.version = expect_version.saturating_add(1);
        let step = Step::Update {
            table: Booking::table(),
            row: booking.row(TENANT),
            expect_version,
            on_conflict: OnConflict::Retry,
            on_duplicate: Fault::internal("a booking has the reference of another"),
        };
        Plan { steps: vec![step], events: told(&booking, Change::Updated), outcome: item(&booking, payload) }
    }
}

/// The plan of a new booking.
pub(super) fn created(booking: &Entity<Booking>, payload: Map<String, Value>) -> Plan {
    let on_duplicate = Fault::internal("backend: booking_ref is that of another booking");
    let step = Step::Insert { table: Booking::table(), row: booking.row(TENANT), on_duplicate };
    Plan { steps: vec![step], events: told(booking, Change::Created), outcome: item(booking, payload) }
}

fn told(booking: &Entity<Booking>, change: Change) -> Vec<Event> {
    events(booking, change)
}

pub(super) fn item(booking: &Entity<Booking>, payload: Map<String, Value>) -> Item {
    let body = Value::Object(payload).to_string();
    Item { id: booking.id.clone(), version: booking.version, body, masked: None, personal: None }
}

/// What a system says about a booking that has not ended.
pub(super) fn take_news(booking: &mut Booking, backend: &mut BackendBooking, news: &BookingNews) {
    if let Some(stage) = &news.stage {
        booking.stage = Some(stage.as_str().into());
    }
    if let Some(total) = news.total_inr.map(Rupees::clamped).filter(|total| *total != booking.total_inr) {
        booking.previous_total_inr = Some(booking.total_inr);
        booking.total_inr = total;
    }
    if let Some(starts_at) = news.starts_at() {
        booking.starts_at = starts_at;
    }
    backend.ends_at = news.ends_at().or(backend.ends_at);
    if let Some(refund) = news.refund_inr {
        booking.refund_inr = Some(Rupees::clamped(refund));
    }
}

/// How a booking ends, with what the business earns by it.
pub(super) struct End {
    pub(super) status: BookingStatus,
    pub(super) at: Millis,
    pub(super) net_inr: Option<i64>,
}

impl End {
    /// Ends the booking. Of one that was completed it must be said what is earned.
    pub(super) fn apply(&self, booking: &mut Booking) -> Result<(), MissingNet> {
        let total = booking.total_inr.get();
        let kept = booking.refund_inr.map_or(0, |refund| total.saturating_sub(refund.get()));
        let net = match (self.net_inr, self.status) {
            (Some(net), _) => net,
            (None, BookingStatus::Cancelled) => kept,
            (None, BookingStatus::Failed) => 0,
            (None, BookingStatus::Completed | BookingStatus::Confirmed | BookingStatus::Unknown) => {
                return Err(MissingNet);
            }
        };
        booking.status = self.status;
        booking.ended_at = Some(self.at);
        booking.net_inr = Some(Rupees::clamped(net));
        if self.status == BookingStatus::Cancelled {
            booking.cancelled_at = Some(self.at);
            let percent =
                booking.refund_inr.filter(|_| total > 0).map(|refund| refund.get().saturating_mul(100) / total);
            booking.refund_percent = percent.map(Integer::clamped);
        }
        Ok(())
    }
}

/// Nobody has said what the business earns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MissingNet;

/// What `RelayTool::send` has returned.
pub(super) fn answered(answer: &Value) -> Result<Answered, Fault> {
    Answered::deserialize(answer).map_err(|_| Fault::internal("a relayed answer cannot be read"))
}

pub(super) fn missing() -> Fault {
    Fault::domain(NOT_FOUND, "No booking with this booking_ref exists here.")
}
