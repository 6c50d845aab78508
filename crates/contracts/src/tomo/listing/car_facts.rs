//! What is known of a car of the dealership's stock, in the words of this contract.

use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Value, json};

use super::price::share;
use crate::automotive::vehicle::{FuelType, MediaType, Transmission, Vehicle, VehicleCondition, VehicleStatus};
use crate::record::{Entity, Vocabulary as _};
use crate::tomo::ToolContext;
use crate::tomo::known_facts::{Fact, text, texts, whole};

/// Millimetres of a kilometre.
const KILOMETRE: i64 = 1_000_000;

/// Whether it can be sold as a used car now.
pub(super) fn is_for_sale(vehicle: &Vehicle) -> bool {
    let is_used = match vehicle.condition {
        VehicleCondition::Used | VehicleCondition::CertifiedPreOwned | VehicleCondition::Demo => true,
        VehicleCondition::New | VehicleCondition::Unknown => false,
    };
    is_used
        && vehicle.status == VehicleStatus::Available
        && vehicle.held_by.is_none()
        && price_inr(vehicle).is_some_and(|price| price > 0)
}

/// In whole rupees, rounded half up. A price in another currency is none.
pub(super) fn price_inr(vehicle: &Vehicle) -> Option<i64> {
    (*vehicle.price.currency == *"INR").then(|| share(vehicle.price.amount.get(), 1, 100))
}

pub(super) fn title(vehicle: &Vehicle) -> String {
    let variant = vehicle.trim.as_ref().map(|trim| format!(" {}", &**trim)).unwrap_or_default();
    format!("{} {} {}{variant}", vehicle.year.get(), &*vehicle.make, &*vehicle.model)
}

/// The city where the dealership is: the first one that it serves.
pub(super) fn home_city(context: &ToolContext) -> Option<&str> {
    let is_city = |place: &&String| !place.bytes().all(|byte| byte.is_ascii_digit());
    context.service_area.iter().find(is_city).map(String::as_str)
}

/// The facts of a car.
pub(super) const CAR: &[Fact] = &[
    text("listing_id"),
    text("title"),
    text("make"),
    text("model"),
    text("variant"),
    whole("year"),
    text("condition"),
    text("fuel"),
    text("transmission"),
    text("body_type"),
    text("drivetrain"),
    whole("doors"),
    whole("kms_driven"),
    text("color"),
    text("interior_color"),
    text("engine"),
    texts("equipment"),
    text("description"),
    whole("price_inr"),
    text("currency"),
    text("stock_number"),
    whole("days_in_stock"),
    text("image_url"),
    texts("images"),
    text("city"),
    text("dealer_name"),
    text("country_code"),
];

/// What is not known is null, and what has no word here is not known.
pub(super) fn car_facts(context: &ToolContext, vehicle: &Entity<Vehicle>, now: Millis) -> Value {
    let car = &vehicle.record;
    let images: Vec<&str> = {
        let mut media: Vec<_> = car.media.iter().filter(|medium| medium.r#type == MediaType::Image).collect();
        media.sort_by_key(|medium| medium.order);
        media.into_iter().map(|medium| &*medium.url).filter(|url| url.starts_with("https://")).collect()
    };
    let days = now.0.saturating_sub(car.in_stock_at.0).max(0) / 86_400_000;
    json!({
        "listing_id": vehicle.id,
        "title": title(car),
        "make": &*car.make,
        "model": &*car.model,
        "variant": car.trim.as_deref(),
        "year": car.year.get(),
        "condition": known(car.condition.as_str()),
        "fuel": fuel(car.fuel_type),
        "transmission": transmission(car.transmission),
        "body_type": known(car.body_style.as_str()),
        "drivetrain": known(car.drivetrain.as_str()),
        "doors": car.doors.map(|doors| doors.get()),
        "kms_driven": car.mileage.millimetres() / KILOMETRE,
        "color": car.exterior_color.as_deref(),
        "interior_color": car.interior_color.as_deref(),
        "engine": car.engine.as_deref(),
        "equipment": car.options.iter().map(|option| &*option.name).collect::<Vec<_>>(),
        "description": car.description.as_deref(),
        "price_inr": price_inr(car),
        "currency": "INR",
        "stock_number": &*car.stock_number,
        "days_in_stock": days,
        "image_url": images.first(),
        "images": images,
        "city": home_city(context),
        "dealer_name": context.company,
        "country_code": "IN",
    })
}

fn known(word: &'static str) -> Option<&'static str> {
    (word != "unknown").then_some(word)
}

fn fuel(fuel: FuelType) -> Option<&'static str> {
    Some(match fuel {
        FuelType::Gasoline => "petrol",
        FuelType::Diesel => "diesel",
        FuelType::Electric => "electric",
        FuelType::Hybrid => "hybrid",
        FuelType::PlugInHybrid => "plug_in_hybrid",
        FuelType::FlexFuel => "flex_fuel",
        FuelType::Hydrogen => "hydrogen",
        FuelType::NaturalGas => "cng",
        FuelType::Propane => "lpg",
        FuelType::Unknown => return None,
    })
}

fn transmission(transmission: Transmission) -> Option<&'static str> {
    Some(match transmission {
        Transmission::Automatic | Transmission::DirectDrive => "automatic",
        Transmission::Manual => "manual",
        Transmission::Cvt => "cvt",
        Transmission::DualClutch => "dct",
        Transmission::AutomatedManual => "amt",
        Transmission::Unknown => return None,
    })
}
