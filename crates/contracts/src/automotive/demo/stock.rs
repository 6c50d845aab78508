//! The demo stock: cars of the catalogue with plausible ages, prices and words.
//! It must never make a VIN that another car of the demo has, save the one that both houses offer.

use time::OffsetDateTime;

use super::catalogue::{Build, CATALOGUE, Car, Number, Template};
use super::seed::Seed;
use super::{DemoVehicle, Site};
use crate::automotive::vin::Vin;

mod words;

const VEHICLES: usize = 300;

pub(super) fn vehicles(site: &Site, seed: &mut Seed, now: OffsetDateTime) -> Vec<DemoVehicle> {
    let mut statuses = Statuses::default();
    CATALOGUE
        .iter()
        .cycle()
        .skip(site.turn)
        .take(VEHICLES)
        .enumerate()
        .filter_map(|(index, template)| vehicle(site, seed, now, &mut statuses, index, template))
        .collect()
}

/// A certified car of its owner as the other house offers it: same car, other number, other price.
pub(super) fn shared(owner: &[DemoVehicle], other: &Site, now: OffsetDateTime) -> Option<DemoVehicle> {
    let car =
        owner.iter().find(|car| car.condition == CERTIFIED && car.status == "available" && car.currency == USD)?;
    let mut car = car.clone();
    car.stock_number = stock_number(other, &car, VEHICLES);
    car.mileage += 412;
    car.price_minor += 75_000;
    car.in_stock_days_ago = 3;
    car.in_stock_at = Seed::new(other.seed).moment(now, 3, 0..=24);
    Some(car)
}

fn vehicle(
    site: &Site,
    seed: &mut Seed,
    now: OffsetDateTime,
    statuses: &mut Statuses,
    index: usize,
    template: &Template,
) -> Option<DemoVehicle> {
    let Number(descriptor, plant, first_year, last_year) = template.number;
    let Car(make, model, trim, body_style, doors) = template.car;
    let Build(engine, transmission, drivetrain, fuel_type) = template.build;

    // Of two draws the later year, because stock is rather young.
    let years = i64::from(first_year)..=i64::from(last_year);
    let year = seed.within(years.clone()).max(seed.within(years));
    let year = u16::try_from(year).ok()?;
    // Thirteen apart and less than thirteen added: never the same serial twice.
    let place = u32::try_from(index).ok()?;
    let jitter = u32::try_from(seed.within(0..=12)).ok()?;
    let vin = Vin::assemble(descriptor, year, plant, site.first_serial + place * 13 + jitter)?;

    let condition = condition(seed, year);
    let mileage = mileage(seed, condition, year);
    let price = price(seed, template, condition, year, mileage);
    let status = statuses.next(condition);
    let in_stock_days_ago = days_in_stock(seed, status);
    let features = words::features(seed, body_style, fuel_type);
    let exterior_color = seed.pick(words::EXTERIOR_COLORS);
    let name = format!("{year} {make} {model} {trim}");
    let description = words::describe(seed, condition, body_style, &name, exterior_color, &features);
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
        interior_color: seed.pick(words::INTERIOR_COLORS),
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
        in_stock_at: seed.moment(now, in_stock_days_ago, 0..=24),
        description,
        media_count: media_count(seed, status),
    };
    vehicle.stock_number = stock_number(site, &vehicle, index);
    if index == IMPORTED {
        price_in_canadian_dollars(&mut vehicle);
    }
    Some(vehicle)
}

const NEW: &str = "new";
const USED: &str = "used";
const CERTIFIED: &str = "certified_pre_owned";
const DEMONSTRATOR: &str = "demo";
const USD: &str = "USD";

/// One car of each house is priced in another currency, so that nobody may compare bare amounts.
const IMPORTED: usize = 47;

/// The last model year of the catalogue. Ages are counted from here and not from the clock, so that
/// prices stay as they are when the demo is tried again next year.
const NEWEST: u16 = 2024;

fn condition(seed: &mut Seed, year: u16) -> &'static str {
    match NEWEST.saturating_sub(year) {
        0 if seed.percent(75) => NEW,
        0 if seed.percent(50) => DEMONSTRATOR,
        1 if seed.percent(15) => NEW,
        0..=5 if seed.percent(35) => CERTIFIED,
        _ => USED,
    }
}

fn mileage(seed: &mut Seed, condition: &str, year: u16) -> i64 {
    match condition {
        NEW => seed.within(4..=45),
        DEMONSTRATOR => seed.within(1_800..=6_400),
        _ => expected_mileage(year) * seed.within(70..=128) / 100 + seed.within(0..=899),
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

fn price(seed: &mut Seed, template: &Template, condition: &str, year: u16, mileage: i64) -> Price {
    let Number(_, _, _, last_year) = template.number;
    let years_back = i64::from(last_year.saturating_sub(year));
    let list = template.msrp * (1_000 - 22 * years_back) / 10_000 * 10 + seed.within(0..=18) * 100;
    let used = || {
        let mut worth = list * 88 / 100;
        for _ in year..NEWEST {
            worth = worth * 90 / 100;
        }
        // Seven cents for each mile more or less than a car of that age has run.
        worth - (mileage - expected_mileage(year)) * 7 / 100
    };
    let (asked, list) = match condition {
        NEW => (list * seed.within(960..=1_000) / 1_000, Some(list)),
        DEMONSTRATOR => (list * seed.within(905..=940) / 1_000, Some(list)),
        CERTIFIED => (used() * 104 / 100, Some(list)),
        _ => (used(), None),
    };
    Price { asked: asked / 100 * 100 + seed.pick(&[0, 50, 90, 95]), list }
}

/// Counts cars apart by whether they have had an owner, because the two kinds have other destinies.
#[derive(Default)]
struct Statuses {
    fresh: usize,
    driven: usize,
}

impl Statuses {
    /// About one car in seven is not simply for sale, spread so that every status occurs.
    fn next(&mut self, condition: &str) -> &'static str {
        if matches!(condition, NEW | DEMONSTRATOR) {
            self.fresh += 1;
            match self.fresh % 18 {
                5 if condition == NEW => "on_order",
                9 if condition == NEW => "in_transit",
                14 => "reserved",
                _ => "available",
            }
        } else {
            self.driven += 1;
            match self.driven % 100 {
                4 => "in_transit",
                11 | 55 | 83 => "pending",
                23 | 76 => "reserved",
                36 => "on_hold",
                42 | 69 | 95 => "sold",
                30 | 88 => "wholesale",
                92 => "unavailable",
                97 => "unknown",
                _ => "available",
            }
        }
    }
}

fn days_in_stock(seed: &mut Seed, status: &str) -> i64 {
    match status {
        "on_order" | "in_transit" => seed.within(0..=9),
        "wholesale" => seed.within(90..=160),
        _ => seed.within(1..=60) + seed.within(0..=45),
    }
}

/// A car that has not arrived has not been photographed.
fn media_count(seed: &mut Seed, status: &str) -> u8 {
    match status {
        "on_order" | "in_transit" => 0,
        _ => u8::try_from(seed.within(2..=6)).unwrap_or_default(),
    }
}

fn stock_number(site: &Site, vehicle: &DemoVehicle, index: usize) -> String {
    let letter = match vehicle.condition {
        NEW => 'N',
        DEMONSTRATOR => 'D',
        CERTIFIED => 'C',
        _ => 'U',
    };
    format!("{}{letter}{:04}", site.stock_prefix, 1_001 + index)
}

fn price_in_canadian_dollars(vehicle: &mut DemoVehicle) {
    let convert = |minor: i64| minor * 136 / 100 / 10_000 * 10_000;
    vehicle.currency = "CAD";
    vehicle.price_minor = convert(vehicle.price_minor);
    vehicle.msrp_minor = vehicle.msrp_minor.map(convert);
}
