//! Booking rooms: prices that hold, keys that repeat, rooms that run out, and the sandbox.

use serde_json::{Value, json};

use super::support::{NOW, TestDesk, booking, search};

fn fault(code: &str) -> (String, String) {
    (code.to_owned(), String::new())
}

/// How many of the cheapest rooms a search finds.
fn units_left(desk: &TestDesk, scope: &str) -> Value {
    desk.call_as(scope, "search_availability", search())["listings"][0]["room_options"][0]["units_left"].clone()
}

#[test]
fn t_039_t_052_a_booking_answers_with_its_reference() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    let mut booked = desk.call("create_booking", booking(&found, "k-1"));
    let members = booked.as_object_mut().unwrap();
    assert!(members.remove("booking_ref").unwrap().as_str().unwrap().starts_with("bkg_"));
    assert_eq!(members.remove("listing_id"), Some(found["listings"][0]["listing_id"].clone()));
    assert_eq!(members.remove("room_id"), Some(found["listings"][0]["room_options"][0]["room_id"].clone()));
    assert_eq!(
        booked,
        json!({
            "status": "confirmed", "mode": "live", "name": "Halasuru Lake View Inn", "room_name": "Standard room",
            "check_in": "2027-03-10", "check_out": "2027-03-12", "starts_at": "2027-03-10T08:30:00Z", "nights": 2,
            "rooms": 1, "currency": "INR", "total_inr": 4256, "booked_at": "2026-01-31T09:30:00Z",
            "cancellation_policy": [
                {"hours_before": 48, "refund_percent": 100}, {"hours_before": 24, "refund_percent": 50},
            ],
        })
    );
    assert_eq!(units_left(&desk, "tomo:live"), 11);
    assert_eq!(desk.store.events(), ["tomo_booking created"]);
}

#[test]
fn no_answer_record_or_search_term_has_the_guest_in_clear() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    let booked = desk.call("create_booking", booking(&found, "k-1"));
    let cancelled = desk.call("cancel_booking", json!({"booking_ref": booked["booking_ref"]}));
    let audit = desk.store.audit().join(" ");
    for word in ["Asha", "9812345678", "asha.rao"] {
        assert!(!format!("{booked} {cancelled} {audit}").contains(word), "{word}");
        // The row has it in the part that databases seal.
        let leaks = desk.store.inspect(|state| {
            let rows = state.rows.values();
            rows.filter(|row| row.body.contains(word) || row.masked.as_ref().is_some_and(|text| text.contains(word)))
                .count()
        });
        assert_eq!(leaks, 0, "{word}");
    }
    let sealed = desk.store.inspect(|state| {
        state.rows.values().filter(|row| row.personal.as_ref().is_some_and(|text| text.contains("Asha Rao"))).count()
    });
    assert_eq!(sealed, 1);
}

#[test]
fn t_056_a_price_is_held_until_it_expires_and_not_longer() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    raise_prices(&desk);
    let dearer = desk.call("search_availability", search());
    let rooms = dearer["listings"][0]["room_options"].as_array().unwrap();
    let prices: Vec<_> = rooms.iter().map(|room| (room["name"].as_str().unwrap(), &room["total_inr"])).collect();
    assert_eq!(prices[..2], [("Deluxe room", &json!(6171)), ("Standard room", &json!(4256 * 2))]);
    desk.clock.set(NOW.0 + 15 * 60_000 - 1);
    let booked = desk.call("create_booking", booking(&found, "k-1"));
    assert_eq!(booked["total_inr"], 4256, "the quoted price is honoured although the room costs more by now");
    desk.clock.advance(1);
    assert_eq!(desk.refused("create_booking", booking(&found, "k-2")), fault("RESULT_EXPIRED"));
    let again = desk.call("create_booking", booking(&found, "k-1"));
    assert_eq!(again, booked, "a repeated key needs no valid token");
    let mut forged = booking(&dearer, "k-3");
    forged["result_token"] = json!(format!("{}A", found["result_token"].as_str().unwrap()));
    assert_eq!(desk.refused("create_booking", forged), fault("RESULT_EXPIRED"));
    let mut other_room = booking(&dearer, "k-3");
    other_room["listing_id"] = dearer["listings"][1]["listing_id"].clone();
    assert_eq!(desk.refused("create_booking", other_room), fault("RESULT_EXPIRED"), "a room of another hotel");
}

/// Doubles the base price of the standard room of the cheapest hotel.
fn raise_prices(desk: &TestDesk) {
    use frontdesk_engine::import::ImportRow;
    let arguments = json!({"room_code": "BLR-LAKEVIEW-STD", "base_price_inr": 3800});
    let row = ImportRow { line: 1, arguments: arguments.as_object().unwrap().clone(), key: None };
    let results = desk.import("rooms", async |session| session.apply(&[row]).await.unwrap());
    assert_eq!(serde_json::to_value(&results[0].verdict).unwrap(), "updated");
}

#[test]
fn t_100_t_103_a_repeated_key_gives_the_booking_as_it_is_by_now() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    let first = desk.call("create_booking", booking(&found, "k-1"));
    // The same object in another order.
    let body = booking(&found, "k-1");
    let members: Vec<_> =
        body.as_object().unwrap().iter().rev().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    let reordered: Value = serde_json::from_str(&format!("{{{}}}", members.join(","))).unwrap();
    assert_eq!(desk.call("create_booking", reordered), first);
    assert_eq!(units_left(&desk, "tomo:live"), 11, "one booking");
    desk.call("cancel_booking", json!({"booking_ref": first["booking_ref"]}));
    let after = desk.call("create_booking", booking(&found, "k-1"));
    assert_eq!(after["booking_ref"], first["booking_ref"]);
    assert_eq!(after["status"], "cancelled");
    assert_eq!(units_left(&desk, "tomo:live"), 12);
}

#[test]
fn t_101_a_key_with_another_body_is_a_conflict() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    desk.call("create_booking", booking(&found, "k-1"));
    let mut other = booking(&found, "k-1");
    other["guest"]["name"] = json!("Somebody Else");
    let before = desk.store.contents();
    assert_eq!(desk.refused("create_booking", other), fault("IDEMPOTENCY_CONFLICT"));
    assert_eq!(desk.store.contents(), before, "nothing was created");
}

#[test]
fn t_104_a_booking_needs_a_key_and_a_guest() {
    let desk = TestDesk::hotels();
    let found = desk.call("search_availability", search());
    let without = |member: &str| {
        let mut arguments = booking(&found, "k-1");
        arguments.as_object_mut().unwrap().remove(member);
        desk.refused("create_booking", arguments)
    };
    for member in ["idempotency_key", "guest", "result_token", "room_id", "listing_id"] {
        assert_eq!(without(member), ("INVALID_REQUEST".to_owned(), member.to_owned()));
    }
    let mut nameless = booking(&found, "k-1");
    nameless["guest"]["name"] = json!("--");
    assert_eq!(desk.refused("create_booking", nameless), ("INVALID_REQUEST".to_owned(), "guest.name".to_owned()));
    let mut unreachable = booking(&found, "k-1");
    unreachable["guest"]["phone"] = json!("98123");
    assert_eq!(desk.refused("create_booking", unreachable), ("INVALID_REQUEST".to_owned(), "guest.phone".to_owned()));
}

#[test]
fn t_105_a_search_shows_a_booking_at_once_and_stores_nothing() {
    let desk = TestDesk::hotels();
    let before = desk.store.contents();
    let found = desk.call("search_availability", search());
    let again = desk.call("search_availability", search());
    assert_eq!(found["listings"], again["listings"]);
    assert_eq!(desk.store.contents(), before);
    desk.call("create_booking", booking(&found, "k-1"));
    assert_eq!(units_left(&desk, "tomo:live"), 11);
}

#[test]
fn rooms_run_out_night_by_night() {
    let desk = TestDesk::hotels();
    let mut arguments = search();
    arguments["party"] = json!({"adults": 12, "rooms": 12});
    let all = desk.call("search_availability", arguments.clone());
    // Every standard room of the cheapest hotel.
    let late = desk.call("search_availability", search());
    assert_eq!(desk.call("create_booking", booking(&all, "k-1"))["rooms"], 12);
    assert_eq!(desk.refused("create_booking", booking(&late, "k-2")), fault("NOT_AVAILABLE"));
    let rest = desk.call("search_availability", search());
    assert_eq!(rest["listings"][0]["name"], "Halasuru Lake View Inn");
    assert_eq!(rest["listings"][0]["room_options"][0]["name"], "Deluxe room", "it has only dearer rooms left");
    // The night before and the night after are free.
    for (key, check_in, check_out) in [("k-3", "2027-03-09", "2027-03-10"), ("k-4", "2027-03-12", "2027-03-13")] {
        arguments["dates"] = json!({"check_in": check_in, "check_out": check_out});
        let found = desk.call("search_availability", arguments.clone());
        assert_eq!(desk.call("create_booking", booking(&found, key))["nights"], 1);
    }
}

#[test]
fn the_sandbox_takes_nothing_away_and_sees_only_itself() {
    let desk = TestDesk::hotels();
    let found = desk.call_as("tomo:sandbox", "search_availability", search());
    assert_eq!(desk.refused("create_booking", booking(&found, "k-1")), fault("RESULT_EXPIRED"), "a sandbox token");
    let booked = desk.call_as("tomo:sandbox", "create_booking", booking(&found, "k-1"));
    assert_eq!((&booked["mode"], &booked["status"]), (&json!("sandbox"), &json!("confirmed")));
    assert_eq!(units_left(&desk, "tomo:sandbox"), 11, "the sandbox counts by itself");
    assert_eq!(units_left(&desk, "tomo:live"), 12);
    assert_eq!(desk.store.events(), Vec::<String>::new(), "nobody is told");
    let cancel = json!({"booking_ref": booked["booking_ref"]});
    assert_eq!(desk.refused("cancel_booking", cancel.clone()), fault("NOT_FOUND"));
    let live = desk.call("search_availability", search());
    let live = desk.call("create_booking", booking(&live, "k-2"));
    let of_live = json!({"booking_ref": live["booking_ref"]});
    assert_eq!(desk.refused_as("tomo:sandbox", "cancel_booking", of_live), fault("NOT_FOUND"));
    assert_eq!(desk.call_as("tomo:sandbox", "cancel_booking", cancel)["status"], "cancelled");
    assert_eq!((units_left(&desk, "tomo:sandbox"), units_left(&desk, "tomo:live")), (json!(12), json!(11)));
}

#[test]
fn what_cannot_fill_the_facts_is_not_offered() {
    use frontdesk_engine::import::ImportRow;
    let desk = TestDesk::hotels();
    let arguments = json!({"listing_code": "BLR-LAKEVIEW", "images": []});
    let row = ImportRow { line: 1, arguments: arguments.as_object().unwrap().clone(), key: None };
    let found = desk.call("search_availability", search());
    desk.import("listings", async |session| session.apply(&[row]).await.unwrap());
    let after = desk.call("search_availability", search());
    assert_eq!(found["listings"].as_array().unwrap().len(), 4);
    assert_eq!(after["listings"].as_array().unwrap().len(), 3, "a hotel without a picture");
    let listing = json!({"listing_id": found["listings"][0]["listing_id"]});
    assert_eq!(desk.refused("get_listing", listing), fault("NOT_FOUND"));
}
