//! Limits (§8): what TOMO sends at most is never limited, and who is limited is told when to come back.

use serde_json::{Value, json};

use crate::support::{WireDesk, call, examples};

fn code(answer: &Value) -> &str {
    answer["error"]["data"]["tomo_error_code"].as_str().unwrap_or("none")
}

#[test]
fn t_116_one_search_a_second_in_fifty_sessions_is_not_limited() {
    let desk = WireDesk::open();
    let search = &examples()[0].1;
    for second in 0..20 {
        for session in 0..50 {
            let answer = desk.call_in(&format!("anon_{session}"), "search_availability", search);
            assert_eq!(code(&answer), "none", "second {second}, session {session}");
        }
        desk.clock.advance(1_000);
    }
}

#[test]
fn t_117_five_details_a_second_are_not_limited() {
    let desk = WireDesk::open();
    for second in 0..60 {
        for _ in 0..5 {
            let answer = desk.call_in("anon_1", "get_listing", &json!({"listing_id": "hls_nobody"}));
            assert_eq!(code(&answer), "NOT_FOUND", "second {second}");
        }
        desk.clock.advance(1_000);
    }
}

#[test]
fn t_117_a_create_a_minute_and_its_cancellation_are_not_limited() {
    let desk = WireDesk::open();
    for minute in 0..30 {
        // A token that is none is refused where a limit would have come first.
        let arguments = json!({"idempotency_key": format!("k-{minute}"), "result_token": "none", "listing_id": "hls_x",
            "room_id": "rom_x", "guest": {"name": "Asha Rao", "phone": "+919812345678", "email": "asha@example.com"}});
        let answer = desk.call_in("anon_1", "create_booking", &arguments);
        assert_eq!(code(&answer), "RESULT_EXPIRED", "minute {minute}: {answer}");
        let answer = desk.call_in("anon_1", "cancel_booking", &json!({"booking_ref": "bkg_none"}));
        assert_eq!(code(&answer), "NOT_FOUND", "minute {minute}");
        desk.clock.advance(60_000);
    }
}

#[test]
fn t_079_t_118_t_119_who_asks_too_often_is_told_when_to_come_back() {
    let desk = WireDesk::open();
    let message = call("anon_1", "search_availability", &examples()[0].1).to_string();
    let limited = (0..100).map(|_| desk.send(&message)).find(|reply| reply.code == Some("RATE_LIMITED")).unwrap();
    assert_eq!(limited.status, 200);
    let answer: Value = serde_json::from_slice(&limited.body).unwrap();
    assert_eq!(answer["id"], 42);
    assert_eq!((&answer["error"]["code"], code(&answer)), (&json!(-32001), "RATE_LIMITED"));
    let wait = limited.headers.iter().find(|(name, _)| *name == "Retry-After").map(|(_, value)| value.to_string());
    assert_eq!(wait.as_deref(), Some("1"));
    let other = desk.call_in("anon_2", "search_availability", &examples()[0].1);
    assert_eq!(code(&other), "none", "another user is not limited");
    desk.clock.advance(1_000);
    assert_eq!(desk.send(&message).code, None, "after the first pause of TOMO");
}
