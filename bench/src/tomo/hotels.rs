//! A made-up hotel business in ten cities.

use frontdesk::system::SystemClock;
use frontdesk_contracts::record::{Day, FixedDecimal, Integer, List};
use frontdesk_contracts::tomo::listing::RefundTier;
use frontdesk_contracts::tomo::listing::hotel::{
    Amenity, BedType, HotelListing, MealPlan, OfferStatus, RoomKind, RoomRate,
};
use frontdesk_engine::ports::Clock as _;
use time::{Duration, OffsetDateTime};

use super::folders::NewRows;
use crate::BenchResult;

pub const TENANT: &str = "htl_bench";
pub const INTENT: &str = "travel.book_hotel";
/// None of them has another name, so that each is searched for by one.
pub const CITIES: [&str; 10] =
    ["Agra", "Ahmedabad", "Bhopal", "Delhi", "Hyderabad", "Indore", "Jaipur", "Lucknow", "Nagpur", "Surat"];
/// As many as an answer has at most.
pub const HOTELS_OF_A_CITY: usize = 20;
pub const HOTELS: usize = CITIES.len() * HOTELS_OF_A_CITY;
pub const ROOMS_OF_A_CITY: usize = HOTELS_OF_A_CITY * ROOMS.len();

const ROOMS: [(&str, i64, BedType); 3] =
    [("Standard", 100, BedType::Queen), ("Deluxe", 130, BedType::King), ("Twin", 110, BedType::Twin)];
/// More than are booked in a run.
const UNITS: i64 = 10_000;
/// The first night that is searched for, in days from today; the rates cover all of them.
const FIRST_NIGHT: i64 = 200;
const RATE_DAYS: [i64; 2] = [100, 500];

/// The days of arrival and departure of a caller.
pub fn nights(caller: usize) -> [String; 2] {
    let first = FIRST_NIGHT + 2 * i64::try_from(caller).unwrap_or_default();
    [day(first), day(first + 2)]
}

fn day(days_ahead: i64) -> String {
    let now = OffsetDateTime::from_unix_timestamp(SystemClock.now().seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let date = (now + Duration::days(days_ahead)).date();
    format!("{}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}

pub fn add(rows: &mut NewRows) -> BenchResult<()> {
    let [from, until] = RATE_DAYS.map(|ahead| Day::parse(&day(ahead)));
    let (from_night, until_night) = from.zip(until).ok_or("a day is not one")?;
    for number in 0..HOTELS {
        let hotel = hotel(number);
        for (place, (name, percent, bed_type)) in ROOMS.into_iter().enumerate() {
            let price = base_price(number) * percent / 100;
            let room = RoomKind {
                room_code: format!("{}-{place}", &*hotel.listing_code).as_str().into(),
                listing_code: hotel.listing_code.clone(),
                name: name.into(),
                max_guests: Integer::clamped(3),
                units: Integer::clamped(UNITS),
                bed_type,
                meal_plan: MealPlan::Breakfast,
                base_price_inr: Integer::clamped(price),
                tax_percent: Integer::clamped(12),
                status: OfferStatus::Listed,
            };
            rows.add(RoomRate {
                rate_code: format!("{}-R", &*room.room_code).as_str().into(),
                room_code: room.room_code.clone(),
                from_night,
                until_night,
                price_inr: Integer::clamped(price * 5 / 4),
                units_closed: Integer::constant::<0>(),
            });
            rows.add(room);
        }
        rows.add(hotel);
    }
    Ok(())
}

fn base_price(hotel: usize) -> i64 {
    3_000 + i64::try_from(hotel).unwrap_or_default() * 37 % 4_000
}

fn hotel(number: usize) -> HotelListing {
    let city = CITIES.get(number / HOTELS_OF_A_CITY).copied().unwrap_or_default();
    let place = i64::try_from(number).unwrap_or_default();
    let tier = |hours, percent| RefundTier {
        hours_before: Integer::clamped(hours),
        refund_percent: Integer::clamped(percent),
    };
    let image = |image: usize| format!("https://media.example.com/hotels/{number}/{image}.jpg").as_str().into();
    HotelListing {
        listing_code: format!("H{number:04}").as_str().into(),
        name: format!("Hotel {number} of {city}").as_str().into(),
        city: city.into(),
        area: "Old Town".into(),
        address: format!("{number} Station Road").as_str().into(),
        pincode: format!("{:06}", 110_000 + number).as_str().into(),
        latitude: FixedDecimal::scaled(20_000_000 + place * 1_000),
        longitude: FixedDecimal::scaled(75_000_000 + place * 1_000),
        star_rating: Integer::clamped(3 + place % 3),
        guest_rating: Some(FixedDecimal::scaled(35 + place % 14)),
        amenities: List(vec![Amenity::Wifi, Amenity::Parking, Amenity::Restaurant, Amenity::AirConditioning]),
        images: List((1..=3).map(image).collect()),
        description: Some(format!("A made-up hotel in the old town of {city}, near the station.").as_str().into()),
        check_in_time: "14:00".into(),
        check_out_time: "11:00".into(),
        cancellation_policy: List(vec![tier(48, 100), tier(24, 50)]),
        status: OfferStatus::Listed,
    }
}
