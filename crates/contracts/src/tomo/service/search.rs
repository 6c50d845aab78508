//! `search_providers`, `get_provider_detail` and `get_available_slots`: who can do the work, when, and at which price.

use std::sync::Arc;

use frontdesk_engine::model::tool::{Future, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::offer::{MAX_CODES, OfferedService, RequestedWork, SERVICE, ServiceProvider, services_facts, with};
use super::slots::{DEFAULT_DAYS, DayRange, MAX_DAYS, day_argument, slot_facts};
use super::source;
use crate::tomo::ToolContext;
use crate::tomo::codes::NOT_FOUND;
use crate::tomo::facts::project;
use crate::tomo::intent::IntentTool;
use crate::tomo::known_facts::{Fact, list, texts, whole};
use crate::tomo::result_token::{self, Offers};

/// How many slots a search shows of each provider.
const SEARCH_SLOTS: usize = 10;
/// How many one provider is asked for.
const MAX_SLOTS: usize = 200;

/// A reading tool of the shape.
pub(super) struct ServiceReader {
    pub(super) context: Arc<ToolContext>,
    pub(super) tool: IntentTool,
    pub(super) kind: ReaderKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderKind {
    Search,
    Detail,
    Slots,
}

impl ReadTool for ServiceReader {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            match self.kind {
                ReaderKind::Search => self.search(permitted).await,
                ReaderKind::Detail => self.detail(permitted).await,
                ReaderKind::Slots => self.slots(permitted).await,
            }
        })
    }
}

impl ServiceReader {
    async fn search(&self, permitted: &Permitted<'_>) -> Result<Outcome, Fault> {
        let location = permitted.input().arguments.get("location");
        let place = |name: &str| location.and_then(|location| location.get(name)).and_then(Value::as_str);
        let codes = service_codes(permitted)?;
        let preferred = day_argument(permitted, "preferred_date")?;
        let mut found = source::search(permitted, &self.context, place("city"), &codes).await?;
        // Near first, then those that customers like. Nobody can buy a better place.
        let pincode = place("pincode");
        let is_far = |provider: &ServiceProvider| pincode.is_none() || provider.place.pincode.as_deref() != pincode;
        let rating = |provider: &ServiceProvider| provider.rating.unwrap_or(0.0);
        found.sort_by(|(one, _), (other, _)| {
            let near_first = is_far(one).cmp(&is_far(other));
            near_first.then(rating(other).total_cmp(&rating(one))).then_with(|| one.name.cmp(&other.name))
        });

        let mut wanted = Vec::new();
        for (provider, _) in &found {
            wanted.push((provider, search_range(permitted, provider, preferred)?));
        }
        let days = source::booked_days(permitted, &self.context, &wanted).await?;
        let mut offered: Vec<Value> = Vec::new();
        let mut prices = Vec::new();
        for ((provider, work), (_, range)) in found.iter().zip(&wanted) {
            let at = (provider, work);
            let slots = source::free_slots(permitted, &self.context, at, *range, &days, SEARCH_SLOTS).await?;
            if slots.is_empty() {
                continue;
            }
            let slots: Vec<Value> = slots.iter().map(|slot| slot_facts(&provider.calendar, slot)).collect();
            let facts = with(with(provider.facts(), work_facts(work)), json!({"slots": slots}));
            // One that lacks a fact cannot be offered: alone it shows whether it does.
            if self.answers(&json!({"providers": [facts.clone()]})) {
                prices.push((provider.id.clone(), work.price_inr));
                offered.push(facts);
            }
        }
        let (token, expires_at) = result_token::issue(permitted, &self.context, offers(&codes, prices))?;
        let rows = offered.len();
        let facts = json!({"providers": offered, "result_token": token, "expires_at": expires_at.to_rfc3339()});
        self.answer(&facts, rows)
    }

    async fn detail(&self, permitted: &Permitted<'_>) -> Result<Outcome, Fault> {
        let provider = self.provider(permitted).await?;
        let mut services = source::services(permitted, &self.context, &provider).await?;
        let facts = |services: &[OfferedService]| with(provider.facts(), json!({"services": services_facts(services)}));
        // Work that the intent has no word for is not offered under it.
        services.retain(|service| self.answers(&facts(std::slice::from_ref(service))));
        self.answer(&facts(&services), 1)
    }

    async fn slots(&self, permitted: &Permitted<'_>) -> Result<Outcome, Fault> {
        let codes = service_codes(permitted)?;
        let provider = self.provider(permitted).await?;
        let services = source::services(permitted, &self.context, &provider).await?;
        let missing = || Fault::invalid_argument("/service/codes", "enum", "this provider does not offer all of them");
        let work = RequestedWork::of(&services, &codes).ok_or_else(missing)?;
        let range = slots_range(permitted, &provider)?;
        let days = source::booked_days(permitted, &self.context, &[(&provider, range)]).await?;
        let at = (&provider, &work);
        let slots = source::free_slots(permitted, &self.context, at, range, &days, MAX_SLOTS).await?;
        let prices = vec![(provider.id.clone(), work.price_inr)];
        let (token, expires_at) = result_token::issue(permitted, &self.context, offers(&codes, prices))?;
        let rows = slots.len();
        let slots: Vec<Value> = slots.iter().map(|slot| slot_facts(&provider.calendar, slot)).collect();
        let more = json!({"slots": slots, "result_token": token, "expires_at": expires_at.to_rfc3339()});
        self.answer(&with(with(provider.facts(), work_facts(&work)), more), rows)
    }

    async fn provider(&self, permitted: &Permitted<'_>) -> Result<ServiceProvider, Fault> {
        let id = permitted.input().text("provider_id").unwrap_or_default();
        let missing = || Fault::domain(NOT_FOUND, "No provider with this provider_id can be booked here.");
        source::find(permitted, &self.context, id).await?.ok_or_else(missing)
    }

    /// Whether the response schema can be filled in with these facts, but for what every search has.
    fn answers(&self, facts: &Value) -> bool {
        let always = json!({"result_token": "any", "expires_at": "2027-01-01T00:00:00Z"});
        project(&self.tool.output, &with(facts.clone(), always)).is_ok()
    }

    fn answer(&self, facts: &Value, rows: usize) -> Result<Outcome, Fault> {
        let payload = self
            .tool
            .project(facts)
            .map_err(|missing| Fault::domain(NOT_FOUND, "This provider cannot be booked here.").caused_by(missing.0))?;
        Ok(Outcome::Raw { answer: payload.to_string(), rows })
    }
}

/// The facts of the work that is asked for.
pub(super) const WORK: &[Fact] =
    &[texts("service_codes"), list("services", &[SERVICE]), whole("duration_minutes"), whole("price_inr")];

fn work_facts(work: &RequestedWork) -> Value {
    json!({
        "service_codes": work.codes,
        "services": services_facts(&work.services),
        "duration_minutes": work.minutes,
        "price_inr": work.price_inr,
    })
}

/// What a booking with this token needs to know.
fn offers(codes: &[String], prices: Vec<(String, i64)>) -> Offers {
    Offers { search: json!({"service_codes": codes}), prices }
}

/// The codes of the work that is asked for, each once.
fn service_codes(permitted: &Permitted<'_>) -> Result<Vec<String>, Fault> {
    let named = permitted.input().arguments.get("service").and_then(|service| service.get("codes"));
    let mut codes: Vec<String> = Vec::new();
    for code in named.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
    }
    if codes.is_empty() || codes.len() > MAX_CODES {
        let expected = format!("between 1 and {MAX_CODES} service codes are expected");
        return Err(Fault::invalid_argument("/service/codes", "minItems", expected));
    }
    Ok(codes)
}

/// The preferred day, or the next days.
fn search_range(
    permitted: &Permitted<'_>,
    provider: &ServiceProvider,
    preferred: Option<Date>,
) -> Result<DayRange, Fault> {
    let today = today(permitted, provider)?;
    match preferred {
        Some(day) if day < today => {
            Err(Fault::invalid_argument("/preferred_date", "minimum", "it must not lie in the past"))
        }
        Some(day) => Ok(DayRange { first: day, last: day }),
        None => Ok(DayRange::starting(today, DEFAULT_DAYS)),
    }
}

fn slots_range(permitted: &Permitted<'_>, provider: &ServiceProvider) -> Result<DayRange, Fault> {
    let today = today(permitted, provider)?;
    let first = day_argument(permitted, "date_from")?.unwrap_or(today);
    let last = day_argument(permitted, "date_to")?.unwrap_or(DayRange::starting(first, DEFAULT_DAYS).last);
    if last < first {
        return Err(Fault::invalid_argument("/date_to", "minimum", "it must not be earlier than date_from"));
    }
    if last < today {
        return Err(Fault::invalid_argument("/date_to", "minimum", "it must not lie in the past"));
    }
    if DayRange::starting(first, MAX_DAYS).last < last {
        let expected = format!("it must be within {MAX_DAYS} days from date_from");
        return Err(Fault::invalid_argument("/date_to", "maximum", expected));
    }
    Ok(DayRange { first: first.max(today), last })
}

fn today(permitted: &Permitted<'_>, provider: &ServiceProvider) -> Result<Date, Fault> {
    let today = provider.calendar.date_of(permitted.now());
    today.ok_or_else(|| Fault::internal("the time is outside of the calendar"))
}
