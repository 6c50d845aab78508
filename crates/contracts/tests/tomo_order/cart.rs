//! Carts: what they come to, and that their total is held.

use serde_json::{Value, json};

use super::data::KITCHENS;
use super::desk::DryRun;
use super::support::{LIVE, cart, here, open, order_of};

fn two_dosas() -> Value {
    json!([{"dish_id": "dsh_dosa", "quantity": 2}])
}

#[tokio::test]
async fn a_cart_has_its_lines_charges_tax_and_total() {
    let (desk, store) = open();
    let before = store.contents();
    let items = json!([
        {"dish_id": "dsh_dosa", "quantity": 2, "option_codes": ["GHEE", "LARGE"]},
        {"dish_id": "dsh_dosa", "quantity": 1},
        {"dish_id": "dsh_coffee", "quantity": 3, "option_codes": []},
    ]);
    let mut answer = desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", items)).await;
    let token = answer.as_object_mut().unwrap().remove("result_token").unwrap();
    assert!(token.as_str().unwrap().len() < 16_000);
    let line = |name: &str, quantity: i64, options: Value, price: i64, id: &str| {
        json!({"dish_id": id, "name": name, "diet": "veg", "quantity": quantity, "options": options,
            "unit_price_inr": price, "line_total_inr": price * quantity})
    };
    // 160 + 160 + 95 + 3 * 41 = 538; 548 with packaging; 27.40 of tax.
    assert_eq!(
        answer,
        json!({
            "restaurant_id": "rst_tiffin",
            "restaurant_name": "Anytime Tiffin",
            "lines": [
                line("Masala Dosa", 2, json!(["Extras GHEE", "Size LARGE"]), 160, "dsh_dosa"),
                line("Masala Dosa", 1, json!([]), 95, "dsh_dosa"),
                line("Filter Coffee", 3, json!([]), 41, "dsh_coffee"),
            ],
            "subtotal_inr": 538,
            "packaging_inr": 10,
            "delivery_fee_inr": 29,
            "tax_percent": 5,
            "tax_inr": 27,
            "total_inr": 604,
            "minimum_order_inr": 60,
            "distance_km": 0.1,
            "eta_minutes": 16,
            "expires_at": "2027-02-20T06:15:00Z",
        })
    );
    assert_eq!(store.contents(), before, "a cart takes nothing");
}

#[tokio::test]
async fn the_largest_cart_fits_into_its_token() {
    let (desk, _) = open();
    let options = json!(["GHEE", "CHEESE", "LARGE"]);
    let items: Vec<Value> =
        (0..20).map(|_| json!({"dish_id": "dsh_dosa", "quantity": 50, "option_codes": options})).collect();
    let answer = desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", json!(items))).await;
    assert_eq!(answer["subtotal_inr"], 20 * 50 * 195);
    let placed = desk.ok(LIVE, "place_order", order_of(&answer, "key-1")).await;
    assert_eq!(placed["total_inr"], answer["total_inr"]);
}

/// Everything becomes dearer.
async fn raise_prices(desk: &super::desk::PartnerDesk) {
    let dishes = "dish_code,restaurant_code,name,description,category,price_inr,diet\n\
        TIFFIN-1,TIFFIN,Masala Dosa,Freshly made.,Favourites,120,veg\n";
    desk.import(KITCHENS, "dishes", dishes, DryRun::No).await;
    let restaurants = "restaurant_code,name,city,area,address,pincode,latitude,longitude,cuisines,time_zone,\
        opening_hours,delivery_radius_km,preparation_minutes,fssai_number,delivery_fee_inr,packaging_fee_inr\n\
        TIFFIN,Anytime Tiffin,Bengaluru,Shivajinagar,3 Church Street,560001,12.9749,77.6062,south_indian,Asia/Kolkata,\
        \"[{\"\"weekday\"\":\"\"saturday\"\",\"\"opens\"\":\"\"00:00\"\",\"\"closes\"\":\"\"24:00\"\"}]\",8,15,\
        11215000000101,49,20\n";
    desk.import(KITCHENS, "restaurants", restaurants, DryRun::No).await;
}

#[tokio::test]
async fn t_056_the_total_of_a_cart_is_held_until_it_expires() {
    let (desk, store) = open();
    let held = desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", two_dosas())).await;
    assert_eq!(held["total_inr"], 239);
    raise_prices(&desk).await;
    // 240 + 20 = 260, 13 of tax, 49 for delivery.
    let dearer = desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", two_dosas())).await;
    assert_eq!(dearer["total_inr"], 322);
    desk.clock.advance(15 * 60_000 - 1);
    let placed = desk.ok(LIVE, "place_order", order_of(&held, "key-1")).await;
    assert_eq!((&placed["total_inr"], &placed["lines"][0]["unit_price_inr"]), (&json!(239), &json!(95)));
    desk.clock.advance(1);
    let before = store.contents();
    let error = desk.error(LIVE, "place_order", order_of(&held, "key-2")).await;
    assert_eq!(
        error,
        json!({"code": -32602, "message": "This result_token has expired. Search again and book from there.",
            "data": {"tomo_error_code": "RESULT_EXPIRED"}})
    );
    assert_eq!(store.contents(), before);
    // The key of the order that was placed still answers with it.
    assert_eq!(desk.ok(LIVE, "place_order", order_of(&held, "key-1")).await["booking_ref"], placed["booking_ref"]);
}

#[tokio::test]
async fn t_056_a_search_holds_the_prices_of_its_dishes() {
    let (desk, _) = open();
    let found =
        desk.ok(LIVE, "search_restaurants_and_dishes", json!({"location": here(), "query": "masala dosa"})).await;
    raise_prices(&desk).await;
    let mut wanted = cart("rst_tiffin", two_dosas());
    wanted["result_token"] = found["result_token"].clone();
    let held = desk.ok(LIVE, "compute_cart_total", wanted.clone()).await;
    // Dishes and delivery as the search has shown them; packaging was not shown there.
    assert_eq!(
        (&held["subtotal_inr"], &held["delivery_fee_inr"], &held["packaging_inr"]),
        (&json!(190), &json!(29), &json!(20))
    );
    desk.clock.advance(15 * 60_000);
    assert_eq!(desk.code(LIVE, "compute_cart_total", wanted).await, "RESULT_EXPIRED", "never another price");
}

#[tokio::test]
async fn the_token_of_a_search_places_no_order() {
    let (desk, _) = open();
    let found = desk.ok(LIVE, "search_restaurants_and_dishes", json!({"location": here()})).await;
    let error = desk.error(LIVE, "place_order", order_of(&found, "key-1")).await;
    assert_eq!(
        error["message"],
        "This result_token is not of a cart. Call compute_cart_total and send its result_token."
    );
    assert_eq!(error["data"], json!({"tomo_error_code": "RESULT_EXPIRED"}));
}
