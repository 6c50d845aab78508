//! The reference server of the bench must send exactly the queries of the tools; otherwise its figures are meaningless.

use std::sync::{Arc, Mutex};

use frontdesk_engine::ports::site_db::Select;
use serde_json::{Value, json};

use crate::support::TestDesk;
use frontdesk_testkit::sites::emcp_queries as expected_queries;

async fn queries_of(tool: &str, arguments: Value) -> Vec<Select> {
    let queries = Arc::new(Mutex::new(Vec::new()));
    let recording = Arc::clone(&queries);
    let desk = TestDesk::on_sqlite_recording(move |select| recording.lock().unwrap().push(select.clone())).await;
    desk.call_ok(tool, arguments).await;
    let queries = queries.lock().unwrap();
    queries.clone()
}

#[tokio::test]
async fn a_page_with_two_variables_is_queried_as_in_the_bench() {
    let asked = queries_of("evo.content.get", json!({"id": 12, "with_tvs": ["price", "sku"]})).await;
    assert_eq!(asked, [expected_queries::variables(&["price", "sku"]), expected_queries::page(12, &[1, 3])]);
}

#[tokio::test]
async fn a_search_with_two_variables_is_queried_as_in_the_bench() {
    let arguments = json!({
        "tv_filters": [{"tv": "color", "op": "=", "value": "red"}],
        "with_tvs": ["price", "color"],
        "limit": 25,
        "offset": 5,
    });
    let asked = queries_of("evo.content.search", arguments).await;
    assert_eq!(
        asked,
        [expected_queries::variables(&["price", "color", "color"]), expected_queries::search(&[1, 4], "red", 25, 5)]
    );
}

#[tokio::test]
async fn the_tree_is_queried_as_in_the_bench() {
    let down = queries_of("evo.content.descendants", json!({"id": 2, "depth": 6, "limit": 100, "offset": 50})).await;
    assert_eq!(down, [expected_queries::descendants(2, 6, 100, 50)]);
    let up = queries_of("evo.content.ancestors", json!({"id": 240, "limit": 100})).await;
    assert_eq!(up, [expected_queries::ancestors(240, 100)]);
}
