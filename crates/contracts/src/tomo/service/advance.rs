//! What becomes of booked slots. Where the dealership's workshop does the work, its appointment is the master: the booking
//! comes only to the stage that the appointment has.

use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::{Fault, Permitted};

use super::booked::{follow_times, slot_of};
use super::offer::share;
use super::places;
use crate::automotive::service::appointment::{Appointment, AppointmentStatus};
use crate::record::{Entity, Stored as _};
use crate::tomo::booking::{Booking, BookingStatus};
use crate::tomo::ending::{BookingEnd, EndingTerms, check_details, end, stage_of, too_early};
use crate::tomo::lifecycle::{Advance, Effects};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotStage {
    InProgress,
    Ended(BookingEnd),
}

const STAGES: &[(&str, SlotStage)] = &[
    ("in_progress", SlotStage::InProgress),
    ("completed", SlotStage::Ended(BookingEnd::Completed)),
    ("no_show", SlotStage::Ended(BookingEnd::NoShow)),
    ("cancelled", SlotStage::Ended(BookingEnd::Cancelled)),
    ("failed", SlotStage::Ended(BookingEnd::Failed)),
];

/// Moves a booking of this shape to another stage, and says what else that changes.
pub(in crate::tomo) async fn advance(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    to: &Advance,
) -> Result<Effects, Fault> {
    let stage = stage_of(to, STAGES)?;
    let appointment_id = slot_of(&booking.record)?.appointment_id.clone();
    let row = match &appointment_id {
        Some(id) => permitted.get_to_change(Appointment::table(), id).await?,
        None => None,
    };
    let mut effects = Effects::default();
    if let Some(row) = row {
        let appointment: Entity<Appointment> = Entity::restore(permitted.tenant(), &row)?;
        if stage_of_appointment(appointment.record.status) != Some(stage) {
            let expected = "the appointment of the workshop decides; when that changes, the booking follows";
            return Err(Fault::invalid_argument("/stage", "enum", expected));
        }
        follow_times(&mut booking.record, &appointment.record)?;
        effects.steps.push(Step::Require {
            table: Appointment::table(),
            id: appointment.id,
            expect_version: appointment.version,
            on_conflict: OnConflict::Retry,
        });
    }
    let SlotStage::Ended(ending) = stage else {
        check_details(to, &[])?;
        return Ok(effects);
    };
    if ending == BookingEnd::NoShow && appointment_id.is_none() && to.at < booking.record.starts_at {
        return Err(too_early("it must not lie before the slot"));
    }
    // One that was carried out has had its place.
    if ending != BookingEnd::Completed && appointment_id.is_none() {
        effects.steps.extend(places::release(permitted, booking).await?.steps);
    }
    let terms = ending_terms(&booking.record)?;
    end(&mut booking.record, to, ending, terms)?;
    Ok(effects)
}

/// What an appointment of this status means for its booking; nothing while it is only planned.
pub(in crate::tomo) fn stage_word(status: AppointmentStatus) -> Option<&'static str> {
    let stage = stage_of_appointment(status)?;
    STAGES.iter().find(|(_, known)| *known == stage).map(|(word, _)| *word)
}

pub(super) fn stage_of_appointment(status: AppointmentStatus) -> Option<SlotStage> {
    match status {
        AppointmentStatus::CheckedIn | AppointmentStatus::InProgress => Some(SlotStage::InProgress),
        AppointmentStatus::Completed => Some(SlotStage::Ended(BookingEnd::Completed)),
        AppointmentStatus::Cancelled => Some(SlotStage::Ended(BookingEnd::Cancelled)),
        AppointmentStatus::NoShow => Some(SlotStage::Ended(BookingEnd::NoShow)),
        AppointmentStatus::Booked
        | AppointmentStatus::Waitlisted
        | AppointmentStatus::Confirmed
        | AppointmentStatus::Unknown => None,
    }
}

/// Brings a booking to where its appointment is by now, for an answer: the stored one follows a moment later.
pub(super) fn follow(booking: &mut Booking, appointment: &Entity<Appointment>) -> Result<(), Fault> {
    follow_times(booking, &appointment.record)?;
    let at = appointment.record.cancelled_at.unwrap_or(appointment.updated_at);
    match stage_of_appointment(appointment.record.status) {
        Some(SlotStage::Ended(ending)) if booking.status == BookingStatus::Confirmed => {
            let to = Advance { stage: String::new(), at, details: Default::default() };
            let terms = ending_terms(booking)?;
            end(booking, &to, ending, terms)
        }
        Some(SlotStage::Ended(_) | SlotStage::InProgress) | None => Ok(()),
    }
}

/// Who does not come is paid back what a late cancellation is. Nothing is known of tax.
fn ending_terms(booking: &Booking) -> Result<EndingTerms, Fault> {
    let late = slot_of(booking)?.terms().late_percent;
    Ok(EndingTerms { no_show_refund_inr: share(booking.total_inr.get(), late), tax_percent: 0 })
}
