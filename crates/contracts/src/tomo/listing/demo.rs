//! A made-up hotel business for the demo, the same on every machine.

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, TenantId};

use super::RefundTier;
use super::demo_hotels::{DemoHotel, DemoRoom, HOTELS, ROOMS};
use super::hotel::{HotelListing, OfferStatus, RoomKind, RoomRate};
use super::price::share;
use crate::record::{Day, Entity, FixedDecimal, Integer, List, Stored};
use crate::tomo::TENANT;

/// The hotel business: its id and its name.
pub const BUSINESS: (&str, &str) = ("htl_monsoon", "Monsoon Stays");

/// The weeks around the end of the year cost more, in percent.
const SEASONS: [(&str, &str, &str, i64); 3] = [
    ("YE26", "2026-12-20", "2027-01-03", 140),
    ("YE27", "2027-12-20", "2028-01-03", 140),
    ("YE28", "2028-12-20", "2029-01-03", 140),
];

/// Its hotels, rooms and rates, as steps to commit. `new_id` generates an id with a prefix.
pub fn rows(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> (Vec<Step>, Vec<Event>) {
    // Whole seconds, the precision of published times.
    let now = Millis(now.seconds() * 1000);
    let mut rows = DemoRows { now, new_id, steps: Vec::new(), events: Vec::new() };
    for hotel in &HOTELS {
        rows.add(listing(hotel));
        for room in &ROOMS {
            let kind = room_kind(hotel, room);
            for (name, from, until, percent) in SEASONS {
                let dates = Day::parse(from).zip(Day::parse(until));
                if let Some(dates) = dates {
                    rows.add(rate(&kind, name, dates, percent));
                }
            }
            rows.add(kind);
        }
    }
    (rows.steps, rows.events)
}

struct DemoRows<'a> {
    now: Millis,
    new_id: &'a mut dyn FnMut(&str) -> String,
    steps: Vec<Step>,
    events: Vec<Event>,
}

impl DemoRows<'_> {
    fn add<R: Stored>(&mut self, record: R) {
        // The id of the demo's business is valid, so this does not happen.
        let Some(tenant) = TenantId::parse(BUSINESS.0) else { return };
        let entity = Entity::new((self.new_id)(R::ID_PREFIX), tenant, self.now, record);
        self.events.push(Event { kind: R::TABLE_NAME, id: entity.id.clone(), change: Change::Created });
        let on_duplicate = Fault::internal("demo data exists already");
        self.steps.push(Step::Insert { table: R::table(), row: entity.row(TENANT), on_duplicate });
    }
}

fn listing(hotel: &DemoHotel) -> HotelListing {
    let image = |number: usize| {
        format!("https://media.example.com/hotels/{}/{number}.jpg", hotel.code.to_lowercase()).as_str().into()
    };
    let tier = |(hours, percent): &(i64, i64)| RefundTier {
        hours_before: Integer::clamped(*hours),
        refund_percent: Integer::clamped(*percent),
    };
    let about = format!("A made-up hotel in {}, {}, with {} stars.", hotel.area, hotel.city, hotel.stars);
    HotelListing {
        listing_code: hotel.code.into(),
        name: hotel.name.into(),
        city: hotel.city.into(),
        area: hotel.area.into(),
        address: hotel.address.into(),
        pincode: hotel.pincode.into(),
        latitude: FixedDecimal::scaled(hotel.at.0),
        longitude: FixedDecimal::scaled(hotel.at.1),
        star_rating: Integer::clamped(hotel.stars),
        guest_rating: Some(FixedDecimal::scaled(hotel.rating)),
        amenities: List(hotel.amenities.to_vec()),
        images: List((1..=3).map(image).collect()),
        description: Some(about.as_str().into()),
        check_in_time: "14:00".into(),
        check_out_time: "11:00".into(),
        cancellation_policy: List(hotel.policy.iter().map(tier).collect()),
        status: OfferStatus::Listed,
    }
}

fn room_kind(hotel: &DemoHotel, room: &DemoRoom) -> RoomKind {
    let price = share(hotel.price_inr, room.price_percent, 100);
    RoomKind {
        room_code: format!("{}-{}", hotel.code, room.code).as_str().into(),
        listing_code: hotel.code.into(),
        name: room.name.into(),
        max_guests: Integer::clamped(room.max_guests),
        units: Integer::clamped(room.units),
        bed_type: room.bed,
        meal_plan: room.meals,
        base_price_inr: Integer::clamped(price),
        // Rooms for more than 7,500 rupees are taxed higher.
        tax_percent: Integer::clamped(if price > 7_500 { 18 } else { 12 }),
        status: OfferStatus::Listed,
    }
}

fn rate(room: &RoomKind, name: &str, (from, until): (Day, Day), percent: i64) -> RoomRate {
    RoomRate {
        rate_code: format!("{}-{name}", &*room.room_code).as_str().into(),
        room_code: room.room_code.clone(),
        from_night: from,
        until_night: until,
        price_inr: Integer::clamped(share(room.base_price_inr.get(), percent, 100)),
        units_closed: Integer::constant::<0>(),
    }
}
