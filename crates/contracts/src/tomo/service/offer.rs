//! What is offered, whoever does the work: a provider, its services, and the work that a caller asks for.

use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Value, json};

use crate::calendar::{LocalCalendar, WeekdayHours};
use crate::record::Vocabulary as _;
pub(super) use crate::tomo::facts::with;
use crate::tomo::known_facts::{Fact, decimal, list, object, text, whole};

/// More is not said about one day at a provider, and no caller reads more.
pub(super) const MAX_CODES: usize = 5;

#[derive(Debug, Clone)]
pub(super) struct ServiceProvider {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) place: ProviderPlace,
    pub(super) rating: Option<f64>,
    pub(super) time_zone: String,
    pub(super) opening_hours: Vec<WeekdayHours>,
    pub(super) calendar: LocalCalendar,
    pub(super) terms: CancellationTerms,
    /// How its services are found.
    pub(super) code: String,
    /// How many customers are served at the same time.
    pub(super) places: i64,
    /// A booking holds only while the provider stays as it was read.
    pub(super) unchanged: Step,
}

/// Where it is.
#[derive(Debug, Clone, Default)]
pub(super) struct ProviderPlace {
    pub(super) city: String,
    pub(super) address: String,
    pub(super) area: Option<String>,
    pub(super) pincode: Option<String>,
    pub(super) latitude: Option<f64>,
    pub(super) longitude: Option<f64>,
}

#[derive(Debug, Clone)]
pub(super) struct OfferedService {
    pub(super) code: String,
    pub(super) name: String,
    pub(super) minutes: i64,
    pub(super) price_inr: i64,
    /// How many customers can have it at the same time.
    pub(super) places: i64,
}

/// What a caller asks for, at one provider.
#[derive(Debug, Clone)]
pub(super) struct RequestedWork {
    pub(super) codes: Vec<String>,
    pub(super) services: Vec<OfferedService>,
    pub(super) minutes: i64,
    pub(super) price_inr: i64,
    pub(super) places: i64,
}

/// What a cancellation costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CancellationTerms {
    pub(super) free_hours: i64,
    pub(super) late_percent: i64,
}

impl CancellationTerms {
    /// Where nothing else was agreed, everything is paid back.
    pub(super) const FREE: CancellationTerms = CancellationTerms { free_hours: 0, late_percent: 100 };

    /// Until when a cancellation costs nothing.
    pub(super) fn free_until(self, starts_at: Millis) -> Millis {
        starts_at.plus_seconds(self.free_hours.saturating_mul(-3600))
    }

    /// What is paid back, in percent.
    pub(super) fn percent(self, starts_at: Millis, now: Millis) -> i64 {
        if now <= self.free_until(starts_at) { 100 } else { self.late_percent }
    }
}

/// Whole rupees of a share, in favour of the customer.
pub(super) fn share(total_inr: i64, percent: i64) -> i64 {
    total_inr.saturating_mul(percent).saturating_add(99) / 100
}

impl RequestedWork {
    /// All of the codes together, if all are offered.
    pub(super) fn of(services: &[OfferedService], codes: &[String]) -> Option<RequestedWork> {
        let find = |code: &String| services.iter().find(|service| service.code == *code).cloned();
        let services: Vec<OfferedService> = codes.iter().map(find).collect::<Option<_>>()?;
        let sum = |of: fn(&OfferedService) -> i64| services.iter().map(of).fold(0, i64::saturating_add);
        Some(RequestedWork {
            codes: codes.to_vec(),
            minutes: sum(|service| service.minutes),
            price_inr: sum(|service| service.price_inr),
            places: services.iter().map(|service| service.places).min()?,
            services,
        })
    }

    pub(super) fn end_of(&self, start: Millis) -> Millis {
        start.plus_seconds(self.minutes.saturating_mul(60))
    }
}

impl OfferedService {
    fn facts(&self) -> Value {
        json!({
            "code": self.code, "name": self.name, "duration_minutes": self.minutes, "price_inr": self.price_inr,
        })
    }
}

pub(super) fn services_facts(services: &[OfferedService]) -> Value {
    services.iter().map(OfferedService::facts).collect()
}

/// The facts of a provider.
pub(super) const PROVIDER: &[Fact] = &[
    text("provider_id"),
    text("name"),
    text("city"),
    text("address"),
    text("area"),
    text("pincode"),
    decimal("latitude"),
    decimal("longitude"),
    decimal("rating"),
    text("time_zone"),
    list("opening_hours", &[&[text("weekday"), text("opens"), text("closes")]]),
    object("cancellation", &[&[whole("free_cancel_hours"), whole("late_refund_percent")]]),
];

/// The facts of a service.
pub(super) const SERVICE: &[Fact] = &[text("code"), text("name"), whole("duration_minutes"), whole("price_inr")];

impl ServiceProvider {
    /// What is known of it; null where it is not.
    pub(super) fn facts(&self) -> Value {
        let hours = self
            .opening_hours
            .iter()
            .map(|hours| json!({"weekday": hours.weekday.as_str(), "opens": &*hours.opens, "closes": &*hours.closes}));
        json!({
            "provider_id": self.id,
            "name": self.name,
            "city": self.place.city,
            "address": self.place.address,
            "area": self.place.area,
            "pincode": self.place.pincode,
            "latitude": self.place.latitude,
            "longitude": self.place.longitude,
            "rating": self.rating,
            "time_zone": self.time_zone,
            "opening_hours": hours.collect::<Vec<Value>>(),
            "cancellation": {
                "free_cancel_hours": self.terms.free_hours,
                "late_refund_percent": self.terms.late_percent,
            },
        })
    }
}
