//! Finding rooms: which hotels of a place have rooms for everybody in every night, and what they cost.

use std::collections::HashMap;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::tool::{Future, Item, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::ListingContext;
use super::dates::StayDates;
use super::hotel::{HotelListing, RoomKind, RoomRate};
use super::hotel_facts::{ROOM, hotel_facts, room_facts};
use super::night::{RoomNight, booked};
use super::place::{Point, city_keys};
use super::price::{Quote, quote, share, units_of};
use super::wishes::Wishes;
use crate::record::{Entity, list_records};
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::known_facts::{Fact, decimal, list, text, whole};
use crate::tomo::result_token::{Offers, issue};

/// How many listings an answer has.
const MAX_LISTINGS: usize = 20;
/// How many hotels of a place, rooms of a hotel and rates of a stay are looked at.
const MAX_HOTELS: usize = 500;
const MAX_ROOMS: usize = 10;
const MAX_RATES: usize = 20_000;
/// How far around coordinates hotels are looked for if no radius is named.
const DEFAULT_RADIUS_KM: f64 = 25.0;

/// Who travels, in how many rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Party {
    pub(super) adults: i64,
    pub(super) children: i64,
    pub(super) rooms: i64,
}

impl Party {
    pub(super) fn read(party: Option<&Value>) -> Party {
        let number = |name: &str, default: i64| {
            party.and_then(|party| party.get(name)).and_then(Value::as_i64).unwrap_or(default)
        };
        Party { adults: number("adults", 1), children: number("children", 0), rooms: number("rooms", 1) }
    }

    /// Refuses what cannot be booked, whatever the intent file allows. Rooms that are not there must not be given back.
    pub(super) fn check(self, at: &str) -> Result<Party, Fault> {
        let numbers =
            [("adults", self.adults, 1..=400), ("children", self.children, 0..=400), ("rooms", self.rooms, 1..=20)];
        for (name, number, range) in numbers {
            if !range.contains(&number) {
                let expected = format!("a number from {} to {} is expected", range.start(), range.end());
                return Err(Fault::invalid_argument(&format!("{at}/{name}"), "minimum", expected));
            }
        }
        Ok(self)
    }

    /// Whether everybody sleeps in rooms of this kind.
    pub(super) fn fits(self, room: &RoomKind) -> bool {
        self.adults.saturating_add(self.children) <= room.max_guests.get().saturating_mul(self.rooms)
    }
}

pub(super) struct SearchRooms(pub(super) ListingContext);

impl ReadTool for SearchRooms {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let SearchRooms(context) = self;
            let arguments = &permitted.input().arguments;
            let dates = StayDates::read(arguments.get("dates"), permitted.now())?;
            let party = Party::read(arguments.get("party")).check("/party")?;
            let wishes = Wishes::read(arguments.get("preferences"));
            let mut found = Vec::new();
            for hotel in self.hotels(permitted, dates, party).await? {
                let Some(facts) = hotel.facts(dates, party, &wishes) else { continue };
                if context.can_describe(&facts) {
                    found.push(facts);
                }
            }
            found.sort_by(|one, other| wishes.compare(one, other));
            found.truncate(MAX_LISTINGS);
            answer(permitted, context, dates, party, found)
        })
    }
}

impl SearchRooms {
    /// The hotels of the place, each with those of its rooms that everybody fits into and that are free.
    async fn hotels(
        &self,
        permitted: &Permitted<'_>,
        dates: StayDates,
        party: Party,
    ) -> Result<Vec<FoundHotel>, Fault> {
        let destination = Destination::read(permitted.input().arguments.get("destination"));
        let mut hotels = destination.hotels(permitted).await?;
        let codes = hotels.iter().map(|hotel| Cell::Text(hotel.listing.record.listing_code.to_string())).collect();
        let rooms = rooms_of(permitted, codes, hotels.len()).await?;
        let rooms: Vec<Entity<RoomKind>> = rooms.into_iter().filter(|room| party.fits(&room.record)).collect();
        let rates = rates_of(permitted, &rooms, dates).await?;
        let ids: Vec<String> = rooms.iter().map(|room| room.id.clone()).collect();
        let taken = booked(permitted, &ids, dates).await?;
        // Each room is compared with what is its own only: a city may have thousands of rates and nights.
        let rates = grouped(rates, |rate| rate.room_code.to_string());
        let taken = grouped(taken, |night| night.room_id.to_string());
        for room in rooms {
            let rates = rates.get(&*room.record.room_code).map(Vec::as_slice).unwrap_or_default();
            let left = units_left(&room, rates, taken.get(&room.id).map(Vec::as_slice).unwrap_or_default(), dates);
            let hotel = hotels.iter_mut().find(|hotel| hotel.listing.record.listing_code == room.record.listing_code);
            if let Some(hotel) = hotel.filter(|hotel| left >= party.rooms && hotel.rooms.len() < MAX_ROOMS) {
                let price = quote(&room.record, rates, &dates.nights(), party.rooms);
                hotel.rooms.push(FoundRoom { room, price, left });
            }
        }
        for hotel in &mut hotels {
            hotel.rooms.sort_by(|one, other| {
                let key = |found: &FoundRoom| (found.price.total_inr(), found.room.record.room_code.to_string());
                key(one).cmp(&key(other))
            });
        }
        hotels.retain(|hotel| !hotel.rooms.is_empty());
        Ok(hotels)
    }
}

/// Seals the prices and makes the answer.
fn answer(
    permitted: &Permitted<'_>,
    context: &ListingContext,
    dates: StayDates,
    party: Party,
    listings: Vec<Value>,
) -> Result<Outcome, Fault> {
    let rooms = listings.iter().filter_map(|listing| listing.get("room_options")?.as_array()).flatten();
    let price = |room: &Value| Some((room.get("room_id")?.as_str()?.to_owned(), room.get("total_inr")?.as_i64()?));
    let offers = Offers {
        search: json!({
            "check_in": dates.check_in.to_string(), "check_out": dates.check_out.to_string(),
            "adults": party.adults, "children": party.children, "rooms": party.rooms,
        }),
        prices: rooms.filter_map(price).collect(),
    };
    let rows = listings.len();
    let (token, expires_at) = issue(permitted, &context.shared, offers)?;
    let facts = json!({"listings": listings, "result_token": token, "expires_at": expires_at.to_rfc3339()});
    let answer = context
        .tool
        .project(&facts)
        .map_err(|missing| Fault::internal(format!("a search has no {} to answer with", missing.0)))?;
    Ok(Outcome::Raw { answer: answer.to_string(), rows })
}

/// The rooms that these hotels offer.
async fn rooms_of(
    permitted: &Permitted<'_>,
    listing_codes: Vec<Cell>,
    hotels: usize,
) -> Result<Vec<Entity<RoomKind>>, Fault> {
    if listing_codes.is_empty() {
        return Ok(Vec::new());
    }
    let filters =
        vec![Filter::AnyOf("listing_code", listing_codes), Filter::Equals("status", Cell::Text("listed".to_owned()))];
    list_records(permitted, filters, hotels.saturating_mul(MAX_ROOMS * 2)).await
}

/// The rates of these rooms that cover a night of the stay.
pub(super) async fn rates_of(
    permitted: &Permitted<'_>,
    rooms: &[Entity<RoomKind>],
    dates: StayDates,
) -> Result<Vec<RoomRate>, Fault> {
    if rooms.is_empty() {
        return Ok(Vec::new());
    }
    let codes = rooms.iter().map(|room| Cell::Text(room.record.room_code.to_string())).collect();
    let filters = vec![
        Filter::AnyOf("room_code", codes),
        Filter::AtMost("from_night", dates.last_night().number()),
        Filter::AtLeast("until_night", dates.check_in.number()),
    ];
    let rates: Vec<Entity<RoomRate>> = list_records(permitted, filters, MAX_RATES).await?;
    Ok(rates.into_iter().map(|rate| rate.record).collect())
}

fn grouped<T>(records: Vec<T>, key: impl Fn(&T) -> String) -> HashMap<String, Vec<T>> {
    let mut groups: HashMap<String, Vec<T>> = HashMap::new();
    for record in records {
        groups.entry(key(&record)).or_default().push(record);
    }
    groups
}

/// How many rooms are free in every night.
fn units_left(room: &Entity<RoomKind>, rates: &[RoomRate], taken: &[RoomNight], dates: StayDates) -> i64 {
    let left = dates.nights().into_iter().map(|night| {
        let of_night = taken.iter().filter(|row| *row.room_id == *room.id && row.night == night);
        let booked: i64 = of_night.map(|row| row.rooms.get()).sum();
        units_of(&room.record, rates, night).saturating_sub(booked)
    });
    left.min().unwrap_or(0).max(0)
}

/// Where somebody wants to go.
struct Destination {
    city: Vec<String>,
    /// A point and how many metres around it.
    around: Option<(Point, i64)>,
}

impl Destination {
    fn read(destination: Option<&Value>) -> Destination {
        let member = |name: &str| destination.and_then(|destination| destination.get(name));
        let number = |name: &str| member(name).and_then(Value::as_f64);
        let radius = number("search_radius_km").unwrap_or(DEFAULT_RADIUS_KM);
        let point = number("lat").zip(number("lng")).map(|(lat, lng)| Point::from_degrees(lat, lng));
        Destination {
            city: city_keys(member("city").and_then(Value::as_str).unwrap_or_default()),
            around: point.map(|point| (point, (radius * 1_000.0).round() as i64)),
        }
    }

    /// With coordinates those around them, in whichever city; else those of the city.
    async fn hotels(&self, permitted: &Permitted<'_>) -> Result<Vec<FoundHotel>, Fault> {
        let mut filters = vec![Filter::Equals("status", Cell::Text("listed".to_owned()))];
        match self.around {
            Some((point, metres)) => {
                let (south, north) = point.latitudes_within(metres);
                filters.extend([Filter::AtLeast("latitude", south), Filter::AtMost("latitude", north)]);
            }
            None => filters.push(Filter::AnyOf("city_key", self.city.iter().cloned().map(Cell::Text).collect())),
        }
        let listings: Vec<Entity<HotelListing>> = list_records(permitted, filters, MAX_HOTELS).await?;
        let found = listings.into_iter().map(|listing| {
            let at = Point { latitude: listing.record.latitude.get(), longitude: listing.record.longitude.get() };
            let distance = self.around.map(|(point, _)| point.metres_to(at));
            FoundHotel { listing, distance, rooms: Vec::new() }
        });
        let is_near = |hotel: &FoundHotel| match (self.around, hotel.distance) {
            (Some((_, metres)), Some(distance)) => distance <= metres,
            _ => true,
        };
        Ok(found.filter(is_near).collect())
    }
}

/// What a search adds to the facts of a hotel.
pub(super) const FOUND: &[Fact] = &[
    decimal("distance_km"),
    whole("price_per_night_inr"),
    whole("subtotal_inr"),
    whole("tax_inr"),
    whole("total_inr"),
    text("room_id"),
    text("room_name"),
    list("room_options", &[ROOM, OFFERED]),
    text("check_in"),
    text("check_out"),
    whole("nights"),
    whole("rooms"),
];

/// What a search adds to the facts of a room.
const OFFERED: &[Fact] =
    &[whole("units_left"), whole("price_per_night_inr"), whole("subtotal_inr"), whole("tax_inr"), whole("total_inr")];

struct FoundHotel {
    listing: Entity<HotelListing>,
    /// In metres from where it was looked for.
    distance: Option<i64>,
    rooms: Vec<FoundRoom>,
}

struct FoundRoom {
    room: Entity<RoomKind>,
    price: Quote,
    left: i64,
}

impl FoundHotel {
    /// Everything that is known of it, if it is as wished. The cheapest room gives its price.
    fn facts(&self, dates: StayDates, party: Party, wishes: &Wishes) -> Option<Value> {
        let options: Vec<Value> =
            self.rooms.iter().map(|found| found.facts(dates, party)).filter(|room| wishes.room(room)).collect();
        let cheapest = options.first()?.clone();
        let mut facts = hotel_facts(&self.listing);
        if !wishes.hotel(&facts) {
            return None;
        }
        let members = facts.as_object_mut()?;
        if let Some(metres) = self.distance {
            members.insert("distance_km".to_owned(), json!(metres as f64 / 1_000.0));
        }
        for name in ["price_per_night_inr", "subtotal_inr", "tax_inr", "total_inr", "room_id"] {
            members.insert(name.to_owned(), cheapest.get(name).cloned().unwrap_or_default());
        }
        members.insert("room_name".to_owned(), cheapest.get("name").cloned().unwrap_or_default());
        members.insert("room_options".to_owned(), Value::Array(options));
        members.insert("check_in".to_owned(), json!(dates.check_in.to_string()));
        members.insert("check_out".to_owned(), json!(dates.check_out.to_string()));
        members.insert("nights".to_owned(), json!(dates.count()));
        members.insert("rooms".to_owned(), json!(party.rooms));
        Some(facts)
    }
}

impl FoundRoom {
    fn facts(&self, dates: StayDates, party: Party) -> Value {
        let mut facts = room_facts(&self.room);
        let room_nights = dates.count().saturating_mul(party.rooms);
        let own = json!({
            "units_left": self.left,
            "price_per_night_inr": share(self.price.subtotal_inr, 1, room_nights),
            "subtotal_inr": self.price.subtotal_inr,
            "tax_inr": self.price.tax_inr,
            "total_inr": self.price.total_inr(),
        });
        extend(&mut facts, own);
        facts
    }
}

fn extend(facts: &mut Value, more: Value) {
    if let (Some(facts), Value::Object(more)) = (facts.as_object_mut(), more) {
        facts.extend(more);
    }
}

pub(super) struct GetHotel(pub(super) ListingContext);

impl ReadTool for GetHotel {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let missing = || Fault::domain(NOT_FOUND, "No listing with this listing_id is offered here. Search again.");
            let id = permitted.input().text("listing_id").unwrap_or_default();
            let listing = HotelListing::load(permitted, id).await?.ok_or_else(missing)?;
            let codes = vec![Cell::Text(listing.record.listing_code.to_string())];
            let mut rooms = rooms_of(permitted, codes, 1).await?;
            rooms.sort_by_key(|room| (room.record.base_price_inr, room.record.room_code.to_string()));
            let mut facts = hotel_facts(&listing);
            extend(&mut facts, json!({"rooms": rooms.iter().map(room_facts).collect::<Value>()}));
            let payload = self.0.tool.project(&facts).map_err(|_| missing())?;
            Ok(Outcome::One(Item {
                id: listing.id,
                version: listing.version,
                body: payload.to_string(),
                masked: None,
                personal: None,
            }))
        })
    }
}
