//! Bookings: what they answer, what is refused, and that a repeated one has one effect.

use serde_json::{Value, json};

use super::support::{DEALERSHIP_LIVE, OWN_LIVE, Partner, ServiceDesk, booking_at, booking_of, general_service};

async fn found(desk: &ServiceDesk, partner: Partner) -> Value {
    desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await
}

#[tokio::test]
async fn t_039_t_052_a_booking_answers_with_its_reference_and_terms() {
    let (desk, _) = ServiceDesk::open();
    for (partner, id, free_until, percent) in [
        (OWN_LIVE, "prv_koramangala", "2027-02-28T09:00:00+05:30", 50),
        (DEALERSHIP_LIVE, "wsp_main", "2027-03-01T09:00:00+05:30", 100),
    ] {
        let found = found(&desk, partner).await;
        let mut booked = desk.ok(partner, "book_slot", booking_of(&found, "20270301T033000Z", "key-1")).await;
        assert!(booked["booking_ref"].take().as_str().unwrap().starts_with("bkg_"));
        let expected = json!({
            "booking_ref": null, "status": "confirmed", "mode": "live", "provider_id": id,
            "slot_id": "20270301T033000Z", "starts_at": "2027-03-01T09:00:00+05:30",
            "ends_at": "2027-03-01T11:00:00+05:30", "service_codes": ["GENERAL_SERVICE"], "total_inr": 3499,
            "cancellation": {"free_until": free_until, "late_refund_percent": percent},
        });
        assert_eq!(booked, expected);
    }
}

#[tokio::test]
async fn t_100_a_repeated_booking_is_the_same_with_its_current_status() {
    let (desk, store) = ServiceDesk::open();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let order = booking_of(&found(&desk, partner).await, "20270301T033000Z", "key-1");
        let booked = desk.ok(partner, "book_slot", order.clone()).await;
        assert_eq!(booked["status"], "confirmed");
        let before = store.contents();
        assert_eq!(desk.ok(partner, "book_slot", order.clone()).await, booked);
        assert_eq!(store.contents(), before, "nothing was booked again");
        desk.ok(
            partner,
            "modify_booking",
            json!({"booking_ref": booked["booking_ref"], "slot_id": "20270303T040000Z"}),
        )
        .await;
        let moved = desk.ok(partner, "book_slot", order.clone()).await;
        assert_eq!((&moved["booking_ref"], &moved["slot_id"]), (&booked["booking_ref"], &json!("20270303T040000Z")));
        desk.ok(partner, "cancel_booking", json!({"booking_ref": booked["booking_ref"]})).await;
        // Long after the prices were held.
        desk.clock.advance(3_600_000);
        let again = desk.ok(partner, "book_slot", order).await;
        assert_eq!((&again["booking_ref"], &again["status"]), (&booked["booking_ref"], &json!("cancelled")));
    }
}

#[tokio::test]
async fn t_101_t_104_a_key_is_needed_and_means_one_booking() {
    let (desk, store) = ServiceDesk::open();
    let found = found(&desk, OWN_LIVE).await;
    desk.ok(OWN_LIVE, "book_slot", booking_of(&found, "20270301T033000Z", "key-1")).await;
    let before = store.contents();
    let other = booking_of(&found, "20270301T053000Z", "key-1");
    assert_eq!(desk.code(OWN_LIVE, "book_slot", other.clone()).await, "IDEMPOTENCY_CONFLICT");
    let mut without = other;
    without.as_object_mut().unwrap().remove("idempotency_key");
    let error = desk.call(OWN_LIVE, "book_slot", without).await.unwrap_err();
    assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "idempotency_key"}));
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn a_full_slot_is_not_available_and_free_again_after_a_cancellation() {
    let (desk, _) = ServiceDesk::open();
    for (partner, id, places) in [(OWN_LIVE, "prv_indiranagar", 1), (DEALERSHIP_LIVE, "wsp_main", 2)] {
        let found = found(&desk, partner).await;
        let order = |slot: &str, key: &str| booking_at(&found, id, slot, key);
        let mut booked = Vec::new();
        for number in 0..places {
            booked.push(desk.ok(partner, "book_slot", order("20270301T043000Z", &format!("k{number}"))).await);
        }
        // The work takes longer than the time between two slots, so the ones beside it are taken, too.
        for (slot, key) in [("20270301T043000Z", "f1"), ("20270301T050000Z", "f2"), ("20270301T040000Z", "f3")] {
            let error = desk.call(partner, "book_slot", order(slot, key)).await.unwrap_err();
            let message = "This slot is no longer free. Search again and choose another.";
            assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(message)));
            assert_eq!(error["data"], json!({"tomo_error_code": "NOT_AVAILABLE"}));
        }
        desk.ok(partner, "book_slot", order("20270301T063000Z", "after")).await;
        desk.ok(partner, "cancel_booking", json!({"booking_ref": booked[0]["booking_ref"]})).await;
        desk.ok(partner, "book_slot", order("20270301T043000Z", "again")).await;
        assert_eq!(desk.code(partner, "book_slot", order("20270301T043000Z", "full")).await, "NOT_AVAILABLE");
    }
}

#[tokio::test]
async fn a_time_that_is_no_slot_is_not_booked() {
    let (desk, store) = ServiceDesk::open();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let found = found(&desk, partner).await;
        let before = store.contents();
        let times = [
            ("20270301T034500Z", "between two slots"),
            ("20270301T110000Z", "the work would not end before closing time"),
            ("20270307T033000Z", "a Sunday"),
            ("20270220T060000Z", "now"),
            ("20270219T033000Z", "yesterday"),
            ("20280301T033000Z", "more than a year ahead"),
        ];
        for (slot, why) in times {
            let order = booking_of(&found, slot, "key");
            assert_eq!(desk.code(partner, "book_slot", order).await, "NOT_AVAILABLE", "{why}");
        }
        for slot in ["2027-03-01T09:00:00+05:30", "tomorrow"] {
            let error = desk.call(partner, "book_slot", booking_of(&found, slot, "key")).await.unwrap_err();
            assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "slot_id"}));
        }
        assert_eq!(store.contents(), before);
    }
}

#[tokio::test]
async fn a_customer_is_in_no_answer_and_no_log() {
    let (desk, _) = ServiceDesk::open();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let order = booking_of(&found(&desk, partner).await, "20270301T033000Z", "key-1");
        let booked = desk.ok(partner, "book_slot", order.clone()).await;
        let reference = json!({"booking_ref": booked["booking_ref"]});
        let mut wrong = order.clone();
        wrong["customer"]["phone"] = json!("98450 12345");
        wrong["idempotency_key"] = json!("key-2");
        let error = desk.call(partner, "book_slot", wrong).await.unwrap_err();
        assert_eq!(error["data"]["tomo_field"], "customer.phone");
        let cancelled = desk.ok(partner, "cancel_booking", reference).await;
        let told = format!("{booked}{error}{cancelled}{:?}", desk.observed.lines_with_causes());
        for personal in ["Asha", "9845", "asha@example.com"] {
            assert!(!told.contains(personal), "{told}");
        }
    }
}
