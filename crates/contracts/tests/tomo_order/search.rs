//! Searches, menus and dishes.

use serde_json::{Value, json};

use super::support::{LIVE, here, open, ordered_dish};

const SEARCH: &str = "search_restaurants_and_dishes";

/// The ids of what was found: a restaurant, then its dishes, and so on.
fn ids(answer: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    for one in answer["results"].as_array().unwrap() {
        ids.push(one["restaurant_id"].as_str().unwrap().to_owned());
        ids.extend(one["dishes"].as_array().unwrap().iter().map(|dish| dish["dish_id"].as_str().unwrap().to_owned()));
    }
    ids
}

#[tokio::test]
async fn t_105_a_search_finds_who_delivers_and_changes_nothing() {
    let (desk, store) = open();
    let before = store.contents();
    let found = desk.ok(LIVE, SEARCH, json!({"location": here(), "query": "DOSA, masala!"})).await;
    assert_eq!(ids(&found), ["rst_tiffin", "dsh_dosa"], "not in another city, not withdrawn, not without the facts");
    let one = &found["results"][0];
    assert_eq!(
        *one,
        json!({
            "restaurant_id": "rst_tiffin", "name": "Anytime Tiffin", "area": "Shivajinagar", "city": "Bengaluru",
            "cuisines": ["south_indian", "beverages"], "rating": 4.3, "veg_only": true, "is_open": true,
            "delivery_fee_inr": 29, "minimum_order_inr": 60, "distance_km": 0.1, "eta_minutes": 16,
            "dishes": [{
                "dish_id": "dsh_dosa", "name": "Masala Dosa", "category": "Favourites", "price_inr": 95, "diet": "veg",
                "spice_level": "mild",
                "options": [
                    {"code": "GHEE", "group": "Extras", "name": "Extras GHEE", "price_inr": 20, "choose": "any"},
                    {"code": "CHEESE", "group": "Extras", "name": "Extras CHEESE", "price_inr": 35, "choose": "any"},
                    {"code": "SMALL", "group": "Size", "name": "Size SMALL", "price_inr": 0, "choose": "one"},
                    {"code": "LARGE", "group": "Size", "name": "Size LARGE", "price_inr": 45, "choose": "one"},
                ],
            }],
        })
    );
    assert_eq!(found["expires_at"], "2027-02-20T06:15:00Z");
    let again = desk.ok(LIVE, SEARCH, json!({"location": here(), "query": "DOSA, masala!"})).await;
    assert_eq!(again["results"], found["results"]);
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn places_are_cities_pincodes_or_points() {
    let (desk, _) = open();
    let found =
        async |location: Value| ids(&desk.ok(LIVE, SEARCH, json!({"location": location, "query": "dosa"})).await);
    assert_eq!(found(json!({"city": "bangalore"})).await, ["rst_tiffin", "dsh_dosa"]);
    assert_eq!(found(json!({"city": "Hyderabad"})).await, ["rst_far", "dsh_far_dosa"]);
    assert_eq!(found(json!({"pincode": "500034"})).await, ["rst_far", "dsh_far_dosa"]);
    assert_eq!(found(json!({"lat": 17.41, "lng": 78.43})).await, ["rst_far", "dsh_far_dosa"]);
    // 8 km from the restaurant, and a little more; the city does not matter where there is a point.
    assert_eq!(found(json!({"city": "Bengaluru", "lat": 12.9030, "lng": 77.6062})).await, ["rst_tiffin", "dsh_dosa"]);
    assert_eq!(found(json!({"city": "Bengaluru", "lat": 12.9029, "lng": 77.6062})).await, [""; 0]);
    let city = desk.ok(LIVE, SEARCH, json!({"location": {"city": "Bengaluru"}, "query": "dosa"})).await;
    let one = &city["results"][0];
    assert_eq!((&one["distance_km"], &one["eta_minutes"]), (&json!(8.0), &json!(39)), "as far as it can be");
}

#[tokio::test]
async fn words_find_dishes_restaurants_and_cuisines() {
    let (desk, _) = open();
    let found = async |query: &str| {
        let arguments = json!({"location": {"city": "Bengaluru"}, "query": query});
        ids(&desk.ok(LIVE, SEARCH, arguments).await)
    };
    assert_eq!(found("paneer").await, ["rst_grill", "dsh_paneer"]);
    assert_eq!(found("late grill").await, ["rst_grill", "dsh_kebab", "dsh_paneer"]);
    assert_eq!(found("beverages").await[..3], ["rst_tiffin", "dsh_dosa", "dsh_coffee"]);
    assert_eq!(found("paneer dosa").await, [""; 0], "every word must occur");
    assert_eq!(found("kesari").await, [""; 0], "sold out");
}

#[tokio::test]
async fn filters_and_orders() {
    let (desk, _) = open();
    let found = async |filters: Value, sort_by: &str| {
        let arguments = json!({"location": {"city": "Bengaluru"}, "filters": filters, "sort_by": sort_by});
        ids(&desk.ok(LIVE, SEARCH, arguments).await)
    };
    let restaurants =
        |ids: Vec<String>| -> Vec<String> { ids.into_iter().filter(|id| id.starts_with("rst")).collect() };
    assert_eq!(found(json!({"cuisines": ["north_indian"]}), "rating").await, ["rst_grill", "dsh_kebab", "dsh_paneer"]);
    assert_eq!(
        found(json!({"veg_only": true, "cuisines": ["north_indian"]}), "rating").await,
        ["rst_grill", "dsh_paneer"]
    );
    assert_eq!(found(json!({"max_price_inr": 41}), "rating").await, ["rst_tiffin", "dsh_coffee"]);
    assert_eq!(restaurants(found(json!({"open_now": true}), "rating").await), ["rst_tiffin"]);
    // The grill is closed at noon: open ones come first. In the evening the wanted order decides.
    assert_eq!(restaurants(found(json!({}), "rating").await), ["rst_tiffin", "rst_grill"]);
    desk.clock.advance(8 * 3_600_000);
    for sort_by in ["rating", "delivery_time", "delivery_fee"] {
        assert_eq!(restaurants(found(json!({}), sort_by).await), ["rst_grill", "rst_tiffin"], "{sort_by}");
    }
    let near_the_tiffin = json!({"location": here(), "sort_by": "distance"});
    let by_distance = ids(&desk.ok(LIVE, SEARCH, near_the_tiffin).await);
    assert_eq!(restaurants(by_distance), ["rst_tiffin", "rst_grill"]);
}

#[tokio::test]
async fn hours_past_midnight_belong_to_the_next_day() {
    let (desk, _) = open();
    let is_open = async || {
        let answer = desk.ok(LIVE, "get_restaurant_menu", json!({"restaurant_id": "rst_grill"})).await;
        answer["is_open"].as_bool().unwrap()
    };
    assert!(!is_open().await, "Saturday 11:30");
    for (hours, expected) in [(8, true), (5, true), (1, true), (1, false)] {
        desk.clock.advance(hours * 3_600_000);
        assert_eq!(is_open().await, expected, "19:30, 00:30, 01:30 and 02:30");
    }
    let (desk, _) = open();
    // 2027-03-04 is a day on which the tiffin room is closed.
    desk.clock.advance(12 * 24 * 3_600_000);
    let answer = desk.ok(LIVE, "get_restaurant_menu", json!({"restaurant_id": "rst_tiffin"})).await;
    assert_eq!(answer["is_open"], false);
}

#[tokio::test]
async fn a_menu_shows_also_what_is_sold_out() {
    let (desk, _) = open();
    let menu = desk.ok(LIVE, "get_restaurant_menu", json!({"restaurant_id": "rst_tiffin"})).await;
    let available = |menu: &Value| -> Vec<(String, bool)> {
        let dishes = menu["sections"][0]["dishes"].as_array().unwrap().clone();
        let of = |dish: &Value| (dish["dish_id"].as_str().unwrap().to_owned(), dish["available"].as_bool().unwrap());
        dishes.iter().map(of).collect()
    };
    let listed = |last: bool| {
        [("dsh_dosa", true), ("dsh_coffee", true), ("dsh_last", last), ("dsh_few", true), ("dsh_sold_out", false)]
            .map(|(id, available)| (id.to_owned(), available))
    };
    assert_eq!(available(&menu), listed(true));
    assert_eq!(menu["sections"].as_array().unwrap().len(), 1);
    assert_eq!(menu["cancellation"], json!({"placed_refund_percent": 100, "accepted_refund_percent": 50}));
    ordered_dish(&desk, LIVE, "dsh_last", 1, "key-1").await;
    let menu = desk.ok(LIVE, "get_restaurant_menu", json!({"restaurant_id": "rst_tiffin"})).await;
    assert_eq!(available(&menu), listed(false));
    let dish = desk.ok(LIVE, "get_dish_detail", json!({"dish_id": "dsh_last"})).await;
    assert_eq!((&dish["available"], &dish["restaurant_name"]), (&json!(false), &json!("Anytime Tiffin")));
    // Tomorrow there is one again.
    desk.clock.advance(24 * 3_600_000);
    let dish = desk.ok(LIVE, "get_dish_detail", json!({"dish_id": "dsh_last"})).await;
    assert_eq!(dish["available"], true);
}
