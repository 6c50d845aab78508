//! What becomes of booked slots: with own providers as they report it, with a dealership as its appointment stands.

use std::sync::Arc;

use frontdesk_contracts::record::Stored as _;
use frontdesk_contracts::tomo::booking::Booking;
use frontdesk_contracts::tomo::follow_up::{TenantReader, follow_ups};
use frontdesk_contracts::tomo::intent;
use frontdesk_contracts::tomo::lifecycle::OwnBookings;
use frontdesk_engine::model::page::{Page, Query};
use frontdesk_engine::model::table::{StoredRow, TableSpec};
use frontdesk_engine::ports::{Disclosure, Store};
use frontdesk_engine::{Fault, TenantId};
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::data::{DEALERSHIP, OWN};
use super::support::{
    DEALERSHIP_LIVE, INTENT, OWN_LIVE, OWN_SANDBOX, Partner, ServiceDesk, booking_of, general_service,
};

/// 2027-03-01T03:30:00Z, when the slot begins.
const START: i64 = 1_803_871_800_000;

async fn booked(desk: &ServiceDesk, partner: Partner) -> Value {
    let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    desk.ok(partner, "book_slot", booking_of(&found, "20270301T033000Z", "key-1")).await
}

fn at(booked: &Value, stage: &str) -> Value {
    json!({"booking_ref": booked["booking_ref"], "stage": stage})
}

/// Status, stage, what is earned and what is paid back.
fn ended(store: &MemoryStore, tenant: &str, booked: &Value) -> Value {
    let row = store.row(tenant, Booking::table(), booked["booking_ref"].as_str().unwrap()).unwrap();
    let stored: Value = serde_json::from_str(&row.body).unwrap();
    json!([stored["status"], stored["stage"], stored["net_inr"], stored["refund_inr"]])
}

async fn places_left(desk: &ServiceDesk, partner: Partner) -> Value {
    let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    found["providers"][0]["slots"][0]["places_left"].clone()
}

#[tokio::test]
async fn a_slot_is_worked_on_and_rendered() {
    let (desk, store) = ServiceDesk::open();
    let booked = booked(&desk, OWN_LIVE).await;
    desk.clock.set(START);
    desk.advance(OWN_LIVE, at(&booked, "in_progress")).await.unwrap();
    assert_eq!(ended(&store, OWN, &booked), json!(["confirmed", "in_progress", null, null]));
    let answer = desk.advance(OWN_LIVE, at(&booked, "completed")).await.unwrap();
    assert_eq!(answer, json!({"booking_ref": booked["booking_ref"], "status": "completed", "stage": "completed"}));
    assert_eq!(ended(&store, OWN, &booked), json!(["completed", "completed", 3_499, null]));
    assert_eq!(desk.advance(OWN_LIVE, at(&booked, "cancelled")).await, Err("BOOKING_CLOSED".to_owned()));
    assert_eq!(desk.advance(OWN_LIVE, at(&booked, "checked_in")).await, Err("BOOKING_CLOSED".to_owned()));
}

#[tokio::test]
async fn a_slot_that_is_not_rendered_is_paid_back_and_its_place_is_free() {
    for (partner, events) in [(OWN_LIVE, 2), (OWN_SANDBOX, 0)] {
        for (stage, status) in [("cancelled", "cancelled"), ("failed", "failed")] {
            let (desk, store) = ServiceDesk::open();
            let booked = booked(&desk, partner).await;
            assert_eq!(places_left(&desk, partner).await, 1);
            assert_eq!(desk.advance(partner, at(&booked, "no_show")).await, Err("/at".to_owned()), "too early");
            desk.advance(partner, at(&booked, stage)).await.unwrap();
            assert_eq!(places_left(&desk, partner).await, 2);
            assert_eq!(ended(&store, OWN, &booked), json!([status, stage, 0, 3_499]));
            assert_eq!(store.events().len(), events);
        }
    }
}

#[tokio::test]
async fn who_does_not_come_pays_as_for_a_late_cancellation() {
    let (desk, store) = ServiceDesk::open();
    let booked = booked(&desk, OWN_LIVE).await;
    desk.clock.set(START + 60_000);
    desk.advance(OWN_LIVE, at(&booked, "no_show")).await.unwrap();
    assert_eq!(ended(&store, OWN, &booked), json!(["cancelled", "no_show", 1_749, 1_750]));
}

#[tokio::test]
async fn the_customers_cancellation_says_what_the_provider_earns() {
    let (desk, store) = ServiceDesk::open();
    let booked = booked(&desk, OWN_LIVE).await;
    desk.clock.set(START - 3_600_000);
    desk.ok(OWN_LIVE, "cancel_booking", json!({"booking_ref": booked["booking_ref"]})).await;
    assert_eq!(ended(&store, OWN, &booked), json!(["cancelled", null, 1_749, 1_750]));
}

async fn appointment_id(desk: &ServiceDesk) -> String {
    let listed = desk.automotive("service.list_appointments", json!({"limit": 1})).await;
    listed["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_booking_comes_only_to_where_its_appointment_is() {
    for (status, stage, expected) in [
        ("completed", "completed", json!(["completed", "completed", 3_499, null])),
        ("no_show", "no_show", json!(["cancelled", "no_show", 0, 3_499])),
    ] {
        let (desk, store) = ServiceDesk::open();
        let booked = booked(&desk, DEALERSHIP_LIVE).await;
        let id = appointment_id(&desk).await;
        for refused in ["in_progress", "completed", "cancelled", "no_show", "failed"] {
            let answer = desk.advance(DEALERSHIP_LIVE, at(&booked, refused)).await;
            assert_eq!(answer, Err("/stage".to_owned()), "{refused}");
        }
        desk.clock.set(START);
        let nothing: [Value; 0] = [];
        assert_eq!(calls(store.as_ref(), "appointment", &id).await, nothing);
        if status == "completed" {
            desk.automotive("service.update_appointment", json!({"id": id, "status": "in_progress"})).await;
            assert_eq!(calls(store.as_ref(), "appointment", &id).await, [at(&booked, "in_progress")]);
            desk.advance(DEALERSHIP_LIVE, at(&booked, "in_progress")).await.unwrap();
            assert_eq!(calls(store.as_ref(), "appointment", &id).await, nothing, "it has followed");
        }
        desk.automotive("service.update_appointment", json!({"id": id, "status": status})).await;
        assert_eq!(calls(store.as_ref(), "appointment", &id).await, [at(&booked, stage)]);
        desk.advance(DEALERSHIP_LIVE, at(&booked, stage)).await.unwrap();
        assert_eq!(ended(&store, DEALERSHIP, &booked), expected);
        assert_eq!(calls(store.as_ref(), "appointment", &id).await, nothing);
    }
}

#[tokio::test]
async fn an_appointment_that_the_workshop_cancels_ends_its_booking() {
    let (desk, store) = ServiceDesk::open();
    let booked = booked(&desk, DEALERSHIP_LIVE).await;
    let id = appointment_id(&desk).await;
    desk.automotive("service.cancel_appointment", json!({"id": id})).await;
    assert_eq!(calls(store.as_ref(), "appointment", &id).await, [at(&booked, "cancelled")]);
    desk.advance(DEALERSHIP_LIVE, at(&booked, "cancelled")).await.unwrap();
    assert_eq!(ended(&store, DEALERSHIP, &booked), json!(["cancelled", "cancelled", 0, 3_499]));
    assert_eq!(calls(store.as_ref(), "tomo_booking", &id).await, [json!(null); 0]);
}

#[tokio::test]
async fn both_databases_advance_follow_and_know_what_is_due() {
    for desk in [ServiceDesk::on_sqlite().await, ServiceDesk::on_postgres().await] {
        let (own, trial) = (booked(&desk, OWN_LIVE).await, booked(&desk, OWN_SANDBOX).await);
        let of_workshop = booked(&desk, DEALERSHIP_LIVE).await;
        let due = async |partner: Partner| {
            let asked = json!({"complete_after_hours": 2, "plays_stages": true});
            let mut due = desk.operator(partner, "list_due_bookings", asked).await.unwrap()["due"].take();
            due.as_array_mut().unwrap().sort_by_key(Value::to_string);
            due
        };
        // The work takes two hours.
        desk.clock.set(START + 4 * 3_600_000 - 1);
        assert_eq!(due(OWN_LIVE).await, json!([]));
        desk.clock.set(START + 4 * 3_600_000);
        let mut both = vec![at(&own, "completed"), at(&trial, "completed")];
        both.sort_by_key(Value::to_string);
        assert_eq!(due(OWN_LIVE).await, json!(both));
        for booking in [&own, &trial] {
            desk.advance(OWN_LIVE, at(booking, "completed")).await.unwrap();
        }
        assert_eq!(due(OWN_LIVE).await, json!([]));
        assert_eq!(desk.advance(OWN_LIVE, at(&own, "failed")).await, Err("BOOKING_CLOSED".to_owned()));

        // The dealership reports its appointments itself.
        assert_eq!(due(DEALERSHIP_LIVE).await, json!([]));
        let id = appointment_id(&desk).await;
        desk.automotive("service.update_appointment", json!({"id": id, "status": "no_show"})).await;
        assert_eq!(calls(desk.store(), "appointment", &id).await, [at(&of_workshop, "no_show")]);
        desk.advance(DEALERSHIP_LIVE, at(&of_workshop, "no_show")).await.unwrap();
        assert_eq!(calls(desk.store(), "appointment", &id).await, [json!(null); 0]);
    }
}

/// What follows from an event about this record of the dealership: the arguments, and that each has a key of its own.
async fn calls(store: &dyn Store, kind: &str, id: &str) -> Vec<Value> {
    let text = frontdesk_contracts::partner::built_in_intent("tomo", INTENT).unwrap();
    let intents = vec![Arc::new(intent::parse(text).unwrap())];
    let own = OwnBookings { partner_id: "demo_partner".to_owned(), intents };
    let rows = Rows(store, TenantId::parse(DEALERSHIP).unwrap());
    let follow_ups = follow_ups(&rows, &own, (kind, id)).await.unwrap();
    for call in &follow_ups {
        let text = |name: &str| call.arguments[name].as_str().unwrap();
        assert_eq!(call.tool, "advance_booking");
        assert_eq!(call.key, Some(format!("follow-up:{}:{}", text("booking_ref"), text("stage"))));
    }
    follow_ups.into_iter().map(|call| Value::Object(call.arguments)).collect()
}

struct Rows<'a>(&'a dyn Store, TenantId);

impl TenantReader for Rows<'_> {
    fn tenant(&self) -> &TenantId {
        &self.1
    }

    async fn get(&self, table: &'static TableSpec, id: &str) -> Result<Option<StoredRow>, Fault> {
        self.0.get(&self.1, table, id, Disclosure::Masked).await
    }

    async fn page(&self, query: Query) -> Result<Page, Fault> {
        self.0.page(&self.1, query).await
    }
}
