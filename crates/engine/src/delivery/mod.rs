//! What is owed to others because of events: which deliveries there are, and sending each until it has arrived. A contract
//! says what is owed, in which form and how it is signed; nothing here knows what a delivery is about.

mod advance;
mod attempt;
mod manage;
mod notice;
mod record;
mod record_store;
mod rules;
mod tenant_rows;
mod worker;

pub use advance::advance;
pub use attempt::send_due;
pub use manage::{ListedDelivery, Replayed, TestProblem, TestedDelivery, list, replay, replay_all, test_endpoint};
pub use notice::{AttemptOutcome, DeliveryNotice};
pub use record::{DELIVERY, DELIVERY_CURSOR, DELIVERY_EXPIRES_AT, DELIVERY_MARK, DeliveryStatus, delivery_tables};
pub use rules::{
    DeliveryContent, DeliveryEndpoint, DeliveryOrder, DeliveryRules, DeliveryVerdict, EventDuties, FollowUp, Readiness,
};
pub use tenant_rows::TenantRows;
pub use worker::run_deliveries;
