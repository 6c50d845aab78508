//! The demo stock: cars of the catalogue with plausible ages, prices and descriptions. VINs must be unique, except for
//! the one car that both dealerships offer.

use time::OffsetDateTime;

use super::catalogue::{CATALOGUE, CarSpec, CatalogueEntry, Powertrain, VinSpec};
use super::rng::DemoRng;
use super::{DealershipSpec, DemoVehicle};
use crate::automotive::vehicle::{VehicleCondition, VehicleStatus};
use crate::automotive::vin::Vin;

mod descriptions;

const VEHICLES: usize = 300;

pub(super) fn vehicles(spec: &DealershipSpec, rng: &mut DemoRng, now: OffsetDateTime) -> Vec<DemoVehicle> {
    let mut statuses = StatusCycle::default();
    CATALOGUE
        .iter()
        .cycle()
        .skip(spec.rotation)
        .take(VEHICLES)
        .enumerate()
        .filter_map(|(index, entry)| vehicle(spec, rng, now, &mut statuses, index, entry))
        .collect()
}

/// A certified car of one dealership as the other offers it: same car, other stock number and price.
pub(super) fn shared(owner: &[DemoVehicle], other: &DealershipSpec, now: OffsetDateTime) -> Option<DemoVehicle> {
    let car = owner.iter().find(|car| {
        car.condition == VehicleCondition::CertifiedPreOwned
            && car.status == VehicleStatus::Available
            && car.currency == USD
    })?;
    let mut car = car.clone();
    car.stock_number = stock_number(other, &car, VEHICLES);
    car.mileage += 412;
    car.price_minor += 75_000;
    car.in_stock_days_ago = 3;
    car.in_stock_at = DemoRng::new(other.seed).moment(now, 3, 0..=24);
    Some(car)
}

fn vehicle(
    spec: &DealershipSpec,
    rng: &mut DemoRng,
    now: OffsetDateTime,
    statuses: &mut StatusCycle,
    index: usize,
    entry: &CatalogueEntry,
) -> Option<DemoVehicle> {
    let VinSpec(descriptor, plant, first_year, last_year) = entry.vin;
    let CarSpec(make, model, trim, body_style, doors) = entry.car;
    let Powertrain(engine, transmission, drivetrain, fuel_type) = entry.powertrain;

    // The later of two random years, because stock is rather young.
    let years = i64::from(first_year)..=i64::from(last_year);
    let year = rng.within(years.clone()).max(rng.within(years));
    let year = u16::try_from(year).ok()?;
    // Multiples of thirteen plus at most twelve: no serial number occurs twice.
    let index_number = u32::try_from(index).ok()?;
    let jitter = u32::try_from(rng.within(0..=12)).ok()?;
    let vin = Vin::assemble(descriptor, year, plant, spec.first_serial + index_number * 13 + jitter)?;

    let condition = condition(rng, year);
    let mileage = mileage(rng, condition, year);
    let price = price(rng, entry, condition, year, mileage);
    let status = statuses.next(condition);
    let in_stock_days_ago = days_in_stock(rng, status);
    let features = descriptions::features(rng, body_style, fuel_type);
    let exterior_color = rng.pick(descriptions::EXTERIOR_COLORS);
    let name = format!("{year} {make} {model} {trim}");
    let description = descriptions::describe(rng, condition, body_style, &name, exterior_color, &features);
    let mut vehicle = DemoVehicle {
        vin,
        stock_number: String::new(),
        condition,
        year,
        make,
        model,
        trim,
        body_style,
        doors,
        mileage,
        exterior_color,
        interior_color: rng.pick(descriptions::INTERIOR_COLORS),
        engine,
        transmission,
        drivetrain,
        fuel_type,
        options: features.iter().map(|feature| feature.option).collect(),
        price_minor: price.asked * 100,
        msrp_minor: price.list.map(|dollars| dollars * 100),
        currency: USD,
        status,
        in_stock_days_ago,
        in_stock_at: rng.moment(now, in_stock_days_ago, 0..=24),
        description,
        media_count: media_count(rng, status),
    };
    vehicle.stock_number = stock_number(spec, &vehicle, index);
    if index == IMPORTED {
        price_in_canadian_dollars(&mut vehicle);
    }
    Some(vehicle)
}

const USD: &str = "USD";

/// One car of each dealership is priced in another currency, so that comparing bare amounts is visibly wrong.
const IMPORTED: usize = 47;

/// The last model year of the catalogue. Ages count from it and not from the clock, so that prices are stable.
const NEWEST: u16 = 2024;

fn condition(rng: &mut DemoRng, year: u16) -> VehicleCondition {
    match NEWEST.saturating_sub(year) {
        0 if rng.percent(75) => VehicleCondition::New,
        0 if rng.percent(50) => VehicleCondition::Demo,
        1 if rng.percent(15) => VehicleCondition::New,
        0..=5 if rng.percent(35) => VehicleCondition::CertifiedPreOwned,
        _ => VehicleCondition::Used,
    }
}

fn mileage(rng: &mut DemoRng, condition: VehicleCondition, year: u16) -> i64 {
    match condition {
        VehicleCondition::New => rng.within(4..=45),
        VehicleCondition::Demo => rng.within(1_800..=6_400),
        _ => expected_mileage(year) * rng.within(70..=128) / 100 + rng.within(0..=899),
    }
}

fn expected_mileage(year: u16) -> i64 {
    6_000 + i64::from(NEWEST.saturating_sub(year)) * 10_500
}

/// In whole dollars.
struct Price {
    asked: i64,
    list: Option<i64>,
}

fn price(rng: &mut DemoRng, entry: &CatalogueEntry, condition: VehicleCondition, year: u16, mileage: i64) -> Price {
    let VinSpec(_, _, _, last_year) = entry.vin;
    let years_back = i64::from(last_year.saturating_sub(year));
    let list = entry.msrp * (1_000 - 22 * years_back) / 10_000 * 10 + rng.within(0..=18) * 100;
    let used = || {
        let mut worth = list * 88 / 100;
        for _ in year..NEWEST {
            worth = worth * 90 / 100;
        }
        // Seven cents for each mile above or below the expected mileage.
        worth - (mileage - expected_mileage(year)) * 7 / 100
    };
    let (asked, list) = match condition {
        VehicleCondition::New => (list * rng.within(960..=1_000) / 1_000, Some(list)),
        VehicleCondition::Demo => (list * rng.within(905..=940) / 1_000, Some(list)),
        VehicleCondition::CertifiedPreOwned => (used() * 104 / 100, Some(list)),
        _ => (used(), None),
    };
    Price { asked: asked / 100 * 100 + rng.pick(&[0, 50, 90, 95]), list }
}

/// Assigns statuses in a fixed cycle. New and used cars are counted separately, because their statuses differ.
#[derive(Default)]
struct StatusCycle {
    new: usize,
    used: usize,
}

impl StatusCycle {
    /// About one car in seven is not simply for sale, spread so that every status occurs.
    fn next(&mut self, condition: VehicleCondition) -> VehicleStatus {
        if matches!(condition, VehicleCondition::New | VehicleCondition::Demo) {
            self.new += 1;
            match self.new % 18 {
                5 if condition == VehicleCondition::New => VehicleStatus::OnOrder,
                9 if condition == VehicleCondition::New => VehicleStatus::InTransit,
                14 => VehicleStatus::Reserved,
                _ => VehicleStatus::Available,
            }
        } else {
            self.used += 1;
            match self.used % 100 {
                4 => VehicleStatus::InTransit,
                11 | 55 | 83 => VehicleStatus::Pending,
                23 | 76 => VehicleStatus::Reserved,
                36 => VehicleStatus::OnHold,
                42 | 69 | 95 => VehicleStatus::Sold,
                30 | 88 => VehicleStatus::Wholesale,
                92 => VehicleStatus::Unavailable,
                97 => VehicleStatus::Unknown,
                _ => VehicleStatus::Available,
            }
        }
    }
}

fn days_in_stock(rng: &mut DemoRng, status: VehicleStatus) -> i64 {
    match status {
        VehicleStatus::OnOrder | VehicleStatus::InTransit => rng.within(0..=9),
        VehicleStatus::Wholesale => rng.within(90..=160),
        _ => rng.within(1..=60) + rng.within(0..=45),
    }
}

/// A car that has not arrived has no photos.
fn media_count(rng: &mut DemoRng, status: VehicleStatus) -> u8 {
    match status {
        VehicleStatus::OnOrder | VehicleStatus::InTransit => 0,
        _ => u8::try_from(rng.within(2..=6)).unwrap_or_default(),
    }
}

fn stock_number(spec: &DealershipSpec, vehicle: &DemoVehicle, index: usize) -> String {
    let letter = match vehicle.condition {
        VehicleCondition::New => 'N',
        VehicleCondition::Demo => 'D',
        VehicleCondition::CertifiedPreOwned => 'C',
        _ => 'U',
    };
    format!("{}{letter}{:04}", spec.stock_prefix, 1_001 + index)
}

fn price_in_canadian_dollars(vehicle: &mut DemoVehicle) {
    let convert = |minor: i64| minor * 136 / 100 / 10_000 * 10_000;
    vehicle.currency = "CAD";
    vehicle.price_minor = convert(vehicle.price_minor);
    vehicle.msrp_minor = vehicle.msrp_minor.map(convert);
}
