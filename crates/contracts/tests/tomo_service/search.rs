//! Who is found, with which slots and at which price.

use frontdesk_contracts::record::Integer;
use frontdesk_contracts::tomo::LIVE;
use frontdesk_contracts::tomo::service::provider::Provider;
use serde_json::{Value, json};

use super::data::{ABROAD, DEALERSHIP, WORKSHOP, insert, provider};
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

#[tokio::test]
async fn near_providers_come_first_then_the_best_rated() {
    let (desk, _) = ServiceDesk::open();
    let mut wish = general_service("Bengaluru", "2027-03-01");
    wish["location"]["pincode"] = json!("560038");
    let ids = |found: &Value| -> Vec<String> {
        let providers = found["providers"].as_array().unwrap().iter();
        providers.map(|one| one["provider_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&desk.ok(OWN_LIVE, "search_providers", wish).await), ["prv_indiranagar", "prv_koramangala"]);
    // One of them is closed on this day; in other cities there are others, or none.
    let closed = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-02")).await;
    assert_eq!(ids(&closed), ["prv_koramangala"]);
    let elsewhere = desk.ok(OWN_LIVE, "search_providers", general_service("Hyderabad", "2027-03-02")).await;
    assert_eq!(ids(&elsewhere), ["prv_hyderabad"]);
    let nowhere = desk.ok(OWN_LIVE, "search_providers", general_service("Chennai", "2027-03-02")).await;
    assert_eq!(ids(&nowhere), [""; 0]);
    assert_eq!(nowhere["expires_at"], "2027-02-20T06:15:00Z");
    let sunday = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-07")).await;
    assert_eq!(ids(&sunday), [""; 0]);
}

#[tokio::test]
async fn several_services_take_and_cost_as_much_as_all_of_them() {
    let (desk, _) = ServiceDesk::open();
    for (partner, minutes, price) in [(OWN_LIVE, 165, 4798), (DEALERSHIP_LIVE, 150, 4798)] {
        let mut wish = general_service("Bengaluru", "2027-03-01");
        wish["service"]["codes"] = json!(["GENERAL_SERVICE", "OIL_CHANGE", "OIL_CHANGE"]);
        let found = desk.ok(partner, "search_providers", wish).await;
        let one = &found["providers"][0];
        assert_eq!((&one["duration_minutes"], &one["price_inr"]), (&json!(minutes), &json!(price)));
        assert_eq!(one["service_codes"], json!(["GENERAL_SERVICE", "OIL_CHANGE"]));
        assert_eq!(found["providers"].as_array().unwrap().len(), 1, "who does only one of them is not offered");
    }
}

#[tokio::test]
async fn t_052_a_provider_is_shown_with_hours_services_and_terms() {
    let (desk, _) = ServiceDesk::open();
    let hours: Vec<Value> = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
        .map(|weekday| json!({"weekday": weekday, "opens": "09:00", "closes": "18:00"}))
        .to_vec();
    let own = desk.ok(OWN_LIVE, "get_provider_detail", json!({"provider_id": "prv_koramangala"})).await;
    // The intent has no word for a ceramic coating.
    let expected = json!({
        "provider_id": "prv_koramangala", "name": "Koramangala Car Care", "city": "Bengaluru",
        "address": "80 Feet Road 12", "time_zone": "Asia/Kolkata", "opening_hours": hours,
        "services": [
            {"code": "GENERAL_SERVICE", "name": "General service", "duration_minutes": 120, "price_inr": 3499},
            {"code": "OIL_CHANGE", "name": "Oil and filter", "duration_minutes": 45, "price_inr": 1299},
        ],
        "cancellation": {"free_cancel_hours": 24, "late_refund_percent": 50},
    });
    assert_eq!(own, expected);
    let workshop = desk.ok(DEALERSHIP_LIVE, "get_provider_detail", json!({"provider_id": "wsp_main"})).await;
    let expected = json!({
        "provider_id": "wsp_main", "name": "Lakeside Motors Bengaluru Service", "city": "Bengaluru",
        "address": "Lakeside Motors Bengaluru Service, Bengaluru", "time_zone": "Asia/Kolkata",
        "opening_hours": hours,
        "services": [
            {"code": "GENERAL_SERVICE", "name": "General service", "duration_minutes": 120, "price_inr": 3499},
            {"code": "OIL_CHANGE", "name": "Oil change", "duration_minutes": 30, "price_inr": 1299},
            {"code": "WHEEL_ALIGNMENT", "name": "Wheel alignment", "duration_minutes": 60, "price_inr": 900},
        ],
        "cancellation": {"free_cancel_hours": 0, "late_refund_percent": 100},
    });
    assert_eq!(workshop, expected);
    for id in ["prv_withdrawn", "prv_unknown", "wsp_main"] {
        assert_eq!(desk.code(OWN_LIVE, "get_provider_detail", json!({"provider_id": id})).await, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_dealership_without_prices_in_rupees_is_not_offered() {
    let (desk, _) = ServiceDesk::open();
    let abroad = (ABROAD, LIVE);
    let found = desk.ok(abroad, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    assert_eq!(found["providers"], json!([]));
    assert_eq!(desk.code(abroad, "get_provider_detail", json!({"provider_id": WORKSHOP})).await, "NOT_FOUND");
    let slots = json!({"provider_id": WORKSHOP, "service": {"codes": ["GENERAL_SERVICE"]}});
    assert_eq!(desk.code(abroad, "get_available_slots", slots).await, "NOT_FOUND");
}

#[tokio::test]
async fn a_provider_with_the_workshops_code_says_where_it_is() {
    let (desk, store) = ServiceDesk::open();
    let profile = Provider {
        address: "Lakeside Road 1".into(),
        free_cancel_hours: Integer::clamped(12),
        late_refund_percent: Integer::clamped(25),
        ..provider("MAIN", "Mysuru", "Asia/Kolkata")
    };
    store.seed(DEALERSHIP, vec![insert(DEALERSHIP, "prv_main", profile)]);
    let found = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Mysore", "2027-03-01")).await;
    assert_eq!(found["providers"][0]["address"], "Lakeside Road 1");
    assert_eq!(found["providers"][0]["name"], "Lakeside Motors Bengaluru Service");
    let detail = desk.ok(DEALERSHIP_LIVE, "get_provider_detail", json!({"provider_id": WORKSHOP})).await;
    assert_eq!(detail["cancellation"], json!({"free_cancel_hours": 12, "late_refund_percent": 25}));
    let elsewhere = desk.ok(DEALERSHIP_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    assert_eq!(elsewhere["providers"], json!([]));
}

#[tokio::test]
async fn t_072_a_wrong_argument_is_named_by_its_path() {
    let (desk, _) = ServiceDesk::open();
    let past = general_service("Bengaluru", "2027-02-19");
    let error = desk.call(OWN_LIVE, "search_providers", past).await.unwrap_err();
    let data = json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "preferred_date"});
    assert_eq!((&error["code"], &error["data"]), (&json!(-32602), &data));
    let mut wish = general_service("Bengaluru", "2027-03-01");
    wish["service"]["codes"] = json!(["COATING"]);
    let error = desk.call(OWN_LIVE, "search_providers", wish).await.unwrap_err();
    let data = json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "service.codes.0"});
    assert_eq!(error["data"], data);
}
