//! Made-up dealerships for the demo, two large ones in America and a small one in India, the same on every machine for the same `now`. It must never read the clock,
//! nor contain a real person, address or telephone number.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what the demo makes up for most words of a vocabulary need not be decided again for a new one"
)]

mod bengaluru;
pub(super) mod catalogue;
mod comments;
mod consents;
mod credit;
mod deals;
mod leads;
mod market;
mod parts;
mod people;
mod rng;
pub mod rows;
mod service;
mod stock;

use time::OffsetDateTime;

use super::customer::CustomerKind;
use super::lead::{Channel, Interest, LeadStatus, LostReason, Timeframe};
use super::vehicle::{BodyStyle, Drivetrain, FuelType, Transmission, VehicleCondition, VehicleStatus};
use super::vin::Vin;
use rng::DemoRng;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoDealership {
    pub id: &'static str,
    pub name: &'static str,
    pub city: &'static str,
    pub region: &'static str,
    pub country: &'static str,
    /// IANA time zone.
    pub time_zone: &'static str,
    pub vehicles: Vec<DemoVehicle>,
    pub customers: Vec<DemoCustomer>,
    pub leads: Vec<DemoLead>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoVehicle {
    pub vin: Vin,
    pub stock_number: String,
    pub condition: VehicleCondition,
    pub year: u16,
    pub make: &'static str,
    pub model: &'static str,
    pub trim: &'static str,
    pub body_style: BodyStyle,
    pub doors: u8,
    /// In the unit of its country.
    pub mileage: i64,
    pub exterior_color: &'static str,
    pub interior_color: &'static str,
    pub engine: &'static str,
    pub transmission: Transmission,
    pub drivetrain: Drivetrain,
    pub fuel_type: FuelType,
    pub options: Vec<DemoOption>,
    /// In hundredths of the currency, as `msrp_minor`.
    pub price_minor: i64,
    pub msrp_minor: Option<i64>,
    pub currency: &'static str,
    pub status: VehicleStatus,
    pub in_stock_days_ago: i64,
    pub in_stock_at: OffsetDateTime,
    pub description: String,
    pub media_count: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoOption {
    pub code: &'static str,
    pub name: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoCustomer {
    pub kind: CustomerKind,
    /// Set for a business; the names are then those of the person to talk to.
    pub company: Option<&'static str>,
    pub given_name: &'static str,
    pub family_name: &'static str,
    pub email: String,
    pub phone: String,
    pub city: &'static str,
    pub region: &'static str,
    pub country: &'static str,
    /// In hundredths of the currency of the dealership.
    pub lifetime_value_minor: i64,
    pub vehicle_of_interest: DemoInterest,
    pub created_days_ago: i64,
    pub created_at: OffsetDateTime,
    /// When the customer last bought; set exactly when there is a lifetime value.
    pub latest_sale_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoInterest {
    pub make: &'static str,
    pub model: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoLead {
    /// Index into the dealership's customers.
    pub customer: usize,
    /// Index into the dealership's vehicles.
    pub vehicle: Option<usize>,
    pub status: LeadStatus,
    pub interest: Interest,
    pub channel: Channel,
    pub provider: &'static str,
    pub owner: DemoEmployee,
    pub comments: &'static str,
    pub timeframe: Timeframe,
    pub received_days_ago: i64,
    pub received_at: OffsetDateTime,
    pub updated_days_ago: i64,
    pub updated_at: OffsetDateTime,
    pub lost_reason: Option<LostReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoEmployee {
    pub id: &'static str,
    pub name: &'static str,
}

pub use bengaluru::dealership as indian_dealership;

/// The id and the name of each dealership.
pub const NAMES: [(&str, &str); 3] =
    [(LAKESIDE.id, LAKESIDE.name), (SUMMIT.id, SUMMIT.name), (bengaluru::ID, bengaluru::NAME)];

/// The two dealerships in America as of `now`. One vehicle is offered by both.
pub fn dealerships(now: OffsetDateTime) -> Vec<DemoDealership> {
    // Whole seconds, the precision of published times.
    let now = now - time::Duration::nanoseconds(i64::from(now.nanosecond()));
    let lakeside = dealership(&LAKESIDE, now);
    let mut summit = dealership(&SUMMIT, now);
    if let Some(shared) = stock::shared(&lakeside.vehicles, &SUMMIT, now) {
        summit.vehicles.push(shared);
    }
    vec![lakeside, summit]
}

/// The parameters from which a dealership is generated.
struct DealershipSpec {
    id: &'static str,
    name: &'static str,
    city: &'static str,
    region: &'static str,
    country: &'static str,
    time_zone: &'static str,
    /// The first letter of the stock numbers.
    stock_prefix: &'static str,
    /// Different for each dealership, so that no serial number occurs in both.
    seed: u64,
    first_serial: u32,
    /// By how many items the catalogue and the name lists are rotated.
    rotation: usize,
    towns: [people::Town; 8],
    employees: [DemoEmployee; 6],
}

const LAKESIDE: DealershipSpec = DealershipSpec {
    id: "dlr_lakeside",
    name: "Lakeside Motors",
    city: "Buffalo",
    region: "NY",
    country: "US",
    time_zone: "America/New_York",
    stock_prefix: "L",
    seed: 0x1a6e_51de,
    first_serial: 100_000,
    rotation: 0,
    towns: people::AROUND_LAKESIDE,
    employees: people::LAKESIDE_TEAM,
};

const SUMMIT: DealershipSpec = DealershipSpec {
    id: "dlr_summit",
    name: "Summit Auto Gallery",
    city: "Denver",
    region: "CO",
    country: "US",
    time_zone: "America/Denver",
    stock_prefix: "S",
    seed: 0x5044_1717,
    first_serial: 500_000,
    rotation: 5,
    towns: people::AROUND_SUMMIT,
    employees: people::SUMMIT_TEAM,
};

fn dealership(spec: &DealershipSpec, now: OffsetDateTime) -> DemoDealership {
    let mut rng = DemoRng::new(spec.seed);
    let vehicles = stock::vehicles(spec, &mut rng, now);
    let customers = people::customers(spec, &mut rng, now);
    let leads = leads::leads(spec, &mut rng, now, &vehicles, &customers);
    DemoDealership {
        id: spec.id,
        name: spec.name,
        city: spec.city,
        region: spec.region,
        country: spec.country,
        time_zone: spec.time_zone,
        vehicles,
        customers,
        leads,
    }
}
