//! Questions that are forwarded: what is sent, and that what comes back is exactly what the intent promises.

use serde_json::json;

use super::support::{Front, Mishap};
use crate::support::{HOTEL, call, search};

#[tokio::test]
async fn a_search_is_one_signed_request_with_everything_that_was_asked() {
    let front = Front::new();
    let mut asked = search();
    asked["intent"] = json!("travel.book_hotel");
    asked["request_id"] = json!("req_1");
    asked["user_session_id"] = json!("anon_1");
    asked["context"] = json!({"channel": "chat"});
    let found = front.call("search_availability", asked).await;
    assert_eq!(found["listings"][0]["name"], "Halasuru Lake View Inn");
    let mut arguments = search();
    arguments["context"] = json!({"channel": "chat"});
    assert_eq!(
        front.hotel.last(),
        json!({
            "tool": "search_availability", "role": "search", "intent": "travel.book_hotel", "intent_version": "v1.0.0",
            "mode": "live", "attempt": 1, "request_id": "req_1", "user_session_id": "anon_1", "arguments": arguments,
        })
    );
    let detail = front.call("get_listing", json!({"listing_id": found["listings"][0]["listing_id"]})).await;
    assert_eq!(detail["name"], "Halasuru Lake View Inn");
    assert_eq!(front.hotel.last()["role"], "get_detail");
}

#[tokio::test]
async fn the_mode_is_that_of_the_credential() {
    let front = Front::new();
    let token = format!("{HOTEL}/tomo:sandbox");
    call(&front.desk, &front.mount, &token, "search_availability", search()).await;
    assert_eq!(front.hotel.last()["mode"], "sandbox");
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_sent() {
    let front = Front::new();
    let mut wrong = search();
    wrong["party"]["rooms"] = json!(0);
    assert_eq!(front.code("search_availability", wrong).await, "INVALID_REQUEST");
    assert_eq!(front.hotel.count("search_availability"), 0);
}

#[tokio::test]
async fn t_053_members_that_the_intent_does_not_have_are_left_out() {
    let front = Front::new();
    front.hotel.then(Mishap::Changed(|answer| {
        answer["result"]["trace"] = json!("internal");
        answer["result"]["listings"][0]["margin_inr"] = json!(900);
        answer["debug"] = json!({"host": "db-1"});
    }));
    let found = front.call("search_availability", search()).await;
    let plain = front.call("search_availability", search()).await;
    assert_eq!(found["listings"], plain["listings"]);
    assert_eq!(found.as_object().unwrap().len(), 3);
}

#[tokio::test]
async fn codes_of_the_intent_come_through_and_words_of_the_system_do_not() {
    let front = Front::new();
    let refused = |code: &str, field: &str| {
        Mishap::Answer(json!({"error": {"code": code, "message": "call Ravi at +919812345678", "field": field}}))
    };
    front.hotel.then(refused("NOT_AVAILABLE", ""));
    let answer = front.answer("search_availability", search()).await;
    assert_eq!(
        answer["error"],
        json!({"code": -32602, "message": "This is no longer available. Search again.",
            "data": {"tomo_error_code": "NOT_AVAILABLE"}})
    );
    front.hotel.then(refused("INVALID_REQUEST", "destination.city"));
    let answer = front.answer("search_availability", search()).await;
    assert_eq!(
        answer["error"],
        json!({"code": -32602, "message": "Invalid params: destination.city: the business does not take this value.",
            "data": {"tomo_error_code": "INVALID_REQUEST", "tomo_field": "destination.city"}})
    );
    front.hotel.then(refused("INVALID_REQUEST", "destination.<script>"));
    let answer = front.answer("search_availability", search()).await;
    assert_eq!(answer["error"]["data"], json!({"tomo_error_code": "INVALID_REQUEST"}));
    for (code, seen) in [
        ("RATE_LIMITED", "RATE_LIMITED"),
        ("PARTNER_MAINTENANCE", "PARTNER_MAINTENANCE"),
        ("INTERNAL_ERROR", "INTERNAL_ERROR"),
        ("INVALID_AUTH", "INTERNAL_ERROR"),
        ("METHOD_NOT_FOUND", "INTERNAL_ERROR"),
        ("SOLD_OUT", "INTERNAL_ERROR"),
        ("", "INTERNAL_ERROR"),
    ] {
        front.hotel.then(refused(code, ""));
        let answer = front.answer("search_availability", search()).await;
        assert_eq!(super::support::code(&answer), seen, "{code}");
        assert!(!answer.to_string().contains("Ravi"), "{answer}");
    }
}
