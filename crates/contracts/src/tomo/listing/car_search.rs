//! Finding used cars in the stock of the dealership, by the dealership's own search.

use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::model::tool::{Future, Item, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value, json};

use super::ListingContext;
use super::car_facts::{car_facts, home_city, is_for_sale};
use super::place::city_keys;
use crate::automotive::in_process;
use crate::automotive::vehicle::Vehicle;
use crate::record::{Entity, Stored as _};
use crate::tomo::booking::{BookingMode, has_sandbox_booking};
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::result_token::{Offers, issue};

/// How many listings an answer has.
const MAX_LISTINGS: usize = 20;
/// How many cars of the stock are looked at.
const MAX_CARS: usize = 500;

pub(super) struct SearchCars(pub(super) ListingContext);

impl ReadTool for SearchCars {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let SearchCars(context) = self;
            let criteria = permitted.input().object("criteria").cloned().unwrap_or_default();
            check_ranges(&criteria)?;
            let mut found = Vec::new();
            if serves(context, criteria.get("city").and_then(Value::as_str).unwrap_or_default()) {
                for car in stock(permitted, &criteria).await? {
                    let facts = car_facts(&context.shared, &car, permitted.now());
                    let is_wanted = is_for_sale(&car.record) && fits(&criteria, &facts) && context.can_describe(&facts);
                    if is_wanted && !is_tried_out(permitted, &car.id).await? {
                        found.push(facts);
                    }
                    if found.len() == MAX_LISTINGS {
                        break;
                    }
                }
            }
            let price =
                |car: &Value| Some((car.get("listing_id")?.as_str()?.to_owned(), car.get("price_inr")?.as_i64()?));
            let offers = Offers { search: json!({}), prices: found.iter().filter_map(price).collect() };
            let (token, expires_at) = issue(permitted, &context.shared, offers)?;
            let rows = found.len();
            let facts = json!({"listings": found, "result_token": token, "expires_at": expires_at.to_rfc3339()});
            let answer = context
                .tool
                .project(&facts)
                .map_err(|missing| Fault::internal(format!("a search has no {} to answer with", missing.0)))?;
            Ok(Outcome::Raw { answer: answer.to_string(), rows })
        })
    }
}

pub(super) struct GetCar(pub(super) ListingContext);

impl ReadTool for GetCar {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let missing = || Fault::domain(NOT_FOUND, "No car with this listing_id is for sale here. Search again.");
            let id = permitted.input().text("listing_id").unwrap_or_default();
            let car = load(permitted, id).await?.filter(|car| is_for_sale(&car.record)).ok_or_else(missing)?;
            let facts = car_facts(&self.0.shared, &car, permitted.now());
            let payload = self.0.tool.project(&facts).map_err(|_| missing())?;
            Ok(Outcome::One(Item {
                id: car.id,
                version: car.version,
                body: payload.to_string(),
                masked: None,
                personal: None,
            }))
        })
    }
}

pub(super) async fn load(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<Vehicle>>, Fault> {
    let row = permitted.get(Vehicle::table(), id).await?;
    row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()
}

/// A car that the sandbox has booked is not offered to it again. Live callers see nothing of that.
async fn is_tried_out(permitted: &Permitted<'_>, vehicle_id: &str) -> Result<bool, Fault> {
    match BookingMode::of(permitted) {
        BookingMode::Sandbox => has_sandbox_booking(permitted, vehicle_id).await,
        BookingMode::Live | BookingMode::Unknown => Ok(false),
    }
}

/// The cars of the stock that the dealership's search finds, in the order asked for.
async fn stock(permitted: &Permitted<'_>, criteria: &Map<String, Value>) -> Result<Vec<Entity<Vehicle>>, Fault> {
    let mut arguments = Map::from_iter([("status".to_owned(), json!("available"))]);
    let mut pass = |to: &str, value: Option<Value>| {
        if let Some(value) = value {
            arguments.insert(to.to_owned(), value);
        }
    };
    let rupees = |name: &str| {
        let rupees = criteria.get(name)?.as_i64()?;
        Some(json!({"amount": rupees.saturating_mul(100), "currency": "INR"}))
    };
    pass("make", criteria.get("make").cloned());
    pass("model", criteria.get("model").cloned());
    pass("year_min", criteria.get("min_year").cloned());
    pass("year_max", criteria.get("max_year").cloned());
    pass("price_min", rupees("min_price_inr"));
    pass("price_max", rupees("max_price_inr"));
    pass("body_style", criteria.get("body_type").cloned());
    pass("mileage_max", criteria.get("max_kms").map(|kms| json!({"value": kms, "unit": "km"})));
    let order = match criteria.get("sort_by").and_then(Value::as_str) {
        Some("newest") => "year_desc",
        Some("kms") => "mileage_asc",
        Some(_) | None => "price_asc",
    };
    pass("sort", Some(json!(order)));
    let outcome = in_process::read(permitted, "inventory.search", arguments, MAX_CARS).await;
    match outcome.map_err(|fault| Fault::internal(format!("the stock could not be searched: {}", fault.message)))? {
        Outcome::Many(list) => {
            list.page.rows.iter().map(|body| Entity::restore_listed(permitted.tenant(), body)).collect()
        }
        Outcome::One(_) | Outcome::Raw { .. } => Err(Fault::internal("the search of the stock is no list")),
    }
}

/// What the dealership's search does not compare.
fn fits(criteria: &Map<String, Value>, facts: &Value) -> bool {
    let is_as = |name: &str| criteria.get(name).is_none_or(|wanted| facts.get(name) == Some(wanted));
    is_as("fuel") && is_as("transmission")
}

/// Whether the dealership serves the city.
fn serves(context: &ListingContext, city: &str) -> bool {
    let keys = city_keys(city);
    let serves = |place: &String| keys.contains(&search_terms(place).join(" "));
    home_city(&context.shared).is_some() && context.shared.service_area.iter().any(serves)
}

fn check_ranges(criteria: &Map<String, Value>) -> Result<(), Fault> {
    for (min, max) in [("min_year", "max_year"), ("min_price_inr", "max_price_inr")] {
        let number = |name: &str| criteria.get(name).and_then(Value::as_i64);
        if let (Some(least), Some(most)) = (number(min), number(max))
            && least > most
        {
            let pointer = format!("/criteria/{max}");
            return Err(Fault::invalid_argument(&pointer, "minimum", format!("it must not be less than {min}")));
        }
    }
    Ok(())
}
