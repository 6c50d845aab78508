//! Booking, moving and cancelling appointments, and who waits for them. The demo's workshop has three bays, one of them for
//! alignments, and works on weekdays from 08:00 to 17:00 in New York.

use serde_json::{Value, json};

use super::support::TestDesk;

const READ: &str = "amcp:service:read";
const WRITE: &str = "amcp:service:write";
const BOTH: &str = "amcp:service:read amcp:service:write";

/// A Tuesday on which the demo has booked nothing, at 09:00 in New York.
const NINE: &str = "2026-02-10T14:00:00Z";
const TEN: &str = "2026-02-10T15:00:00Z";

fn booking(start: &str, codes: &[&str]) -> Value {
    json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": start, "service_codes": codes})
}

fn with(mut call: Value, name: &str, value: impl Into<Value>) -> Value {
    call[name] = value.into();
    call
}

fn book(desk: &TestDesk, call: Value) -> (String, String) {
    let made = desk.call_ok(BOTH, "service.book_appointment", call);
    (made["id"].as_str().unwrap().to_owned(), made["status"].as_str().unwrap().to_owned())
}

fn status(desk: &TestDesk, id: &str) -> String {
    let found = desk.call_ok(READ, "service.get_appointment", json!({"id": id}));
    found["status"].as_str().unwrap().to_owned()
}

fn refusal(desk: &TestDesk, tool: &str, call: Value) -> (String, String) {
    let (failed, answer) = desk.call(BOTH, tool, call);
    assert!(failed, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

fn left(desk: &TestDesk, start: &str, codes: &[&str]) -> i64 {
    let call = json!({"service_codes": codes, "from": start, "max_slots": 1, "include_full": true});
    let answer = desk.call_ok(READ, "service.check_availability", call);
    assert_eq!(answer["slots"][0]["start"], start);
    answer["slots"][0]["places_left"].as_i64().unwrap()
}

fn first_advisor(desk: &TestDesk) -> Value {
    desk.call_ok(READ, "service.list_advisors", json!({"limit": 1}))["items"][0]["id"].clone()
}

#[test]
fn the_published_example_books_by_vehicle_id() {
    let desk = TestDesk::open();
    let vehicle = desk.call_ok("amcp:inventory:read", "inventory.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let call = json!({"vehicle_id": vehicle, "start": "2026-02-10T09:00:00-05:00", "service_codes": ["oil", "ROT"],
        "advisor_id": first_advisor(&desk)});
    let made = desk.call_ok(BOTH, "service.book_appointment", call.clone());
    assert_eq!(made["appointment_id"], made["id"]);
    let shown = json!({"status": made["status"], "start": made["start"], "end": made["end"],
        "local_start": made["local_start"], "time_zone": made["time_zone"], "service_codes": made["service_codes"]});
    assert_eq!(
        shown,
        json!({"status": "booked", "start": NINE, "end": TEN, "local_start": "2026-02-10T09:00:00-05:00",
            "time_zone": "America/New_York", "service_codes": ["OIL", "ROT"]})
    );
    assert_eq!(desk.events(), ["appointment created"]);

    let receipt = desk.call_ok(WRITE, "service.book_appointment", with(call, "start", TEN));
    assert_eq!((&receipt["status"], &receipt["start"]), (&json!("booked"), &json!(TEN)));
    assert_eq!(receipt["appointment_id"], receipt["id"]);
    assert!(receipt.get("vehicle_id").is_none(), "{receipt}");
}

#[test]
fn a_vehicle_that_is_not_here_is_named_by_vin_or_in_words() {
    let desk = TestDesk::open();
    let call = json!({"vin": "1hgcm82633a004352", "start": NINE, "service_codes": ["OIL"]});
    let made = desk.call_ok(BOTH, "service.book_appointment", call);
    assert_eq!(made["vin"], "1HGCM82633A004352");
    let found = desk.call_ok(READ, "service.list_appointments", json!({"vin": "1HGCM82633A004352"}));
    assert_eq!(found["items"][0]["id"], made["id"]);
}

#[test]
fn all_that_is_wrong_with_a_booking_is_said_at_once() {
    let desk = TestDesk::open();
    let call = json!({"vin": "1HGCM82643A004352", "start": "2026-01-30T14:00:00Z", "service_codes": [],
        "contact": {"name": "Dana"}});
    let (failed, answer) = desk.call(BOTH, "service.book_appointment", call);
    assert!(failed);
    let errors: Vec<(&str, &str)> = answer["error"]["details"]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["pointer"].as_str().unwrap(), error["keyword"].as_str().unwrap()))
        .collect();
    assert_eq!(
        errors,
        [("/service_codes", "minItems"), ("/contact", "anyOf"), ("/vin", "pattern"), ("/start", "minimum")]
    );
    let (_, message) = refusal(&desk, "service.book_appointment", json!({"start": NINE, "service_codes": ["OIL"]}));
    assert_eq!(
        message,
        "The arguments are not valid: vehicle_id is required, or for a vehicle that is not here vin or vehicle."
    );
    let (_, message) = refusal(&desk, "service.book_appointment", booking("2027-03-10T14:00:00Z", &["OIL"]));
    assert_eq!(message, "The argument at /start is not valid: it must lie within a year from now.");
}

#[test]
fn a_wrong_service_code_is_named_with_its_place() {
    let desk = TestDesk::open();
    let (failed, answer) = desk.call(BOTH, "service.book_appointment", booking(NINE, &["OIL", "NOPE"]));
    assert!(failed);
    assert_eq!(
        answer["error"],
        json!({
            "code": "service.invalid_service_code",
            "message": "Not all of this can be booked. /service_codes/1: a code that service.list_service_codes lists is \
                expected. Find codes with service.list_service_codes.",
            "details": {
                "errors": [{
                    "pointer": "/service_codes/1",
                    "keyword": "enum",
                    "expected": "a code that service.list_service_codes lists is expected",
                }],
                "retryable": false,
            },
        })
    );
}

#[test]
fn a_time_at_which_no_work_begins_is_refused_with_the_reason() {
    let desk = TestDesk::open();
    let no_slot = "The workshop begins no work at this time. Choose a time with service.check_availability.";
    let closing = "The work would not end before the workshop closes. Choose an earlier time with \
        service.check_availability.";
    for (start, codes, reason) in [
        ("2026-02-10T14:10:00Z", ["OIL"], no_slot),
        ("2026-02-10T12:30:00Z", ["OIL"], no_slot),
        ("2026-02-08T15:00:00Z", ["OIL"], no_slot),
        ("2026-12-25T15:00:00Z", ["OIL"], no_slot),
        ("2026-02-10T21:00:00Z", ["MAJ"], closing),
    ] {
        let told = refusal(&desk, "service.book_appointment", booking(start, &codes));
        assert_eq!(told, ("service.slot_unavailable".to_owned(), reason.to_owned()), "{start}");
    }
    // Half past four in the afternoon, when this advisor has gone home.
    let late = with(booking("2026-02-10T21:30:00Z", &["OIL"]), "advisor_id", first_advisor(&desk));
    let told = refusal(&desk, "service.book_appointment", late);
    assert_eq!(told.0, "service.slot_unavailable");
    assert!(told.1.starts_with("The advisor does not receive customers then."), "{}", told.1);
    assert!(desk.events().is_empty());
}

#[test]
fn who_finds_no_place_waits_and_moves_up_when_one_becomes_free() {
    let desk = TestDesk::open();
    let ids: Vec<(String, String)> = (0..5).map(|_| book(&desk, booking(NINE, &["OIL"]))).collect();
    let statuses: Vec<&str> = ids.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(statuses, ["booked", "booked", "booked", "waitlisted", "waitlisted"]);
    assert_eq!(left(&desk, NINE, &["OIL"]), 0);

    let before = desk.events().len();
    let gone = json!({"id": ids[1].0, "cancel_reason": "The car was sold."});
    let cancelled = desk.call_ok(BOTH, "service.cancel_appointment", gone);
    assert_eq!(
        (&cancelled["status"], &cancelled["cancelled_at"]),
        (&json!("cancelled"), &json!("2026-01-31T09:30:00Z"))
    );
    assert_eq!(cancelled["cancel_reason"], "The car was sold.");
    assert_eq!(desk.events()[before..], ["appointment updated", "appointment updated"]);
    let moved = desk.call_ok(READ, "service.get_appointment", json!({"id": ids[3].0}));
    assert_eq!((&moved["status"], &moved["moved_up_at"]), (&json!("booked"), &json!("2026-01-31T09:30:00Z")));
    assert_eq!(status(&desk, &ids[4].0), "waitlisted");

    // A move gives the place back, too.
    let later = json!({"id": ids[0].0, "start": TEN});
    assert_eq!(desk.call_ok(BOTH, "service.update_appointment", later)["status"], "booked");
    assert_eq!(status(&desk, &ids[4].0), "booked");
    assert_eq!((left(&desk, NINE, &["OIL"]), left(&desk, TEN, &["OIL"])), (0, 2));
}

#[test]
fn a_longer_wait_does_not_hold_up_who_fits() {
    let desk = TestDesk::open();
    let ids: Vec<String> = (0..3).map(|_| book(&desk, booking(NINE, &["OIL"])).0).collect();
    let _full_at_ten: Vec<_> = (0..3).map(|_| book(&desk, booking(TEN, &["OIL"]))).collect();
    let (long, state) = book(&desk, booking(NINE, &["MAJ"]));
    assert_eq!(state, "waitlisted");
    let (short, state) = book(&desk, booking(NINE, &["ROT"]));
    assert_eq!(state, "waitlisted");
    desk.call_ok(BOTH, "service.cancel_appointment", json!({"id": ids[0]}));
    assert_eq!((status(&desk, &long), status(&desk, &short)), ("waitlisted".to_owned(), "booked".to_owned()));
}

#[test]
fn without_the_waitlist_a_full_time_books_nothing() {
    let desk = TestDesk::open();
    for _ in 0..3 {
        book(&desk, booking(NINE, &["OIL"]));
    }
    let before = desk.stored_data();
    let told = refusal(&desk, "service.book_appointment", with(booking(NINE, &["OIL"]), "accept_waitlist", false));
    assert_eq!(
        told,
        (
            "service.slot_unavailable".to_owned(),
            "That time is full. Choose another with service.check_availability.".to_owned()
        )
    );
    assert_eq!(desk.stored_data(), before);
}

#[test]
fn a_move_to_a_full_time_keeps_the_place() {
    let desk = TestDesk::open();
    for _ in 0..3 {
        book(&desk, booking(TEN, &["OIL"]));
    }
    let (id, _) = book(&desk, booking(NINE, &["OIL"]));
    let told = refusal(&desk, "service.update_appointment", json!({"id": id, "start": TEN}));
    assert_eq!(told.0, "service.slot_unavailable");
    assert!(told.1.starts_with("That time is full, so the appointment stays where it is."), "{}", told.1);
    assert_eq!((status(&desk, &id), left(&desk, NINE, &["OIL"])), ("booked".to_owned(), 2));
    // Longer work at the same time is a move, too: 09:00 to 12:00 meets the three of 10:00.
    let told = refusal(&desk, "service.update_appointment", json!({"id": id, "service_codes": ["MAJ"]}));
    assert_eq!(told.0, "service.slot_unavailable");
}

#[test]
fn a_special_bay_and_an_advisor_are_taken_once() {
    let desk = TestDesk::open();
    assert_eq!((left(&desk, NINE, &["ALI"]), left(&desk, NINE, &["OIL"])), (1, 3));
    assert_eq!(book(&desk, booking(NINE, &["ALI"])).1, "booked");
    assert_eq!(book(&desk, booking(NINE, &["OIL", "ALI"])).1, "waitlisted");
    assert_eq!((left(&desk, NINE, &["ALI"]), left(&desk, NINE, &["OIL"])), (0, 2));
    let advisor = first_advisor(&desk);
    assert_eq!(book(&desk, with(booking(TEN, &["OIL"]), "advisor_id", advisor.clone())).1, "booked");
    assert_eq!(book(&desk, with(booking(TEN, &["OIL"]), "advisor_id", advisor)).1, "waitlisted");
    assert_eq!(book(&desk, booking(TEN, &["OIL"])).1, "booked");
}

#[test]
fn a_status_follows_the_one_before() {
    let desk = TestDesk::open();
    let (id, _) = book(&desk, booking(NINE, &["OIL"]));
    let update = |value: &str| json!({"id": id, "status": value});
    for next in ["confirmed", "checked_in", "in_progress", "completed"] {
        assert_eq!(desk.call_ok(BOTH, "service.update_appointment", update(next))["status"], next);
    }
    let told = refusal(&desk, "service.cancel_appointment", json!({"id": id}));
    assert_eq!(told, ("service.invalid_transition".to_owned(), "Status completed is final.".to_owned()));
    let told = refusal(&desk, "service.update_appointment", json!({"id": id, "start": TEN}));
    assert_eq!(told.0, "service.invalid_transition");
    // Its place stays taken.
    assert_eq!(left(&desk, NINE, &["OIL"]), 2);
}

#[test]
fn a_confirmed_appointment_that_moves_is_booked_again() {
    let desk = TestDesk::open();
    let (id, _) = book(&desk, booking(NINE, &["OIL"]));
    desk.call_ok(BOTH, "service.update_appointment", json!({"id": id, "status": "confirmed"}));
    let moved = desk.call_ok(BOTH, "service.update_appointment", json!({"id": id, "start": TEN}));
    assert_eq!((&moved["status"], &moved["local_start"]), (&json!("booked"), &json!("2026-02-10T10:00:00-05:00")));
    assert_eq!((left(&desk, NINE, &["OIL"]), left(&desk, TEN, &["OIL"])), (3, 2));
}

#[test]
fn somebody_who_waits_cannot_be_moved_up_by_hand() {
    let desk = TestDesk::open();
    for _ in 0..3 {
        book(&desk, booking(NINE, &["OIL"]));
    }
    let (id, _) = book(&desk, booking(NINE, &["OIL"]));
    let told = refusal(&desk, "service.update_appointment", json!({"id": id, "status": "booked"}));
    assert_eq!(told, ("service.invalid_transition".to_owned(), "Status waitlisted can become cancelled.".to_owned()));
    // But it may look for another time.
    let moved = desk.call_ok(BOTH, "service.update_appointment", json!({"id": id, "start": TEN}));
    assert_eq!(moved["status"], "booked");
}

#[test]
fn a_number_that_another_appointment_has_is_a_duplicate() {
    let desk = TestDesk::open();
    let numbered = |start: &str| with(booking(start, &["OIL"]), "appointment_number", "A-7");
    book(&desk, numbered(NINE));
    let told = refusal(&desk, "service.book_appointment", numbered(TEN));
    assert_eq!(
        told,
        (
            "service.duplicate".to_owned(),
            "An appointment with this appointment_number exists already. Find that one and change it.".to_owned()
        )
    );
    assert_eq!(left(&desk, TEN, &["OIL"]), 3);
}

#[test]
fn what_another_dealership_has_does_not_exist_here() {
    let desk = TestDesk::open();
    let foreign = |tool: &str| {
        let list =
            desk.call_as("dlr_summit/amcp:service:read amcp:inventory:read amcp:leads:read", tool, json!({"limit": 1}));
        list.1["items"][0]["id"].clone()
    };
    for (name, tool, code) in [
        ("vehicle_id", "inventory.list", "inventory.not_found"),
        ("customer_id", "customers.list", "customers.not_found"),
        ("advisor_id", "service.list_advisors", "service.not_found"),
        ("workshop_id", "service.list_workshops", "service.not_found"),
    ] {
        let there = refusal(&desk, "service.book_appointment", with(booking(NINE, &["OIL"]), name, foreign(tool)));
        let nowhere = refusal(&desk, "service.book_appointment", with(booking(NINE, &["OIL"]), name, "none_1"));
        assert_eq!(there, nowhere, "{name}");
        assert_eq!(there.0, code, "{name}");
    }
    let theirs = foreign("service.list_appointments");
    assert_eq!(desk.error_code(BOTH, "service.cancel_appointment", json!({"id": theirs})), "service.not_found");
    assert!(desk.events().is_empty());
}

#[test]
fn contact_data_is_masked_in_lists_and_whole_in_one() {
    let desk = TestDesk::open();
    let contact = json!({"name": "Dana Reyes", "email": "dana@example.com"});
    let call = with(with(booking(NINE, &["OIL"]), "contact", contact.clone()), "notes", "Rings twice.");
    let (id, _) = book(&desk, call);
    let listed = desk.call_ok(READ, "service.list_appointments", json!({"email": "Dana@example.com"}));
    let item = &listed["items"][0];
    assert_eq!(item["contact"], json!({"name": "D. R.", "email": "d***@e***.com"}));
    assert_eq!(item["redacted"], json!(["contact.name", "contact.email", "concerns", "notes"]));
    let whole = desk.call_ok(READ, "service.get_appointment", json!({"id": id}));
    assert_eq!((&whole["contact"], &whole["notes"]), (&contact, &json!("Rings twice.")));
}

#[test]
fn the_demo_has_a_full_slot_with_somebody_waiting() {
    let desk = TestDesk::open();
    let waiting = desk.call_ok(READ, "service.list_appointments", json!({"status": "waitlisted"}));
    let [waiting] = waiting["items"].as_array().unwrap().as_slice() else { panic!("{waiting}") };
    let start = waiting["start"].as_str().unwrap();
    assert_eq!((start, left(&desk, start, &["ALI"])), ("2026-02-02T15:00:00Z", 0));
    let at = json!({"start_min": start, "start_max": start, "limit": 10});
    let same = desk.call_ok(READ, "service.list_appointments", at);
    let ahead = same["items"].as_array().unwrap().iter().find(|one| one["status"] != "waitlisted").unwrap();
    desk.call_ok(BOTH, "service.cancel_appointment", json!({"id": ahead["id"]}));
    assert_eq!(status(&desk, waiting["id"].as_str().unwrap()), "booked");
}

#[test]
fn appointments_are_listed_by_their_start() {
    let desk = TestDesk::open();
    let (later, _) = book(&desk, booking(TEN, &["OIL"]));
    desk.clock.advance(1_000);
    let (sooner, _) = book(&desk, booking(NINE, &["OIL"]));
    let listed = |sort: &str| {
        let day = json!({"start_min": NINE, "start_max": TEN, "sort": sort});
        let page = desk.call_ok(READ, "service.list_appointments", day);
        page["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("start_asc"), [sooner.as_str(), later.as_str()]);
    assert_eq!(listed("start_desc"), [later.as_str(), sooner.as_str()]);
    assert_eq!(listed("newest"), [sooner.as_str(), later.as_str()]);
}

/// Nobody waits for a time that is over.
#[test]
fn who_waits_in_vain_is_cancelled_when_the_time_has_come() {
    let desk = TestDesk::open();
    for _ in 0..3 {
        assert_eq!(book(&desk, booking(NINE, &["OIL"])).1, "booked");
    }
    let (id, was) = book(&desk, booking(NINE, &["OIL"]));
    assert_eq!(was, "waitlisted");
    let has = |status: &str| {
        let call = json!({"status": status, "start_min": NINE, "start_max": NINE});
        let page = desk.call_ok(READ, "service.list_appointments", call);
        let items = page["items"].as_array().unwrap();
        assert!(items.iter().all(|item| item["status"] == status), "{page}");
        items.iter().any(|item| item["id"] == *id)
    };
    assert_eq!((has("waitlisted"), has("cancelled")), (true, false));
    // 2026-02-10T14:00:00Z
    desk.clock.set(1_770_732_000_000);
    assert_eq!((has("waitlisted"), has("cancelled")), (false, true));
    assert_eq!(status(&desk, &id), "cancelled");
    let all = desk.call_ok(READ, "service.list_appointments", json!({"start_min": NINE, "start_max": NINE}));
    assert!(all["items"].as_array().unwrap().iter().all(|item| item["status"] != "waitlisted"), "{all}");
    assert_eq!(
        refusal(&desk, "service.update_appointment", json!({"id": id, "start": "2026-02-11T14:00:00Z"})),
        (
            "service.invalid_transition".to_owned(),
            "Time, work, advisor and workshop can change only while the status is booked, waitlisted or confirmed, and not \
             together with it."
                .to_owned()
        )
    );
    let noted = desk.call_ok(BOTH, "service.update_appointment", json!({"id": id, "notes": "Called."}));
    assert_eq!((&noted["status"], noted.get("cancelled_at").is_some()), (&json!("cancelled"), true));
}
