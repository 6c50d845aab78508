//! Gives appointments their places: a booking takes one or joins the waitlist, a cancellation or a move gives one back,
//! and who waits moves up in the same plan.

use frontdesk_engine::Fault;
use frontdesk_engine::model::timestamp::Millis;
use jiff::civil::Date;

use super::appointment::{Appointment, AppointmentStatus};
use super::lookup::{self, end_of, unavailable};
use super::workshop::Workshop;
use super::workshop_day::{DayPlace, MAX_PLACES, PlaceStatus, WorkshopDay};
use crate::automotive::resource::WriteContext;
use crate::calendar::LocalCalendar;
use crate::record::{Entity, List};

/// Whether the caller takes a place on the waitlist.
pub(super) const ACCEPT_WAITLIST: &str = "accept_waitlist";

/// Gives and takes the places that follow from a change of an appointment.
pub(super) async fn place(
    before: Option<&Entity<Appointment>>,
    after: &mut Entity<Appointment>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let is_holding = after.record.status.holds_place();
    let held = before.filter(|before| before.record.status.holds_place());
    if held.is_some_and(|held| is_holding && held.record.is_at_same_place(&after.record)) {
        return Ok(());
    }
    let mut days = OpenDays(Vec::new());
    if let Some(held) = held {
        let workshop = lookup::load_required(context.permitted(), &held.record.workshop_id).await?;
        // The day was named after the time zone of the booking; the workshop may have another one by now.
        let date =
            LocalCalendar::new(&held.record.time_zone, [], [], 1).and_then(|zone| zone.date_of(held.record.start));
        days.open(workshop, date, context).await?.row.record.remove(&after.id);
    }
    if is_holding {
        take_place(held, after, &mut days, context).await?;
    }
    for day in days.0 {
        day.close(&after.id, context).await?;
    }
    Ok(())
}

async fn take_place(
    held: Option<&Entity<Appointment>>,
    after: &mut Entity<Appointment>,
    days: &mut OpenDays,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let permitted = context.permitted();
    let workshop = lookup::workshop(permitted, &after.record.workshop_id).await?;
    context.require_unchanged(&workshop);
    let calendar = lookup::calendar(&workshop.record)?;
    let advisor = lookup::advisor(permitted, after.record.advisor_id.as_ref()).await?;
    let work = lookup::work(permitted, &workshop.record, &after.record.service_codes).await?;
    let start = after.record.start;
    let end = end_of(start, work.minutes);
    let date = calendar.date_of(start);
    let slots = date.map(|date| calendar.slots(date)).unwrap_or_default();
    let slot = slots.iter().find(|slot| slot.start == start).ok_or_else(|| {
        unavailable("The workshop begins no work at this time. Choose a time with service.check_availability.")
    })?;
    let hours = lookup::advisor_calendar(&workshop.record, advisor.as_ref());
    lookup::fits(slot, end, hours.as_ref())?;

    let appointment = &mut after.record;
    appointment.workshop_id = workshop.id.as_str().into();
    appointment.time_zone = workshop.record.time_zone.clone();
    appointment.local_start = calendar.local_text(start).unwrap_or_default().as_str().into();
    appointment.end = end;
    let mut place = DayPlace {
        appointment_id: after.id.as_str().into(),
        status: PlaceStatus::Booked,
        start,
        end,
        advisor_id: appointment.advisor_id.as_ref().map(|id| (**id).into()),
        bay_kinds: List(work.bay_kinds),
    };
    let day = days.open(workshop, date, context).await?;
    if held.is_none() {
        // Who waits comes first if there is room by now: the workshop may have got more bays.
        day.move_up(&after.id, context).await?;
    }
    let is_free = day.row.record.left(&day.workshop.record, &place.demand()) > 0;
    let has_booked_place = held.is_some_and(|held| held.record.status != AppointmentStatus::Waitlisted);
    let accepts_waitlist = context.argument::<bool>(ACCEPT_WAITLIST)?.unwrap_or(true);
    appointment.status = match (is_free, has_booked_place) {
        (true, _) => AppointmentStatus::Booked,
        (false, true) => {
            return Err(unavailable(
                "That time is full, so the appointment stays where it is. Choose a time with service.check_availability.",
            ));
        }
        (false, false) if !accepts_waitlist => {
            return Err(unavailable("That time is full. Choose another with service.check_availability."));
        }
        (false, false) => AppointmentStatus::Waitlisted,
    };
    if !is_free {
        place.status = PlaceStatus::Waitlisted;
    }
    if day.row.record.places.len() >= MAX_PLACES {
        return Err(unavailable("That day takes no more bookings. Choose another with service.check_availability."));
    }
    day.row.record.places.push(place);
    Ok(())
}

/// The days that a call changes, each once.
struct OpenDays(Vec<OpenDay>);

struct OpenDay {
    workshop: Entity<Workshop>,
    row: Entity<WorkshopDay>,
    now: Millis,
}

impl OpenDays {
    async fn open(
        &mut self,
        workshop: Entity<Workshop>,
        date: Option<Date>,
        context: &mut WriteContext<'_>,
    ) -> Result<&mut OpenDay, Fault> {
        let date = date.ok_or_else(|| Fault::internal("an appointment is outside of the calendar"))?;
        let id = WorkshopDay::id_of(&workshop.id, date);
        if !self.0.iter().any(|day| day.row.id == id) {
            let stored = lookup::load(context.permitted(), &id).await?;
            let tenant = context.permitted().tenant();
            let row = stored.unwrap_or_else(|| WorkshopDay::empty(tenant, &workshop.id, date, context.now()));
            self.0.push(OpenDay { workshop, row, now: context.now() });
        }
        let known = self.0.iter_mut().find(|day| day.row.id == id);
        known.ok_or_else(|| Fault::internal("a day that was just opened is missing"))
    }
}

impl OpenDay {
    /// Moves up who fits by now, but not the call's own appointment, which has just been given what there is.
    async fn move_up(&mut self, own: &str, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        loop {
            let moved = self.row.record.move_up(&self.workshop.record, self.now, own);
            let mut is_settled = true;
            for id in moved {
                match context.load(&id).await?.filter(|stored| stored.record.status == AppointmentStatus::Waitlisted) {
                    Some(mut waiting) => {
                        waiting.record.status = AppointmentStatus::Booked;
                        waiting.record.moved_up_at = Some(self.now);
                        context.update(waiting);
                    }
                    // Nobody is there to take the place, so the next one may.
                    None => {
                        self.row.record.remove(&id);
                        is_settled = false;
                    }
                }
            }
            if is_settled {
                return Ok(());
            }
        }
    }

    async fn close(mut self, own: &str, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        self.move_up(own, context).await?;
        context.write_hidden(self.row);
        Ok(())
    }
}
