//! Completions (CPC): TOMO is told once about every live booking that has ended, with what the business earns by it. What is
//! said is decided when the booking ends and never changes; only the time and the signature are new at every attempt.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::delivery::{
    DeliveryContent, DeliveryEndpoint, DeliveryOrder, DeliveryRules, DeliveryVerdict, EventDuties, FollowUp, Readiness,
    TenantRows,
};
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, ToolCall};
use frontdesk_engine::ports::OutboxEvent;
use frontdesk_engine::ports::http_client::{HttpError, HttpRequest, HttpResponse};
use frontdesk_engine::seal::signing_key::SigningKey;
use serde::Serialize;

use super::booking::{Booking, BookingMode, BookingStatus};
use super::follow_up::follow_ups;
use super::intent::Intent;
use super::lifecycle::OwnBookings;
use super::signature::sign;
use crate::partner::PartnerSettings;
use crate::record::{Entity, Stored as _};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE: usize = 64 * 1024;
const SAMPLE_NOTES: &str = "Test of the connection. No order is behind it.";
const NO_KEY: &str = "no key to sign completions with is configured: set keys under [mount.completion]";

/// From seconds to hours, almost three days in all.
const DELAYS: &[Duration] = &[
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_mins(30),
    Duration::from_hours(1),
    Duration::from_hours(2),
    Duration::from_hours(4),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
    Duration::from_hours(6),
];

/// The completions of one mount.
pub(super) struct Completions {
    consumer: String,
    partner_id: String,
    callback: String,
    intents: Vec<Arc<Intent>>,
    /// The newest first.
    keys: Vec<SigningKey>,
    /// Which bookings are this mount's.
    own: OwnBookings,
}

/// A call that follows from an event. A key of its own makes it the same call whoever reads the event again.
fn follow_up(ToolCall { tool, arguments, key }: ToolCall, event: &OutboxEvent) -> FollowUp {
    let idempotency_key = key.unwrap_or_else(|| format!("follow-up-{}", event.event_id));
    FollowUp { tool, arguments, idempotency_key }
}

/// What is told of a booking: these nine members, in this order (T-147).
#[derive(Serialize)]
struct CompletionBody<'a> {
    intent: &'a str,
    intent_version: &'a str,
    external_id: &'a str,
    /// Net revenue in whole rupees (T-148).
    amount_inr: i64,
    closed_at: String,
    /// Echoed from the booking; empty if none was sent.
    request_id: &'a str,
    status: &'a str,
    currency: &'static str,
    notes: &'a str,
}

impl Completions {
    pub(super) fn new(partner: &PartnerSettings, intents: &[Arc<Intent>]) -> Completions {
        let mut ids: Vec<&str> = intents.iter().map(|intent| intent.id.as_str()).collect();
        ids.sort_unstable();
        Completions {
            consumer: format!("{} {}", partner.partner_id, ids.join(" ")),
            partner_id: partner.partner_id.clone(),
            callback: partner.callback.clone(),
            intents: intents.to_vec(),
            keys: partner.keys.completion.clone(),
            own: OwnBookings { partner_id: partner.partner_id.clone(), intents: intents.to_vec() },
        }
    }

    /// One for each intent, because mounts of one partner may have different keys.
    fn endpoint(&self, intent: &str) -> String {
        format!("{}/{intent}", self.partner_id)
    }

    /// What TOMO is told of a booking; none as long as it can change, and of what is not this mount's.
    fn completion(&self, booking: &Entity<Booking>) -> Result<Option<DeliveryContent>, Fault> {
        let record = &booking.record;
        let intent = self.intents.iter().find(|intent| *intent.id == *record.intent);
        let is_ours = record.partner_id.as_ref().is_none_or(|id| **id == *self.partner_id);
        let (Some(intent), true, BookingMode::Live) = (intent, is_ours, record.mode) else { return Ok(None) };
        let Some(status) = intent.completion.word(record.status) else { return Ok(None) };
        let body = CompletionBody {
            intent: &record.intent,
            intent_version: &record.intent_version,
            external_id: &booking.id,
            amount_inr: net_inr(record),
            closed_at: closed_at(booking).to_rfc3339(),
            request_id: record.request_id.as_deref().unwrap_or_default(),
            status,
            currency: "INR",
            notes: "",
        };
        self.content(&intent.id, &booking.id, &body).map(Some)
    }

    fn content(&self, intent: &str, subject: &str, body: &CompletionBody<'_>) -> Result<DeliveryContent, Fault> {
        let body = serde_json::to_string(body).map_err(|_| Fault::internal("a completion cannot be written"))?;
        Ok(DeliveryContent { endpoint: self.endpoint(intent), subject: subject.to_owned(), body })
    }
}

/// What the business earns. Bookings that ended under earlier releases do not say it.
fn net_inr(record: &Booking) -> i64 {
    let total = record.total_inr.get();
    let earned = match record.status {
        BookingStatus::Cancelled => total.saturating_sub(record.refund_inr.map_or(0, |refund| refund.get())),
        BookingStatus::Completed => total,
        BookingStatus::Failed | BookingStatus::Confirmed | BookingStatus::Unknown => 0,
    };
    record.net_inr.map_or(earned, |net| net.get())
}

fn closed_at(booking: &Entity<Booking>) -> Millis {
    booking.record.ended_at.or(booking.record.cancelled_at).unwrap_or(booking.updated_at)
}

impl DeliveryRules for Completions {
    fn consumer(&self) -> &str {
        &self.consumer
    }

    fn endpoints<'a>(&'a self, _: &'a TenantRows<'a>) -> Future<'a, Result<Vec<DeliveryEndpoint>, Fault>> {
        let endpoint =
            |intent: &Arc<Intent>| DeliveryEndpoint { name: self.endpoint(&intent.id), order: DeliveryOrder::Parallel };
        Box::pin(std::future::ready(Ok(self.intents.iter().map(endpoint).collect())))
    }

    /// T-146: as soon as a booking is final, and not before.
    fn duties<'a>(
        &'a self,
        event: &'a OutboxEvent,
        rows: &'a TenantRows<'a>,
    ) -> Future<'a, Result<EventDuties, Fault>> {
        Box::pin(async move {
            if event.change == Change::Deleted {
                return Ok(EventDuties::default());
            }
            if event.kind != Booking::TABLE_NAME {
                let calls = follow_ups(rows, &self.own, (&event.kind, &event.id)).await?;
                let follow_ups = calls.into_iter().map(|call| follow_up(call, event)).collect();
                return Ok(EventDuties { deliveries: Vec::new(), follow_ups });
            }
            let Some(row) = rows.get(Booking::table(), &event.id).await? else { return Ok(EventDuties::default()) };
            let booking = Entity::restore(rows.tenant(), &row)?;
            let deliveries = self.completion(&booking)?.into_iter().collect();
            Ok(EventDuties { deliveries, follow_ups: Vec::new() })
        })
    }

    fn readiness(&self) -> Readiness {
        if self.keys.is_empty() { Readiness::Held(NO_KEY) } else { Readiness::Ready }
    }

    /// A variant for each key: while one is replaced, TOMO may know only the older one (T-145).
    fn request<'a>(
        &'a self,
        delivery: &'a DeliveryContent,
        at: Millis,
        variant: usize,
        _: &'a TenantRows<'a>,
    ) -> Future<'a, Result<Option<HttpRequest>, Fault>> {
        let request = self.keys.get(variant).map(|key| HttpRequest {
            url: self.callback.clone(),
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("x-tomo-timestamp", at.0.to_string()),
                ("x-tomo-signature", sign(key, at, delivery.body.as_bytes())),
            ],
            body: delivery.body.clone().into(),
            timeout: TIMEOUT,
            max_response: MAX_RESPONSE,
        });
        Box::pin(std::future::ready(Ok(request)))
    }

    /// T-144, T-149. 409 says that TOMO has it already. 200 is no success: it is what a page that happens to be at the
    /// address answers, and a completion that TOMO does not have must not be given up for it.
    fn judge(&self, answer: Result<&HttpResponse, HttpError>) -> DeliveryVerdict {
        match answer.map(|response| response.status) {
            Ok(201 | 409) => DeliveryVerdict::Delivered,
            Ok(401) => DeliveryVerdict::Refused,
            Ok(_) | Err(_) => DeliveryVerdict::Retry,
        }
    }

    fn delays(&self) -> &'static [Duration] {
        DELAYS
    }

    fn sample(&self, id: &str, at: Millis) -> Option<DeliveryContent> {
        let intent = self.intents.first()?;
        let body = CompletionBody {
            intent: &intent.id,
            intent_version: &intent.version,
            external_id: id,
            amount_inr: 0,
            closed_at: at.to_rfc3339(),
            request_id: "",
            status: &intent.completion.completed,
            currency: "INR",
            notes: SAMPLE_NOTES,
        };
        self.content(&intent.id, id, &body).ok()
    }
}
