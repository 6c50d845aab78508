//! What a hotel business sells: hotels, their kinds of rooms and their rates. They come in by import.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::RefundTier;
use crate::record::import::{Imported, Withdrawal};
use crate::record::{Day, Entity, FixedDecimal, Integer, List, NameText, Stored as _, Text};
use crate::tomo::booking::Rupees;
use crate::tomo::managed::{Managed, find_by_code};
use crate::{Record, Vocabulary};

/// Whether it is offered.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum OfferStatus { Listed, Withdrawn, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Amenity { Wifi, Parking, Pool, Gym, Spa, Restaurant, Bar, RoomService, AirConditioning, AirportShuttle, Laundry,
    PetFriendly, WheelchairAccess, PowerBackup, Elevator, FamilyRooms, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum BedType { Single, Twin, Double, Queen, King, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum MealPlan { RoomOnly, Breakfast, HalfBoard, FullBoard, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_listing", prefix = "lst", not_found = "NOT_FOUND", noun = "listing")]
pub struct HotelListing {
    /// The business's own code for it.
    #[field(create, unique)]
    pub listing_code: Text<40>,
    /// Name of the hotel.
    #[field(create, update)]
    pub name: Text<200>,
    /// City.
    #[field(create, update, column = "city_key", indexed)]
    pub city: NameText<80>,
    /// Part of the city.
    #[field(create, update)]
    pub area: Text<120>,
    /// Street and number.
    #[field(create, update)]
    pub address: Text<300>,
    /// Six digits.
    #[field(create, update)]
    pub pincode: Text<6>,
    /// Degrees north.
    #[field(create, update, column)]
    pub latitude: FixedDecimal<6, -90, 90>,
    /// Degrees east.
    #[field(create, update, column)]
    pub longitude: FixedDecimal<6, -180, 180>,
    /// Stars.
    #[field(create, update)]
    pub star_rating: Integer<1, 5>,
    /// What guests gave it on average, of 5.
    #[field(create, update)]
    pub guest_rating: Option<FixedDecimal<1, 0, 5>>,
    /// What it has.
    #[field(create, update)]
    #[default(List::default())]
    pub amenities: List<Amenity, 30>,
    /// Addresses of pictures, the best first.
    #[field(create, update)]
    #[default(List::default())]
    pub images: List<Text<2000>, 20>,
    /// In a few sentences.
    #[field(create, update)]
    pub description: Option<Text<2000>>,
    /// Local time from which rooms are ready, such as 14:00.
    #[field(create, update)]
    pub check_in_time: Text<5>,
    /// Local time until which rooms are left, such as 11:00.
    #[field(create, update)]
    pub check_out_time: Text<5>,
    /// What is paid back: the tier with the most hours that are still left counts, and nothing after the last one.
    #[field(create, update)]
    #[default(List::default())]
    pub cancellation_policy: List<RefundTier, 10>,
    /// Whether it is offered.
    #[field(create, update, known, indexed)]
    #[default(OfferStatus::Listed)]
    pub status: OfferStatus,
}

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_room", prefix = "rmk", not_found = "NOT_FOUND", noun = "room")]
pub struct RoomKind {
    /// The business's own code for it.
    #[field(create, unique)]
    pub room_code: Text<40>,
    /// The listing_code of its hotel.
    #[field(create, indexed)]
    pub listing_code: Text<40>,
    /// What the hotel calls it.
    #[field(create, update)]
    pub name: Text<120>,
    /// How many people sleep in one such room.
    #[field(create, update)]
    pub max_guests: Integer<1, 20>,
    /// How many such rooms there are.
    #[field(create, update)]
    pub units: Integer<0, 10_000>,
    /// Beds.
    #[field(create, update, known)]
    pub bed_type: BedType,
    /// What is served.
    #[field(create, update, known)]
    #[default(MealPlan::RoomOnly)]
    pub meal_plan: MealPlan,
    /// Price of a room for a night without a rate, in whole rupees before tax.
    #[field(create, update)]
    pub base_price_inr: Rupees,
    /// Tax on the price, in percent.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub tax_percent: Integer<0, 100>,
    /// Whether it is offered.
    #[field(create, update, known, indexed)]
    #[default(OfferStatus::Listed)]
    pub status: OfferStatus,
}

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_rate", prefix = "rat", not_found = "NOT_FOUND", noun = "rate")]
pub struct RoomRate {
    /// The business's own code for it.
    #[field(create, unique)]
    pub rate_code: Text<60>,
    /// The room_code that it is for.
    #[field(create, indexed)]
    pub room_code: Text<40>,
    /// The first night.
    #[field(create, update, column)]
    pub from_night: Day,
    /// The last night.
    #[field(create, update, column)]
    pub until_night: Day,
    /// Price of a room for a night, in whole rupees before tax.
    #[field(create, update)]
    pub price_inr: Rupees,
    /// How many rooms of the kind cannot be booked in these nights.
    #[field(create, update)]
    #[default(Integer::constant::<0>())]
    pub units_closed: Integer<0, 10_000>,
}

/// What a feed no longer lists is no longer offered; bookings of it stay.
const WITHDRAWAL: Withdrawal = Withdrawal { field: "status", listed: &["listed"], withdrawn: "withdrawn" };

/// What a feed lists again is offered again.
fn list_again(status: OfferStatus, arguments: &mut Map<String, Value>) {
    if status == OfferStatus::Withdrawn {
        arguments.entry("status").or_insert_with(|| Value::from("listed"));
    }
}

impl Imported for HotelListing {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &HotelListing, arguments: &mut Map<String, Value>) {
        list_again(record.status, arguments);
    }
}

impl Managed for HotelListing {
    async fn check(&mut self, _: &Permitted<'_>) -> Result<(), Fault> {
        let mut problems = Vec::new();
        let mut wrong =
            |pointer: &str, expected: &str| problems.push(Problem::new(pointer, "pattern", expected.to_owned()));
        if self.pincode.len() != 6 || !self.pincode.bytes().all(|byte| byte.is_ascii_digit()) {
            wrong("/pincode", "a pincode has 6 digits");
        }
        for (pointer, time) in [("/check_in_time", &self.check_in_time), ("/check_out_time", &self.check_out_time)] {
            if super::dates::minutes(time).is_none() {
                wrong(pointer, "a local time such as 14:00 is expected");
            }
        }
        for (place, image) in self.images.iter().enumerate() {
            if !image.starts_with("https://") || image.contains(char::is_whitespace) {
                wrong(&format!("/images/{place}"), "an https address is expected");
            }
        }
        // In the order in which they are looked at.
        self.cancellation_policy.sort_by_key(|tier| std::cmp::Reverse(tier.hours_before.get()));
        let tiers = self.cancellation_policy.iter().zip(self.cancellation_policy.iter().skip(1));
        if tiers.clone().any(|(earlier, later)| earlier.hours_before == later.hours_before) {
            wrong("/cancellation_policy", "two tiers have the same hours_before");
        } else if tiers.clone().any(|(earlier, later)| earlier.refund_percent < later.refund_percent) {
            wrong("/cancellation_policy", "who cancels earlier must not get less back");
        }
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

impl Imported for RoomKind {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &RoomKind, arguments: &mut Map<String, Value>) {
        list_again(record.status, arguments);
    }
}

impl Managed for RoomKind {
    async fn check(&mut self, permitted: &Permitted<'_>) -> Result<(), Fault> {
        let known: Option<Entity<HotelListing>> = find_by_code(permitted, "listing_code", &self.listing_code).await?;
        let unknown =
            || Fault::invalid_argument("/listing_code", "enum", "there is no listing with this code; import it first");
        known.map(drop).ok_or_else(unknown)
    }
}

impl Imported for RoomRate {}

impl Managed for RoomRate {
    async fn check(&mut self, permitted: &Permitted<'_>) -> Result<(), Fault> {
        if self.until_night < self.from_night {
            return Err(Fault::invalid_argument("/until_night", "minimum", "it must not lie before from_night"));
        }
        let known: Option<Entity<RoomKind>> = find_by_code(permitted, "room_code", &self.room_code).await?;
        let unknown =
            || Fault::invalid_argument("/room_code", "enum", "there is no room with this code; import it first");
        known.map(drop).ok_or_else(unknown)
    }
}

impl HotelListing {
    /// The one with this id, if it is offered.
    pub(super) async fn load(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<HotelListing>>, Fault> {
        let row = permitted.get(HotelListing::table(), id).await?;
        let listing: Option<Entity<HotelListing>> =
            row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()?;
        Ok(listing.filter(|listing| listing.record.status == OfferStatus::Listed))
    }
}
