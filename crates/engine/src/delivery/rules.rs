//! What a contract says about its deliveries. It decides; it neither stores nor sends.

use std::time::Duration;

use serde_json::{Map, Value};

use super::tenant_rows::TenantRows;
use crate::model::fault::Fault;
use crate::model::timestamp::Millis;
use crate::model::tool::Future;
use crate::ports::OutboxEvent;
use crate::ports::http_client::{HttpError, HttpRequest, HttpResponse};

/// The deliveries of one mount.
pub trait DeliveryRules: Send + Sync {
    /// Under this name it is stored how far the tenant's events have been read. Under a new name they are read from the
    /// first one on; what was owed before is not owed again.
    fn consumer(&self) -> &str;

    /// Where this tenant's deliveries go to.
    fn endpoints<'a>(&'a self, rows: &'a TenantRows<'a>) -> Future<'a, Result<Vec<DeliveryEndpoint>, Fault>>;

    /// What follows from an event. It may be asked about one event several times, and what it answers for a subject is
    /// used the first time only.
    fn duties<'a>(&'a self, event: &'a OutboxEvent, rows: &'a TenantRows<'a>)
    -> Future<'a, Result<EventDuties, Fault>>;

    /// Whether anything can be sent at present. Deliveries are stored and kept in any case.
    fn readiness(&self) -> Readiness;

    /// The request of one attempt, stamped and signed for `at`. Variant 0 is the first; another one is asked for if the
    /// answer is judged as `Refused`. None if there is no such variant.
    fn request<'a>(
        &'a self,
        delivery: &'a DeliveryContent,
        at: Millis,
        variant: usize,
        rows: &'a TenantRows<'a>,
    ) -> Future<'a, Result<Option<HttpRequest>, Fault>>;

    /// What an answer means, or that there was none.
    fn judge(&self, answer: Result<&HttpResponse, HttpError>) -> DeliveryVerdict;

    /// How long to wait after the first failed attempt, after the second, and so on. When they are used up, a delivery
    /// that only failed is a dead letter.
    fn delays(&self) -> &'static [Duration];

    /// A delivery that no record is behind, to try the endpoint with. None if there is nothing to try.
    fn sample(&self, id: &str, at: Millis) -> Option<DeliveryContent>;
}

/// Where deliveries go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryEndpoint {
    /// Its name among the contract's endpoints of the tenant. It is stored, so it must not change.
    pub name: String,
    pub order: DeliveryOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// One after the other in the order of their events: what fails holds up what comes after it.
    Ordered,
    /// Several at a time, each by itself.
    Parallel,
}

/// What follows from one event.
#[derive(Debug, Clone, Default)]
pub struct EventDuties {
    pub deliveries: Vec<DeliveryContent>,
    pub follow_ups: Vec<FollowUp>,
}

/// Something to be delivered, exactly so at every attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryContent {
    pub endpoint: String,
    /// What it is about: an endpoint is told once about each subject, whatever happens to the record later.
    pub subject: String,
    pub body: String,
}

/// A call of a tool of the operator that follows from an event. It may be made again with the same key.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowUp {
    pub tool: &'static str,
    pub arguments: Map<String, Value>,
    /// The same for the same event.
    pub idempotency_key: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// Nothing can be sent, for a reason that is for the operator.
    Held(&'static str),
}

/// What the answer to an attempt means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryVerdict {
    Delivered,
    /// Try again later.
    Retry,
    /// The next variant of the request is tried at once. If there is none, the operator is alarmed, and it is tried again
    /// later for as long as it takes.
    Refused,
    /// Trying again cannot help.
    Dead,
}
