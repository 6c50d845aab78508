//! `service.check_availability`, and what workshops, codes and advisors must be like to come in.

use frontdesk_engine::import::RowVerdict;
use serde_json::{Value, json};

use super::imports::apply;
use super::support::TestDesk;

const BOTH: &str = "amcp:service:read amcp:service:write";

fn check(desk: &TestDesk, call: Value) -> Value {
    desk.call_ok(BOTH, "service.check_availability", call)
}

fn local_starts(answer: &Value) -> Vec<&str> {
    answer["slots"].as_array().unwrap().iter().map(|slot| slot["local_start"].as_str().unwrap()).collect()
}

fn workshop(changes: Value) -> Value {
    let mut arguments = json!({
        "code": "NIGHT",
        "name": "Night shift",
        "time_zone": "europe/berlin",
        "bays": 1,
        "slot_minutes": 60,
        "opening_hours": [{"weekday": "sunday", "opens": "01:00", "closes": "04:00"}],
    });
    arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    arguments
}

fn problems(verdict: &RowVerdict) -> Vec<String> {
    let RowVerdict::Rejected(problems) = verdict else { panic!("{verdict:?}") };
    problems.iter().map(|problem| format!("{} {}", problem.field, problem.reason)).collect()
}

#[test]
fn the_answer_says_when_work_can_begin() {
    let desk = TestDesk::open();
    let call = json!({"service_codes": ["OIL", "ALI"], "from": "2026-02-10T14:00:00Z", "max_slots": 1});
    let answer = check(&desk, call);
    assert_eq!(
        answer,
        json!({
            "type": "availability",
            "workshop_id": answer["workshop_id"],
            "time_zone": "America/New_York",
            "duration_minutes": 90,
            "slots": [{
                "start": "2026-02-10T14:00:00Z",
                "end": "2026-02-10T15:30:00Z",
                "local_start": "2026-02-10T09:00:00-05:00",
                "status": "open",
                "places_left": 1,
            }],
            "next_from": "2026-02-10T14:30:00Z",
        })
    );
    assert!(desk.events().is_empty());
}

#[test]
fn a_long_answer_goes_on_with_next_from() {
    let desk = TestDesk::open();
    let whole = check(&desk, json!({"service_codes": ["OIL"], "max_slots": 200}));
    assert!(whole.get("next_from").is_none());
    let mut pieces = Vec::new();
    let mut call = json!({"service_codes": ["OIL"], "max_slots": 7, "until": "2026-02-07T09:30:00Z"});
    loop {
        let piece = check(&desk, call.clone());
        pieces.extend(piece["slots"].as_array().unwrap().clone());
        let Some(next) = piece.get("next_from") else { break };
        call["from"] = next.clone();
    }
    assert_eq!(json!(pieces), whole["slots"]);
    // Four hours of the Saturday that it is, five weekdays of nine, minus what the demo has booked.
    assert!((90..=98).contains(&pieces.len()), "{}", pieces.len());
}

#[test]
fn the_last_start_leaves_time_for_the_work() {
    let desk = TestDesk::open();
    let day = json!({"service_codes": ["MAJ"], "from": "2026-02-10T12:00:00Z", "until": "2026-02-11T04:00:00Z"});
    let answer = check(&desk, day);
    let starts = local_starts(&answer);
    assert_eq!((starts[0], starts[starts.len() - 1]), ("2026-02-10T08:00:00-05:00", "2026-02-10T14:00:00-05:00"));
}

#[test]
fn after_a_clock_change_the_local_times_stay_the_same() {
    let desk = TestDesk::open();
    let from = |from: &str| check(&desk, json!({"service_codes": ["OIL"], "from": from, "max_slots": 1}));
    let (before, after) = (from("2026-03-06T05:00:00Z"), from("2026-03-09T04:00:00Z"));
    assert_eq!(before["slots"][0]["start"], "2026-03-06T13:00:00Z");
    assert_eq!(after["slots"][0]["start"], "2026-03-09T12:00:00Z");
    assert_eq!(local_starts(&after), ["2026-03-09T08:00:00-04:00"]);
}

#[test]
fn an_advisor_is_offered_only_while_they_work_and_are_free() {
    let desk = TestDesk::open();
    let advisor = desk.call_ok(BOTH, "service.list_advisors", json!({"limit": 1}))["items"][0]["id"].clone();
    let call = json!({"service_codes": ["OIL"], "advisor_id": advisor, "from": "2026-02-10T20:00:00Z",
        "until": "2026-02-10T23:00:00Z"});
    let answer = check(&desk, call.clone());
    assert_eq!(local_starts(&answer), ["2026-02-10T15:00:00-05:00", "2026-02-10T15:30:00-05:00"]);
    let booking = json!({"vin": "1HGCM82633A004352", "start": "2026-02-10T20:00:00Z", "service_codes": ["OIL"],
        "advisor_id": advisor});
    desk.call_ok(BOTH, "service.book_appointment", booking);
    assert_eq!(local_starts(&check(&desk, call)), ["2026-02-10T15:30:00-05:00"]);
    let number = desk.call_ok(BOTH, "service.get_advisor", json!({"id": advisor}))["employee_number"].clone();
    let gone = json!({"employee_number": number, "name": "Gone", "status": "inactive"});
    assert_eq!(apply(&desk, "advisors", &[gone])[0].verdict, RowVerdict::Updated);
    let (failed, answer) =
        desk.call(BOTH, "service.check_availability", json!({"service_codes": ["OIL"], "advisor_id": advisor}));
    assert!(failed);
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"]),
        (
            &json!("service.slot_unavailable"),
            &json!(
                "This advisor no longer receives customers. Choose another with service.list_advisors, or name none."
            )
        )
    );
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let desk = TestDesk::open();
    let far = json!({"service_codes": ["OIL"], "until": "2026-04-01T00:00:00Z"});
    let (_, answer) = desk.call(BOTH, "service.check_availability", far);
    assert_eq!(
        answer["error"]["message"],
        "The argument at /until is not valid: it must lie within 31 days after from, or after now."
    );
    let code = desk.error_code(BOTH, "service.check_availability", json!({"service_codes": ["NOPE"]}));
    assert_eq!(code, "service.invalid_service_code");
    let code =
        desk.error_code(BOTH, "service.check_availability", json!({"service_codes": ["OIL"], "workshop_id": "x"}));
    assert_eq!(code, "service.not_found");
}

#[test]
fn with_two_workshops_one_must_be_named() {
    let desk = TestDesk::open();
    let added = apply(&desk, "workshops", &[workshop(json!({}))]);
    assert_eq!(added[0].verdict, RowVerdict::Created);
    let night = added[0].id.clone().unwrap();
    assert_eq!(desk.call_ok(BOTH, "service.get_workshop", json!({"id": night}))["time_zone"], "Europe/Berlin");
    let (_, answer) = desk.call(BOTH, "service.check_availability", json!({"service_codes": ["OIL"]}));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("/workshop_id") && message.contains(&night), "{message}");

    // The night of the change: two o'clock does not exist, and can be neither found nor booked.
    let call = json!({"service_codes": ["BRK"], "workshop_id": night, "from": "2026-03-28T12:00:00Z",
        "until": "2026-03-29T12:00:00Z"});
    let answer = check(&desk, call);
    assert_eq!(local_starts(&answer), ["2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"]);
    // A kind of bay that this workshop does not have.
    let call = json!({"service_codes": ["ALI"], "workshop_id": night});
    assert_eq!(desk.error_code(BOTH, "service.check_availability", call), "service.invalid_service_code");
}

#[test]
fn all_that_is_wrong_with_a_workshop_is_said_at_once() {
    let desk = TestDesk::open();
    let wrong = workshop(json!({
        "time_zone": "Mars/Olympus",
        "bay_kinds": [{"kind": "alignment", "bays": 2}],
        "closed_days": ["2026-12-25", "25.12."],
        "opening_hours": [
            {"weekday": "monday", "opens": "8:00", "closes": "17:00"},
            {"weekday": "monday", "opens": "08:00", "closes": "07:00"},
            {"weekday": "monday", "opens": "08:00", "closes": "12:00"},
            {"weekday": "monday", "opens": "11:00", "closes": "24:00"},
        ],
    }));
    let results = apply(&desk, "workshops", &[wrong]);
    assert_eq!(
        problems(&results[0].verdict),
        [
            "/opening_hours/0/opens a local time such as 08:00 is expected.",
            "/opening_hours/1/closes it must be later than opens; hours past midnight are two entries.",
            "/opening_hours/3 it must not overlap other hours of the same day.",
            "/closed_days/1 a date such as 2026-12-25 is expected.",
            "/time_zone a time zone of the IANA database is expected, such as Europe/Berlin.",
            "/bay_kinds/0/bays it must not be more than all bays.",
        ]
    );
}

#[test]
fn a_code_is_matched_in_any_case_and_can_be_withdrawn() {
    let desk = TestDesk::open();
    let withdrawn =
        json!({"code": "oil", "name": "Oil and filter change", "duration_minutes": 30, "status": "withdrawn"});
    assert_eq!(apply(&desk, "service_codes", &[withdrawn])[0].verdict, RowVerdict::Updated);
    let (_, answer) = desk.call(BOTH, "service.check_availability", json!({"service_codes": ["OIL"]}));
    assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/service_codes/0");
    let found = desk.call_ok(BOTH, "service.list_service_codes", json!({"text": "wheel alignment"}));
    assert_eq!((found["items"].as_array().unwrap().len(), &found["items"][0]["code"]), (1, &json!("ALI")));
}

#[test]
fn more_bays_let_those_who_wait_go_first() {
    let desk = TestDesk::open();
    let call = json!({"vin": "1HGCM82633A004352", "start": "2026-02-10T14:00:00Z", "service_codes": ["OIL"]});
    let ids: Vec<Value> =
        (0..4).map(|_| desk.call_ok(BOTH, "service.book_appointment", call.clone())["id"].clone()).collect();
    let main = desk.call_ok(BOTH, "service.list_workshops", json!({}))["items"][0].clone();
    let larger = json!({"code": main["code"], "name": main["name"], "time_zone": main["time_zone"], "bays": 4,
        "opening_hours": main["opening_hours"]});
    assert_eq!(apply(&desk, "workshops", &[larger])[0].verdict, RowVerdict::Updated);
    let now = json!({"service_codes": ["OIL"], "from": "2026-02-10T14:00:00Z", "max_slots": 1, "include_full": true});
    assert_eq!(check(&desk, now)["slots"][0]["places_left"], 0, "the fourth bay is for who waits");
    assert_eq!(desk.call_ok(BOTH, "service.book_appointment", call)["status"], "waitlisted");
    let first_in_line = desk.call_ok(BOTH, "service.get_appointment", json!({"id": ids[3]}));
    assert_eq!(first_in_line["status"], "booked");
}

#[test]
fn a_workshop_that_changes_its_time_zone_gives_places_back() {
    let desk = TestDesk::open();
    // Sunday one o'clock in Berlin is still Saturday in New York.
    let night = apply(&desk, "workshops", &[workshop(json!({}))])[0].id.clone().unwrap();
    let call = json!({"vin": "1HGCM82633A004352", "start": "2026-02-08T00:00:00Z", "service_codes": ["OIL"],
        "workshop_id": night});
    let id = desk.call_ok(BOTH, "service.book_appointment", call.clone())["id"].clone();
    apply(&desk, "workshops", &[workshop(json!({"time_zone": "America/New_York"}))]);
    desk.call_ok(BOTH, "service.cancel_appointment", json!({"id": id}));
    apply(&desk, "workshops", &[workshop(json!({}))]);
    assert_eq!(desk.call_ok(BOTH, "service.book_appointment", call)["status"], "booked");
}
