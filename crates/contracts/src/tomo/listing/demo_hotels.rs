//! The made-up hotels of the demo. None of them exists.

use super::hotel::Amenity::{self, *};
use super::hotel::BedType::{self, *};
use super::hotel::MealPlan::{self, *};

pub(super) struct DemoHotel {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) city: &'static str,
    pub(super) area: &'static str,
    pub(super) address: &'static str,
    pub(super) pincode: &'static str,
    /// Millionths of a degree.
    pub(super) at: (i64, i64),
    pub(super) stars: i64,
    /// Tenths.
    pub(super) rating: i64,
    /// Of the smallest kind of room.
    pub(super) price_inr: i64,
    pub(super) amenities: &'static [Amenity],
    /// Hours and percent.
    pub(super) policy: &'static [(i64, i64)],
}

pub(super) struct DemoRoom {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) bed: BedType,
    pub(super) meals: MealPlan,
    pub(super) max_guests: i64,
    pub(super) units: i64,
    /// Of the hotel's price, in percent.
    pub(super) price_percent: i64,
}

/// Every hotel has one of each.
pub(super) const ROOMS: [DemoRoom; 3] = [
    DemoRoom {
        code: "STD",
        name: "Standard room",
        bed: Queen,
        meals: RoomOnly,
        max_guests: 2,
        units: 12,
        price_percent: 100,
    },
    DemoRoom {
        code: "DLX",
        name: "Deluxe room",
        bed: King,
        meals: Breakfast,
        max_guests: 3,
        units: 8,
        price_percent: 145,
    },
    DemoRoom {
        code: "FAM",
        name: "Family suite",
        bed: King,
        meals: Breakfast,
        max_guests: 5,
        units: 3,
        price_percent: 230,
    },
];

const FLEXIBLE: &[(i64, i64)] = &[(48, 100), (24, 50)];
const MODERATE: &[(i64, i64)] = &[(120, 100), (48, 50), (24, 25)];
const STRICT: &[(i64, i64)] = &[(168, 50)];

const BASIC: &[Amenity] = &[Wifi, AirConditioning, PowerBackup, Laundry];
const MIDDLE: &[Amenity] = &[Wifi, AirConditioning, PowerBackup, Parking, Restaurant, RoomService, Elevator];
const GRAND: &[Amenity] = &[
    Wifi,
    AirConditioning,
    PowerBackup,
    Parking,
    Restaurant,
    Bar,
    RoomService,
    Elevator,
    Pool,
    Gym,
    Spa,
    AirportShuttle,
    WheelchairAccess,
    FamilyRooms,
];

#[rustfmt::skip]
pub(super) const HOTELS: [DemoHotel; 12] = [
    DemoHotel { code: "BLR-COPPER", name: "Copper Leaf Residency", city: "Bengaluru", area: "Indiranagar", address: "14 Sample Road", pincode: "560038", at: (12_971_900, 77_641_200), stars: 3, rating: 41, price_inr: 2_800, amenities: MIDDLE, policy: FLEXIBLE },
    DemoHotel { code: "BLR-MONSOON", name: "Monsoon Court", city: "Bengaluru", area: "Koramangala", address: "3 Example Main", pincode: "560034", at: (12_935_200, 77_624_500), stars: 4, rating: 44, price_inr: 4_600, amenities: GRAND, policy: MODERATE },
    DemoHotel { code: "BLR-LAKEVIEW", name: "Halasuru Lake View Inn", city: "Bengaluru", area: "Halasuru", address: "88 Test Street", pincode: "560008", at: (12_982_400, 77_619_300), stars: 2, rating: 38, price_inr: 1_900, amenities: BASIC, policy: FLEXIBLE },
    DemoHotel { code: "BLR-SILVEROAK", name: "Silver Oak Grand", city: "Bengaluru", area: "Whitefield", address: "1 Sample Park", pincode: "560066", at: (12_969_800, 77_750_000), stars: 5, rating: 47, price_inr: 8_400, amenities: GRAND, policy: STRICT },
    DemoHotel { code: "HYD-PEARL", name: "Pearl Arcade Hotel", city: "Hyderabad", area: "Banjara Hills", address: "20 Example Avenue", pincode: "500034", at: (17_412_300, 78_448_000), stars: 4, rating: 43, price_inr: 4_200, amenities: GRAND, policy: MODERATE },
    DemoHotel { code: "HYD-CHARMINAR", name: "Minar Lane Guest House", city: "Hyderabad", area: "Pathergatti", address: "7 Sample Lane", pincode: "500002", at: (17_361_600, 78_474_700), stars: 2, rating: 39, price_inr: 1_600, amenities: BASIC, policy: FLEXIBLE },
    DemoHotel { code: "HYD-CYBER", name: "Cyber Garden Suites", city: "Hyderabad", area: "Gachibowli", address: "55 Example Campus", pincode: "500032", at: (17_440_100, 78_348_900), stars: 3, rating: 42, price_inr: 3_100, amenities: MIDDLE, policy: FLEXIBLE },
    DemoHotel { code: "HYD-DECCAN", name: "Deccan Crown", city: "Hyderabad", area: "Hitech City", address: "9 Test Boulevard", pincode: "500081", at: (17_443_500, 78_377_200), stars: 5, rating: 46, price_inr: 7_900, amenities: GRAND, policy: STRICT },
    DemoHotel { code: "BOM-GATEWAY", name: "Harbour Gate House", city: "Mumbai", area: "Colaba", address: "2 Sample Pier", pincode: "400001", at: (18_921_700, 72_833_000), stars: 4, rating: 45, price_inr: 6_800, amenities: GRAND, policy: MODERATE },
    DemoHotel { code: "BOM-JUHU", name: "Juhu Palm Stay", city: "Mumbai", area: "Juhu", address: "31 Example Beach Road", pincode: "400049", at: (19_107_500, 72_826_300), stars: 3, rating: 40, price_inr: 3_900, amenities: MIDDLE, policy: FLEXIBLE },
    DemoHotel { code: "BOM-ANDHERI", name: "Airport Road Lodge", city: "Mumbai", area: "Andheri East", address: "120 Test Road", pincode: "400069", at: (19_115_500, 72_872_700), stars: 2, rating: 37, price_inr: 2_300, amenities: BASIC, policy: FLEXIBLE },
    DemoHotel { code: "BOM-WORLI", name: "Worli Sea Terrace", city: "Mumbai", area: "Worli", address: "5 Sample Sea Face", pincode: "400018", at: (19_017_600, 72_816_200), stars: 5, rating: 48, price_inr: 11_500, amenities: GRAND, policy: STRICT },
];
