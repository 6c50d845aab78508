//! Colours, equipment and descriptions of the demo stock, which a text search can find.

use super::super::DemoOption;
use super::super::rng::DemoRng;
use crate::automotive::vehicle::{BodyStyle, FuelType, VehicleCondition};

/// A piece of equipment and its phrase in a description.
#[derive(Clone, Copy)]
pub(super) struct Feature {
    pub(super) option: DemoOption,
    phrase: &'static str,
}

/// Two to five pieces of equipment that suit the car, in random order.
pub(super) fn features(rng: &mut DemoRng, body_style: BodyStyle, fuel_type: FuelType) -> Vec<Feature> {
    let mut pool: Vec<Feature> = Vec::new();
    match body_style {
        BodyStyle::Pickup => pool.extend(COMFORT.iter().chain(HAULING)),
        BodyStyle::Van => pool.extend(WORK),
        BodyStyle::Minivan => pool.extend(COMFORT.iter().chain(FAMILY)),
        BodyStyle::Suv => pool.extend(COMFORT.iter().chain([&TOW_PACKAGE])),
        BodyStyle::Convertible => pool.extend(COMFORT.iter().filter(|feature| feature.option.code != SUNROOF)),
        _ => pool.extend(COMFORT),
    }
    match fuel_type {
        FuelType::Electric => pool.extend([HOME_CHARGING, FAST_CHARGING, HEAT_PUMP]),
        FuelType::PlugInHybrid => pool.push(HOME_CHARGING),
        _ => {}
    }
    rng.shuffle(&mut pool);
    pool.truncate(usize::try_from(rng.within(2..=5)).unwrap_or_default());
    pool
}

pub(super) fn describe(
    rng: &mut DemoRng,
    condition: VehicleCondition,
    body_style: BodyStyle,
    name: &str,
    color: &str,
    features: &[Feature],
) -> String {
    let opening = match condition {
        VehicleCondition::New => rng.pick(&["Brand-new", "Factory-fresh", "Never registered:"]),
        VehicleCondition::Demo => rng.pick(&["Low-mileage demonstrator:", "Driven only by our team:"]),
        VehicleCondition::CertifiedPreOwned => rng.pick(&["Certified, inspected", "Certified one-owner"]),
        _ => rng.pick(&["One-owner", "Well-kept", "Locally owned", "Clean", "Non-smoker"]),
    };
    let closing = closing(rng, condition, body_style);
    let phrases: Vec<&str> = features.iter().map(|feature| feature.phrase).take(3).collect();
    let equipment = match phrases.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "standard equipment".to_owned(),
    };
    format!("{opening} {name} in {color} with {equipment}. {closing}")
}

/// Only a used car has a history to mention.
fn closing(rng: &mut DemoRng, condition: VehicleCondition, body_style: BodyStyle) -> &'static str {
    let use_of_it: &[&str] = match body_style {
        BodyStyle::Pickup => &[
            "Ready for work during the week and the lake at the weekend.",
            "Strong on the hill, quiet on the highway.",
        ],
        BodyStyle::Van => &["Set up for trades and deliveries.", "Easy to load through the side and the rear."],
        BodyStyle::Minivan => {
            &["Room for seven and all their luggage.", "The easy choice for school runs and long trips."]
        }
        BodyStyle::Coupe | BodyStyle::Convertible => &["Made for weekends.", "A joy on a mountain road."],
        _ => &["Comfortable on long trips and easy to park.", "Ready for winter and for the daily commute."],
    };
    let past: &[&str] = &[
        "Full service records and two keys.",
        "Ask us for the inspection report.",
        "It has slept in a garage and is free of rust.",
    ];
    match condition {
        VehicleCondition::New | VehicleCondition::Demo => rng.pick(use_of_it),
        _ if rng.percent(50) => rng.pick(past),
        _ => rng.pick(use_of_it),
    }
}

pub(super) const EXTERIOR_COLORS: &[&str] = &[
    "Midnight Black",
    "Pearl White",
    "Alpine White",
    "Silver Sky",
    "Granite Gray",
    "Magnetic Gray",
    "Ruby Red",
    "Barcelona Red",
    "Harbor Blue",
    "Blueprint",
    "Forest Green",
    "Desert Sand",
    "Copper",
    "Solar Yellow",
];

pub(super) const INTERIOR_COLORS: &[&str] = &["Black", "Charcoal", "Light Gray", "Beige", "Saddle Brown", "Red"];

const SUNROOF: &str = "SNR";

const COMFORT: &[Feature] = &[
    feature("LTH", "Leather seats", "leather seats"),
    feature(SUNROOF, "Power sunroof", "a power sunroof"),
    feature("HTS", "Heated front seats", "heated front seats"),
    feature("NAV", "Navigation system", "navigation"),
    feature("AUD", "Premium audio", "premium audio"),
    feature("ACC", "Adaptive cruise control", "adaptive cruise control"),
    feature("BSM", "Blind spot monitor", "a blind spot monitor"),
    feature("CAM", "Surround-view camera", "a surround-view camera"),
    feature("QI1", "Wireless phone charging", "wireless phone charging"),
    feature("RST", "Remote start", "remote start"),
    feature("ALW", "Alloy wheels", "alloy wheels"),
];

const HAULING: &[Feature] = &[
    TOW_PACKAGE,
    feature("BED", "Spray-in bed liner", "a spray-in bed liner"),
    feature("TNC", "Tonneau cover", "a tonneau cover"),
    feature("ORP", "Off-road package", "an off-road package"),
];

const FAMILY: &[Feature] = &[
    feature("3RD", "Third-row seating", "third-row seating"),
    feature("PLG", "Power liftgate", "a power liftgate"),
    feature("RES", "Rear entertainment", "rear entertainment"),
    feature("CPT", "Second-row captain's chairs", "captain's chairs"),
];

const WORK: &[Feature] = &[
    feature("SHV", "Cargo shelving", "cargo shelving"),
    feature("PRT", "Bulkhead partition", "a bulkhead partition"),
    TOW_PACKAGE,
    feature("CAM", "Rear camera", "a rear camera"),
    feature("LAD", "Ladder rack", "a ladder rack"),
];

const TOW_PACKAGE: Feature = feature("TOW", "Tow package", "a tow package");
const HOME_CHARGING: Feature = feature("CHG", "Home charging cable", "a home charging cable");
const FAST_CHARGING: Feature = feature("DCF", "DC fast charging", "DC fast charging");
const HEAT_PUMP: Feature = feature("HPM", "Heat pump", "a heat pump");

const fn feature(code: &'static str, name: &'static str, phrase: &'static str) -> Feature {
    Feature { option: DemoOption { code, name }, phrase }
}
