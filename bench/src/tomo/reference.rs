//! The bare server that sells rooms and tells how rides stand: the statements that Frontdesk sends, prices computed, and
//! the same answers. It knows nobody, seals nothing and checks nothing; the token of a search is its offers as plain JSON.

mod booking;
mod rows;
mod tracking;

use std::collections::HashMap;
use std::path::PathBuf;

use frontdesk::system::SystemClock;
use frontdesk_contracts::record::Day;
use frontdesk_engine::ports::Clock as _;
use serde::{Deserialize, Serialize};

use super::hotels::TENANT;
use crate::BenchResult;
use crate::reference::embedded::reading;
use crate::reference::writer::SqliteWriter;
use crate::reference::{Message, Params, Responder, answered, listen};
use booking::{NewStay, WriteBooking};
use rows::{Hotel, Night, Rate, Room, Tier, Value, parse_all};
use tracking::RideTexts;

/// As long as Frontdesk holds prices.
const HELD_SECONDS: i64 = 15 * 60;

/// Serves the hotels and the rides of a file until it is killed.
pub async fn serve(database: &str, certificates: PathBuf) -> BenchResult<()> {
    let path = PathBuf::from(database);
    let writer = SqliteWriter::start(&path, WriteBooking::new()?)?;
    listen(Hotels { texts: rows::Texts::new()?, rides: RideTexts::new(), path, writer }, certificates).await
}

struct Hotels {
    path: PathBuf,
    rides: RideTexts,
    texts: rows::Texts,
    writer: SqliteWriter<NewStay>,
}

#[derive(Deserialize)]
struct Arguments {
    destination: Option<Destination>,
    dates: Option<Dates>,
    party: Option<Party>,
    idempotency_key: Option<String>,
    request_id: Option<String>,
    result_token: Option<String>,
    room_id: Option<String>,
    guest: Option<Guest>,
    booking_ref: Option<String>,
}

#[derive(Deserialize)]
struct Destination {
    city: String,
}

#[derive(Deserialize)]
struct Dates {
    check_in: String,
    check_out: String,
}

#[derive(Deserialize)]
struct Party {
    adults: i64,
    children: i64,
    rooms: i64,
}

#[derive(Deserialize)]
pub struct Guest {
    pub name: String,
    pub phone: String,
    pub email: String,
}

/// What a search has offered.
#[derive(Serialize, Deserialize)]
pub struct Offers {
    pub check_in: String,
    pub check_out: String,
    pub adults: i64,
    pub children: i64,
    pub rooms: i64,
    prices: Vec<(String, i64)>,
}

#[derive(Serialize)]
struct Found<'a> {
    listings: Vec<Listing<'a>>,
    result_token: String,
    expires_at: String,
}

#[derive(Serialize)]
struct Listing<'a> {
    listing_id: &'a str,
    name: &'a str,
    city: &'a str,
    area: &'a str,
    address: &'a str,
    pincode: &'a str,
    country_code: &'a str,
    lat: f64,
    lng: f64,
    star_rating: i64,
    guest_rating: f64,
    amenities: &'a [&'a str],
    check_in_time: &'a str,
    check_out_time: &'a str,
    cancellation_policy: &'a [Tier],
    image_url: &'a str,
    check_in: &'a str,
    check_out: &'a str,
    nights: usize,
    rooms: i64,
    currency: &'a str,
    price_per_night_inr: i64,
    total_inr: i64,
    room_options: Vec<RoomOption<'a>>,
}

#[derive(Clone, Serialize)]
struct RoomOption<'a> {
    room_id: &'a str,
    name: &'a str,
    max_guests: i64,
    bed_type: &'a str,
    meal_plan: &'a str,
    units_left: i64,
    price_per_night_inr: i64,
    subtotal_inr: i64,
    tax_inr: i64,
    total_inr: i64,
}

impl Responder for Hotels {
    async fn answer(&self, message: &[u8]) -> BenchResult<Vec<u8>> {
        let message: Message<Arguments> = serde_json::from_slice(message)?;
        let Params { name, arguments, meta } = message.params;
        let object = match name.as_str() {
            "search_availability" => self.search(&arguments)?,
            "create_booking" => self.writer.create(self.stay(arguments)?).await?,
            "track_ride" => {
                let booking_ref = arguments.booking_ref.ok_or("a ride is needed")?;
                return self.rides.track(&self.path, &booking_ref, message.id, meta.as_ref());
            }
            _ => return Err("no such tool".into()),
        };
        Ok(answered(message.id, &object, meta.as_ref()))
    }
}

/// Half up.
fn share(amount: i64, part: i64, whole: i64) -> i64 {
    (amount * part * 2 + whole) / (whole * 2)
}

fn nights_between(check_in: &str, check_out: &str) -> BenchResult<Vec<Day>> {
    let first = Day::parse(check_in).ok_or("not a day")?;
    let end = Day::parse(check_out).ok_or("not a day")?;
    Ok(std::iter::successors(Some(first), |day| day.next()).take_while(|day| *day < end).collect())
}

/// The values of the columns of the first and of the last night.
fn ends(nights: &[Day]) -> BenchResult<(Value, Value)> {
    let (first, last) = nights.first().zip(nights.last()).ok_or("no nights")?;
    Ok((Value::from(first.number()), Value::from(last.number())))
}

impl Hotels {
    fn search(&self, arguments: &Arguments) -> BenchResult<String> {
        let destination = arguments.destination.as_ref().ok_or("a destination is needed")?;
        let dates = arguments.dates.as_ref().ok_or("dates are needed")?;
        let party = arguments.party.as_ref().ok_or("a party is needed")?;
        let nights = nights_between(&dates.check_in, &dates.check_out)?;
        let (first, last) = ends(&nights)?;
        let texts = &self.texts;
        let text = |text: &str| Value::from(text.to_owned());
        let city = destination.city.to_lowercase();
        let hotel_bodies = self.page(&texts.hotels, vec![text("listed"), text(&city), Value::from(501)])?;
        let hotels: Vec<Hotel<'_>> = parse_all(&hotel_bodies)?;
        let mut codes: Vec<Value> = hotels.iter().map(|hotel| text(hotel.listing_code)).collect();
        codes.extend([text("listed"), Value::from(401)]);
        let room_bodies = self.page(&texts.rooms, codes)?;
        let found_rooms: Vec<Room<'_>> = parse_all(&room_bodies)?;
        let mut codes: Vec<Value> = found_rooms.iter().map(|room| text(room.room_code)).collect();
        codes.extend([last.clone(), first.clone(), Value::from(20_001)]);
        let mut ids: Vec<Value> = found_rooms.iter().map(|room| text(room.id)).collect();
        ids.extend([first, last, text("live"), Value::from(1_801)]);
        let (found_rates, found_nights) = (self.page(&texts.rates, codes)?, self.page(&texts.nights, ids)?);
        let mut rates: HashMap<&str, Vec<Rate<'_>>> = HashMap::new();
        for rate in parse_all::<Rate<'_>>(&found_rates)? {
            rates.entry(rate.room_code).or_default().push(rate);
        }
        let mut taken: HashMap<(&str, &str), i64> = HashMap::new();
        for night in parse_all::<Night<'_>>(&found_nights)? {
            *taken.entry((night.room_id, night.night)).or_default() += night.rooms;
        }
        let mut rooms: HashMap<&str, Vec<RoomOption<'_>>> = HashMap::new();
        let nights: Vec<String> = nights.iter().map(Day::to_string).collect();
        let count = i64::try_from(nights.len())?;
        for room in found_rooms {
            let rates = rates.get(room.room_code).map(Vec::as_slice).unwrap_or_default();
            let (mut left, mut sum) = (i64::MAX, 0);
            for night in &nights {
                let covers = |rate: &&Rate<'_>| rate.from_night <= night.as_str() && night.as_str() <= rate.until_night;
                let rate = rates.iter().filter(covers).max_by_key(|rate| (rate.from_night, rate.rate_code));
                let booked = taken.get(&(room.id, night.as_str())).copied().unwrap_or_default();
                left = left.min(room.units - rate.map_or(0, |rate| rate.units_closed) - booked);
                sum += rate.map_or(room.base_price_inr, |rate| rate.price_inr);
            }
            let subtotal_inr = sum * party.rooms;
            let tax_inr = share(subtotal_inr, room.tax_percent, 100);
            rooms.entry(room.listing_code).or_default().push(RoomOption {
                room_id: room.id,
                name: room.name,
                max_guests: room.max_guests,
                bed_type: room.bed_type,
                meal_plan: room.meal_plan,
                units_left: left,
                price_per_night_inr: share(subtotal_inr, 1, count * party.rooms),
                subtotal_inr,
                tax_inr,
                total_inr: subtotal_inr + tax_inr,
            });
        }
        let mut found = Vec::new();
        for hotel in &hotels {
            let mut room_options = rooms.remove(hotel.listing_code).unwrap_or_default();
            room_options.sort_by_key(|room| (room.total_inr, room.room_id));
            let Some(cheapest) = room_options.first() else { continue };
            let (price_per_night_inr, total_inr) = (cheapest.price_per_night_inr, cheapest.total_inr);
            let code = hotel.listing_code;
            found.push((
                total_inr,
                hotel.guest_rating,
                code,
                Listing {
                    listing_id: hotel.id,
                    name: hotel.name,
                    city: hotel.city,
                    area: hotel.area,
                    address: hotel.address,
                    pincode: hotel.pincode,
                    country_code: "IN",
                    lat: hotel.latitude,
                    lng: hotel.longitude,
                    star_rating: hotel.star_rating,
                    guest_rating: hotel.guest_rating,
                    amenities: &hotel.amenities,
                    check_in_time: hotel.check_in_time,
                    check_out_time: hotel.check_out_time,
                    cancellation_policy: &hotel.cancellation_policy,
                    image_url: hotel.images.first().copied().unwrap_or_default(),
                    check_in: &dates.check_in,
                    check_out: &dates.check_out,
                    nights: nights.len(),
                    rooms: party.rooms,
                    currency: "INR",
                    price_per_night_inr,
                    total_inr,
                    room_options,
                },
            ));
        }
        found
            .sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)).then_with(|| one.2.cmp(other.2)));
        let listings: Vec<Listing<'_>> = found.into_iter().map(|(.., listing)| listing).take(20).collect();
        let price = |room: &RoomOption<'_>| (room.room_id.to_owned(), room.total_inr);
        let offers = Offers {
            check_in: dates.check_in.clone(),
            check_out: dates.check_out.clone(),
            adults: party.adults,
            children: party.children,
            rooms: party.rooms,
            prices: listings.iter().flat_map(|listing| &listing.room_options).map(price).collect(),
        };
        let found = Found {
            listings,
            result_token: serde_json::to_string(&offers)?,
            expires_at: SystemClock.now().plus_seconds(HELD_SECONDS).to_rfc3339(),
        };
        Ok(serde_json::to_string(&found)?)
    }

    /// The bodies of a page.
    fn page(&self, sql: &str, values: Vec<Value>) -> BenchResult<Vec<String>> {
        reading(&self.path, |connection| rows::bodies(connection, sql, TENANT, values))
    }

    /// What a booking needs of the room, read beside the writer.
    fn stay(&self, arguments: Arguments) -> BenchResult<NewStay> {
        let offers: Offers = serde_json::from_str(&arguments.result_token.ok_or("a token is needed")?)?;
        let room_id = arguments.room_id.ok_or("a room is needed")?;
        let price = offers.prices.iter().find(|(id, _)| *id == room_id).map(|(_, price)| *price);
        let nights = nights_between(&offers.check_in, &offers.check_out)?;
        let (room, hotel) = self.room(&room_id)?;
        let found: Room<'_> = serde_json::from_str(&room)?;
        let (first, last) = ends(&nights)?;
        let values = vec![Value::from(found.room_code.to_owned()), last, first, Value::from(20_001)];
        let rates = self.page(&self.texts.rates_of_room, values)?;
        let closed = parse_all::<Rate<'_>>(&rates)?.iter().map(|rate| rate.units_closed).max().unwrap_or_default();
        Ok(NewStay {
            key: arguments.idempotency_key.ok_or("a key is needed")?,
            request_id: arguments.request_id.unwrap_or_default(),
            guest: arguments.guest.ok_or("a guest is needed")?,
            units: found.units - closed,
            total_inr: price.ok_or("a room that was not offered")?,
            nights,
            room,
            hotel,
            offers,
        })
    }

    /// The room and its hotel.
    fn room(&self, id: &str) -> BenchResult<(String, String)> {
        reading(&self.path, |connection| {
            let one = |sql: &str, value: &str| -> BenchResult<String> {
                Ok(connection.prepare_cached(sql)?.query_row([TENANT, value], |row| row.get(3))?)
            };
            let room = one(&self.texts.get_room, id)?;
            let hotel = one(&self.texts.find_hotel, serde_json::from_str::<Room<'_>>(&room)?.listing_code)?;
            Ok((room, hotel))
        })
    }
}

/// The table of this name.
fn table(name: &str) -> BenchResult<&'static frontdesk_engine::model::table::TableSpec> {
    let found = frontdesk_contracts::tomo::listing::tables().into_iter().find(|table| table.name == name);
    found.ok_or_else(|| format!("no table {name}").into())
}
