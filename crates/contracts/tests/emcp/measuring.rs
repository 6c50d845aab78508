//! The bench's bare server must ask what the tools ask, neither less nor more; otherwise its figures mean nothing.

use std::sync::{Arc, Mutex};

use frontdesk_engine::ports::site_db::Select;
use serde_json::{Value, json};

use crate::asked;
use crate::support::House;

async fn asked_by(tool: &str, arguments: Value) -> Vec<Select> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listening = Arc::clone(&heard);
    let house = House::on_sqlite_heard_by(move |select| listening.lock().unwrap().push(select.clone())).await;
    house.ask(tool, arguments).await;
    let heard = heard.lock().unwrap();
    heard.clone()
}

#[tokio::test]
async fn a_page_with_two_variables_is_queried_as_in_the_bench() {
    let asked = asked_by("evo.content.get", json!({"id": 12, "with_tvs": ["price", "sku"]})).await;
    assert_eq!(asked, [asked::variables(&["price", "sku"]), asked::page(12, &[1, 3])]);
}

#[tokio::test]
async fn a_search_with_two_variables_is_queried_as_in_the_bench() {
    let arguments = json!({
        "tv_filters": [{"tv": "color", "op": "=", "value": "red"}],
        "with_tvs": ["price", "color"],
        "limit": 25,
        "offset": 5,
    });
    let asked = asked_by("evo.content.search", arguments).await;
    assert_eq!(asked, [asked::variables(&["price", "color", "color"]), asked::found(&[1, 4], "red", 25, 5)]);
}

#[tokio::test]
async fn the_tree_is_walked_as_the_bench_does() {
    let down = asked_by("evo.content.descendants", json!({"id": 2, "depth": 6, "limit": 100, "offset": 50})).await;
    assert_eq!(down, [asked::below(2, 6, 100, 50)]);
    let up = asked_by("evo.content.ancestors", json!({"id": 240, "limit": 100})).await;
    assert_eq!(up, [asked::above(240, 100)]);
}
