//! What is listed as known is what the tools answer with.

use std::collections::{BTreeSet, HashMap};

use frontdesk_contracts::partner::{IntentText, PartnerSettings, PartnerSource};
use serde_json::{Value, json};

use super::data::seeds;
use super::desk::{PartnerDesk, contract_of, settings};
use super::fact_lists::{answered, listed, with_every_fact};
use super::support::{INTENT, LIVE, cart, here, intent, move_order, order_of, with_mover};

#[tokio::test]
async fn every_listed_fact_is_answered() {
    let intents = vec![IntentText { name: "own.json".to_owned(), text: with_every_fact(INTENT, PartnerSource::Own) }];
    let every_fact = PartnerSettings { intents, ..settings(INTENT, PartnerSource::Own) };
    let (desk, _) = PartnerDesk::in_memory(with_mover(contract_of(&every_fact)), seeds());
    let mut found: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut note = |tool: &str, answer: &Value| {
        found.entry(tool.to_owned()).or_default().extend(answered(answer));
    };
    let search = desk.ok(LIVE, "search_restaurants_and_dishes", json!({"location": here()})).await;
    note("search_restaurants_and_dishes", &search);
    note("get_restaurant_menu", &desk.ok(LIVE, "get_restaurant_menu", json!({"restaurant_id": "rst_tiffin"})).await);
    for id in ["dsh_dosa", "dsh_few"] {
        note("get_dish_detail", &desk.ok(LIVE, "get_dish_detail", json!({"dish_id": id})).await);
    }
    let items = json!([{"dish_id": "dsh_dosa", "quantity": 2, "option_codes": ["GHEE"]}]);
    let total = desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", items)).await;
    note("compute_cart_total", &total);
    let placed = desk.ok(LIVE, "place_order", order_of(&total, "key-1")).await;
    note("place_order", &placed);
    let details = json!({"courier_name": "Ravi", "location": {"lat": 12.97, "lng": 77.6}});
    move_order(&desk, &placed, "accepted", details).await.unwrap();
    let reference = json!({"booking_ref": placed["booking_ref"]});
    note("track_order", &desk.ok(LIVE, "track_order", reference.clone()).await);
    note("cancel_order", &desk.ok(LIVE, "cancel_order", reference).await);
    for tool in intent().tools {
        let known = intent().shape.facts(PartnerSource::Own, &tool.name);
        assert_eq!(found[&tool.name], listed(known), "{}", tool.name);
    }
}
