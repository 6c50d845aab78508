//! Finding pages: the numbers that the original gives on its own site, each operator, cast, order and default.

use serde_json::{Value, json};

use crate::support::House;

/// A search among the 108 products.
fn products(filter: Value) -> Value {
    json!({"template": 4, "tv_filters": [filter]})
}

#[tokio::test]
async fn e_15_e_16_e_17_e_21_filters_by_variables_find_as_many_products_as_the_original() {
    let house = House::on_three().await;
    for (filter, count) in [
        (json!({"tv": "price", "op": "null"}), 12),
        (json!({"tv": "price", "op": "!null"}), 96),
        (json!({"tv": "price", "op": ">", "value": "500", "cast": "SIGNED"}), 20),
        (json!({"tv": "price", "op": ">", "value": "500", "cast": "UNSIGNED"}), 32),
        (json!({"tv": "price", "op": ">", "value": "500"}), 44),
        (json!({"tv": "price", "op": "<", "value": "200", "cast": "SIGNED"}), 46),
        (json!({"tv": "price", "op": "=", "value": "99.95", "cast": "DECIMAL(10,2)"}), 12),
        (json!({"tv": "price", "op": "not_in", "value": ["111", "112"]}), 94),
        (json!({"tv": "price", "op": "in", "value": ["111", "112", "113"]}), 2),
        (json!({"tv": "color", "op": "not_in", "value": "red", "use_default": true}), 24),
        (json!({"tv": "color", "op": "null"}), 60),
        (json!({"tv": "sku", "op": "like", "value": "SKU-01"}), 18),
    ] {
        assert_eq!(house.count(products(filter.clone())).await, count, "{filter}");
    }
    assert_eq!(house.count(json!({"published": false})).await, 18);
    assert_eq!(house.count(json!({"tags_data": {"tv_id": 9, "tags": ["rust"]}})).await, 60);
    assert_eq!(house.count(json!({"tags_data": {"tv_id": 9, "tags": ["новини"]}})).await, 20);
}
