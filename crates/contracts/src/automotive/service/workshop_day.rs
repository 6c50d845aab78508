//! What one workshop does on one day: a single row, which every booking of that day changes together with its
//! appointment. So two bookings cannot take the same place, and what availability shows is never stale.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::timestamp::Millis;
use jiff::civil::Date;

use super::appointment::Appointment;
use super::workshop::Workshop;
use crate::record::{Entity, List, Ref, Stored as _, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PlaceStatus { Booked, Waitlisted, Unknown }

/// No tool shows it.
#[derive(Debug, Clone, PartialEq, Record)]
#[table("workshop_day", prefix = "wsd", not_found = "service.not_found", noun = "workshop day")]
pub struct WorkshopDay {
    /// The workshop.
    pub workshop_id: Ref<Workshop>,
    /// The local day, such as 2026-02-03.
    pub date: Text<10>,
    /// Booked and waiting appointments, those who came first before others.
    pub places: List<DayPlace, MAX_PLACES>,
}

/// More than any workshop does in a day. It bounds the row, and so how many can wait.
pub const MAX_PLACES: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Record)]
pub struct DayPlace {
    /// Whose place it is.
    pub appointment_id: Ref<Appointment>,
    /// Whether it is booked or waits.
    pub status: PlaceStatus,
    /// When work begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
    /// Who receives the customer.
    pub advisor_id: Option<Text<64>>,
    /// The kinds of bay that the work needs.
    pub bay_kinds: List<Text<40>, 20>,
}

/// What a piece of work takes.
#[derive(Debug, Clone, Copy)]
pub struct PlaceDemand<'a> {
    pub start: Millis,
    pub end: Millis,
    pub advisor_id: Option<&'a str>,
    pub bay_kinds: &'a [Text<40>],
}

impl WorkshopDay {
    /// The id of the row of this day. It is made of its parts, so that it can be read without a search.
    pub fn id_of(workshop_id: &str, date: Date) -> String {
        let workshop = workshop_id.split_once('_').map_or(workshop_id, |(_, own)| own);
        format!("{}_{workshop}_{date}", WorkshopDay::ID_PREFIX)
    }

    /// A day on which nothing is booked yet. Its version is 0: it has no row.
    pub fn empty(tenant: &TenantId, workshop_id: &str, date: Date, now: Millis) -> Entity<WorkshopDay> {
        let record = WorkshopDay {
            workshop_id: workshop_id.into(),
            date: date.to_string().as_str().into(),
            places: List::default(),
        };
        let entity = Entity::new(WorkshopDay::id_of(workshop_id, date), tenant.clone(), now, record);
        Entity { version: 0, ..entity }
    }

    /// How many more pieces of such work the workshop can do.
    pub fn left(&self, workshop: &Workshop, demand: &PlaceDemand<'_>) -> i64 {
        let kinds = demand.bay_kinds.iter().map(|kind| {
            let needs = |place: &&DayPlace| place.bay_kinds.contains(kind);
            workshop.bays_of_kind(kind).saturating_sub(self.busiest(demand, needs))
        });
        let bays = workshop.bays.get().saturating_sub(self.busiest(demand, |_| true));
        let left = kinds.fold(bays, i64::min).max(0);
        match demand.advisor_id {
            Some(advisor) if self.receives(advisor, demand.start) => 0,
            // An advisor receives one customer at a time.
            Some(_) => left.min(1),
            None => left,
        }
    }

    /// Books the places that wait and fit by now, those who came first before others, and says whose they are.
    pub fn move_up(&mut self, workshop: &Workshop, now: Millis, except: &str) -> Vec<Ref<Appointment>> {
        let mut moved = Vec::new();
        for number in 0..self.places.len() {
            let fits = self.places.get(number).is_some_and(|place| {
                let waits = place.status == PlaceStatus::Waitlisted && place.start > now;
                waits && *place.appointment_id != *except && self.left(workshop, &place.demand()) > 0
            });
            if let Some(place) = self.places.get_mut(number).filter(|_| fits) {
                place.status = PlaceStatus::Booked;
                moved.push(place.appointment_id.clone());
            }
        }
        moved
    }

    pub fn remove(&mut self, appointment_id: &str) {
        self.places.retain(|place| *place.appointment_id != *appointment_id);
    }

    /// The largest number of such places that are booked at any one moment of the demand. It is reached when the demand
    /// or a place begins.
    fn busiest(&self, demand: &PlaceDemand<'_>, counts: impl Fn(&&DayPlace) -> bool) -> i64 {
        let booked = || self.booked().filter(&counts);
        let begins = booked().map(|place| place.start).filter(|start| demand.start < *start && *start < demand.end);
        let moments = std::iter::once(demand.start).chain(begins);
        let at = |moment: Millis| booked().filter(|place| place.start <= moment && moment < place.end).count();
        i64::try_from(moments.map(at).max().unwrap_or(0)).unwrap_or(i64::MAX)
    }

    fn receives(&self, advisor: &str, start: Millis) -> bool {
        self.booked().any(|place| place.start == start && place.advisor_id.as_deref() == Some(advisor))
    }

    fn booked(&self) -> impl Iterator<Item = &DayPlace> {
        // A status that this release does not know holds its place.
        self.places.iter().filter(|place| place.status != PlaceStatus::Waitlisted)
    }
}

impl DayPlace {
    pub fn demand(&self) -> PlaceDemand<'_> {
        PlaceDemand {
            start: self.start,
            end: self.end,
            advisor_id: self.advisor_id.as_deref(),
            bay_kinds: &self.bay_kinds,
        }
    }
}
