//! The small dealership in India: used cars that people buy there, priced in rupees. Its people are made up, and no
//! telephone number can be one: a number in India does not begin with 0.

use time::{Duration, OffsetDateTime};

use super::market::{INDIA, market};
use super::{DemoCustomer, DemoDealership, DemoEmployee, DemoInterest, DemoLead, DemoOption, DemoVehicle};
use crate::automotive::customer::CustomerKind;
use crate::automotive::lead::{Channel, Interest, LeadStatus, Timeframe};
use crate::automotive::vehicle::{BodyStyle, Drivetrain, FuelType, Transmission, VehicleCondition, VehicleStatus};
use crate::automotive::vin::Vin;

pub(super) const ID: &str = "dlr_bengaluru";
pub(super) const NAME: &str = "Lakeside Motors Bengaluru";
const CITY: &str = "Bengaluru";
const REGION: &str = "KA";

/// The dealership as of `now`.
pub fn dealership(now: OffsetDateTime) -> DemoDealership {
    // Whole seconds, the precision of published times.
    let now = now - Duration::nanoseconds(i64::from(now.nanosecond()));
    let cars = MODELS.iter().enumerate().flat_map(|(place, model)| [(place, 0, model), (place, 1, model)]);
    DemoDealership {
        id: ID,
        name: NAME,
        city: CITY,
        region: REGION,
        country: INDIA,
        time_zone: "Asia/Kolkata",
        vehicles: cars.filter_map(|(place, second, model)| car(now, place, second, model)).collect(),
        customers: CUSTOMERS.iter().enumerate().map(|(place, who)| customer(now, place, *who)).collect(),
        leads: LEADS.iter().map(|wish| lead(now, wish)).collect(),
    }
}

/// Positions 1 to 8 and 11 of its VINs, make, model, trim, body style, engine, transmission, drivetrain and fuel; the
/// first year of sale, and the price of a three years old one in thousands of rupees.
struct IndianModel(
    (&'static str, char),
    [&'static str; 3],
    BodyStyle,
    (&'static str, Transmission, Drivetrain, FuelType),
    (u16, i64),
);

use BodyStyle::{Hatchback, Sedan, Suv};
use Drivetrain::{FourWd, Fwd, Rwd};
use FuelType::{Diesel, Electric, Gasoline, Hybrid, NaturalGas};
use Transmission::{AutomatedManual, Automatic, Cvt, DirectDrive, DualClutch, Manual};

#[rustfmt::skip]
const MODELS: [IndianModel; 20] = [
    IndianModel(("MA3EWDE1", 'S'), ["Maruti Suzuki", "Swift", "VXi"], Hatchback, ("1.2L petrol", Manual, Fwd, Gasoline), (2018, 590)),
    IndianModel(("MALPC8A1", 'M'), ["Hyundai", "Creta", "SX"], Suv, ("1.5L petrol", Cvt, Fwd, Gasoline), (2020, 1_240)),
    IndianModel(("MAT629A1", 'P'), ["Tata", "Nexon", "XZ Plus"], Suv, ("1.5L turbo diesel", Manual, Fwd, Diesel), (2018, 850)),
    IndianModel(("MA1NE2A1", 'K'), ["Mahindra", "XUV700", "AX7"], Suv, ("2.2L turbo diesel", Automatic, Fwd, Diesel), (2021, 1_890)),
    IndianModel(("MAKGN2A1", 'N'), ["Honda", "City", "ZX"], Sedan, ("1.5L petrol", Cvt, Fwd, Gasoline), (2020, 1_080)),
    IndianModel(("MBJAA8A1", 'T'), ["Toyota", "Innova Crysta", "GX"], Suv, ("2.4L turbo diesel", Manual, Rwd, Diesel), (2018, 1_760)),
    IndianModel(("MZBEN8A1", 'A'), ["Kia", "Seltos", "HTX"], Suv, ("1.5L turbo diesel", Manual, Fwd, Diesel), (2019, 1_260)),
    IndianModel(("MA3FJEB1", 'S'), ["Maruti Suzuki", "Baleno", "Zeta"], Hatchback, ("1.2L petrol", AutomatedManual, Fwd, Gasoline), (2018, 690)),
    IndianModel(("MALBM5B1", 'M'), ["Hyundai", "i20", "Asta"], Hatchback, ("1.0L turbo petrol", DualClutch, Fwd, Gasoline), (2020, 820)),
    IndianModel(("MAT631B1", 'P'), ["Tata", "Punch", "Adventure"], Suv, ("1.2L petrol", Manual, Fwd, Gasoline), (2021, 660)),
    IndianModel(("MA1TA2C1", 'K'), ["Mahindra", "Thar", "LX Hard Top"], Suv, ("2.2L turbo diesel", Automatic, FourWd, Diesel), (2020, 1_420)),
    IndianModel(("MAKDF1B1", 'N'), ["Honda", "Amaze", "VX"], Sedan, ("1.2L petrol", Manual, Fwd, Gasoline), (2018, 610)),
    IndianModel(("MBJHY3B1", 'T'), ["Toyota", "Urban Cruiser Hyryder", "V Hybrid"], Suv, ("1.5L petrol hybrid", Cvt, Fwd, Hybrid), (2022, 1_650)),
    IndianModel(("MZBFB8B1", 'A'), ["Kia", "Sonet", "HTK Plus"], Suv, ("1.2L petrol", Manual, Fwd, Gasoline), (2020, 790)),
    IndianModel(("MA3NYFB1", 'S'), ["Maruti Suzuki", "Ertiga", "VXi CNG"], Suv, ("1.5L CNG", Manual, Fwd, NaturalGas), (2019, 940)),
    IndianModel(("MALCU4C1", 'M'), ["Hyundai", "Venue", "S Plus"], Suv, ("1.2L petrol", Manual, Fwd, Gasoline), (2019, 780)),
    IndianModel(("MAT643E1", 'P'), ["Tata", "Nexon EV", "XZ Plus Lux"], Suv, ("Electric motor, 30 kWh", DirectDrive, Fwd, Electric), (2020, 1_120)),
    IndianModel(("MA1PB2D1", 'K'), ["Mahindra", "Bolero", "B6"], Suv, ("1.5L turbo diesel", Manual, Rwd, Diesel), (2018, 760)),
    IndianModel(("MA3RKDA1", 'S'), ["Maruti Suzuki", "WagonR", "ZXi"], Hatchback, ("1.2L petrol", AutomatedManual, Fwd, Gasoline), (2019, 520)),
    IndianModel(("MBJFJ5C1", 'T'), ["Toyota", "Glanza", "G"], Hatchback, ("1.2L petrol", Manual, Fwd, Gasoline), (2019, 650)),
];

const NEWEST: u16 = 2024;
const COLORS: [&str; 7] =
    ["Pearl White", "Silky Silver", "Granite Grey", "Midnight Black", "Fire Red", "Nexa Blue", "Polar White"];
const EQUIPMENT: [DemoOption; 5] = [
    DemoOption { code: "CAM", name: "Rear view camera" },
    DemoOption { code: "CLIMATE", name: "Automatic climate control" },
    DemoOption { code: "SUNROOF", name: "Electric sunroof" },
    DemoOption { code: "ALLOY", name: "Alloy wheels" },
    DemoOption { code: "CARPLAY", name: "Touchscreen with phone connection" },
];

/// One of the two cars of a model.
fn car(now: OffsetDateTime, place: usize, second: usize, model: &IndianModel) -> Option<DemoVehicle> {
    let IndianModel((descriptor, plant), [make, name, trim], body_style, drive, (first_year, price)) = model;
    let (engine, transmission, drivetrain, fuel_type) = *drive;
    let number = place * 2 + second;
    let step = u16::try_from(number % 4).ok()?;
    let year = NEWEST.saturating_sub(step).max(*first_year);
    let age = i64::from(NEWEST.saturating_sub(year));
    let number_in = i64::try_from(number).ok()?;
    let vin = Vin::assemble(descriptor, year, *plant, 310_000 + u32::try_from(number).ok()? * 17)?;
    let is_certified = number.is_multiple_of(3);
    let mileage = 6_000 + age * 11_400 + number_in * 487 % 5_000;
    // Eight per cent a year from the middle, and whole hundreds of rupees.
    let rupees = (price * 1_000 * (100 + (3 - age) * 8) / 100 + number_in * 730 % 9_000) / 100 * 100;
    let color = COLORS.get(number % COLORS.len()).copied().unwrap_or("Pearl White");
    let options: Vec<DemoOption> = EQUIPMENT.iter().cycle().skip(number).take(3).copied().collect();
    let equipment: Vec<String> = options.iter().map(|option| option.name.to_lowercase()).collect();
    let in_stock_days_ago = 2 + number_in * 7 % 60;
    Some(DemoVehicle {
        vin,
        stock_number: format!("B{}{:04}", if is_certified { 'C' } else { 'U' }, 1_001 + number),
        condition: if is_certified { VehicleCondition::CertifiedPreOwned } else { VehicleCondition::Used },
        year,
        make,
        model: name,
        trim,
        body_style: *body_style,
        doors: 4,
        mileage,
        exterior_color: color,
        interior_color: if number.is_multiple_of(2) { "Black" } else { "Beige" },
        engine,
        transmission,
        drivetrain,
        fuel_type,
        options,
        price_minor: rupees * 100,
        msrp_minor: is_certified.then(|| rupees * 125),
        currency: market(INDIA).currency,
        status: match number {
            SOLD => VehicleStatus::Sold,
            RESERVED => VehicleStatus::Reserved,
            _ => VehicleStatus::Available,
        },
        in_stock_days_ago,
        in_stock_at: now - Duration::days(in_stock_days_ago) - Duration::hours(3),
        description: format!(
            "{} {year} {make} {name} {trim} in {color} with {}. Insured, with its service history and two keys.",
            if is_certified { "Certified, inspected" } else { "Single-owner" },
            equipment.join(", ")
        ),
        media_count: 4,
    })
}

/// The cars of the two deals, by their numbers.
const SOLD: usize = 11;
const RESERVED: usize = 26;

/// Given name, family name, city, wish, and since how many days known.
type Person = (&'static str, &'static str, &'static str, (&'static str, &'static str), i64);

const CUSTOMERS: [Person; 8] = [
    ("Rohan", "Kulkarni", "Bengaluru", ("Toyota", "Innova Crysta"), 420),
    ("Meera", "Subramaniam", "Bengaluru", ("Kia", "Sonet"), 35),
    ("Arjun", "Hegde", "Mysuru", ("Hyundai", "Creta"), 3),
    ("Fatima", "Sheikh", "Bengaluru", ("Tata", "Nexon"), 21),
    ("Karthik", "Reddy", "Hyderabad", ("Mahindra", "Thar"), 12),
    ("Divya", "Nair", "Bengaluru", ("Maruti Suzuki", "Swift"), 6),
    ("Imran", "Pasha", "Tumakuru", ("Honda", "City"), 60),
    ("Lakshmi", "Gowda", "Bengaluru", ("Toyota", "Glanza"), 150),
];

/// Index of the only customer who has bought, and when.
const BUYER: usize = 0;
const SOLD_DAYS_AGO: i64 = 16;
/// Just before the deal of the same sale was closed, which is then the latest.
const SALE_HOURS: i64 = 2;

fn customer(now: OffsetDateTime, place: usize, (given_name, family_name, city, wish, days): Person) -> DemoCustomer {
    let sale = (place == BUYER).then(|| now - Duration::days(SOLD_DAYS_AGO) - Duration::hours(SALE_HOURS));
    DemoCustomer {
        kind: CustomerKind::Individual,
        company: None,
        given_name,
        family_name,
        email: format!("{}.{}@example.com", given_name.to_lowercase(), family_name.to_lowercase()),
        phone: format!("+9100000001{place:02}"),
        city,
        region: if city == "Hyderabad" { "TG" } else { REGION },
        country: INDIA,
        lifetime_value_minor: if sale.is_some() { 171_500_000 } else { 0 },
        vehicle_of_interest: DemoInterest { make: wish.0, model: wish.1 },
        created_days_ago: days,
        created_at: now - Duration::days(days) - Duration::hours(14),
        latest_sale_at: sale,
    }
}

/// Customer, car, status, interest, channel and provider, and how many days ago it was received and last changed.
type Enquiry = (usize, Option<usize>, LeadStatus, Interest, (Channel, &'static str), (i64, i64), &'static str);

const LEADS: [Enquiry; 6] = [
    (
        BUYER,
        Some(SOLD),
        LeadStatus::Sold,
        Interest::Buy,
        (Channel::WalkIn, "Showroom"),
        (30, SOLD_DAYS_AGO),
        "Looking for a seven-seater for the family.",
    ),
    (
        1,
        Some(RESERVED),
        LeadStatus::Negotiating,
        Interest::Buy,
        (Channel::Website, "Dealer website"),
        (9, 1),
        "Could you hold it until Saturday? I will bring the booking amount.",
    ),
    (
        2,
        Some(2),
        LeadStatus::New,
        Interest::Buy,
        (Channel::AiAgent, "Shopping assistant"),
        (0, 0),
        "Is the service history complete?",
    ),
    (
        3,
        Some(4),
        LeadStatus::Contacted,
        Interest::Buy,
        (Channel::Phone, "Main line"),
        (5, 2),
        "Please call after six in the evening.",
    ),
    (
        4,
        Some(20),
        LeadStatus::AppointmentSet,
        Interest::TestDrive,
        (Channel::ThirdParty, "Roadfinder Listings"),
        (4, 1),
        "I would like to drive it before I decide.",
    ),
    (5, None, LeadStatus::New, Interest::Service, (Channel::Chat, "Website chat"), (1, 1), "Is a pick-up possible?"),
];

const TEAM: [DemoEmployee; 2] =
    [DemoEmployee { id: "emp_01", name: "Sanjana Rao" }, DemoEmployee { id: "emp_02", name: "Vikram Shetty" }];

fn lead(now: OffsetDateTime, wish: &Enquiry) -> DemoLead {
    let (customer, vehicle, status, interest, (channel, provider), (received, updated), comments) = *wish;
    let [first, second] = TEAM;
    DemoLead {
        customer,
        vehicle,
        status,
        interest,
        channel,
        provider,
        owner: if customer.is_multiple_of(2) { first } else { second },
        comments,
        timeframe: Timeframe::WithinMonth,
        received_days_ago: received,
        received_at: now - Duration::days(received) - Duration::hours(7),
        updated_days_ago: updated,
        updated_at: now - Duration::days(updated) - Duration::hours(1),
        lost_reason: None,
    }
}
