//! `cancel_booking` and `modify_booking`. Doing either again answers the same again.

use std::sync::Arc;

use frontdesk_engine::model::plan::{Change, Plan};
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::json;

use super::booked::{booking_facts, load_current, mark_cancelled, slot_of, slot_of_mut, update_step};
use super::offer::{RequestedWork, with};
use super::places::{self, gone};
use super::slots::slot_argument;
use super::source;
use crate::record::Entity;
use crate::tomo::ToolContext;
use crate::tomo::booking::{Booking, BookingStatus, answer, events};
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, whole};

/// Cancels or moves a booking.
pub(super) struct ChangeBooking {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
    pub(super) kind: BookingChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookingChange {
    Cancel,
    Modify,
}

impl WriteTool for ChangeBooking {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("booking_ref").unwrap_or_default();
            let booking = load_current(permitted, &self.context, id).await?;
            match self.kind {
                BookingChange::Cancel => self.cancel(permitted, booking).await,
                BookingChange::Modify => self.modify(permitted, booking).await,
            }
        })
    }

    /// The booking as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = load_current(permitted, &self.context, &stored.id).await?;
            self.item(&booking)
        })
    }
}

/// What a change adds to the facts of a booking.
pub(super) const CHANGED: &[Fact] = &[whole("refund_inr"), whole("kept_inr")];

impl ChangeBooking {
    async fn cancel(&self, permitted: &Permitted<'_>, mut booking: Entity<Booking>) -> Result<Plan, Fault> {
        if booking.record.status == BookingStatus::Cancelled {
            return self.nothing(&booking);
        }
        let now = permitted.now();
        booking.record.check_open(now)?;
        let released = places::release(permitted, &booking).await?;
        mark_cancelled(&mut booking.record, now)?;
        self.changed(permitted, booking, released)
    }

    async fn modify(&self, permitted: &Permitted<'_>, mut booking: Entity<Booking>) -> Result<Plan, Fault> {
        let start = slot_argument(permitted)?;
        booking.record.check_open(permitted.now())?;
        if booking.record.starts_at == start {
            return self.nothing(&booking);
        }
        let provider = source::find(permitted, &self.context, &booking.record.item_id).await?.ok_or_else(gone)?;
        let services = source::services(permitted, &self.context, &provider).await?;
        let codes: Vec<String> = slot_of(&booking.record)?.service_codes.iter().map(|code| code.to_string()).collect();
        let work = RequestedWork::of(&services, &codes).ok_or_else(gone)?;
        let moved = places::shift(permitted, &booking, (&provider, &work), start).await?;
        let day = provider.calendar.date_of(start).map(|day| day.to_string()).unwrap_or_default();
        booking.record.starts_at = start;
        let slot = slot_of_mut(&mut booking.record)?;
        slot.ends_at = work.end_of(start);
        slot.day = day.as_str().into();
        slot.time_zone = provider.time_zone.as_str().into();
        self.changed(permitted, booking, moved)
    }

    fn changed(
        &self,
        permitted: &Permitted<'_>,
        mut booking: Entity<Booking>,
        places: places::PlaceChange,
    ) -> Result<Plan, Fault> {
        let step = update_step(&mut booking, permitted.now());
        Ok(Plan {
            steps: std::iter::once(step).chain(places.steps).collect(),
            events: events(&booking, Change::Updated).into_iter().chain(places.events).collect(),
            outcome: self.item(&booking)?,
        })
    }

    /// It is so already.
    fn nothing(&self, booking: &Entity<Booking>) -> Result<Plan, Fault> {
        Ok(Plan { steps: Vec::new(), events: Vec::new(), outcome: self.item(booking)? })
    }

    fn item(&self, booking: &Entity<Booking>) -> Result<Item, Fault> {
        let facts = booking_facts(booking)?;
        // A booking that was never cancelled costs what it costs.
        let paid_back = booking.record.refund_inr.map_or(0, |refund| refund.get());
        let kept = booking.record.total_inr.get().saturating_sub(paid_back);
        answer(&self.tool, booking, &with(facts, json!({"refund_inr": paid_back, "kept_inr": kept})))
    }
}
