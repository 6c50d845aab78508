//! The dealership's workshop: a booking and its appointment are one.

use serde_json::{Value, json};

use super::support::{DEALERSHIP_LIVE, ServiceDesk, booking_of, general_service};

async fn booked(desk: &ServiceDesk, slot: &str, key: &str) -> Value {
    let found = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    desk.ok(DEALERSHIP_LIVE, "book_slot", booking_of(&found, slot, key)).await
}

/// The newest appointment of the dealership, with its contact.
async fn appointment(desk: &ServiceDesk) -> Value {
    let listed = desk.automotive("service.list_appointments", json!({"limit": 1})).await;
    desk.automotive("service.get_appointment", json!({"id": listed["items"][0]["id"]})).await
}

async fn appointments(desk: &ServiceDesk) -> usize {
    let listed = desk.automotive("service.list_appointments", json!({"limit": 100})).await;
    listed["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_booking_makes_moves_and_cancels_its_appointment() {
    let (desk, store) = ServiceDesk::open();
    let booked = booked(&desk, "20270301T033000Z", "key-1").await;
    let mut made = appointment(&desk).await;
    let shown =
        ["status", "start", "end", "local_start", "service_codes", "workshop_id", "vehicle", "contact", "channel"];
    made.as_object_mut().unwrap().retain(|name, _| shown.contains(&name.as_str()));
    let expected = json!({
        "status": "booked", "start": "2027-03-01T03:30:00Z", "end": "2027-03-01T05:30:00Z",
        "local_start": "2027-03-01T09:00:00+05:30", "service_codes": ["GENERAL_SERVICE"], "workshop_id": "wsp_main",
        "vehicle": {"make": "Maruti Suzuki", "model": "Swift", "year": 2021},
        "contact": {"name": "Asha Menon", "phone": "+919845012345", "email": "asha@example.com"},
        "channel": "ai_agent",
    });
    assert_eq!(made, expected);
    let order = json!({"booking_ref": booked["booking_ref"], "slot_id": "20270303T033000Z"});
    desk.ok(DEALERSHIP_LIVE, "modify_booking", order).await;
    let moved = appointment(&desk).await;
    assert_eq!((&moved["start"], &moved["status"]), (&json!("2027-03-03T03:30:00Z"), &json!("booked")));
    desk.ok(DEALERSHIP_LIVE, "cancel_booking", json!({"booking_ref": booked["booking_ref"]})).await;
    assert_eq!(appointment(&desk).await["status"], "cancelled");
    assert_eq!(appointments(&desk).await, 1);
    let events = [
        "tomo_booking created",
        "appointment created",
        "tomo_booking updated",
        "appointment updated",
        "tomo_booking updated",
        "appointment updated",
    ];
    assert_eq!(store.events(), events);
}

#[tokio::test]
async fn a_booking_follows_what_the_dealership_does_with_its_appointment() {
    let (desk, _) = ServiceDesk::open();
    let found = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    let order = booking_of(&found, "20270301T033000Z", "key-1");
    let booked = desk.ok(DEALERSHIP_LIVE, "book_slot", order.clone()).await;
    let id = appointment(&desk).await["id"].clone();
    desk.automotive("service.update_appointment", json!({"id": id, "start": "2027-03-02T04:30:00Z"})).await;
    let moved = desk.ok(DEALERSHIP_LIVE, "book_slot", order.clone()).await;
    assert_eq!(moved["booking_ref"], booked["booking_ref"]);
    assert_eq!((&moved["starts_at"], &moved["status"]), (&json!("2027-03-02T10:00:00+05:30"), &json!("confirmed")));
    desk.automotive("service.cancel_appointment", json!({"id": id})).await;
    assert_eq!(desk.ok(DEALERSHIP_LIVE, "book_slot", order).await["status"], "cancelled");
    let reference = json!({"booking_ref": booked["booking_ref"]});
    let cancelled = desk.ok(DEALERSHIP_LIVE, "cancel_booking", reference.clone()).await;
    let expected = json!({"booking_ref": booked["booking_ref"], "status": "cancelled", "total_inr": 3499,
        "refund_inr": 3499, "cancelled_at": "2027-02-20T06:00:00Z"});
    assert_eq!(cancelled, expected);
    let order = json!({"booking_ref": booked["booking_ref"], "slot_id": "20270303T033000Z"});
    assert_eq!(desk.code(DEALERSHIP_LIVE, "modify_booking", order).await, "BOOKING_CLOSED");
}

#[tokio::test]
async fn work_that_has_begun_is_neither_moved_nor_cancelled() {
    let (desk, _) = ServiceDesk::open();
    let booked = booked(&desk, "20270301T033000Z", "key-1").await;
    let id = appointment(&desk).await["id"].clone();
    desk.automotive("service.update_appointment", json!({"id": id, "status": "in_progress"})).await;
    let reference = json!({"booking_ref": booked["booking_ref"]});
    assert_eq!(desk.code(DEALERSHIP_LIVE, "cancel_booking", reference.clone()).await, "BOOKING_CLOSED");
    let order = json!({"booking_ref": booked["booking_ref"], "slot_id": "20270303T033000Z"});
    assert_eq!(desk.code(DEALERSHIP_LIVE, "modify_booking", order).await, "BOOKING_CLOSED");
    desk.automotive("service.update_appointment", json!({"id": id, "status": "completed"})).await;
    let again = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    assert_eq!(again["providers"][0]["slots"][0]["places_left"], 1, "it has its place still");
}

#[tokio::test]
async fn a_full_workshop_refuses_and_makes_nobody_wait() {
    let (desk, store) = ServiceDesk::open();
    // The dealership's own customers have both bays.
    for name in ["Honda", "Kia"] {
        let arguments = json!({"vehicle": {"make": name, "model": "City"}, "start": "2027-03-01T03:30:00Z",
            "service_codes": ["GENERAL_SERVICE"]});
        desk.automotive("service.book_appointment", arguments).await;
    }
    let found = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    assert_eq!(found["providers"][0]["slots"][0]["starts_at"], "2027-03-01T11:00:00+05:30");
    let before = store.contents();
    let error =
        desk.call(DEALERSHIP_LIVE, "book_slot", booking_of(&found, "20270301T033000Z", "key")).await.unwrap_err();
    assert_eq!(error["data"], json!({"tomo_error_code": "NOT_AVAILABLE"}));
    assert!(!error.to_string().contains("service."), "no word of the other contract: {error}");
    assert_eq!(store.contents(), before);
    assert_eq!(appointments(&desk).await, 2);
}

#[tokio::test]
async fn a_service_that_needs_a_special_bay_has_as_many_places() {
    let (desk, _) = ServiceDesk::open();
    let mut wish = general_service("Bengaluru", "2027-03-01");
    wish["service"]["codes"] = json!(["WHEEL_ALIGNMENT"]);
    for partner in [DEALERSHIP_LIVE, super::support::DEALERSHIP_SANDBOX] {
        let found = desk.ok(partner, "search_providers", wish.clone()).await;
        assert_eq!(found["providers"][0]["slots"][0]["places_left"], 1);
        desk.ok(partner, "book_slot", booking_of(&found, "20270301T033000Z", "key-1")).await;
        let second = booking_of(&found, "20270301T033000Z", "key-2");
        assert_eq!(desk.code(partner, "book_slot", second).await, "NOT_AVAILABLE");
    }
}
