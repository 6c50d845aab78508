//! Who is found, with which slots and at which price.

use serde_json::{Value, json};

use super::support::{DEALERSHIP_LIVE, OWN_LIVE, ServiceDesk, general_service};

/// The answer with a token that a test can write down.
fn without_token(mut answer: Value) -> Value {
    assert!(answer["result_token"].as_str().unwrap().len() > 40, "{answer}");
    answer["result_token"] = json!("token");
    answer
}

#[tokio::test]
async fn t_039_t_052_t_055_a_search_answers_with_providers_and_slots() {
    let (desk, _) = ServiceDesk::open();
    let found = desk.ok(OWN_LIVE, "search_providers", general_service("Bangalore", "2027-03-01")).await;
    let slot = |hour: &str, until: &str, id: &str, left: i64| {
        json!({"slot_id": id, "starts_at": format!("2027-03-01T{hour}:00+05:30"),
            "ends_at": format!("2027-03-01T{until}:00+05:30"), "places_left": left})
    };
    let mut found = without_token(found);
    let slots: Vec<Value> =
        found["providers"].as_array_mut().unwrap().iter_mut().map(|one| one["slots"].take()).collect();
    assert_eq!(slots[0].as_array().unwrap().len(), 10);
    assert_eq!(slots[0][0], slot("09:00", "11:00", "20270301T033000Z", 2));
    assert_eq!(slots[0][9], slot("13:30", "15:30", "20270301T080000Z", 2));
    assert_eq!(slots[1][1], slot("09:30", "11:00", "20270301T040000Z", 1));
    let expected = json!({
        "providers": [
            {"provider_id": "prv_koramangala", "name": "Koramangala Car Care", "city": "Bengaluru",
                "address": "80 Feet Road 12", "time_zone": "Asia/Kolkata", "service_codes": ["GENERAL_SERVICE"],
                "duration_minutes": 120, "price_inr": 3499, "slots": null},
            {"provider_id": "prv_indiranagar", "name": "Indiranagar Auto", "city": "bangalore",
                "address": "80 Feet Road 12", "time_zone": "Asia/Kolkata", "service_codes": ["GENERAL_SERVICE"],
                "duration_minutes": 90, "price_inr": 2999, "slots": null},
        ],
        "result_token": "token",
        "expires_at": "2027-02-20T06:15:00Z",
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_dealership_offers_its_workshop() {
    let (desk, _) = ServiceDesk::open();
    let found = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    let mut found = without_token(found);
    let slots = found["providers"][0]["slots"].take();
    assert_eq!(
        slots[0],
        json!({"slot_id": "20270301T033000Z", "starts_at": "2027-03-01T09:00:00+05:30",
            "ends_at": "2027-03-01T11:00:00+05:30", "places_left": 2})
    );
    let expected = json!({
        "providers": [{"provider_id": "wsp_main", "name": "Lakeside Motors Bengaluru Service", "city": "Bengaluru",
            "address": "Lakeside Motors Bengaluru Service, Bengaluru", "time_zone": "Asia/Kolkata",
            "service_codes": ["GENERAL_SERVICE"], "duration_minutes": 120, "price_inr": 3499, "slots": null}],
        "result_token": "token",
        "expires_at": "2027-02-20T06:15:00Z",
    });
    assert_eq!(found, expected);
}
