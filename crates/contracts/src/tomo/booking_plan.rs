//! The plans that all bookings have in common, and what is known of any booking.

use frontdesk_engine::model::plan::{Change, OnConflict, Plan, Step};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use crate::record::{Entity, Stored as _, Vocabulary as _};
use crate::tomo::TENANT;
use crate::tomo::booking::{Booking, answer, events};
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, text, whole};

/// A new booking with the other changes that it needs.
pub(super) fn created(
    tool: &IntentTool,
    booking: Entity<Booking>,
    mut steps: Vec<Step>,
    facts: impl FnOnce(&Entity<Booking>) -> Value,
) -> Result<Plan, Fault> {
    let outcome = answer(tool, &booking, &facts(&booking))?;
    let on_duplicate = Fault::internal("the id of a new booking exists already");
    steps.push(Step::Insert { table: Booking::table(), row: booking.row(TENANT), on_duplicate });
    Ok(Plan { steps, events: events(&booking, Change::Created), outcome })
}

/// A booking as it has become, with the other changes that this needs.
pub(super) fn changed(
    permitted: &Permitted<'_>,
    tool: &IntentTool,
    booking: Entity<Booking>,
    mut steps: Vec<Step>,
    facts: impl FnOnce(&Entity<Booking>) -> Value,
) -> Result<Plan, Fault> {
    let expect_version = booking.version;
    let booking = Entity { updated_at: permitted.now(), version: expect_version.saturating_add(1), ..booking };
    let outcome = answer(tool, &booking, &facts(&booking))?;
    steps.push(Step::Update {
        table: Booking::table(),
        row: booking.row(TENANT),
        expect_version,
        on_conflict: OnConflict::Retry,
        on_duplicate: Fault::internal("a booking has no unique values"),
    });
    Ok(Plan { steps, events: events(&booking, Change::Updated), outcome })
}

/// Nothing is to be done: the booking is already as it was asked for, and the answer is the one of then.
pub(super) fn repeated(tool: &IntentTool, booking: &Entity<Booking>, facts: &Value) -> Result<Plan, Fault> {
    let steps = vec![Step::Require {
        table: Booking::table(),
        id: booking.id.clone(),
        expect_version: booking.version,
        on_conflict: OnConflict::Retry,
    }];
    Ok(Plan { steps, events: Vec::new(), outcome: answer(tool, booking, facts)? })
}

/// The facts of any booking.
pub(super) const BOOKING: &[Fact] = &[
    text("booking_ref"),
    text("status"),
    text("mode"),
    text("currency"),
    whole("total_inr"),
    whole("previous_total_inr"),
    whole("difference_inr"),
    text("starts_at"),
    text("booked_at"),
    text("revised_at"),
];

/// The facts of one that was cancelled.
pub(super) const CANCELLED: &[Fact] =
    &[text("cancelled_at"), whole("refund_inr"), whole("cancellation_fee_inr"), whole("refund_percent")];

/// What an answer may say about any booking. Nothing of the person.
pub(super) fn booking_facts(booking: &Entity<Booking>) -> Value {
    let record = &booking.record;
    let total = record.total_inr.get();
    let previous = record.previous_total_inr.map_or(total, |previous| previous.get());
    let refund = record.refund_inr.map(|refund| refund.get());
    json!({
        "booking_ref": booking.id,
        "status": record.status.as_str(),
        "mode": record.mode.as_str(),
        "currency": "INR",
        "total_inr": total,
        "previous_total_inr": previous,
        "difference_inr": total.saturating_sub(previous),
        "starts_at": record.starts_at.to_rfc3339(),
        "booked_at": booking.created_at.to_rfc3339(),
        "revised_at": booking.updated_at.to_rfc3339(),
        "cancelled_at": record.cancelled_at.map(|at| at.to_rfc3339()),
        "refund_inr": refund,
        "cancellation_fee_inr": refund.map(|refund| total.saturating_sub(refund)),
        "refund_percent": record.refund_percent.map(|percent| percent.get()),
    })
}
