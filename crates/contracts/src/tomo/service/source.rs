//! Whose times are sold, and who counts the places: the business's own providers with their days, or the workshop of the
//! tenant's dealership with its own. The sandbox counts in days of its own in both cases.

use std::collections::HashMap;

use frontdesk_engine::{Fault, Permitted};
use jiff::civil::Date;

use super::offer::{OfferedService, RequestedWork, ServiceProvider};
use super::provider_day::{ProviderDay, load_days};
use super::slots::{DayRange, FreeSlot, counted_slots};
use super::{own, workshop};
use crate::partner::PartnerSource;
use crate::tomo::booking::BookingMode;
use crate::tomo::{ToolContext, is_sandbox};

/// Who counts the places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    /// Rows of this contract, one a day.
    Days,
    /// The dealership's workshop, which has other customers, too.
    Workshop,
}

impl Counting {
    pub(super) fn of(permitted: &Permitted<'_>, context: &ToolContext) -> Counting {
        match context.source {
            PartnerSource::Dealership if !is_sandbox(permitted) => Counting::Workshop,
            PartnerSource::Dealership | PartnerSource::Own => Counting::Days,
        }
    }
}

/// Who does all of this work in this city.
pub(super) async fn search(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    city: Option<&str>,
    codes: &[String],
) -> Result<Vec<(ServiceProvider, RequestedWork)>, Fault> {
    match context.source {
        PartnerSource::Own => own::search(permitted, city, codes).await,
        PartnerSource::Dealership => workshop::search(permitted, context, city, codes).await,
    }
}

/// The provider with this id, if it can be booked.
pub(super) async fn find(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    id: &str,
) -> Result<Option<ServiceProvider>, Fault> {
    match context.source {
        PartnerSource::Own => own::find(permitted, id).await,
        PartnerSource::Dealership => workshop::find(permitted, context, id).await,
    }
}

/// What the provider offers.
pub(super) async fn services(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    provider: &ServiceProvider,
) -> Result<Vec<OfferedService>, Fault> {
    match context.source {
        PartnerSource::Own => own::services(permitted, provider).await,
        PartnerSource::Dealership => workshop::services(permitted, &provider.id).await,
    }
}

/// The days that count what is booked with these providers; none where the workshop does.
pub(super) async fn booked_days(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    wanted: &[(&ServiceProvider, DayRange)],
) -> Result<HashMap<String, ProviderDay>, Fault> {
    if Counting::of(permitted, context) == Counting::Workshop {
        return Ok(HashMap::new());
    }
    let ids: Vec<&str> = wanted.iter().map(|(provider, _)| provider.id.as_str()).collect();
    let mut days: Vec<Date> = wanted.iter().flat_map(|(_, range)| range.days()).collect();
    days.sort_unstable();
    days.dedup();
    load_days(permitted, &ids, &days).await
}

/// The free slots of a provider, `max` at most, in order.
pub(super) async fn free_slots(
    permitted: &Permitted<'_>,
    context: &ToolContext,
    (provider, work): (&ServiceProvider, &RequestedWork),
    range: DayRange,
    days: &HashMap<String, ProviderDay>,
    max: usize,
) -> Result<Vec<FreeSlot>, Fault> {
    match Counting::of(permitted, context) {
        Counting::Days => {
            let at = (BookingMode::of(permitted), permitted.now());
            Ok(counted_slots(provider, work, range, days, at, max))
        }
        Counting::Workshop => workshop::free_slots(permitted, provider, work, range, max).await,
    }
}
