//! Searching pages: the counts that the original returns for this site, and each operator, cast, order and default.

use serde_json::{Value, json};

use crate::support::TestDesk;

/// A search among the 108 products.
fn products(filter: Value) -> Value {
    json!({"template": 4, "tv_filters": [filter]})
}

#[tokio::test]
async fn e_15_e_16_e_17_e_19_three_databases_find_the_same_pages() {
    let desk = TestDesk::on_three().await;
    numbers(&desk).await;
    operators(&desk).await;
    casts(&desk).await;
    fields(&desk).await;
    orders(&desk).await;
    variable_orders(&desk).await;
    tags(&desk).await;
    items(&desk).await;
}

#[tokio::test]
async fn e_15_variable_filters_find_as_many_pages_as_the_original() {
    numbers(&TestDesk::on_sqlite().await).await;
}

async fn numbers(desk: &TestDesk) {
    for (filter, count) in [
        (json!({"tv": "price", "op": "null"}), 12),
        (json!({"tv": "price", "op": "!null"}), 96),
        (json!({"tv": "price", "op": ">", "value": "500", "cast": "SIGNED"}), 20),
        (json!({"tv": "price", "op": ">", "value": "500", "cast": "UNSIGNED"}), 32),
        (json!({"tv": "price", "op": ">", "value": "500"}), 44),
        (json!({"tv": "price", "op": "<", "value": "200", "cast": "SIGNED"}), 46),
        (json!({"tv": "price", "op": "=", "value": "99.95", "cast": "DECIMAL(10,2)"}), 12),
        (json!({"tv": "price", "op": "not_in", "value": ["111", "112"]}), 94),
        (json!({"tv": "color", "op": "not_in", "value": "red", "use_default": true}), 24),
        (json!({"tv": "color", "op": "null"}), 60),
        (json!({"tv": "sku", "op": "like", "value": "SKU-01"}), 18),
    ] {
        assert_eq!(desk.count(products(filter.clone())).await, count, "{filter}");
    }
    assert_eq!(desk.count(json!({"published": false})).await, 18);
    assert_eq!(desk.count(json!({"tags_data": {"tv_id": 9, "tags": ["rust"]}})).await, 60);
    assert_eq!(desk.count(json!({"tags_data": {"tv_id": 9, "tags": ["новини"]}})).await, 20);
}

#[tokio::test]
async fn e_16_each_operator_works_with_and_without_the_default() {
    operators(&TestDesk::on_sqlite().await).await;
}

/// Among the nine products of one subcategory: 11 to 19, with the colours – blue – red – blue – red – and the
/// default red.
async fn operators(desk: &TestDesk) {
    for (op, value, plain, with_default) in [
        ("=", json!("red"), "13 17", "10 12 13 14 16 17 18"),
        ("!=", json!("red"), "11 15", "11 15"),
        (">", json!("blue"), "13 17", "10 12 13 14 16 17 18"),
        (">=", json!("blue"), "11 13 15 17", "10 11 12 13 14 15 16 17 18"),
        ("<", json!("red"), "11 15", "11 15"),
        ("<=", json!("red"), "11 13 15 17", "10 11 12 13 14 15 16 17 18"),
        ("in", json!("blue, red,"), "11 13 15 17", "10 11 12 13 14 15 16 17 18"),
        ("in", json!(["green", " blue "]), "11 15", "11 15"),
        ("not_in", json!(["blue"]), "13 17", "10 12 13 14 16 17 18"),
        ("like", json!("e"), "11 13 15 17", "10 11 12 13 14 15 16 17 18"),
        ("like-l", json!("ue"), "11 15", "11 15"),
        ("like-r", json!("re"), "13 17", "10 12 13 14 16 17 18"),
        ("null", json!(null), "10 12 14 16 18", ""),
        ("!null", json!(null), "11 13 15 17", "10 11 12 13 14 15 16 17 18"),
    ] {
        for (use_default, wanted) in [(false, plain), (true, with_default)] {
            let filter = json!({"tv": "color", "op": op, "value": value, "use_default": use_default});
            let found = desk.search(json!({"parent": 9, "tv_filters": [filter]})).await;
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), wanted, "{op} {value} {use_default}");
        }
    }
    // All filters must hold.
    let both = json!([{"tv": "color", "op": "=", "value": "red"}, {"tv": "price", "op": ">=", "value": 118}]);
    assert_eq!(desk.search(json!({"parent": 9, "tv_filters": both})).await, [17]);
}

#[tokio::test]
async fn e_17_casts_read_texts_as_numbers() {
    casts(&TestDesk::on_sqlite().await).await;
}

/// The prices of one subcategory: 111 112 – 114 -115 116 n/a 99.95 119, and the default 0.
async fn casts(desk: &TestDesk) {
    for (op, value, cast, use_default, wanted) in [
        ("=", "0", "SIGNED", false, "16"),
        ("=", "0", "SIGNED", true, "12 16"),
        ("<", "0", "signed", false, "14"),
        ("=", "99", "Unsigned", false, "17"),
        (">", "115", "UNSIGNED", false, "14 15 18"),
        ("=", "99.95", "SIGNED", false, ""),
        ("=", "99.95", "DECIMAL(10,2)", false, "17"),
        ("=", "100", "DECIMAL(10,0)", false, "17"),
        ("=", "100.0", "DECIMAL(5,1)", false, "17"),
        ("<=", "-115", "DECIMAL(10,2)", false, "14"),
        ("!=", "111", "SIGNED", false, "11 13 14 15 16 17 18"),
        ("=", "99.9", "DECIMAL(3,1)", false, "10 11 13 15 17 18"),
    ] {
        let filter = json!({"tv": "price", "op": op, "value": value, "cast": cast, "use_default": use_default});
        let found = desk.search(json!({"parent": 9, "tv_filters": [filter]})).await;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.join(" "), wanted, "{op} {value} {cast} {use_default}");
    }
}

#[tokio::test]
async fn e_10_each_argument_of_a_search_has_an_effect() {
    fields(&TestDesk::on_sqlite().await).await;
}

async fn fields(desk: &TestDesk) {
    for (arguments, count) in [
        (json!({}), 257),
        (json!({"parent": 2}), 126),
        (json!({"parent": 2, "depth": 1}), 6),
        (json!({"parent": 2, "depth": 2}), 18),
        (json!({"parent": 0}), 0),
        (json!({"parent": 99999}), 0),
        (json!({"parent": 4}), 6),
        (json!({"depth": 1}), 257),
        (json!({"published": true}), 239),
        (json!({"published": false}), 18),
        (json!({"deleted": true}), 3),
        (json!({"deleted": false}), 257),
        (json!({"template": 4}), 108),
        (json!({"template": 0}), 0),
        (json!({"template": 4_294_967_295_i64}), 0),
        (json!({"hidemenu": true}), 26),
        (json!({"hidemenu": false}), 231),
        (json!({"template": 4, "published": true, "hidemenu": true}), 24),
    ] {
        assert_eq!(desk.count(arguments.clone()).await, count, "{arguments}");
    }
    assert_eq!(desk.search(json!({"limit": 3})).await, [1, 2, 3]);
    assert_eq!(desk.search(json!({"limit": 3, "offset": 2})).await, [3, 4, 5]);
    assert_eq!(desk.search(json!({"limit": 3, "offset": 5000})).await, [0; 0]);
}

#[tokio::test]
async fn e_12_pages_are_returned_in_the_requested_order() {
    orders(&TestDesk::on_sqlite().await).await;
}

async fn orders(desk: &TestDesk) {
    for (arguments, wanted) in [
        (json!({"order_by": "id", "order_dir": "desc"}), [254, 253, 252, 251]),
        (json!({"order_by": "pagetitle"}), [249, 250, 251, 252]),
        (json!({"order_by": "pagetitle", "order_dir": "DESC"}), [254, 253, 252, 251]),
        (json!({"order_by": "menuindex", "order_dir": "desc"}), [253, 254, 252, 250]),
        (json!({"order_by": "createdon", "order_dir": "Desc"}), [254, 253, 252, 251]),
        (json!({"order_by": "pub_date"}), [249, 251, 252, 253]),
        (json!({"order_by": "pub_date", "order_dir": "desc"}), [250, 249, 251, 252]),
        (json!({"order_by_date": "asc"}), [249, 251, 252, 253]),
        (json!({"order_by_date": "desc"}), [250, 254, 253, 252]),
        (json!({"order_by_date": "desc", "order_by": "id"}), [250, 254, 253, 252]),
        // Without order_by, the direction is ignored.
        (json!({"order_dir": "sideways"}), [249, 250, 251, 252]),
    ] {
        let mut asked = arguments.clone();
        asked["parent"] = json!(248);
        asked["limit"] = json!(4);
        assert_eq!(desk.search(asked).await, wanted, "{arguments}");
    }
}

#[tokio::test]
async fn e_19_variables_order_first_and_null_sorts_first() {
    variable_orders(&TestDesk::on_sqlite().await).await;
}

async fn variable_orders(desk: &TestDesk) {
    for (order, wanted) in [
        (json!([{"tv": "price", "cast": "SIGNED"}]), [12, 14, 16, 17, 10, 11, 13, 15, 18]),
        (json!([{"tv": "price", "cast": "SIGNED", "dir": "desc"}]), [18, 15, 13, 11, 10, 17, 16, 14, 12]),
        (json!([{"tv": "price", "cast": "UNSIGNED"}]), [12, 16, 17, 10, 11, 13, 15, 18, 14]),
        (json!([{"tv": "price", "cast": "DECIMAL(10,2)"}]), [12, 14, 16, 17, 10, 11, 13, 15, 18]),
        (json!([{"tv": "price", "cast": "SIGNED", "use_default": true}]), [14, 12, 16, 17, 10, 11, 13, 15, 18]),
        (json!([{"tv": "color"}, {"tv": "sku", "dir": "desc"}]), [18, 16, 14, 12, 10, 15, 11, 17, 13]),
        (json!([{"tv": "color", "dir": "DESC"}]), [13, 17, 11, 15, 10, 12, 14, 16, 18]),
        (json!([{"tv": "color", "use_default": true}]), [11, 15, 10, 12, 13, 14, 16, 17, 18]),
    ] {
        assert_eq!(desk.search(json!({"parent": 9, "tv_order": order})).await, wanted, "{order}");
    }
    let asked = json!({"parent": 9, "tv_order": [{"tv": "color"}], "order_by": "id", "order_dir": "desc"});
    assert_eq!(desk.search(asked).await, [18, 16, 14, 12, 10, 15, 11, 17, 13]);
}

#[tokio::test]
async fn e_20_a_page_that_has_several_of_the_tags_is_found_once() {
    tags(&TestDesk::on_sqlite().await).await;
}

async fn tags(desk: &TestDesk) {
    let tagged = |tags: Value| json!({"tags_data": {"tv_id": 9, "tags": tags}});
    assert_eq!(desk.count(tagged(json!(["rust", "php", "новини"]))).await, 80);
    assert_eq!(desk.count(tagged(json!([" rust "]))).await, 60);
    assert_eq!(desk.count(tagged(json!(["nobody has this one"]))).await, 0);
    assert_eq!(desk.count(json!({"tags_data": {"tv_id": 8, "tags": ["rust"]}})).await, 0);
    // Template variables keep their values in a search by tags.
    let asked = json!({"tags_data": {"tv_id": 9, "tags": ["php", "rust"]}, "with_tvs": ["tags"], "limit": 2});
    let answer = desk.call_ok("evo.content.search", asked).await;
    let shown: Vec<&str> =
        answer["items"].as_array().unwrap().iter().map(|item| item["tvs"]["tags"].as_str().unwrap()).collect();
    assert_eq!(shown, ["php", "php,rust"]);
}

#[tokio::test]
async fn e_40_a_list_has_items_of_seventeen_fields_and_its_meta() {
    items(&TestDesk::on_sqlite().await).await;
}

async fn items(desk: &TestDesk) {
    insta::assert_snapshot!(
        desk.text("evo.content.search", json!({"limit": 1, "offset": 12})).await,
        @r#"{"items":[{"id":13,"parent":9,"pagetitle":"Product 1-1-4","longtitle":"Product 1-1-4 — long","description":"About Product 1-1-4","alias":"doc-13","published":1,"deleted":0,"hidemenu":true,"menuindex":3,"template":4,"createdon":1700046800,"editedon":1700046860,"pub_date":0,"unpub_date":0,"isfolder":0,"type":"document"}],"meta":{"limit":1,"offset":12,"count":1,"toolsetVersion":"1.0"}}"#
    );
    insta::assert_snapshot!(
        desk.text("evo.content.search", json!({"limit": 20, "parent": 1})).await,
        @r#"{"items":[],"meta":{"limit":20,"offset":0,"count":0,"toolsetVersion":"1.0"}}"#
    );
    let linked = desk.call_ok("evo.content.get", json!({"id": 7})).await;
    assert_eq!(linked["item"]["type"], json!("reference"));
    assert_eq!(
        desk.text(
            "evo.content.get",
            json!({"id": 13, "with_tvs": ["sku", "price", "color:d", "meta_title:d", "old_price"]})
        )
        .await,
        r#"{"item":{"id":13,"parent":9,"pagetitle":"Product 1-1-4","longtitle":"Product 1-1-4 — long","description":"About Product 1-1-4","alias":"doc-13","published":1,"deleted":0,"hidemenu":true,"menuindex":3,"template":4,"createdon":1700046800,"editedon":1700046860,"pub_date":0,"unpub_date":0,"isfolder":0,"type":"document","tvs":{"sku":"SKU-010104","price":"114","color":"red","meta_title":"[*pagetitle*]","old_price":null}},"meta":{"toolsetVersion":"1.0"}}"#
    );
}
