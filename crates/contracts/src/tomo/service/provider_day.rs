//! What is booked with one provider on one day: a single row, which every booking of that day changes together with
//! itself. So two bookings cannot take the same place. Bookings of the sandbox are counted in rows of their own.

use std::collections::HashMap;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use jiff::civil::Date;

use crate::Record;
use crate::record::{Entity, List, Stored as _, Text, Timestamp, Vocabulary as _, list_records};
use crate::tomo::booking::{BookingMode, TENANT_MEMBER};

/// More than any provider does in a day. It bounds the row.
const MAX_PLACES: usize = 1_000;

/// No tool shows it.
#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_provider_day", prefix = "pvd", not_found = "NOT_FOUND", noun = "provider day")]
pub struct ProviderDay {
    /// The provider.
    #[field(indexed)]
    #[default(Text::from(""))]
    pub provider_id: Text<64>,
    /// The local day, such as 2027-03-01.
    #[field(indexed)]
    #[default(Text::from(""))]
    pub day: Text<10>,
    /// Whose bookings are counted.
    #[field(column)]
    #[default(BookingMode::Live)]
    pub mode: BookingMode,
    /// What is booked.
    #[default(List::default())]
    pub places: List<SlotPlace, MAX_PLACES>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct SlotPlace {
    /// Whose place it is.
    pub booking_id: Text<64>,
    /// When work begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
}

impl ProviderDay {
    /// The id of the row of this day. It is made of its parts, so that it can be read without a search.
    pub fn id_of(provider_id: &str, day: Date, mode: BookingMode) -> String {
        let suffix = if mode == BookingMode::Live { "" } else { "_sandbox" };
        format!("{}_{provider_id}_{day}{suffix}", ProviderDay::ID_PREFIX)
    }

    /// How many more such bookings there is room for, where `places` customers are served at the same time.
    pub fn left(&self, places: i64, start: Millis, end: Millis) -> i64 {
        if self.places.len() >= MAX_PLACES {
            return 0;
        }
        // The largest number at any one moment is reached when this work or another piece begins.
        let begins = self.places.iter().map(|place| place.start).filter(|other| start < *other && *other < end);
        let at =
            |moment: Millis| self.places.iter().filter(|place| place.start <= moment && moment < place.end).count();
        let busiest = std::iter::once(start).chain(begins).map(at).max().unwrap_or(0);
        places.saturating_sub(i64::try_from(busiest).unwrap_or(i64::MAX)).max(0)
    }

    pub fn remove(&mut self, booking_id: &str) {
        self.places.retain(|place| *place.booking_id != *booking_id);
    }
}

/// The stored day, or one on which nothing is booked yet. Its version is then 0: it has no row.
pub(super) async fn load_day(
    permitted: &Permitted<'_>,
    provider_id: &str,
    day: Date,
    mode: BookingMode,
) -> Result<Entity<ProviderDay>, Fault> {
    let id = ProviderDay::id_of(provider_id, day, mode);
    if let Some(row) = permitted.get_to_change(ProviderDay::table(), &id).await? {
        return Entity::restore(permitted.tenant(), &row);
    }
    let record = ProviderDay {
        provider_id: provider_id.into(),
        day: day.to_string().as_str().into(),
        mode,
        places: List::default(),
    };
    Ok(Entity { version: 0, ..Entity::new(id, permitted.tenant().clone(), permitted.now(), record) })
}

/// The stored days of these providers, by id. A day without a row has nothing booked.
pub(super) async fn load_days(
    permitted: &Permitted<'_>,
    provider_ids: &[&str],
    days: &[Date],
) -> Result<HashMap<String, ProviderDay>, Fault> {
    let texts = |texts: Vec<String>| texts.into_iter().map(Cell::Text).collect();
    let max = provider_ids.len().saturating_mul(days.len());
    if max == 0 {
        return Ok(HashMap::new());
    }
    let filters = vec![
        Filter::AnyOf("provider_id", texts(provider_ids.iter().map(|id| (*id).to_owned()).collect())),
        Filter::AnyOf("day", texts(days.iter().map(Date::to_string).collect())),
        Filter::Equals("mode", Cell::Text(BookingMode::of(permitted).as_str().to_owned())),
    ];
    let stored = list_records::<ProviderDay>(permitted, filters, max).await?;
    Ok(stored.into_iter().map(|day| (day.id, day.record)).collect())
}

/// Writes the day in the plan of a booking. If it has changed since it was read, the whole call runs again.
pub(super) fn write_day(day: Entity<ProviderDay>, now: Millis) -> Vec<Step> {
    let expect_version = day.version;
    let row = Entity { updated_at: now, version: expect_version.saturating_add(1), ..day }.row(TENANT_MEMBER);
    let (table, on_duplicate) = (ProviderDay::table(), Fault::internal("a day has no unique values"));
    if expect_version == 0 {
        vec![Step::RequireAbsent { table, id: row.id.clone() }, Step::Insert { table, row, on_duplicate }]
    } else {
        vec![Step::Update { table, row, expect_version, on_conflict: OnConflict::Retry, on_duplicate }]
    }
}
