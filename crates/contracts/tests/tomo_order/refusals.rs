//! Every way in which a call of this shape is refused, with its literal answer. Nothing is stored by any of them.

use frontdesk_contracts::calendar::Weekday;
use frontdesk_contracts::record::{Entity, List, Stored};
use frontdesk_contracts::tomo::order::dish::Dish;
use frontdesk_contracts::tomo::order::restaurant::Restaurant;
use frontdesk_engine::TenantId;
use frontdesk_engine::model::table::StoredRow;
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::data::{KITCHENS, NOW, hours};
use super::desk::PartnerDesk;
use super::support::{LIVE, cart, here, move_order, open, order_of, ordered};

fn domain(code: &str, message: &str) -> Value {
    json!({"code": -32602, "message": message, "data": {"tomo_error_code": code}})
}

fn invalid(field: &str, reason: &str) -> Value {
    json!({"code": -32602, "message": format!("Invalid params: {field}: {reason}"),
        "data": {"tomo_error_code": "INVALID_REQUEST", "tomo_field": field}})
}

/// Changes a stored record, as an import would.
fn change<R: Stored>(store: &MemoryStore, id: &str, change: impl FnOnce(&mut R)) {
    let row = store.row(KITCHENS, R::table(), id).unwrap();
    let (body, personal, secret) = (row.body, row.personal, row.secret);
    let row = StoredRow { id: row.id, version: row.version, created_at: NOW.0, body, masked: None, personal, secret };
    let mut entity: Entity<R> = Entity::restore(&TenantId::parse(KITCHENS).unwrap(), &row).unwrap();
    change(&mut entity.record);
    entity.version += 1;
    store.put(KITCHENS, R::table(), entity.row("tenant"));
}

async fn refused(desk: &PartnerDesk, store: &MemoryStore, tool: &str, arguments: Value, expected: Value) {
    let before = store.contents();
    assert_eq!(desk.error(LIVE, tool, arguments).await, expected);
    assert_eq!(store.contents(), before);
}

fn items(dish_id: &str, quantity: i64, option_codes: Value) -> Value {
    json!([{"dish_id": dish_id, "quantity": quantity, "option_codes": option_codes}])
}

#[tokio::test]
async fn carts_that_cannot_be_ordered_are_refused() {
    let (desk, store) = open();
    let sold_out = |name: &str| {
        let message = format!("{name} cannot be had in this quantity today. Choose less or something else.");
        domain("NOT_AVAILABLE", &message)
    };
    let unknown_dish = || domain("NOT_FOUND", "No dish with this dish_id is on the menu of this restaurant.");
    for (arguments, expected) in [
        (
            cart("rst_tiffin", items("dsh_coffee", 1, json!([]))),
            domain("MIN_ORDER_NOT_MET", "This restaurant asks for dishes of at least 60 rupees. Add something."),
        ),
        (
            cart("rst_grill", items("dsh_kebab", 1, json!([]))),
            domain("RESTAURANT_CLOSED", "This restaurant takes no orders now. Try again when it is open."),
        ),
        (
            cart("rst_far", items("dsh_far_dosa", 1, json!([]))),
            domain("OUT_OF_DELIVERY_AREA", "This restaurant does not deliver there."),
        ),
        (cart("rst_tiffin", items("dsh_sold_out", 1, json!([]))), sold_out("Rava Kesari")),
        (cart("rst_tiffin", items("dsh_last", 2, json!([]))), sold_out("Last Payasam")),
        (cart("rst_tiffin", items("dsh_off_menu", 1, json!([]))), unknown_dish()),
        (cart("rst_tiffin", items("dsh_kebab", 1, json!([]))), unknown_dish()),
        (cart("rst_tiffin", items("dsh_nothing", 1, json!([]))), unknown_dish()),
        (
            cart("rst_gone", items("dsh_gone_dosa", 1, json!([]))),
            domain("NOT_FOUND", "No restaurant with this restaurant_id takes orders here."),
        ),
        (
            cart("rst_tiffin", items("dsh_dosa", 1, json!(["GHEE", "TRUFFLE"]))),
            invalid("items.0.option_codes.1", "the dish has no option with this code."),
        ),
        (
            cart("rst_tiffin", items("dsh_dosa", 1, json!(["SMALL", "LARGE"]))),
            invalid("items.0.option_codes.1", "only one option of its group can be chosen."),
        ),
    ] {
        refused(&desk, &store, "compute_cart_total", arguments, expected).await;
    }
}

#[tokio::test]
async fn places_that_say_nothing_are_refused() {
    let (desk, store) = open();
    for (location, expected) in [
        (json!({}), invalid("location", "a city, a pincode, or lat and lng are expected.")),
        (json!({"city": "Bengaluru", "lat": 12.9}), invalid("location.lng", "lat needs lng beside it.")),
        (json!({"city": "Bengaluru", "lng": 77.6}), invalid("location.lat", "lng needs lat beside it.")),
    ] {
        let search = json!({"location": location});
        refused(&desk, &store, "search_restaurants_and_dishes", search, expected.clone()).await;
        let mut wanted = cart("rst_tiffin", items("dsh_dosa", 1, json!([])));
        wanted["location"] = location;
        refused(&desk, &store, "compute_cart_total", wanted, expected).await;
    }
    let no_words = json!({"location": here(), "query": "?!"});
    let expected = invalid("query", "at least one letter or digit is expected.");
    refused(&desk, &store, "search_restaurants_and_dishes", no_words, expected).await;
}

#[tokio::test]
async fn orders_that_can_no_longer_be_delivered_are_refused() {
    let gone = || domain("NOT_AVAILABLE", "Something in this cart is no longer offered. Search again.");
    let sold_out =
        domain("NOT_AVAILABLE", "Masala Dosa cannot be had in this quantity today. Choose less or something else.");
    let closed = domain("RESTAURANT_CLOSED", "This restaurant takes no orders now. Try again when it is open.");
    type Meanwhile = fn(&MemoryStore);
    let cases: [(Meanwhile, Value); 6] = [
        (|store| change(store, "dsh_dosa", |dish: &mut Dish| dish.status = status("withdrawn")), gone()),
        (|store| change(store, "dsh_dosa", |dish: &mut Dish| dish.status = status("sold_out")), sold_out),
        (|store| change(store, "dsh_dosa", |dish: &mut Dish| dish.options = List::default()), gone()),
        (|store| change(store, "dsh_dosa", |dish: &mut Dish| dish.restaurant_code = "GRILL".into()), gone()),
        (|store| change(store, "rst_tiffin", |it: &mut Restaurant| it.status = status("withdrawn")), gone()),
        (
            |store| {
                let sunday = || List(vec![hours(Weekday::Sunday, "10:00", "11:00")]);
                change(store, "rst_tiffin", |it: &mut Restaurant| it.opening_hours = sunday());
            },
            closed,
        ),
    ];
    for (meanwhile, expected) in cases {
        let (desk, store) = open();
        let total =
            desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", items("dsh_dosa", 2, json!(["GHEE"])))).await;
        meanwhile(&store);
        refused(&desk, &store, "place_order", order_of(&total, "key-1"), expected).await;
    }
}

fn status<V: frontdesk_contracts::record::Vocabulary>(word: &str) -> V {
    V::parse(word).unwrap()
}

#[tokio::test]
async fn an_address_out_of_reach_is_refused() {
    let (desk, store) = open();
    let total = desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", items("dsh_dosa", 2, json!([])))).await;
    let too_far = || domain("OUT_OF_DELIVERY_AREA", "This restaurant does not deliver there.");
    let mut order = order_of(&total, "key-1");
    order["delivery_address"]["lat"] = json!(12.8);
    refused(&desk, &store, "place_order", order.clone(), too_far()).await;
    order["delivery_address"] = json!({"line1": "1 Tank Bund", "city": "Hyderabad", "pincode": "500001"});
    refused(&desk, &store, "place_order", order.clone(), too_far()).await;
    order["delivery_address"]["city"] = json!("Bangalore");
    desk.ok(LIVE, "place_order", order).await;
}

#[tokio::test]
async fn what_is_unknown_or_has_ended_is_refused() {
    let (desk, store) = open();
    let unknown = || domain("NOT_FOUND", "No booking with this booking_ref exists here.");
    for tool in ["track_order", "cancel_order"] {
        refused(&desk, &store, tool, json!({"booking_ref": "bkg_nothing"}), unknown()).await;
    }
    let missing = domain("NOT_FOUND", "No dish with this dish_id is on a menu here.");
    for id in ["dsh_off_menu", "dsh_gone_dosa", "dsh_nothing"] {
        refused(&desk, &store, "get_dish_detail", json!({"dish_id": id}), missing.clone()).await;
    }
    let placed = ordered(&desk, LIVE, "key-1").await;
    let reference = json!({"booking_ref": placed["booking_ref"]});
    move_order(&desk, &placed, "picked_up", json!({})).await.unwrap();
    let on_its_way = domain("BOOKING_CLOSED", "This order is on its way, so it can no longer be cancelled.");
    refused(&desk, &store, "cancel_order", reference.clone(), on_its_way).await;
    move_order(&desk, &placed, "delivered", json!({})).await.unwrap();
    let ended = domain("BOOKING_CLOSED", "This order has ended: it is delivered.");
    refused(&desk, &store, "cancel_order", reference, ended).await;
}

/// An intent file may allow more; what an order can hold stays the same.
#[tokio::test]
async fn numbers_out_of_bounds_are_refused_whatever_the_file_says() {
    use frontdesk_contracts::partner::{IntentText, PartnerSettings, PartnerSource};
    use frontdesk_contracts::tomo::intent::built_in;
    let mut file: Value = serde_json::from_str(built_in(super::support::INTENT).unwrap()).unwrap();
    let item = &mut file["definitions"]["item"]["properties"];
    item["quantity"] = json!({"type": "integer"});
    item["option_codes"]["maxItems"] = json!(100);
    file["tools"][3]["input"]["properties"]["items"]["maxItems"] = json!(100);
    let intents = vec![IntentText { name: "own.json".to_owned(), text: file.to_string() }];
    let wide = PartnerSettings { intents, ..super::desk::settings(super::support::INTENT, PartnerSource::Own) };
    let (desk, store) = PartnerDesk::in_memory(super::desk::contract_of(&wide), super::data::seeds());
    let range = "a number from 1 to 50 is expected.";
    for quantity in [0, -1, 51, -9_007_199_254_740_991] {
        let arguments = cart("rst_tiffin", items("dsh_dosa", quantity, json!([])));
        refused(&desk, &store, "compute_cart_total", arguments, invalid("items.0.quantity", range)).await;
    }
    let codes: Vec<String> = (0..6).map(|number| format!("C{number}")).collect();
    let arguments = cart("rst_tiffin", items("dsh_dosa", 1, json!(codes)));
    let expected = invalid("items.0.option_codes", "at most 5 options are expected.");
    refused(&desk, &store, "compute_cart_total", arguments, expected).await;
    let many: Vec<Value> = (0..21).map(|_| json!({"dish_id": "dsh_dosa", "quantity": 1})).collect();
    let expected = invalid("items", "between 1 and 20 items are expected.");
    refused(&desk, &store, "compute_cart_total", cart("rst_tiffin", json!(many)), expected).await;
}
