//! The business's own providers, which came in by import.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::{Fault, Permitted};

use super::offer::{CancellationTerms, OfferedService, ProviderPlace, RequestedWork, ServiceProvider};
use super::provider::{Provider, ProviderStatus};
use super::provider_service::ProviderService;

use crate::record::{Entity, Stored as _, Vocabulary as _, list_records};
use crate::tomo::listing::place::city_keys;

/// How many providers one search looks at.
const MAX_PROVIDERS: usize = 50;
/// How many services one provider can have.
const MAX_SERVICES: usize = 200;

pub(super) async fn search(
    permitted: &Permitted<'_>,
    city: Option<&str>,
    codes: &[String],
) -> Result<Vec<(ServiceProvider, RequestedWork)>, Fault> {
    let mut filters = vec![offered()];
    filters.extend(city.map(|city| Filter::AnyOf("city", city_keys(city).into_iter().map(Cell::Text).collect())));
    let providers = list_records::<Provider>(permitted, filters, MAX_PROVIDERS).await?;
    let codes_wanted = codes.iter().map(|code| Cell::Text(code.clone())).collect();
    let provider_codes =
        providers.iter().map(|provider| Cell::Text(provider.record.provider_code.to_string())).collect();
    let filters =
        vec![offered(), Filter::AnyOf("service_code", codes_wanted), Filter::AnyOf("provider_code", provider_codes)];
    let services = if providers.is_empty() {
        Vec::new()
    } else {
        list_records::<ProviderService>(permitted, filters, MAX_PROVIDERS.saturating_mul(codes.len())).await?
    };
    let found = providers.into_iter().filter_map(|provider| {
        let provider = service_provider(provider)?;
        let own = services.iter().filter(|service| *service.record.provider_code == *provider.code);
        let own: Vec<OfferedService> = own.map(|service| offered_service(&service.record, &provider)).collect();
        let work = RequestedWork::of(&own, codes)?;
        Some((provider, work))
    });
    Ok(found.collect())
}

/// The provider with this id, if it can be booked.
pub(super) async fn find(permitted: &Permitted<'_>, id: &str) -> Result<Option<ServiceProvider>, Fault> {
    let Some(row) = permitted.get_to_change(Provider::table(), id).await? else { return Ok(None) };
    let provider: Entity<Provider> = Entity::restore(permitted.tenant(), &row)?;
    Ok(Some(provider).filter(|provider| provider.record.status == ProviderStatus::Offered).and_then(service_provider))
}

pub(super) async fn services(
    permitted: &Permitted<'_>,
    provider: &ServiceProvider,
) -> Result<Vec<OfferedService>, Fault> {
    let filters = vec![offered(), Filter::Equals("provider_code", Cell::Text(provider.code.clone()))];
    let services = list_records::<ProviderService>(permitted, filters, MAX_SERVICES).await?;
    let mut services: Vec<OfferedService> =
        services.iter().map(|service| offered_service(&service.record, provider)).collect();
    services.sort_by(|one, other| one.code.cmp(&other.code));
    Ok(services)
}

fn offered() -> Filter {
    Filter::Equals("status", Cell::Text(ProviderStatus::Offered.as_str().to_owned()))
}

fn offered_service(service: &ProviderService, provider: &ServiceProvider) -> OfferedService {
    OfferedService {
        code: service.service_code.to_string(),
        name: service.name.to_string(),
        minutes: service.duration_minutes.get(),
        price_inr: service.price_inr.get(),
        places: provider.places,
    }
}

fn service_provider(provider: Entity<Provider>) -> Option<ServiceProvider> {
    let calendar = provider.record.calendar()?;
    let unchanged = Step::Require {
        table: Provider::table(),
        id: provider.id.clone(),
        expect_version: provider.version,
        on_conflict: OnConflict::Retry,
    };
    let record = provider.record;
    Some(ServiceProvider {
        id: provider.id,
        name: record.name.to_string(),
        place: place_of(&record),
        rating: record.rating.map(|rating| rating.to_f64()),
        time_zone: record.time_zone.to_string(),
        terms: terms_of(&record),
        code: record.provider_code.to_string(),
        places: record.places.get(),
        opening_hours: record.opening_hours.0,
        calendar,
        unchanged,
    })
}

pub(super) fn place_of(record: &Provider) -> ProviderPlace {
    ProviderPlace {
        city: record.city.to_string(),
        address: record.address.to_string(),
        area: record.area.as_ref().map(|area| area.to_string()),
        pincode: record.pincode.as_ref().map(|pincode| pincode.to_string()),
        latitude: record.latitude.map(|degrees| degrees.to_f64()),
        longitude: record.longitude.map(|degrees| degrees.to_f64()),
    }
}

pub(super) fn terms_of(record: &Provider) -> CancellationTerms {
    CancellationTerms { free_hours: record.free_cancel_hours.get(), late_percent: record.late_refund_percent.get() }
}
