//! The workshops of the tenant's dealership as providers. Their hours, places and services are the dealership's own; what
//! a workshop does not say of itself, such as its address, a provider with the same code does.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{Cell, search_terms};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value, json};

use super::appointments::{self, CHECK};
use super::offer::{CancellationTerms, OfferedService, ProviderPlace, RequestedWork, ServiceProvider};
use super::own::{place_of, terms_of};
use super::provider::Provider;
use super::slots::{DayRange, FreeSlot, is_bookable};

use crate::automotive::service::service_code::{ServiceCode, ServiceCodeStatus};
use crate::automotive::service::workshop::Workshop;
use crate::record::{Entity, Stored as _, Vocabulary as _, list_records};
use crate::tomo::ToolContext;
use crate::tomo::listing::place::city_keys;
use crate::tomo::managed::find_by_code;

/// A dealership has one workshop or a few.
const MAX_WORKSHOPS: usize = 50;
const MAX_SERVICES: usize = 500;

/// Amounts of the dealership are minor units.
const CURRENCY: &str = "INR";
const PAISE: i64 = 100;

pub(super) async fn search(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    city: Option<&str>,
    codes: &[String],
) -> Result<Vec<(ServiceProvider, RequestedWork)>, Fault> {
    let mut found = Vec::new();
    for workshop in list_records::<Workshop>(permitted, Vec::new(), MAX_WORKSHOPS).await? {
        let services = offered_services(permitted, &workshop.record).await?;
        let Some(work) = RequestedWork::of(&services, codes) else { continue };
        let Some(provider) = provider(permitted, context, workshop).await? else { continue };
        if city.is_none_or(|city| city_keys(city).contains(&search_terms(&provider.place.city).join(" "))) {
            found.push((provider, work));
        }
    }
    Ok(found)
}

/// The workshop with this id. A dealership that has no prices in rupees is not offered.
pub(super) async fn find(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    id: &str,
) -> Result<Option<ServiceProvider>, Fault> {
    let Some(workshop) = load(permitted, id).await? else { return Ok(None) };
    if offered_services(permitted, &workshop.record).await?.is_empty() {
        return Ok(None);
    }
    provider(permitted, context, workshop).await
}

pub(super) async fn services(permitted: &Permitted<'_>, id: &str) -> Result<Vec<OfferedService>, Fault> {
    match load(permitted, id).await? {
        Some(workshop) => offered_services(permitted, &workshop.record).await,
        None => Ok(Vec::new()),
    }
}

/// The free slots of these days, `max` at most, as the workshop tells them to anybody.
pub(super) async fn free_slots(
    permitted: &Permitted<'_>,
    provider: &ServiceProvider,
    work: &RequestedWork,
    range: DayRange,
    max: usize,
) -> Result<Vec<FreeSlot>, Fault> {
    let day_after = range.last.tomorrow().ok().and_then(|day| provider.calendar.day_start(day));
    let Some((from, until)) = provider.calendar.day_start(range.first).zip(day_after) else { return Ok(Vec::new()) };
    let now = permitted.now();
    let from = from.max(now);
    if until <= from {
        return Ok(Vec::new());
    }
    let arguments = Map::from_iter([
        ("workshop_id".to_owned(), Value::from(provider.id.as_str())),
        ("service_codes".to_owned(), json!(work.codes)),
        ("from".to_owned(), Value::from(from.to_rfc3339())),
        ("until".to_owned(), Value::from(until.to_rfc3339())),
        ("max_slots".to_owned(), Value::from(max)),
    ]);
    let answer = appointments::read(permitted, CHECK, arguments).await?;
    let slots = answer.get("slots").and_then(Value::as_array).into_iter().flatten();
    Ok(slots.filter_map(free_slot).filter(|slot| is_bookable(slot.start, now)).collect())
}

fn free_slot(slot: &Value) -> Option<FreeSlot> {
    let time = |name: &str| slot.get(name).and_then(Value::as_str).and_then(Millis::parse);
    let places_left = slot.get("places_left").and_then(Value::as_i64)?;
    Some(FreeSlot { start: time("start")?, end: time("end")?, places_left })
}

async fn load(permitted: &Permitted<'_>, id: &str) -> Result<Option<Entity<Workshop>>, Fault> {
    let row = permitted.get_to_change(Workshop::table(), id).await?;
    row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()
}

/// What this workshop can do and has a price in rupees for.
async fn offered_services(permitted: &Permitted<'_>, workshop: &Workshop) -> Result<Vec<OfferedService>, Fault> {
    let offered = Cell::Text(ServiceCodeStatus::Offered.as_str().to_owned());
    let codes = list_records::<ServiceCode>(permitted, vec![Filter::Equals("status", offered)], MAX_SERVICES).await?;
    let mut services: Vec<OfferedService> =
        codes.into_iter().filter_map(|code| offered_service(&code.record, workshop)).collect();
    services.sort_by(|one, other| one.code.cmp(&other.code));
    Ok(services)
}

fn offered_service(code: &ServiceCode, workshop: &Workshop) -> Option<OfferedService> {
    let price = code.price.as_ref().filter(|price| *price.currency == *CURRENCY)?;
    let bays = workshop.bays.get();
    let places = code.bay_kind.as_ref().map_or(bays, |kind| workshop.bays_of_kind(kind).min(bays));
    (places > 0).then(|| OfferedService {
        code: code.code.to_string(),
        name: code.name.to_string(),
        minutes: code.duration_minutes.get(),
        // Whole rupees are all that can be said; the dealership must not be promised less than its price.
        price_inr: price.amount.get().saturating_add(PAISE - 1) / PAISE,
        places,
    })
}

async fn provider(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    workshop: Entity<Workshop>,
) -> Result<Option<ServiceProvider>, Fault> {
    let Some(calendar) = workshop.record.calendar() else { return Ok(None) };
    let profile: Option<Entity<Provider>> = find_by_code(permitted, "provider_code", &workshop.record.code).await?;
    let profile = profile.map(|profile| profile.record);
    let record = workshop.record;
    let place = match &profile {
        Some(profile) => place_of(profile),
        None => match place_in_service_area(&record, &context.service_area) {
            Some(place) => place,
            None => return Ok(None),
        },
    };
    let unchanged = Step::Require {
        table: Workshop::table(),
        id: workshop.id.clone(),
        expect_version: workshop.version,
        on_conflict: OnConflict::Retry,
    };
    Ok(Some(ServiceProvider {
        id: workshop.id,
        name: record.name.to_string(),
        place,
        rating: profile.as_ref().and_then(|profile| profile.rating.map(|rating| rating.to_f64())),
        time_zone: record.time_zone.to_string(),
        opening_hours: record.opening_hours.0,
        calendar,
        terms: profile.as_ref().map_or(CancellationTerms::FREE, terms_of),
        code: record.code.to_string(),
        places: record.bays.get(),
        unchanged,
    }))
}

/// A workshop without a provider of its code is in the first city that the business serves.
fn place_in_service_area(workshop: &Workshop, service_area: &[String]) -> Option<ProviderPlace> {
    let is_pincode = |place: &&String| place.bytes().all(|byte| byte.is_ascii_digit());
    let city = service_area.iter().find(|place| !is_pincode(place))?;
    let address = format!("{}, {city}", &*workshop.name);
    Some(ProviderPlace { city: city.clone(), address, ..ProviderPlace::default() })
}
