//! A booking of any intent: what was promised to whom, at which price, and what became of it. What only one shape has is
//! in a part of its own. The person is sealed; no tool of this contract answers with them.

use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::plan::{Change, Event};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::argument::request_id;
use super::backend::BackendBooking;
use super::codes::{BOOKING_CLOSED, NOT_FOUND};
use super::intent::IntentTool;
use super::listing::{CarPurchase, Stay};
use super::mobility::BookedRide;
use super::order::PlacedOrder;
use super::service::BookedSlot;
use super::{TENANT, ToolContext, is_sandbox};
use crate::record::filter::NEWEST;
use crate::record::{Email, Entity, Integer, PersonName, Phone, Stored as _, Text, Timestamp, Vocabulary as _};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum BookingStatus { Confirmed, Cancelled, Completed, Failed, Unknown }

/// Whether it is meant. A booking of the sandbox takes nothing away from anybody.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum BookingMode { Live, Sandbox, Unknown }

/// Whole rupees.
pub type Rupees = Integer<0, 9_000_000_000_000>;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_booking", prefix = "bkg", not_found = "NOT_FOUND", noun = "booking")]
pub struct Booking {
    /// How far it has come.
    #[field(indexed)]
    pub status: BookingStatus,
    /// How far what goes on by itself has come, in the words of its shape.
    #[field(indexed)]
    pub stage: Option<Text<40>>,
    /// Live or sandbox.
    #[field(indexed)]
    pub mode: BookingMode,
    /// The intent it was booked under.
    #[field(indexed)]
    pub intent: Text<80>,
    /// The version of the intent.
    pub intent_version: Text<20>,
    /// The partner under whose id it was booked; unknown for bookings of earlier releases.
    pub partner_id: Option<Text<64>>,
    /// The request of the dispatch, echoed when the booking completes.
    pub request_id: Option<Text<200>>,
    /// The listing, vehicle or provider.
    #[field(indexed)]
    pub item_id: Text<64>,
    /// What was promised, in whole rupees.
    pub total_inr: Rupees,
    /// What was promised before the last change.
    pub previous_total_inr: Option<Rupees>,
    /// What is paid back after a cancellation.
    pub refund_inr: Option<Rupees>,
    /// Percent of the total that this is.
    pub refund_percent: Option<Integer<0, 100>>,
    /// When it begins: check-in, handover or the slot.
    #[field(sorted)]
    pub starts_at: Timestamp,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it was completed, was cancelled or failed.
    pub ended_at: Option<Timestamp>,
    /// What the business earns by it, without taxes and fees that it passes on. Known when it has ended.
    pub net_inr: Option<Rupees>,
    /// Rooms of a hotel.
    pub stay: Option<Stay>,
    /// A car of the stock.
    pub car: Option<CarPurchase>,
    /// A time at a workshop or another provider.
    #[field(columns)]
    pub slot: Option<BookedSlot>,
    /// A ride.
    pub ride: Option<BookedRide>,
    /// Dishes of a restaurant.
    pub order: Option<PlacedOrder>,
    /// The business's own system has it.
    #[field(columns)]
    pub backend: Option<BackendBooking>,
    /// For whom it is.
    #[field(columns)]
    pub customer: Option<BookingCustomer>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct BookingCustomer {
    /// Name.
    pub name: PersonName,
    /// Telephone number.
    #[field(indexed)]
    pub phone: Phone,
    /// E-mail address.
    #[field(indexed)]
    pub email: Option<Email>,
}

impl BookingMode {
    pub fn of(permitted: &Permitted<'_>) -> BookingMode {
        if is_sandbox(permitted) { BookingMode::Sandbox } else { BookingMode::Live }
    }
}

impl BookingStatus {
    /// Whether nothing more will happen to it.
    pub fn is_final(self) -> bool {
        match self {
            BookingStatus::Cancelled | BookingStatus::Completed | BookingStatus::Failed => true,
            BookingStatus::Confirmed | BookingStatus::Unknown => false,
        }
    }
}

impl Booking {
    /// A new booking of the caller. What was booked and for whom is for the shape to add.
    pub(super) fn confirmed(
        permitted: &Permitted<'_>,
        context: &ToolContext,
        item_id: &str,
        total_inr: i64,
        starts_at: Millis,
    ) -> Result<Booking, Fault> {
        Ok(Booking {
            status: BookingStatus::Confirmed,
            stage: None,
            mode: BookingMode::of(permitted),
            intent: context.intent.id.as_str().into(),
            intent_version: context.intent.version.as_str().into(),
            partner_id: Some(context.partner_id.as_str().into()),
            request_id: request_id(permitted)?,
            item_id: item_id.into(),
            total_inr: Rupees::clamped(total_inr),
            previous_total_inr: None,
            refund_inr: None,
            refund_percent: None,
            starts_at,
            cancelled_at: None,
            ended_at: None,
            net_inr: None,
            stay: None,
            car: None,
            slot: None,
            ride: None,
            order: None,
            backend: None,
            customer: None,
        })
    }

    /// The booking with the `booking_ref` of the call. One of another intent, or of the sandbox while live and the other
    /// way round, does not exist for the caller.
    pub async fn load(permitted: &Permitted<'_>, context: &ToolContext) -> Result<Entity<Booking>, Fault> {
        let id = permitted.input().text("booking_ref").unwrap_or_default();
        Booking::load_by_id(permitted, context, id).await
    }

    pub async fn load_by_id(
        permitted: &Permitted<'_>,
        context: &ToolContext,
        id: &str,
    ) -> Result<Entity<Booking>, Fault> {
        let missing = || Fault::domain(NOT_FOUND, "No booking with this booking_ref exists here.");
        let row = permitted.get_to_change(Booking::table(), id).await?.ok_or_else(missing)?;
        let booking: Entity<Booking> = Entity::restore(permitted.tenant(), &row)?;
        let is_callers =
            *booking.record.intent == *context.intent.id && booking.record.mode == BookingMode::of(permitted);
        if is_callers { Ok(booking) } else { Err(missing()) }
    }

    /// Refuses to change what has ended.
    pub fn check_open(&self, now: Millis) -> Result<(), Fault> {
        match self.status {
            BookingStatus::Confirmed if now < self.starts_at => Ok(()),
            BookingStatus::Confirmed => {
                Err(Fault::domain(BOOKING_CLOSED, "This booking has begun, so it can no longer be changed."))
            }
            BookingStatus::Cancelled => Err(Fault::domain(BOOKING_CLOSED, "This booking was cancelled before.")),
            BookingStatus::Failed => Err(Fault::domain(BOOKING_CLOSED, "This booking could not be carried out.")),
            BookingStatus::Completed | BookingStatus::Unknown => {
                Err(Fault::domain(BOOKING_CLOSED, "This booking is complete, so it can no longer be changed."))
            }
        }
    }
}

/// What is told of a change of a booking. Nobody who follows the business's events sees what is only tried out.
pub fn events(booking: &Entity<Booking>, change: Change) -> Vec<Event> {
    match booking.record.mode {
        BookingMode::Sandbox => Vec::new(),
        BookingMode::Live | BookingMode::Unknown => {
            vec![Event { kind: Booking::TABLE_NAME, id: booking.id.clone(), change }]
        }
    }
}

/// The answer to a call about a booking: exactly what the tool's response schema has.
pub fn answer(tool: &IntentTool, booking: &Entity<Booking>, facts: &Value) -> Result<Item, Fault> {
    let payload = tool
        .project(facts)
        .map_err(|missing| Fault::internal(format!("{} has no {} to answer with", tool.name, missing.0)))?;
    Ok(Item {
        id: booking.id.clone(),
        version: booking.version,
        body: payload.to_string(),
        masked: None,
        personal: None,
    })
}

/// The member of stored bodies that names the tenant.
pub const TENANT_MEMBER: &str = TENANT;

/// Whether the sandbox keeps this item already.
pub async fn has_sandbox_booking(permitted: &Permitted<'_>, item_id: &str) -> Result<bool, Fault> {
    Ok(!confirmed(permitted, item_id, BookingMode::Sandbox).await?.is_empty())
}

/// Whether no other live booking keeps this item.
pub async fn is_only_live_booking(permitted: &Permitted<'_>, booking_id: &str, item_id: &str) -> Result<bool, Fault> {
    Ok(confirmed(permitted, item_id, BookingMode::Live).await?.iter().all(|id| id == booking_id))
}

/// Ids of confirmed bookings of an item, a few at most.
async fn confirmed(permitted: &Permitted<'_>, item_id: &str, mode: BookingMode) -> Result<Vec<String>, Fault> {
    let equals = |column, word: &str| Filter::Equals(column, Cell::Text(word.to_owned()));
    let query = Query {
        projection: Projection::Ids,
        table: Booking::table(),
        filters: vec![
            equals("item_id", item_id),
            equals("mode", mode.as_str()),
            equals("status", BookingStatus::Confirmed.as_str()),
        ],
        order: NEWEST,
        window: Window { start: Start::First, limit: 2, ..permitted.window() },
    };
    Ok(permitted.page(query).await?.rows)
}
