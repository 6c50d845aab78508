//! Bookings of a dealership's stock and workshop follow what the dealership does with them: an event about a vehicle or an
//! appointment leads to calls that advance the bookings of it. It only decides; the calls are made by who reads the events.

use frontdesk_engine::delivery::TenantRows;
use frontdesk_engine::model::page::{Filter, Page, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, StoredRow, TableSpec};
use frontdesk_engine::model::tool::ToolCall;
use frontdesk_engine::{Fault, Permitted, TenantId};
use serde_json::{Map, Value};

use super::booking::{Booking, BookingMode, BookingStatus};
use super::lifecycle::{ADVANCE, OwnBookings};
use super::service::advance::stage_word;
use crate::automotive::service::appointment::{Appointment, AppointmentStatus};
use crate::automotive::vehicle::{Vehicle, VehicleStatus};
use crate::record::filter::NEWEST;
use crate::record::{Entity, Stored, Vocabulary};

/// One appointment or car has one booking; a second could only be there by mistake.
const MAX_BOOKINGS: usize = 5;
const PAGE_BYTES: usize = 1 << 20;

/// Rows of one tenant. Nothing personal is needed of them.
pub trait TenantReader: Sync {
    fn tenant(&self) -> &TenantId;

    fn get(&self, table: &'static TableSpec, id: &str)
    -> impl Future<Output = Result<Option<StoredRow>, Fault>> + Send;

    fn page(&self, query: Query) -> impl Future<Output = Result<Page, Fault>> + Send;
}

impl TenantReader for Permitted<'_> {
    fn tenant(&self) -> &TenantId {
        Permitted::tenant(self)
    }

    async fn get(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        Permitted::get(self, table, id).await
    }

    async fn page(&self, query: Query) -> Result<Page, Fault> {
        Permitted::page(self, query).await
    }
}

impl TenantReader for TenantRows<'_> {
    fn tenant(&self) -> &TenantId {
        TenantRows::tenant(self)
    }

    async fn get(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        TenantRows::get(self, table, id).await
    }

    async fn page(&self, query: Query) -> Result<Page, Fault> {
        TenantRows::page(self, query).await
    }
}

/// The calls that an event about a record leads to. They are the same whenever it is asked, as long as the record stays as it is.
pub async fn follow_ups(
    rows: &impl TenantReader,
    own: &OwnBookings,
    (kind, id): (&str, &str),
) -> Result<Vec<ToolCall>, Fault> {
    // The bookings are read first: one that is made after the record was read has nothing to do with its state.
    if kind == Appointment::TABLE_NAME {
        let bookings = bookings_of(rows, own, "appointment_id", id).await?;
        let status = status_of::<Appointment, AppointmentStatus>(rows, &bookings, id).await?;
        Ok(calls(bookings, status.and_then(stage_word)))
    } else if kind == Vehicle::TABLE_NAME {
        let bookings = bookings_of(rows, own, "item_id", id).await?;
        let status = status_of::<Vehicle, VehicleStatus>(rows, &bookings, id).await?;
        Ok(calls(bookings, status.and_then(stage_of_car)))
    } else {
        Ok(Vec::new())
    }
}

/// What the status of a vehicle means for who it was kept for. On hold it is still theirs.
fn stage_of_car(status: VehicleStatus) -> Option<&'static str> {
    match status {
        VehicleStatus::Sold => Some("completed"),
        VehicleStatus::Available | VehicleStatus::Wholesale | VehicleStatus::Unavailable => Some("cancelled"),
        VehicleStatus::Reserved
        | VehicleStatus::OnHold
        | VehicleStatus::InTransit
        | VehicleStatus::OnOrder
        | VehicleStatus::Pending
        | VehicleStatus::Unknown => None,
    }
}

/// The open live bookings of this mount that are about a record.
async fn bookings_of(
    rows: &impl TenantReader,
    own: &OwnBookings,
    column: &'static str,
    id: &str,
) -> Result<Vec<Entity<Booking>>, Fault> {
    let equals = |column, word: &str| Filter::Equals(column, Cell::Text(word.to_owned()));
    let query = Query {
        projection: Projection::Ids,
        table: Booking::table(),
        filters: vec![
            equals(column, id),
            equals("mode", BookingMode::Live.as_str()),
            equals("status", BookingStatus::Confirmed.as_str()),
        ],
        order: NEWEST,
        window: Window { start: Start::First, limit: MAX_BOOKINGS, bytes: PAGE_BYTES },
    };
    let mut bookings = Vec::new();
    for id in rows.page(query).await?.rows {
        let Some(row) = rows.get(Booking::table(), &id).await? else { continue };
        let booking: Entity<Booking> = Entity::restore(rows.tenant(), &row)?;
        if own.has(&booking.record) {
            bookings.push(booking);
        }
    }
    Ok(bookings)
}

/// The status of a record; it is looked at only if there is a booking. Nothing else of it is read, so what is personal in
/// it does not matter.
async fn status_of<R: Stored, S: Vocabulary>(
    rows: &impl TenantReader,
    bookings: &[Entity<Booking>],
    id: &str,
) -> Result<Option<S>, Fault> {
    if bookings.is_empty() {
        return Ok(None);
    }
    let Some(row) = rows.get(R::table(), id).await? else { return Ok(None) };
    let body: Value = serde_json::from_str(&row.body).map_err(|_| Fault::internal("a stored record is no JSON"))?;
    Ok(body.get("status").and_then(Value::as_str).and_then(S::parse))
}

/// A booking comes to a stage once, so its id and the stage are key enough.
fn calls(bookings: Vec<Entity<Booking>>, stage: Option<&'static str>) -> Vec<ToolCall> {
    let Some(stage) = stage else { return Vec::new() };
    let has_not = |booking: &Entity<Booking>| booking.record.stage.as_deref() != Some(stage);
    let call = |booking: Entity<Booking>| ToolCall {
        tool: ADVANCE,
        key: Some(format!("follow-up:{}:{stage}", booking.id)),
        arguments: Map::from_iter([
            ("booking_ref".to_owned(), Value::from(booking.id)),
            ("stage".to_owned(), Value::from(stage)),
        ]),
    };
    bookings.into_iter().filter(has_not).map(call).collect()
}
