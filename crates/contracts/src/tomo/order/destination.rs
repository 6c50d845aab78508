//! Where an order goes: whether a restaurant delivers there, how far that is and how long it takes.

use frontdesk_engine::Fault;
use frontdesk_engine::model::table::search_terms;
use serde_json::Value;

use super::restaurant::Restaurant;
use crate::tomo::codes::OUT_OF_DELIVERY_AREA;
use crate::tomo::listing::place::{Point, city_keys};

/// A courier in a city makes 20 km an hour.
const MINUTES_PER_KM: i64 = 3;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Destination {
    pub(super) city: Option<String>,
    pub(super) pincode: Option<String>,
    pub(super) point: Option<Point>,
}

impl Destination {
    /// Reads it from the argument at this pointer.
    pub(super) fn read(pointer: &str, place: Option<&Value>) -> Result<Destination, Fault> {
        let member = |name: &str| place.and_then(|place| place.get(name));
        let words = |name: &str| member(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| member(name).and_then(Value::as_f64);
        let point = match (number("lat"), number("lng")) {
            (Some(lat), Some(lng)) => Some(Point::from_degrees(lat, lng)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(Fault::invalid_argument(&format!("{pointer}/lng"), "required", "lat needs lng beside it"));
            }
            (None, Some(_)) => {
                return Err(Fault::invalid_argument(&format!("{pointer}/lat"), "required", "lng needs lat beside it"));
            }
        };
        let destination = Destination { city: words("city"), pincode: words("pincode"), point };
        if destination.city.is_none() && destination.pincode.is_none() && destination.point.is_none() {
            let expected = "a city, a pincode, or lat and lng are expected";
            return Err(Fault::invalid_argument(pointer, "minProperties", expected));
        }
        Ok(destination)
    }

    /// Whether the restaurant delivers there. Without coordinates that is known by the city, or else by the pincode.
    pub(super) fn is_reached_by(&self, restaurant: &Restaurant) -> bool {
        match (self.point, &self.city) {
            (Some(point), _) => point.metres_to(restaurant.point()) <= restaurant.radius_metres(),
            (None, Some(city)) => city_keys(city).contains(&search_terms(&restaurant.city).join(" ")),
            (None, None) => self.pincode.as_deref() == Some(&*restaurant.pincode),
        }
    }

    pub(super) fn check_reached_by(&self, restaurant: &Restaurant) -> Result<(), Fault> {
        let too_far = || Fault::domain(OUT_OF_DELIVERY_AREA, "This restaurant does not deliver there.");
        if self.is_reached_by(restaurant) { Ok(()) } else { Err(too_far()) }
    }

    /// How far it is; without coordinates, how far it can be at most.
    pub(super) fn metres_to(&self, restaurant: &Restaurant) -> i64 {
        self.point.map_or(restaurant.radius_metres(), |point| point.metres_to(restaurant.point()))
    }

    /// Kilometres with one place, rounded up, so that nobody waits longer than they were told.
    pub(super) fn distance_km(&self, restaurant: &Restaurant) -> f64 {
        (self.metres_to(restaurant).saturating_add(99) / 100) as f64 / 10.0
    }

    /// Minutes from an order to its delivery.
    pub(super) fn eta_minutes(&self, restaurant: &Restaurant) -> i64 {
        let on_the_way = self.metres_to(restaurant).saturating_mul(MINUTES_PER_KM).saturating_add(999) / 1000;
        restaurant.preparation_minutes.get().saturating_add(on_the_way)
    }

    /// Whether only the pincode says that a restaurant is near.
    pub(super) fn is_same_pincode(&self, restaurant: &Restaurant) -> bool {
        self.point.is_none() && self.pincode.as_deref() == Some(&*restaurant.pincode)
    }
}
