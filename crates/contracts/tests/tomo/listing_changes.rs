//! Changing and cancelling stays.

use serde_json::{Value, json};

use super::support::{HOUR, NOW, TestDesk, booking, search};

/// 2027-03-10T08:30:00Z, when the stay of `search` begins.
const CHECK_IN: i64 = 1_804_667_400_000;

fn fault(code: &str) -> (String, String) {
    (code.to_owned(), String::new())
}

/// A booking of two nights in a standard room of Monsoon Court for 4600 each: 9200 and 1104 of tax.
fn booked(desk: &TestDesk) -> Value {
    let mut arguments = search();
    arguments["preferences"] = json!({"min_star_rating": 4});
    let found = desk.call("search_availability", arguments);
    let booked = desk.call("create_booking", booking(&found, "k-1"));
    assert_eq!((&booked["name"], &booked["total_inr"]), (&json!("Monsoon Court"), &json!(10_304)));
    booked
}

fn stay(booked: &Value, check_in: &str, check_out: &str) -> Value {
    json!({"booking_ref": booked["booking_ref"], "dates": {"check_in": check_in, "check_out": check_out}})
}

#[test]
fn the_instant_of_check_in_is_that_of_india() {
    let desk = TestDesk::hotels();
    let at = frontdesk_engine::model::timestamp::Millis(CHECK_IN).to_rfc3339();
    assert_eq!(booked(&desk)["starts_at"], at.as_str());
}

#[test]
fn t_039_a_refund_follows_the_policy_and_the_time_that_is_left() {
    let refunded = |hours: i64, millis: i64| {
        let desk = TestDesk::hotels();
        let booked = booked(&desk);
        desk.clock.set(CHECK_IN - hours * HOUR + millis);
        let mut refund = desk.call("cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
        assert_eq!(refund.as_object_mut().unwrap().remove("booking_ref"), Some(booked["booking_ref"].clone()));
        refund
    };
    assert_eq!(
        refunded(120, 0),
        json!({"status": "cancelled", "total_inr": 10304, "refund_percent": 100, "refund_inr": 10304,
            "cancellation_fee_inr": 0, "cancelled_at": "2027-03-05T08:30:00Z"})
    );
    assert_eq!(refunded(120, 1)["refund_inr"], 5152);
    assert_eq!(refunded(24, 0)["refund_inr"], 2576);
    assert_eq!(
        refunded(24, 1000),
        json!({"status": "cancelled", "total_inr": 10304, "refund_percent": 0, "refund_inr": 0,
            "cancellation_fee_inr": 10304, "cancelled_at": "2027-03-09T08:30:01Z"})
    );
}

#[test]
fn a_cancelled_stay_frees_its_nights_once() {
    let desk = TestDesk::hotels();
    let booked = booked(&desk);
    let cancel = json!({"booking_ref": booked["booking_ref"], "reason": "other plans"});
    let first = desk.call("cancel_booking", cancel.clone());
    let before = desk.store.contents();
    desk.clock.advance(HOUR);
    assert_eq!(desk.call("cancel_booking", cancel), first, "the same answer again");
    assert_eq!(desk.store.contents(), before);
    assert_eq!(units_left(&desk, "2027-03-10"), 12);
    let change = stay(&booked, "2027-03-11", "2027-03-13");
    assert_eq!(desk.refused("modify_booking", change), fault("BOOKING_CLOSED"));
}

#[test]
fn a_stay_that_has_begun_stays() {
    let desk = TestDesk::hotels();
    let booked = booked(&desk);
    desk.clock.set(CHECK_IN);
    let cancel = json!({"booking_ref": booked["booking_ref"]});
    assert_eq!(desk.refused("cancel_booking", cancel), fault("BOOKING_CLOSED"));
    assert_eq!(desk.refused("modify_booking", stay(&booked, "2027-03-11", "2027-03-13")), fault("BOOKING_CLOSED"));
    let unknown = json!({"booking_ref": "bkg_none"});
    assert_eq!(desk.refused("cancel_booking", unknown), fault("NOT_FOUND"));
}

fn units_left(desk: &TestDesk, night: &str) -> i64 {
    let mut arguments = search();
    let next: String = format!("{}{:02}", &night[..8], night[8..].parse::<u8>().unwrap() + 1);
    arguments["dates"] = json!({"check_in": night, "check_out": next});
    arguments["preferences"] = json!({"min_star_rating": 4, "meal_plan": "room_only"});
    let found = desk.call("search_availability", arguments);
    let hotel = found["listings"].as_array().unwrap().iter().find(|listing| listing["name"] == "Monsoon Court");
    hotel.map_or(0, |hotel| hotel["room_options"][0]["units_left"].as_i64().unwrap())
}

#[test]
fn t_039_kept_nights_keep_their_price_and_new_ones_do_not() {
    let desk = TestDesk::hotels();
    let booked = booked(&desk);
    set_price(&desk, 6_000);
    let change = stay(&booked, "2027-03-11", "2027-03-14");
    let mut revised = desk.call("modify_booking", change.clone());
    let again = desk.call("modify_booking", change);
    assert_eq!(again, revised, "the same answer again");
    for member in ["booking_ref", "listing_id", "room_id"] {
        assert_eq!(revised.as_object_mut().unwrap().remove(member), Some(booked[member].clone()));
    }
    // Half of 10304 is kept; two new nights are 12000 and 1440 of tax.
    assert_eq!(
        revised,
        json!({
            "status": "confirmed", "mode": "live", "name": "Monsoon Court", "room_name": "Standard room",
            "check_in": "2027-03-11", "check_out": "2027-03-14", "starts_at": "2027-03-11T08:30:00Z", "nights": 3,
            "rooms": 1, "currency": "INR", "total_inr": 5152 + 13_440, "previous_total_inr": 10304,
            "difference_inr": 8288, "revised_at": "2026-01-31T09:30:00Z",
        })
    );
    let left =
        ["2027-03-10", "2027-03-11", "2027-03-12", "2027-03-13", "2027-03-14"].map(|night| units_left(&desk, night));
    assert_eq!(left, [12, 11, 11, 11, 12]);
    let shorter = desk.call("modify_booking", stay(&booked, "2027-03-11", "2027-03-12"));
    assert_eq!(shorter["total_inr"], 6197, "a third of 18592 is 6197.33");
    assert_eq!(shorter["difference_inr"], 6197 - 18_592);
}

fn set_price(desk: &TestDesk, price: i64) {
    use frontdesk_engine::import::ImportRow;
    let arguments = json!({"room_code": "BLR-MONSOON-STD", "base_price_inr": price});
    let row = ImportRow { line: 1, arguments: arguments.as_object().unwrap().clone(), key: None };
    desk.import("rooms", async |session| session.apply(&[row]).await.unwrap());
}

#[test]
fn more_rooms_cost_more_and_fewer_must_still_be_enough() {
    let desk = TestDesk::hotels();
    let booked = booked(&desk);
    let rooms = |rooms: i64| json!({"booking_ref": booked["booking_ref"], "rooms": rooms});
    let two = desk.call("modify_booking", rooms(2));
    assert_eq!((&two["rooms"], &two["total_inr"], &two["difference_inr"]), (&json!(2), &json!(20_608), &json!(10_304)));
    assert_eq!(units_left(&desk, "2027-03-10"), 10);
    let one = desk.call("modify_booking", rooms(1));
    assert_eq!((&one["total_inr"], &one["difference_inr"]), (&json!(10_304), &json!(-10_304)));
    let nothing = json!({"booking_ref": booked["booking_ref"]});
    assert_eq!(desk.refused("modify_booking", nothing).0, "INVALID_REQUEST");

    let mut family = search();
    family["party"] = json!({"adults": 4, "rooms": 2});
    let found = desk.call("search_availability", family);
    let family = desk.call("create_booking", booking(&found, "k-2"));
    let squeezed = json!({"booking_ref": family["booking_ref"], "rooms": 1});
    assert_eq!(desk.refused("modify_booking", squeezed), ("INVALID_REQUEST".to_owned(), "rooms".to_owned()));
}

#[test]
fn a_stay_keeps_its_nights_if_the_new_ones_are_not_free() {
    let desk = TestDesk::hotels();
    let booked = booked(&desk);
    let mut others = search();
    others["dates"] = json!({"check_in": "2027-03-12", "check_out": "2027-03-13"});
    others["party"] = json!({"adults": 12, "rooms": 12});
    others["preferences"] = json!({"min_star_rating": 4});
    let found = desk.call("search_availability", others);
    desk.call("create_booking", booking(&found, "k-2"));
    let before = desk.store.contents();
    let change = stay(&booked, "2027-03-11", "2027-03-13");
    assert_eq!(desk.refused("modify_booking", change), fault("NOT_AVAILABLE"));
    assert_eq!(desk.store.contents(), before);
    assert_eq!([units_left(&desk, "2027-03-10"), units_left(&desk, "2027-03-11")], [11, 11]);
    let past = stay(&booked, "2026-01-30", "2026-02-02");
    assert_eq!(desk.refused("modify_booking", past), ("INVALID_REQUEST".to_owned(), "dates.check_in".to_owned()));
    assert_eq!(NOW.to_rfc3339(), "2026-01-31T09:30:00Z");
}
