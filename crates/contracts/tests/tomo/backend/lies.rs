//! Answers that must not reach a caller.

use frontdesk_engine::ports::http_client::HttpError;
use serde_json::{Value, json};

use super::support::{Front, Mishap, code};
use crate::support::search;

/// Searches while the system answers so; the code, and what the log says.
async fn searched(mishap: Mishap) -> (String, String) {
    let front = Front::new();
    front.hotel.then(mishap);
    let answer = front.answer("search_availability", search()).await;
    assert!(answer.get("result").is_none(), "{answer}");
    (code(&answer), front.observed.causes().join(" "))
}

fn lie(cause: &str) -> (String, String) {
    ("INTERNAL_ERROR".to_owned(), format!("backend: {cause}"))
}

#[tokio::test]
async fn t_052_a_payload_that_breaks_the_schema_is_refused() {
    type Break = fn(&mut Value);
    let cases: [(Break, &str); 9] = [
        (|answer| drop(answer["result"].as_object_mut().unwrap().remove("result_token")), "result_token"),
        (|answer| answer["result"]["result_token"] = Value::Null, "result_token"),
        (|answer| answer["result"]["result_token"] = json!(""), "result_token"),
        (|answer| answer["result"]["result_token"] = json!(7), "result_token"),
        (|answer| answer["result"]["listings"] = json!({}), "listings"),
        (|answer| answer["result"]["listings"][0]["lat"] = json!("12.9"), "listings.0.lat"),
        (|answer| answer["result"]["listings"][0]["total_inr"] = json!(4256.5), "listings.0.total_inr"),
        (|answer| answer["result"]["listings"][0]["amenities"] = json!(["casino"]), "listings.0.amenities.0"),
        (|answer| answer["result"]["listings"][0]["country_code"] = json!("US"), "listings.0.country_code"),
    ];
    for (change, place) in cases {
        assert_eq!(searched(Mishap::Changed(change)).await, lie(&format!("{place} is missing or wrong")));
    }
    let late = searched(Mishap::Changed(|answer| answer["result"]["expires_at"] = json!("2020-01-01T00:00:00Z")));
    assert_eq!(late.await, lie("expires_at has passed"));
}

#[tokio::test]
async fn t_130_a_forbidden_field_cannot_be_smuggled_through_a_backend() {
    type Break = fn(&mut Value);
    let cases: [(Break, &str); 9] = [
        (|answer| answer["result"]["listings"][0]["adBid"] = json!(5), "/result/listings/0/adBid"),
        (|answer| answer["result"]["adBid"] = json!(null), "/result/adBid"),
        (|answer| answer["ad_bid"] = json!(5), "/ad_bid"),
        (|answer| answer["debug"] = json!([{"x": {"Sponsored-Rank": 1}}]), "/debug/0/x/Sponsored-Rank"),
        (|answer| answer["booking"] = json!({"paidPlacementScore": 0.9}), "/booking/paidPlacementScore"),
        (
            |answer| answer["result"]["listings"][0]["room_options"][0]["AD_BID"] = json!(1),
            "/result/listings/0/room_options/0/AD_BID",
        ),
        (|answer| answer["result"]["listings"][0]["name"] = json!("{\"ad_bid\":1}"), "/result/listings/0/name/ad_bid"),
        (
            |answer| answer["result"]["listings"][0]["name"] = json!(" \n[{\"boost\":1}]"),
            "/result/listings/0/name/0/boost",
        ),
        (|answer| *answer = json!({"error": {"code": "NOT_FOUND", "promoted": true}}), "/error/promoted"),
    ];
    for (change, place) in cases {
        assert_eq!(searched(Mishap::Changed(change)).await, lie(&format!("forbidden field {place}")));
    }
}

#[tokio::test]
async fn what_is_no_answer_of_the_protocol_is_refused() {
    let no_json = "the answer is no strict JSON";
    let cases = [
        (200, b"<html><body>Welcome</body></html>".to_vec(), no_json),
        (200, b"{\"result\":{\"listings\":[\xff\xfe]}}".to_vec(), no_json),
        (200, Vec::new(), no_json),
        (200, b"{\"result\":{},\"result\":{}}".to_vec(), no_json),
        (200, "[".repeat(100_000).into_bytes(), no_json),
        (200, b"[]".to_vec(), "neither a result nor an error"),
        (200, b"{\"result\":[]}".to_vec(), "neither a result nor an error"),
        (200, b"{\"result\":{},\"error\":{\"code\":\"NOT_FOUND\"}}".to_vec(), "neither a result nor an error"),
        (200, vec![b' '; 10 << 20], "answer too large"),
        (302, Vec::new(), "status 302"),
        (204, Vec::new(), "status 204"),
        (201, b"{\"result\":{}}".to_vec(), "status 201"),
        (401, b"{\"error\":{\"code\":\"NOT_FOUND\"}}".to_vec(), "status 401"),
        (404, Vec::new(), "status 404"),
    ];
    for (status, bytes, cause) in cases {
        assert_eq!(searched(Mishap::Bytes(status, bytes)).await, lie(cause), "{status}");
    }
    assert_eq!(searched(Mishap::Error(HttpError::TooLarge)).await, lie("answer too large"));
}

#[tokio::test]
async fn a_system_cannot_say_that_a_call_of_the_sandbox_was_meant() {
    let front = Front::new();
    let booking = front.booking("k-1").await;
    front.hotel.then(Mishap::Changed(|answer| answer["result"]["mode"] = json!("sandbox")));
    assert_eq!(front.code("create_booking", booking).await, "INTERNAL_ERROR");
    assert_eq!(front.bookings().await, 0);
}
