//! `get_ride_estimates`: which classes of vehicles there are for a ride, how soon, and at which fare. The token holds the
//! fare, not the driver.

use std::sync::Arc;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::driver::{self, FreeDriver};
use super::fare::{FareQuote, MIN_METRES, SurgeMultiplier, Way};
use super::fare_table::{FareTable, tables_in};
use super::ride::{RidePlace, RidePlaces, kilometres};
use super::surge::{multiplier, rules_in};
use crate::record::{Entity, FieldType as _, FieldValue as _, Vocabulary as _};
use crate::tomo::argument::argument;
use crate::tomo::codes::{NOT_AVAILABLE, RESULT_EXPIRED};
use crate::tomo::facts::fills;
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, decimal, text, whole};
use crate::tomo::listing::place::{Point, city_keys};
use crate::tomo::result_token::{self, Offers};
use crate::tomo::{ToolContext, is_sandbox};

/// What a record can hold of the name of a city.
const MAX_CITY: usize = 80;

/// In the sandbox a driver is always this near.
pub(super) const SANDBOX_ETA_MINUTES: i64 = 4;

pub(super) struct EstimateRides {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
}

impl ReadTool for EstimateRides {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(self.estimate(permitted))
    }
}

/// The facts of a class that can be booked.
pub(super) const OPTION: &[Fact] = &[
    text("option_id"),
    text("vehicle_class"),
    whole("seats"),
    whole("drivers_available"),
    whole("eta_minutes"),
    decimal("distance_km"),
    whole("duration_minutes"),
    whole("fare_inr"),
    whole("subtotal_inr"),
    whole("tax_inr"),
    decimal("surge_multiplier"),
    whole("free_cancel_minutes"),
    whole("cancel_fee_inr"),
];

/// One class of vehicles for the ride that is asked for.
struct RideOption {
    table: Entity<FareTable>,
    promise: PromisedFare,
    drivers: usize,
    eta_minutes: i64,
}

/// What was promised for one class.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PromisedFare {
    option_id: String,
    metres: i64,
    minutes: i64,
    surge: i64,
    subtotal_inr: i64,
    tax_inr: i64,
}

impl EstimateRides {
    async fn estimate(&self, permitted: &Permitted<'_>) -> Result<Outcome, Fault> {
        let city = served_city(permitted, &self.context)?;
        let places = places_argument(permitted)?;
        let options = self.options(permitted, &city, &places).await?;
        let mut facts = Vec::new();
        let mut prices = Vec::new();
        let mut promises = Vec::new();
        for option in options {
            let option_facts = option.facts();
            // One that lacks what the response requires cannot be offered.
            if self.answers(&option_facts) {
                prices.push((option.promise.option_id.clone(), option.promise.quote().total_inr()));
                promises.push(option.promise);
                facts.push(option_facts);
            }
        }
        let search = json!({"city": city, "places": places_value(&places)?, "promises": promises});
        let (token, expires_at) = result_token::issue(permitted, &self.context, Offers { search, prices })?;
        let rows = facts.len();
        let facts = json!({"options": facts, "result_token": token, "expires_at": expires_at.to_rfc3339()});
        let payload = self.tool.project(&facts);
        let payload = payload.map_err(|missing| Fault::internal(format!("an estimate has no {}", missing.0)))?;
        Ok(Outcome::Raw { answer: payload.to_string(), rows })
    }

    /// The cheapest first. Nobody can buy a better place.
    async fn options(
        &self,
        permitted: &Permitted<'_>,
        city: &str,
        places: &RidePlaces,
    ) -> Result<Vec<RideOption>, Fault> {
        let tables = tables_in(permitted, city).await?;
        let rules = rules_in(permitted, city).await?;
        let (pickup, drop) = (places.pickup.point(), places.drop.point());
        let reach = tables.iter().map(|table| table.record.pickup_metres()).max().unwrap_or(0);
        // The sandbox has a driver of its own.
        let drivers =
            if is_sandbox(permitted) { Vec::new() } else { driver::free_near(permitted, city, pickup, reach).await? };
        let mut options = Vec::new();
        for table in tables {
            let terms = table.record.terms();
            let way = terms.way(pickup, drop);
            if !terms.reaches(way) {
                continue;
            }
            let Some((count, eta_minutes)) = coming(permitted, &table.record, &drivers, pickup) else { continue };
            let surge = multiplier(&rules, table.record.vehicle_class, permitted.now());
            let quote = terms.quote(way, surge);
            let promise = PromisedFare {
                option_id: table.id.clone(),
                metres: way.metres,
                minutes: way.minutes,
                surge: surge.get(),
                subtotal_inr: quote.subtotal_inr,
                tax_inr: quote.tax_inr,
            };
            options.push(RideOption { table, promise, drivers: count, eta_minutes });
        }
        let price = |option: &RideOption| option.promise.quote().total_inr();
        options.sort_by(|one, other| price(one).cmp(&price(other)).then_with(|| one.table.id.cmp(&other.table.id)));
        Ok(options)
    }

    fn answers(&self, option: &Value) -> bool {
        let facts = json!({"options": [option], "result_token": "any", "expires_at": "2027-01-01T00:00:00Z"});
        fills(&self.tool.output, &facts)
    }
}

/// How many free drivers of the class are near, and how soon the nearest is there; none if nobody is.
fn coming(permitted: &Permitted<'_>, table: &FareTable, drivers: &[FreeDriver], pickup: Point) -> Option<(usize, i64)> {
    if is_sandbox(permitted) {
        return Some((1, SANDBOX_ETA_MINUTES));
    }
    let is_near =
        |driver: &&FreeDriver| driver.vehicle_class == table.vehicle_class && driver.metres <= table.pickup_metres();
    let near: Vec<&FreeDriver> = drivers.iter().filter(is_near).collect();
    let nearest = near.first()?;
    Some((near.len(), table.terms().way(nearest.position, pickup).minutes))
}

impl RideOption {
    fn facts(&self) -> Value {
        let (table, promise) = (&self.table.record, &self.promise);
        json!({
            "option_id": promise.option_id,
            "vehicle_class": table.vehicle_class.as_str(),
            "seats": table.seats.get(),
            "drivers_available": self.drivers,
            "eta_minutes": self.eta_minutes,
            "distance_km": kilometres(promise.metres),
            "duration_minutes": promise.minutes,
            "fare_inr": promise.quote().total_inr(),
            "subtotal_inr": promise.subtotal_inr,
            "tax_inr": promise.tax_inr,
            "surge_multiplier": promise.surge().to_f64(),
            "free_cancel_minutes": table.free_cancel_minutes.get(),
            "cancel_fee_inr": table.cancel_fee_inr.get(),
        })
    }
}

impl PromisedFare {
    fn quote(&self) -> FareQuote {
        FareQuote { subtotal_inr: self.subtotal_inr, tax_inr: self.tax_inr }
    }

    fn surge(&self) -> SurgeMultiplier {
        SurgeMultiplier::scaled(self.surge)
    }
}

/// What an estimate promised for the class that is booked.
pub(super) struct Promise {
    pub(super) option_id: String,
    pub(super) city: String,
    pub(super) places: RidePlaces,
    pub(super) way: Way,
    pub(super) surge: SurgeMultiplier,
    pub(super) quote: FareQuote,
}

impl Promise {
    /// The promise of the call's `result_token` for its `option_id`.
    pub(super) fn read(permitted: &Permitted<'_>, context: &ToolContext) -> Result<Promise, Fault> {
        let text = |name: &str| permitted.input().text(name).unwrap_or_default();
        let offers = result_token::read(permitted, context, text("result_token"))?;
        let option_id = text("option_id").to_owned();
        let other =
            || Fault::domain(RESULT_EXPIRED, "This result_token is not about this option. Ask for estimates again.");
        offers.price(&option_id).ok_or_else(other)?;
        let member = |name: &str| offers.search.get(name).cloned().unwrap_or_default();
        let promises: Vec<PromisedFare> = serde_json::from_value(member("promises")).map_err(|_| other())?;
        let fare = promises.into_iter().find(|fare| fare.option_id == option_id).ok_or_else(other)?;
        Ok(Promise {
            city: member("city").as_str().unwrap_or_default().to_owned(),
            places: RidePlaces::read(&member("places")).ok_or_else(other)?,
            way: Way { metres: fare.metres, minutes: fare.minutes },
            surge: fare.surge(),
            quote: fare.quote(),
            option_id,
        })
    }
}

/// The city of the call, if the business serves it.
fn served_city(permitted: &Permitted<'_>, context: &ToolContext) -> Result<String, Fault> {
    let city = permitted.input().text("city").unwrap_or_default();
    let keys = city_keys(city);
    let is_pincode = |place: &&String| place.bytes().all(|byte| byte.is_ascii_digit());
    let mut cities = context.service_area.iter().filter(|place| !is_pincode(place)).peekable();
    // A business that names pincodes only serves the cities that it has fares for.
    let is_served =
        cities.peek().is_none() || cities.any(|served| city_keys(served).iter().any(|key| keys.contains(key)));
    if !is_served || city.chars().count() > MAX_CITY {
        return Err(Fault::domain(NOT_AVAILABLE, "No rides are offered in this city."));
    }
    Ok(city.to_owned())
}

/// Pickup and drop of the call.
fn places_argument(permitted: &Permitted<'_>) -> Result<RidePlaces, Fault> {
    let places = RidePlaces { pickup: argument(permitted, "pickup")?, drop: argument(permitted, "drop")? };
    check_apart(&places.pickup, &places.drop)?;
    Ok(places)
}

/// Refuses a drop that is where the pickup is.
pub(super) fn check_apart(pickup: &RidePlace, drop: &RidePlace) -> Result<(), Fault> {
    if pickup.point().metres_to(drop.point()) < MIN_METRES {
        let expected = format!("it must be at least {MIN_METRES} metres from the pickup");
        return Err(Fault::invalid_argument("/drop", "minimum", expected));
    }
    Ok(())
}

fn places_value(places: &RidePlaces) -> Result<Value, Fault> {
    let mut text = String::new();
    places.write(&mut text);
    serde_json::from_str(&text).map_err(|_| Fault::internal("places are no JSON"))
}

/// When a driver who needs so many minutes is there.
pub(super) fn minutes_from(now: Millis, minutes: i64) -> Millis {
    now.plus_seconds(minutes.saturating_mul(60))
}
