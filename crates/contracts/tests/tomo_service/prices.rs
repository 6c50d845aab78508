//! Prices are held by the token of a search until it expires.

use frontdesk_contracts::automotive::service::repair_order::PayType;
use frontdesk_contracts::automotive::service::service_code::{ServiceCode, ServiceCodeStatus};
use frontdesk_contracts::automotive::values::Money;
use frontdesk_contracts::record::{Integer, Stored};
use frontdesk_contracts::tomo::LIVE;
use frontdesk_engine::model::plan::Step;
use frontdesk_testkit::MemoryStore;
use serde_json::json;

use super::data::{DEALERSHIP, OTHER, OWN, insert, service};
use super::support::{DEALERSHIP_LIVE, OWN_LIVE, OWN_SANDBOX, ServiceDesk, booking_at, booking_of, general_service};

fn replace<R: Stored>(store: &MemoryStore, tenant: &str, id: &str, record: R) {
    if let Step::Insert { table, row, .. } = insert(tenant, id, record) {
        store.put(tenant, table, row);
    }
}

/// The general service costs 4,200 rupees from now on.
fn raise_prices(store: &MemoryStore) {
    replace(store, OWN, "psv_1", service("BLR-1", "GENERAL_SERVICE", "General service", 120, 4200));
    let code = ServiceCode {
        code: "GENERAL_SERVICE".into(),
        name: "General service".into(),
        duration_minutes: Integer::clamped(120),
        bay_kind: None,
        price: Some(Money::new(420_000, "INR")),
        pay_type: PayType::Customer,
        status: ServiceCodeStatus::Offered,
    };
    replace(store, DEALERSHIP, "svc_1", code);
}

#[tokio::test]
async fn t_056_a_price_is_held_until_the_token_expires() {
    let (desk, store) = ServiceDesk::open();
    let mut held = Vec::new();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        assert_eq!(found["expires_at"], "2027-02-20T06:15:00Z");
        held.push((partner, found));
    }
    raise_prices(&store);
    desk.clock.advance(15 * 60 * 1000 - 1);
    for (partner, found) in &held {
        let booked = desk.ok(*partner, "book_slot", booking_of(found, "20270301T033000Z", "in-time")).await;
        assert_eq!(booked["total_inr"], 3499, "what the search promised");
        let again = desk.ok(*partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        assert_eq!(again["providers"][0]["price_inr"], 4200);
        let booked = desk.ok(*partner, "book_slot", booking_of(&again, "20270301T053000Z", "new-price")).await;
        assert_eq!(booked["total_inr"], 4200);
        // A move keeps what was promised.
        let moved = json!({"booking_ref": booked["booking_ref"], "slot_id": "20270301T073000Z"});
        assert_eq!(desk.ok(*partner, "modify_booking", moved).await["total_inr"], 4200);
    }
    desk.clock.advance(1);
    for (partner, found) in &held {
        let before = store.contents();
        let late = booking_of(found, "20270302T033000Z", "too-late");
        assert_eq!(desk.code(*partner, "book_slot", late).await, "RESULT_EXPIRED");
        assert_eq!(store.contents(), before);
    }
}

#[tokio::test]
async fn the_token_of_the_slots_of_a_provider_holds_its_price() {
    let (desk, store) = ServiceDesk::open();
    let wish = json!({"provider_id": "prv_koramangala", "service": {"codes": ["GENERAL_SERVICE", "OIL_CHANGE"]},
        "date_from": "2027-03-01"});
    let slots = desk.ok(OWN_LIVE, "get_available_slots", wish).await;
    raise_prices(&store);
    let order = booking_at(&slots, "prv_koramangala", slots["slots"][0]["slot_id"].as_str().unwrap(), "key-1");
    let booked = desk.ok(OWN_LIVE, "book_slot", order).await;
    assert_eq!((&booked["total_inr"], &booked["ends_at"]), (&json!(4798), &json!("2027-03-01T11:45:00+05:30")));
}

#[tokio::test]
async fn a_token_is_good_for_its_own_search_only() {
    let (desk, store) = ServiceDesk::open();
    let found = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    let before = store.contents();
    let order = booking_of(&found, "20270301T033000Z", "key-1");
    assert_eq!(desk.code((OTHER, LIVE), "book_slot", order.clone()).await, "RESULT_EXPIRED", "another business");
    assert_eq!(desk.code(OWN_SANDBOX, "book_slot", order.clone()).await, "RESULT_EXPIRED", "the sandbox");
    let elsewhere = booking_at(&found, "prv_hyderabad", "20270301T033000Z", "key-1");
    assert_eq!(desk.code(OWN_LIVE, "book_slot", elsewhere).await, "RESULT_EXPIRED", "another provider");
    let mut changed = order;
    changed["result_token"] = json!("not a token");
    assert_eq!(desk.code(OWN_LIVE, "book_slot", changed).await, "RESULT_EXPIRED");
    assert_eq!(store.contents(), before);
}
