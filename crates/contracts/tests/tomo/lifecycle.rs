//! What becomes of stays and cars after they were booked.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, FaultKind};
use serde_json::{Value, json};

use super::cars::set;
use super::support::{HOUR, NOW, TestDesk, booking, search};

/// 2027-03-10T08:30:00Z, when the stay begins: 14:00 in India.
const CHECK_IN: i64 = 1_804_667_400_000;

/// Arguments that book two nights of Monsoon Court: 9200 and 1104 of tax.
fn order_as(desk: &TestDesk, scope: &str, key: &str) -> Value {
    let mut arguments = search();
    arguments["preferences"] = json!({"min_star_rating": 4});
    booking(&desk.call_as(scope, "search_availability", arguments), key)
}

fn stay_as(desk: &TestDesk, scope: &str, key: &str) -> Value {
    let booked = desk.call_as(scope, "create_booking", order_as(desk, scope, key));
    assert_eq!((&booked["name"], &booked["total_inr"]), (&json!("Monsoon Court"), &json!(10_304)));
    booked
}

fn stay(desk: &TestDesk) -> Value {
    stay_as(desk, "tomo:live", "k-1")
}

fn at(booked: &Value, stage: &str) -> Value {
    json!({"booking_ref": booked["booking_ref"], "stage": stage})
}

fn code(result: Result<Value, Fault>) -> String {
    match result.unwrap_err() {
        Fault { kind: FaultKind::Domain(code), .. } => code.0.to_owned(),
        fault => fault.problems.first().map_or_else(|| format!("{:?}", fault.kind), |problem| problem.pointer.clone()),
    }
}

/// Status, stage, when it ended, what is earned and what is paid back.
fn ended(desk: &TestDesk, booked: &Value) -> Value {
    let stored = desk.booking(booked);
    json!([stored["status"], stored["stage"], stored["ended_at"], stored["net_inr"], stored["refund_inr"]])
}

fn units_left(desk: &TestDesk, scope: &str, check_in: &str, check_out: &str) -> Value {
    let mut wish = search();
    wish["preferences"] = json!({"min_star_rating": 4});
    wish["dates"] = json!({"check_in": check_in, "check_out": check_out});
    desk.call_as(scope, "search_availability", wish)["listings"][0]["room_options"][0]["units_left"].clone()
}

#[test]
fn a_stay_is_checked_in_and_completed_with_its_price_before_tax() {
    let desk = TestDesk::hotels();
    let order = order_as(&desk, "tomo:live", "k-1");
    let booked = desk.call("create_booking", order.clone());
    desk.clock.set(CHECK_IN + HOUR);
    let answer = desk.advance(at(&booked, "checked_in")).unwrap();
    assert_eq!(answer, json!({"booking_ref": booked["booking_ref"], "status": "confirmed", "stage": "checked_in"}));
    assert_eq!(ended(&desk, &booked), json!(["confirmed", "checked_in", null, null, null]));
    desk.clock.set(CHECK_IN + 46 * HOUR);
    let mut completed = at(&booked, "completed");
    completed["at"] = json!("2027-03-12T05:30:00Z");
    let answer = desk.advance(completed).unwrap();
    assert_eq!(answer, json!({"booking_ref": booked["booking_ref"], "status": "completed", "stage": "completed"}));
    assert_eq!(ended(&desk, &booked), json!(["completed", "completed", "2027-03-12T05:30:00Z", 9_200, null]));
    assert_eq!(desk.store.events(), ["tomo_booking created", "tomo_booking updated", "tomo_booking updated"]);
    // A create that is repeated says how it stands by now.
    let again = desk.call("create_booking", order);
    assert_eq!((&again["booking_ref"], &again["status"]), (&booked["booking_ref"], &json!("completed")));
}

#[test]
fn a_stage_is_said_once_and_what_has_ended_stays() {
    let desk = TestDesk::hotels();
    let booked = stay(&desk);
    desk.clock.set(CHECK_IN);
    desk.advance(at(&booked, "checked_in")).unwrap();
    let before = desk.store.contents();
    desk.clock.advance(HOUR);
    assert_eq!(desk.advance(at(&booked, "checked_in")).unwrap()["stage"], "checked_in");
    assert_eq!(desk.store.contents(), before);
    assert_eq!(code(desk.advance(at(&booked, "no_show"))), "BOOKING_CLOSED", "the guest is there");
    desk.advance(at(&booked, "completed")).unwrap();
    let before = desk.store.contents();
    assert_eq!(desk.advance(at(&booked, "completed")).unwrap()["status"], "completed");
    for stage in ["checked_in", "cancelled", "failed", "no_show", "unheard_of"] {
        assert_eq!(code(desk.advance(at(&booked, stage))), "BOOKING_CLOSED", "{stage}");
    }
    assert_eq!(desk.store.contents(), before);
}

#[test]
fn a_hotel_that_cancels_pays_everything_back_and_frees_the_nights() {
    for (stage, again) in [("cancelled", "cancelled"), ("failed", "BOOKING_CLOSED")] {
        let desk = TestDesk::hotels();
        let order = order_as(&desk, "tomo:live", "k-1");
        let booked = desk.call("create_booking", order.clone());
        assert_eq!(units_left(&desk, "tomo:live", "2027-03-10", "2027-03-12"), 11);
        desk.advance(at(&booked, stage)).unwrap();
        assert_eq!(units_left(&desk, "tomo:live", "2027-03-10", "2027-03-12"), 12);
        assert_eq!(ended(&desk, &booked), json!([stage, stage, "2026-01-31T09:30:00Z", 0, 10_304]));
        assert_eq!(desk.call("create_booking", order)["status"], stage, "a repeated create shows it");
        let cancelled = desk.answer("tomo:live", "cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
        assert!(cancelled.to_string().contains(again), "{cancelled}");
    }
}

#[test]
fn a_guest_who_does_not_come_pays_by_the_terms() {
    let shown_up_to = |details: Value| {
        let desk = TestDesk::hotels();
        let booked = stay(&desk);
        assert_eq!(code(desk.advance(at(&booked, "no_show"))), "/at", "it is too early");
        // The day after: the first night is gone, the second can be sold.
        desk.clock.set(CHECK_IN + 20 * HOUR);
        let mut no_show = at(&booked, "no_show");
        no_show["details"] = details;
        desk.advance(no_show).unwrap();
        assert_eq!(units_left(&desk, "tomo:live", "2027-03-11", "2027-03-12"), 12);
        ended(&desk, &booked)
    };
    let when = "2027-03-11T04:30:00Z";
    assert_eq!(shown_up_to(json!({})), json!(["cancelled", "no_show", when, 9_200, 0]));
    assert_eq!(shown_up_to(json!({"refund_inr": 5_152})), json!(["cancelled", "no_show", when, 4_600, 5_152]));
    assert_eq!(
        shown_up_to(json!({"refund_inr": 5_152, "net_inr": 4_000})),
        json!(["cancelled", "no_show", when, 4_000, 5_152])
    );
}

#[test]
fn the_customers_cancellation_says_what_the_hotel_earns() {
    let desk = TestDesk::hotels();
    let booked = stay(&desk);
    desk.clock.set(CHECK_IN - 120 * HOUR + 1);
    desk.call("cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
    assert_eq!(ended(&desk, &booked), json!(["cancelled", null, "2027-03-05T08:30:00.001Z", 4_600, 5_152]));
    let before = desk.store.contents();
    assert_eq!(desk.advance(at(&booked, "cancelled")).unwrap()["status"], "cancelled", "it is so already");
    assert_eq!(desk.store.contents(), before);
    assert_eq!(code(desk.advance(at(&booked, "completed"))), "BOOKING_CLOSED");
}

#[test]
fn a_sandbox_stay_advances_without_events_and_frees_its_own_nights() {
    let desk = TestDesk::hotels();
    let live = stay(&desk);
    let trial = stay_as(&desk, "tomo:sandbox", "k-2");
    let left = |scope: &str| units_left(&desk, scope, "2027-03-10", "2027-03-12");
    assert_eq!((left("tomo:live"), left("tomo:sandbox")), (json!(11), json!(11)));
    desk.advance(at(&trial, "cancelled")).unwrap();
    assert_eq!((left("tomo:live"), left("tomo:sandbox")), (json!(11), json!(12)));
    assert_eq!(desk.booking(&live)["status"], "confirmed");
    assert_eq!(desk.store.events(), ["tomo_booking created"]);
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    let desk = TestDesk::hotels();
    let booked = stay(&desk);
    desk.clock.set(CHECK_IN + HOUR);
    let refused = |member: &str, value: Value| {
        let mut arguments = at(&booked, "completed");
        arguments[member] = value;
        code(desk.advance(arguments))
    };
    let time = |millis: i64| json!(Millis(millis).to_rfc3339());
    let before = desk.store.contents();
    assert_eq!(refused("stage", json!("delivered")), "/stage");
    assert_eq!(refused("booking_ref", json!("bkg_other")), "NOT_FOUND");
    assert_eq!(refused("at", time(CHECK_IN + HOUR + 300_001)), "/at");
    assert_eq!(refused("at", time(NOW.0 - 300_001)), "/at");
    assert_eq!(refused("at", json!("tomorrow")), "/at");
    assert_eq!(refused("details", json!({"Asha Rao": 1})), "/details", "what was sent is not repeated");
    assert_eq!(refused("details", json!({"net_inr": "x".repeat(5_000)})), "/details");
    for amount in [json!(-1), json!(10_305), json!(1.5), json!("9200")] {
        assert_eq!(refused("details", json!({"net_inr": amount})), "/details/net_inr", "{amount}");
    }
    assert_eq!(desk.store.contents(), before);
    let mut soon = at(&booked, "completed");
    soon["at"] = time(CHECK_IN + HOUR + 300_000);
    desk.advance(soon).unwrap();
    assert_eq!(desk.booking(&booked)["ended_at"], time(CHECK_IN + HOUR), "what a clock is wrong by counts as now");
}

#[test]
fn a_key_answers_the_same_again_and_refuses_another_stage() {
    let desk = TestDesk::hotels();
    let booked = stay(&desk);
    desk.clock.set(CHECK_IN);
    let first = desk.advance_under(Some("n-1"), at(&booked, "checked_in")).unwrap();
    desk.advance_under(Some("n-2"), at(&booked, "completed")).unwrap();
    let before = desk.store.contents();
    assert_eq!(desk.advance_under(Some("n-1"), at(&booked, "checked_in")).unwrap(), first);
    assert_eq!(code(desk.advance_under(Some("n-1"), at(&booked, "failed"))), "KeyReused");
    assert_eq!(desk.store.contents(), before);
}

/// A mount answers for its own intents only, so the key of one does not open the bookings of another.
#[test]
fn a_booking_of_another_mount_or_business_does_not_exist() {
    let desk = TestDesk::hotels();
    let booked = stay(&desk);
    let cars = TestDesk { mount: TestDesk::cars().mount, ..desk };
    assert_eq!(code(cars.advance(at(&booked, "cancelled"))), "NOT_FOUND");
    assert_eq!(cars.booking(&booked)["status"], "confirmed");
}

fn car(desk: &TestDesk) -> Value {
    let found = desk.call("search_availability", json!({"criteria": {"city": "Bengaluru", "make": "Hyundai"}}));
    let arguments = json!({"idempotency_key": "k-1", "result_token": found["result_token"], "listing_id": "veh_creta",
        "buyer": {"name": "Asha Rao", "phone": "+919812345678"}});
    desk.call("create_booking", arguments)
}

#[test]
fn a_sale_marks_the_car_as_sold_and_a_cancellation_offers_it_again() {
    for (stage, status, of_car, net) in [
        ("completed", "completed", "sold", 1_240_000),
        ("cancelled", "cancelled", "available", 0),
        ("failed", "failed", "available", 0),
    ] {
        let desk = TestDesk::cars();
        let booked = car(&desk);
        assert_eq!(desk.vehicle("veh_creta")["status"], "reserved");
        assert_eq!(code(desk.advance(at(&booked, "no_show"))), "/stage");
        desk.advance(at(&booked, stage)).unwrap();
        assert_eq!(desk.vehicle("veh_creta")["status"], of_car);
        let stored = desk.booking(&booked);
        assert_eq!((&stored["status"], &stored["net_inr"]), (&json!(status), &json!(net)));
        assert_eq!(desk.store.events()[2..], ["tomo_booking updated", "vehicle updated"]);
    }
}

#[test]
fn a_car_that_the_dealership_has_moved_on_itself_stays_as_it_is() {
    let desk = TestDesk::cars();
    let booked = car(&desk);
    set(&desk, "veh_creta", &json!({"status": "sold"}));
    desk.advance(at(&booked, "completed")).unwrap();
    assert_eq!(desk.vehicle("veh_creta")["status"], "sold");
    assert_eq!(desk.booking(&booked)["status"], "completed");
}

#[test]
fn a_buyers_cancellation_ends_the_booking_with_nothing_earned() {
    let desk = TestDesk::cars();
    let booked = car(&desk);
    desk.call("cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
    assert_eq!(ended(&desk, &booked), json!(["cancelled", null, "2026-01-31T09:30:00Z", 0, 1_240_000]));
}

#[test]
fn a_booking_follows_what_becomes_of_its_car() {
    let advance = |desk: &TestDesk, booked: &Value, stage: &str| {
        let (id, arguments) = (booked["booking_ref"].as_str().unwrap(), at(booked, stage));
        assert_eq!(
            desk.follow_ups("vehicle", "veh_creta"),
            [json!({"tool": "advance_booking", "arguments": arguments, "key": format!("follow-up:{id}:{stage}")})]
        );
    };
    let desk = TestDesk::cars();
    let booked = car(&desk);
    let nothing: [Value; 0] = [];
    for status in ["reserved", "on_hold", "pending"] {
        set(&desk, "veh_creta", &json!({"status": status}));
        assert_eq!(desk.follow_ups("vehicle", "veh_creta"), nothing, "{status}");
    }
    assert_eq!(desk.follow_ups("vehicle", "veh_swift"), nothing, "nobody has booked it");
    assert_eq!(desk.follow_ups("customer", "veh_creta"), nothing);
    for status in ["available", "unavailable", "wholesale"] {
        set(&desk, "veh_creta", &json!({"status": status}));
        advance(&desk, &booked, "cancelled");
    }
    set(&desk, "veh_creta", &json!({"status": "sold"}));
    advance(&desk, &booked, "completed");
    desk.advance(at(&booked, "completed")).unwrap();
    assert_eq!(desk.follow_ups("vehicle", "veh_creta"), nothing, "it has followed");
    let hotels = TestDesk { mount: TestDesk::hotels().mount, own: TestDesk::hotels().own, ..desk };
    assert_eq!(hotels.follow_ups("vehicle", "veh_creta"), nothing);
}

#[test]
fn stays_whose_time_has_passed_are_due() {
    let desk = TestDesk::hotels();
    let booked = stay(&desk);
    let trial = stay_as(&desk, "tomo:sandbox", "k-2");
    let due = |arguments: Value| desk.operator("list_due_bookings", None, arguments).unwrap()["due"].clone();
    // Guests leave on the 12th, a day that ends at 18:29 UTC.
    let end = Millis::parse("2027-03-12T18:29:00Z").unwrap().0;
    desk.clock.set(end + 6 * HOUR - 1);
    assert_eq!(due(json!({"complete_after_hours": 6})), json!([]));
    desk.clock.set(end + 6 * HOUR);
    let both = due(json!({"complete_after_hours": 6}));
    assert_eq!(both.as_array().unwrap().len(), 2);
    for booking in [&booked, &trial] {
        assert!(both.as_array().unwrap().contains(&at(booking, "completed")), "{both}");
    }
    assert_eq!(due(json!({"plays_stages": true})), json!([]), "a stay has no stages that pass by themselves");
    assert_eq!(due(json!({})), json!([]));
    desk.advance(at(&booked, "completed")).unwrap();
    assert_eq!(due(json!({"complete_after_hours": 6})), json!([at(&trial, "completed")]));
}
