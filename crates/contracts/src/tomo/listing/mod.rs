//! The listing shape: things that are booked for nights or bought. Rooms of hotels are the business's own records; cars
//! are the stock of its dealership.

mod advance;
mod car_booking;
mod car_facts;
mod car_search;
mod customer;
mod dates;
pub mod demo;
mod demo_hotels;
pub mod hotel;
mod hotel_booking;
mod hotel_facts;
mod hotel_search;
mod night;
pub(super) mod place;
pub(super) mod price;
mod wishes;

use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::Run;
use serde_json::Value;

use super::ToolContext;
use super::booking_plan::{booking_facts, changed, created, repeated};
use super::facts::fills;
use super::intent::{Intent, IntentTool, Role};
use super::known_facts::{FactGroups, TOKEN, list};
use super::managed::import;
use crate::Record;
use crate::partner::PartnerSource;
use crate::record::{Day, Integer, List, Stored as _, Text};
pub(super) use advance::{advance, end_of};

/// Rooms of a hotel that are booked. Names and policy are those of the booking: what was promised stays so.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct Stay {
    /// The hotel.
    pub listing_name: Text<200>,
    /// Its city.
    pub city: Text<80>,
    /// The kind of room.
    pub room_id: Text<64>,
    /// What the hotel calls it.
    pub room_name: Text<120>,
    /// The day before the first night.
    pub check_in: Day,
    /// The day after the last night.
    pub check_out: Day,
    /// Local time from which rooms are ready.
    pub check_in_time: Text<5>,
    /// How many rooms.
    pub rooms: Integer<1, 20>,
    /// Adults in all rooms.
    pub adults: Integer<1, 400>,
    /// Children in all rooms.
    pub children: Integer<0, 400>,
    /// Percent of tax in the price; not known of bookings of earlier releases.
    pub tax_percent: Option<Integer<0, 100>>,
    /// What is paid back.
    pub cancellation_policy: List<RefundTier, 10>,
}

/// What is paid back up to some hours before the stay begins.
#[derive(Debug, Clone, PartialEq, Eq, Record)]
pub struct RefundTier {
    /// At least this many hours before check-in.
    pub hours_before: Integer<0, 8_760>,
    /// Percent of the total.
    pub refund_percent: Integer<0, 100>,
}

/// A car that is held for its buyer.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct CarPurchase {
    /// The vehicle of the stock.
    pub vehicle_id: Text<64>,
    /// What it was offered as.
    pub title: Text<300>,
    /// When it is handed over.
    pub handover_on: Day,
}

pub fn tables() -> Vec<&'static TableSpec> {
    vec![hotel::HotelListing::table(), hotel::RoomKind::table(), hotel::RoomRate::table(), night::RoomNight::table()]
}

pub fn imports() -> Vec<ImportSpec> {
    vec![
        import::<hotel::HotelListing>("listings"),
        import::<hotel::RoomKind>("rooms"),
        import::<hotel::RoomRate>("rates"),
    ]
}

/// What an intent sells, known by what its search takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goods {
    Rooms,
    Cars,
}

impl Goods {
    fn of(intent: &Intent) -> Option<Goods> {
        let search = intent.tools.iter().find(|tool| tool.role == Role::Search)?;
        let takes = |name: &str| search.input.fields().iter().any(|field| field.name == name);
        match (takes("destination") && takes("dates") && takes("party"), takes("criteria")) {
            (true, _) => Some(Goods::Rooms),
            (false, true) => Some(Goods::Cars),
            (false, false) => None,
        }
    }
}

/// Whether an intent can be served from this source; if not, why.
pub(super) fn check(intent: &Intent, source: PartnerSource) -> Result<(), String> {
    let id = &intent.id;
    match (Goods::of(intent), source) {
        (Some(Goods::Rooms), PartnerSource::Own) | (Some(Goods::Cars), PartnerSource::Dealership) => Ok(()),
        (Some(Goods::Rooms), PartnerSource::Dealership) => {
            Err(format!("{id} sells rooms, which a dealership has none of; its source must be own"))
        }
        (Some(Goods::Cars), PartnerSource::Own) => {
            Err(format!("{id} sells the stock of a dealership; its source must be dealership"))
        }
        (None, _) => Err(format!(
            "search_availability of {id} takes neither destination, dates and party (rooms) nor criteria (cars)"
        )),
    }
}

/// What a search and a look at one listing can know.
const ROOM_SEARCH: FactGroups = &[&[list("listings", &[hotel_facts::HOTEL, hotel_search::FOUND])], TOKEN];
const ROOM_DETAIL: FactGroups = &[hotel_facts::HOTEL, &[list("rooms", &[hotel_facts::ROOM])]];
const CAR_SEARCH: FactGroups = &[&[list("listings", &[car_facts::CAR])], TOKEN];

/// What each tool can know. A booking has a refund only once it is cancelled.
pub(super) fn facts(source: PartnerSource, tool: &str) -> FactGroups {
    use super::booking_plan::{BOOKING, CANCELLED};
    match (source, tool) {
        (PartnerSource::Own, "search_availability") => ROOM_SEARCH,
        (PartnerSource::Own, "get_listing") => ROOM_DETAIL,
        (PartnerSource::Own, "cancel_booking") => &[BOOKING, CANCELLED, hotel_booking::STAY],
        (PartnerSource::Own, _) => &[BOOKING, hotel_booking::STAY],
        (PartnerSource::Dealership, "search_availability") => CAR_SEARCH,
        (PartnerSource::Dealership, "get_listing") => &[car_facts::CAR],
        (PartnerSource::Dealership, "cancel_booking") => &[BOOKING, CANCELLED, car_booking::PURCHASE],
        (PartnerSource::Dealership, _) => &[BOOKING, car_booking::PURCHASE],
    }
}

pub fn run(context: &Arc<ToolContext>, tool: &IntentTool) -> Run {
    let context = ListingContext { shared: Arc::clone(context), tool: tool.clone() };
    match (context.shared.source, tool.role) {
        (PartnerSource::Own, Role::Search) => Run::read(hotel_search::SearchRooms(context)),
        (PartnerSource::Own, Role::Create) => Run::write(hotel_booking::BookRooms(context)),
        (PartnerSource::Own, Role::Cancel) => Run::write(hotel_booking::CancelRooms(context)),
        (PartnerSource::Own, Role::Modify) => Run::write(hotel_booking::ModifyRooms(context)),
        (PartnerSource::Own, Role::GetDetail | Role::Track | Role::Rate | Role::Utility) => {
            Run::read(hotel_search::GetHotel(context))
        }
        (PartnerSource::Dealership, Role::Search) => Run::read(car_search::SearchCars(context)),
        (PartnerSource::Dealership, Role::Create) => Run::write(car_booking::BookCar(context)),
        (PartnerSource::Dealership, Role::Cancel) => Run::write(car_booking::CancelCar(context)),
        (PartnerSource::Dealership, Role::Modify) => Run::write(car_booking::ModifyCar(context)),
        (PartnerSource::Dealership, Role::GetDetail | Role::Track | Role::Rate | Role::Utility) => {
            Run::read(car_search::GetCar(context))
        }
    }
}

/// One tool of this shape: what it answers with is in its schema.
struct ListingContext {
    shared: Arc<ToolContext>,
    tool: IntentTool,
}

impl ListingContext {
    /// Whether a search of this tool can show a listing with these facts. What cannot be described as the intent asks is
    /// not offered.
    fn can_describe(&self, facts: &Value) -> bool {
        let listings = self.tool.output.fields().iter().find(|field| field.name == "listings");
        match listings.map(|field| &field.schema) {
            Some(Schema::List { of, .. }) => fills(of, facts),
            Some(_) | None => true,
        }
    }
}
