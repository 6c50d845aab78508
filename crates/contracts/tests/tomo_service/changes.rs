//! Bookings that are moved and cancelled, once or again.

use serde_json::{Value, json};

use super::support::{DEALERSHIP_LIVE, OWN_LIVE, Partner, ServiceDesk, booking_at, booking_of, general_service};

const HOUR: i64 = 3_600_000;

async fn booked(desk: &ServiceDesk, partner: Partner, slot: &str, key: &str) -> Value {
    let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    desk.ok(partner, "book_slot", booking_of(&found, slot, key)).await
}

#[tokio::test]
async fn t_039_t_052_a_cancellation_says_what_is_paid_back() {
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let (desk, store) = ServiceDesk::open();
        let booked = booked(&desk, partner, "20270301T033000Z", "key-1").await;
        let reference = json!({"booking_ref": booked["booking_ref"]});
        let cancelled = desk.ok(partner, "cancel_booking", reference.clone()).await;
        let expected = json!({"booking_ref": booked["booking_ref"], "status": "cancelled", "total_inr": 3499,
            "refund_inr": 3499, "cancelled_at": "2027-02-20T06:00:00Z"});
        assert_eq!(cancelled, expected);
        desk.clock.advance(HOUR);
        let before = store.contents();
        assert_eq!(desk.ok(partner, "cancel_booking", reference).await, cancelled, "the same again");
        assert_eq!(store.contents(), before);
    }
}

#[tokio::test]
async fn a_late_cancellation_pays_back_a_part_and_none_follows_the_start() {
    let (desk, _) = ServiceDesk::open();
    // The slots begin on 1 March at 09:00 and 11:00; it is 20 February, 11:30.
    let first = booked(&desk, OWN_LIVE, "20270301T033000Z", "key-1").await;
    let second = booked(&desk, OWN_LIVE, "20270301T053000Z", "key-2").await;
    let third = booked(&desk, OWN_LIVE, "20270301T053000Z", "key-3").await;
    let refund = async |booking: &Value| {
        let answer = desk.ok(OWN_LIVE, "cancel_booking", json!({"booking_ref": booking["booking_ref"]})).await;
        answer["refund_inr"].as_i64().unwrap()
    };
    // 24 hours before the first one, to the second; 3499 is halved in favour of the customer.
    desk.clock.advance(8 * 24 * HOUR - 5 * HOUR / 2 + 1000);
    assert_eq!(refund(&first).await, 1750);
    desk.clock.advance(2 * HOUR - 1000);
    assert_eq!(refund(&second).await, 3499, "exactly 24 hours before");
    desk.clock.advance(24 * HOUR);
    for tool in ["cancel_booking", "modify_booking"] {
        let mut arguments = json!({"booking_ref": third["booking_ref"]});
        if tool == "modify_booking" {
            arguments["slot_id"] = json!("20270303T033000Z");
        }
        assert_eq!(desk.code(OWN_LIVE, tool, arguments).await, "BOOKING_CLOSED", "{tool}");
    }
}

#[tokio::test]
async fn t_039_t_052_a_booking_moves_to_another_slot_at_its_price() {
    let (desk, store) = ServiceDesk::open();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let booked = booked(&desk, partner, "20270301T033000Z", "key-1").await;
        let order = |slot: &str| json!({"booking_ref": booked["booking_ref"], "slot_id": slot});
        let moved = desk.ok(partner, "modify_booking", order("20270303T080000Z")).await;
        let (free_until, percent) =
            if partner == OWN_LIVE { ("2027-03-02T13:30:00+05:30", 50) } else { ("2027-03-03T13:30:00+05:30", 100) };
        let expected = json!({
            "booking_ref": booked["booking_ref"], "status": "confirmed", "provider_id": booked["provider_id"],
            "slot_id": "20270303T080000Z", "starts_at": "2027-03-03T13:30:00+05:30",
            "ends_at": "2027-03-03T15:30:00+05:30", "total_inr": 3499,
            "cancellation": {"free_until": free_until, "late_refund_percent": percent},
        });
        assert_eq!(moved, expected);
        let before = store.contents();
        assert_eq!(desk.ok(partner, "modify_booking", order("20270303T080000Z")).await, moved, "the same again");
        assert_eq!(store.contents(), before);
        // By half an hour on the same day: its own place does not stand in its way.
        let again = desk.ok(partner, "modify_booking", order("20270303T083000Z")).await;
        assert_eq!(again["starts_at"], "2027-03-03T14:00:00+05:30");
        for wrong in ["20270307T033000Z", "20270303T084500Z", "20270219T033000Z"] {
            assert_eq!(desk.code(partner, "modify_booking", order(wrong)).await, "NOT_AVAILABLE", "{wrong}");
        }
        desk.ok(partner, "cancel_booking", json!({"booking_ref": booked["booking_ref"]})).await;
        assert_eq!(desk.code(partner, "modify_booking", order("20270301T033000Z")).await, "BOOKING_CLOSED");
    }
}

#[tokio::test]
async fn a_move_takes_a_place_and_gives_the_old_one_back() {
    let (desk, _) = ServiceDesk::open();
    for (partner, id, places) in [(OWN_LIVE, "prv_indiranagar", 1), (DEALERSHIP_LIVE, "wsp_main", 2)] {
        let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        let mut refs = Vec::new();
        for number in 0..places {
            let order = booking_at(&found, id, "20270301T043000Z", &format!("early{number}"));
            desk.ok(partner, "book_slot", order).await;
            let order = booking_at(&found, id, "20270304T043000Z", &format!("late{number}"));
            refs.push(desk.ok(partner, "book_slot", order).await["booking_ref"].clone());
        }
        let into_full = json!({"booking_ref": refs[0], "slot_id": "20270301T043000Z"});
        assert_eq!(desk.code(partner, "modify_booking", into_full).await, "NOT_AVAILABLE");
        assert_eq!(
            desk.code(partner, "book_slot", booking_at(&found, id, "20270304T043000Z", "f")).await,
            "NOT_AVAILABLE"
        );
        desk.ok(partner, "modify_booking", json!({"booking_ref": refs[0], "slot_id": "20270301T083000Z"})).await;
        desk.ok(partner, "book_slot", booking_at(&found, id, "20270304T043000Z", "f2")).await;
    }
}

#[tokio::test]
async fn a_booking_that_does_not_exist_is_not_found() {
    let (desk, _) = ServiceDesk::open();
    for partner in [OWN_LIVE, DEALERSHIP_LIVE] {
        let unknown = json!({"booking_ref": "bkg_01jc3v8q6g2m4n7p9r5s0t1w8x"});
        assert_eq!(desk.code(partner, "cancel_booking", unknown.clone()).await, "NOT_FOUND");
        let mut order = unknown;
        order["slot_id"] = json!("20270301T033000Z");
        assert_eq!(desk.code(partner, "modify_booking", order).await, "NOT_FOUND");
    }
}
