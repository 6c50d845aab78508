//! A booked slot: what is stored of it, what is told about it, and how it follows the dealership's appointment.

use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::advance::follow;
use super::offer::{CancellationTerms, share};
use super::slots::slot_id;
use crate::Record;
use crate::automotive::service::appointment::Appointment;
use crate::calendar::LocalCalendar;
use crate::record::{Entity, Integer, List, Stored as _, Text, Timestamp, Vocabulary as _};
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, BookingStatus, Rupees, TENANT_MEMBER};
use crate::tomo::ending::close;
use crate::tomo::known_facts::{Fact, object, text, texts, whole};

/// A time that is booked.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct BookedSlot {
    /// When it ends.
    pub ends_at: Timestamp,
    /// The local day on which it is counted.
    pub day: Text<10>,
    /// IANA time zone of the provider.
    pub time_zone: Text<64>,
    /// The provider's name.
    pub provider_name: Text<120>,
    /// What is done.
    pub service_codes: List<Text<40>, 5>,
    /// The vehicle.
    pub vehicle: BookedVehicle,
    /// A cancellation this many hours before or earlier costs nothing.
    pub free_cancel_hours: Integer<0, 720>,
    /// What is paid back of a later one, in percent.
    pub late_refund_percent: Integer<0, 100>,
    /// The appointment of the workshop, where it is one.
    #[field(indexed)]
    pub appointment_id: Option<Text<64>>,
}

/// A vehicle in words.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct BookedVehicle {
    /// Make, such as Maruti Suzuki.
    pub make: Text<60>,
    /// Model, such as Swift.
    pub model: Text<60>,
    /// Model year.
    pub year: Option<Integer<1900, 2100>>,
    /// What it runs on.
    pub fuel: Option<Text<40>>,
}

impl BookedSlot {
    pub(super) fn terms(&self) -> CancellationTerms {
        CancellationTerms { free_hours: self.free_cancel_hours.get(), late_percent: self.late_refund_percent.get() }
    }
}

/// The slot of a booking of this shape.
pub(super) fn slot_of(booking: &Booking) -> Result<&BookedSlot, Fault> {
    booking.slot.as_ref().ok_or_else(|| Fault::internal("a booking of a slot has none"))
}

pub(super) fn slot_of_mut(booking: &mut Booking) -> Result<&mut BookedSlot, Fault> {
    booking.slot.as_mut().ok_or_else(|| Fault::internal("a booking of a slot has none"))
}

/// The booking as it is now: the dealership may have moved, cancelled or done its appointment meanwhile.
pub(super) async fn load_current(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    id: &str,
) -> Result<Entity<Booking>, Fault> {
    let mut booking = Booking::load_by_id(permitted, context, id).await?;
    let appointment_id = slot_of(&booking.record)?.appointment_id.clone();
    let (BookingStatus::Confirmed, Some(appointment_id)) = (booking.record.status, appointment_id) else {
        return Ok(booking);
    };
    let row = permitted.get_to_change(Appointment::table(), &appointment_id).await?;
    let Some(row) = row else { return Ok(booking) };
    let appointment: Entity<Appointment> = Entity::restore(permitted.tenant(), &row)?;
    follow(&mut booking.record, &appointment)?;
    Ok(booking)
}

/// The dealership may have moved it.
pub(super) fn follow_times(booking: &mut Booking, appointment: &Appointment) -> Result<(), Fault> {
    booking.starts_at = appointment.start;
    slot_of_mut(booking)?.ends_at = appointment.end;
    Ok(())
}

/// The facts of a booking.
pub(super) const BOOKED: &[Fact] = &[
    text("booking_ref"),
    text("status"),
    text("mode"),
    text("provider_id"),
    text("provider_name"),
    text("slot_id"),
    text("starts_at"),
    text("ends_at"),
    text("time_zone"),
    texts("service_codes"),
    whole("total_inr"),
    text("booked_at"),
    object("vehicle", &[&[text("make"), text("model"), whole("year"), text("fuel")]]),
    object("cancellation", &[&[text("free_until"), whole("free_cancel_hours"), whole("late_refund_percent")]]),
];

/// The facts of one that was cancelled, besides what it costs.
pub(super) const CANCELLED: &[Fact] = &[whole("refund_percent"), text("cancelled_at")];

/// Everything that is known of a booking and is nobody's personal data.
pub(super) fn booking_facts(booking: &Entity<Booking>) -> Result<Value, Fault> {
    let record = &booking.record;
    let slot = slot_of(record)?;
    let calendar = LocalCalendar::new(&slot.time_zone, [], [], 1);
    let local = |at: Millis| calendar.as_ref().and_then(|calendar| calendar.local_text(at));
    let codes: Vec<&str> = slot.service_codes.iter().map(|code| &**code).collect();
    Ok(json!({
        "booking_ref": booking.id,
        "status": record.status.as_str(),
        "mode": record.mode.as_str(),
        "provider_id": &*record.item_id,
        "provider_name": &*slot.provider_name,
        "slot_id": slot_id(record.starts_at),
        "starts_at": local(record.starts_at),
        "ends_at": local(slot.ends_at),
        "time_zone": &*slot.time_zone,
        "service_codes": codes,
        "total_inr": record.total_inr.get(),
        "booked_at": booking.created_at.to_rfc3339(),
        "vehicle": {
            "make": &*slot.vehicle.make,
            "model": &*slot.vehicle.model,
            "year": slot.vehicle.year.map(|year| year.get()),
            "fuel": slot.vehicle.fuel.as_deref(),
        },
        "cancellation": {
            "free_until": local(slot.terms().free_until(record.starts_at)),
            "free_cancel_hours": slot.free_cancel_hours.get(),
            "late_refund_percent": slot.late_refund_percent.get(),
        },
        "refund_percent": record.refund_percent.map(|percent| percent.get()),
        "refund_inr": record.refund_inr.map(|refund| refund.get()),
        "cancelled_at": record.cancelled_at.map(|at| at.to_rfc3339()),
    }))
}

/// Marks the booking as cancelled now, and says what is paid back.
pub(super) fn mark_cancelled(booking: &mut Booking, now: Millis) -> Result<(), Fault> {
    let percent = slot_of(booking)?.terms().percent(booking.starts_at, now);
    booking.status = BookingStatus::Cancelled;
    let refund = share(booking.total_inr.get(), percent);
    booking.refund_inr = Some(Rupees::clamped(refund));
    booking.refund_percent = Some(Integer::clamped(percent));
    booking.cancelled_at = Some(now);
    close(booking, now, booking.total_inr.get().saturating_sub(refund));
    Ok(())
}

/// The step of a booking that was changed. If somebody else has changed it, the whole call runs again.
pub(super) fn update_step(booking: &mut Entity<Booking>, now: Millis) -> Step {
    let expect_version = booking.version;
    booking.version = expect_version.saturating_add(1);
    booking.updated_at = now;
    Step::Update {
        table: Booking::table(),
        row: booking.row(TENANT_MEMBER),
        expect_version,
        on_conflict: OnConflict::Retry,
        on_duplicate: Fault::internal("a booking has no unique values"),
    }
}
