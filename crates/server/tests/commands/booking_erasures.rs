//! Somebody who has booked through a partner is erased by the same command as any customer: in bookings, in the
//! appointments that they became, and in whatever else the business has of them.

use std::fs;

use serde_json::{Value, json};

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_testkit::app::{EVERYTHING, TestApp};

use super::erasures::{changes, files, has};

const DEALER: &str = "dlr_bengaluru";
const HOTEL: &str = "htl_monsoon";
const EMAIL: &str = "xylo.quern@zzmail.example";
const PHONE: &str = "+919812346789";
/// What is stored in clear about them while they are there: masked forms.
const IN_CLEAR: [&str; 2] = ["x***@z***.example", "+9******6789"];
/// What is only ever sealed.
const SEALED: [&str; 3] = ["Xylophon", "zzmail", "+919812346789"];

#[tokio::test]
async fn one_command_erases_somebody_in_bookings_and_everywhere_else() {
    let mut desk = TestApp::start();
    let slot = slot(&desk, "live").await;
    let booked = call(&desk, "live", "auto.book_general_service", "book_slot", &slot).await;
    let tried = slot_booking(&desk, "sandbox").await;
    let stay = stay(&desk).await;
    let client = desk.add_client(&[DEALER], EVERYTHING);
    let mut agent = desk.agent_of_client(&client, EVERYTHING).await;
    let lead = json!({"contact": {"name": "Xylophon Quern", "email": EMAIL}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": "lead-1"});
    agent.call("leads.create", lead).await;
    let before = files(&desk);
    for word in IN_CLEAR {
        assert!(has(&before, word), "{word}");
    }

    let id = erase(&desk, DEALER, &["--email", EMAIL, "--dry-run", "--json"]).1;
    let said: Value = serde_json::from_str(&id).unwrap();
    assert_eq!(said["found"], json!({"appointment": 1, "consent": 1, "lead": 1, "tomo_booking": 2}), "{said}");
    let subject = said["subject"].as_str().unwrap();
    let (code, out, errors) = erase(&desk, DEALER, &["--email", EMAIL, "--confirm", subject]);
    // The answers to calls about bookings have nothing personal; that to leads.create had.
    let expected = "1 appointment, 1 consent, 1 lead, 2 tomo bookings erased, 1 stored answer changed.\n";
    assert_eq!((code, out.as_str(), errors.as_str()), (Some(0), expected, ""));
    let (code, out, _) = erase(&desk, DEALER, &["--phone", PHONE, "--dry-run"]);
    assert_eq!((code, out.as_str()), (Some(0), "Nothing is left to be erased.\n"));
    // The booking holds, and its key is still its key.
    assert_eq!(call(&desk, "live", "auto.book_general_service", "book_slot", &slot).await, booked);

    // Another business has its own records, and a booking is a way to name somebody.
    let stay = reference(&stay);
    let (code, out, errors) = erase(&desk, HOTEL, &[&stay, "--confirm", &stay]);
    let expected = "1 tomo booking erased, 0 stored answers changed.\n";
    assert_eq!((code, out.as_str(), errors.as_str()), (Some(0), expected, ""));
    let (code, _, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{errors}");
    let (_, audit, _) = desk.command(&["audit", "export", "--tenant", DEALER]);

    assert_eq!(desk.stop(), Some(0));
    let bookings = [reference(&booked), reference(&tried), stay];
    let last = changes(&desk, &bookings.each_ref().map(String::as_str));
    assert_eq!(last, ["tomo_booking updated", "tomo_booking updated", "tomo_booking updated"]);
    for booking in &bookings {
        assert_eq!(stored(&desk, booking), json!([null, null, "confirmed"]), "{booking}");
    }
    let (after, log) = (files(&desk), desk.log());
    for word in IN_CLEAR.iter().chain(&SEALED) {
        assert!(!has(&after, word), "{word} is in a file");
        assert!(!log.contains(word), "{word} is in the log");
        assert!(!audit.contains(word), "{word} is in the audit log");
    }
}

/// The hashes by which a booking is found, and its status.
fn stored(desk: &TestApp, id: &str) -> Value {
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    let text = "SELECT json_array(email, phone, status) FROM tomo_booking WHERE id = ?1";
    let row: String = database.query_row(text, [id], |row| row.get(0)).unwrap();
    serde_json::from_str(&row).unwrap()
}

fn erase(desk: &TestApp, tenant: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    desk.command(&[&["customer", "erase", "--tenant", tenant], arguments].concat())
}

fn reference(booking: &Value) -> String {
    booking["booking_ref"].as_str().unwrap().to_owned()
}

async fn slot_booking(desk: &TestApp, mode: &str) -> Value {
    let arguments = slot(desk, mode).await;
    call(desk, mode, "auto.book_general_service", "book_slot", &arguments).await
}

/// The arguments of a booking of the last slot that a search shows.
async fn slot(desk: &TestApp, mode: &str) -> Value {
    let found = providers(desk, mode).await;
    let provider = &found["providers"][0];
    json!({"idempotency_key": "slot-1", "result_token": found["result_token"], "provider_id": provider["provider_id"],
        "slot_id": provider["slots"].as_array().unwrap().last().unwrap()["slot_id"],
        "customer": {"name": "Xylophon Quern", "phone": PHONE, "email": EMAIL},
        "vehicle": {"make": "Maruti Suzuki", "model": "Swift"}})
}

async fn providers(desk: &TestApp, mode: &str) -> Value {
    let search = json!({"location": {"city": "Bengaluru", "country_code": "IN"},
        "service": {"codes": ["GENERAL_SERVICE"]}, "vehicle": {"make": "Maruti Suzuki", "model": "Swift"}});
    call(desk, mode, "auto.book_general_service", "search_providers", &search).await
}

/// A booking of the first room that a search shows.
async fn stay(desk: &TestApp) -> Value {
    let soon = Millis::parse(providers(desk, "live").await["expires_at"].as_str().unwrap()).unwrap();
    let day = |days: i64| soon.plus_seconds(days * 24 * 60 * 60).to_rfc3339()[..10].to_owned();
    let search = json!({"destination": {"kind": "city", "city": "Bengaluru", "country_code": "IN"},
        "dates": {"check_in": day(30), "check_out": day(31)}, "party": {"adults": 1, "children": 0, "rooms": 1},
        "preferences": {"sort_by": "price"}});
    let found = call(desk, "live", "travel.book_hotel", "search_availability", &search).await;
    let listing = &found["listings"][0];
    let order = json!({"idempotency_key": "stay-1", "result_token": found["result_token"],
        "listing_id": listing["listing_id"], "room_id": listing["room_options"][0]["room_id"],
        "guest": {"name": "Xylophon Quern", "phone": PHONE, "email": EMAIL}});
    call(desk, "live", "travel.book_hotel", "create_booking", &order).await
}

async fn call(desk: &TestApp, mode: &str, intent: &str, tool: &str, arguments: &Value) -> Value {
    let token = fs::read_to_string(desk.data().join(format!("demo-partner-{mode}.token"))).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}});
    let response = desk.stranger().request("POST", &format!("/mcp/tomo/{intent}"), &headers, call.to_string()).await;
    let answer = response.json();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
    serde_json::from_str(text).unwrap()
}
