//! Spellings that the original accepts are accepted; invalid arguments are reported with their pointer.

use serde_json::{Value, json};

use crate::support::TestDesk;

#[tokio::test]
async fn numbers_booleans_and_keywords_have_lenient_spellings() {
    let desk = TestDesk::on_sqlite().await;
    for (arguments, wanted) in [
        (json!({"limit": "2"}), "1 2"),
        (json!({"limit": " 2 "}), "1 2"),
        (json!({"limit": 2.0}), "1 2"),
        (json!({"limit": true}), "1"),
        (json!({"limit": 2, "offset": null, "with_tvs": null, "order_by": null}), "1 2"),
        (json!({"limit": 2, "unknown": null}), "1 2"),
        (json!({"limit": 2, "deleted": 1}), "255 256"),
        (json!({"limit": 2, "deleted": "1"}), "255 256"),
        (json!({"limit": 2, "deleted": "0"}), "1 2"),
        (json!({"limit": 2, "order_by": "id", "order_dir": "DESC"}), "260 259"),
        (json!({"limit": 2, "order_by_date": "Desc"}), "5 10"),
        (json!({"limit": 2, "parent": "9", "tv_order": [{"tv": "price", "dir": "DESC", "cast": "unsigned"}]}), "14 18"),
        (json!({"limit": 2, "tv_filters": [{"tv": "price", "op": "=", "value": 111, "cast": null}]}), "10"),
        (
            json!({"limit": 2, "tv_filters": [{"tv": "price", "op": "=", "value": 99.95, "cast": "decimal(10,2)"}]}),
            "17 27",
        ),
        (json!({"limit": 2, "tv_filters": [{"tv": "price", "op": "in", "value": [111, "112"]}]}), "10 11"),
        (json!({"limit": 2, "tv_filters": [{"tv": "in_stock", "op": "=", "value": true, "use_default": "1"}]}), "1 2"),
    ] {
        let found = desk.call_ok("evo.content.search", arguments.clone()).await;
        let ids: Vec<String> = found["items"].as_array().unwrap().iter().map(|item| item["id"].to_string()).collect();
        assert_eq!(ids.join(" "), wanted, "{arguments}");
    }
}

#[tokio::test]
async fn e_11_e_12_e_50_an_invalid_argument_is_never_repeated() {
    let desk = TestDesk::on_sqlite().await;
    for (arguments, place, words) in [
        (json!({}), "limit", "it is required"),
        (json!({"limit": null}), "limit", "it is required"),
        (json!({"limit": 2.5}), "limit", "an integer is expected"),
        (json!({"limit": "2.0"}), "limit", "an integer is expected"),
        (json!({"limit": "02"}), "limit", "an integer is expected"),
        (json!({"limit": "canary"}), "limit", "an integer is expected"),
        (json!({"limit": false}), "limit", "an integer is expected"),
        (json!({"limit": [1]}), "limit", "an integer is expected"),
        (json!({"limit": 101}), "limit", "it must be at most 100"),
        (json!({"limit": "99999999999999999999"}), "limit", "an integer is expected"),
        (json!({"limit": 1, "published": "true"}), "published", "true or false is expected"),
        (json!({"limit": 1, "published": 2}), "published", "true or false is expected"),
        (json!({"limit": 1, "parent": -1}), "parent", "it must be at least 0"),
        (
            json!({"limit": 1, "order_by": "canary"}),
            "order_by",
            "one of these is expected: id, pagetitle, menuindex, createdon, pub_date",
        ),
        (json!({"limit": 1, "order_by": "id", "order_dir": "up"}), "order_dir", "one of these is expected: asc, desc"),
        (json!({"limit": 1, "order_by_date": "canary"}), "order_by_date", "one of these is expected: asc, desc"),
        (json!({"limit": 1, "with_tvs": "price"}), "with_tvs", "an array is expected"),
        (
            json!({"limit": 1, "with_tvs": ["a b"]}),
            "with_tvs/0",
            "the name of a template variable is expected (letters, digits, _ and -), perhaps followed by :d",
        ),
        (json!({"limit": 1, "tags_data": {"tv_id": 9, "tags": []}}), "tags_data/tags", "at least 1 is expected"),
        (json!({"limit": 1, "tags_data": {"tags": ["a"]}}), "tags_data/tv_id", "it is required"),
    ] {
        let error = desk.error("evo.content.search", arguments.clone()).await;
        assert_eq!(error, format!("-32602 The argument at /{place} is not valid: {words}."), "{arguments}");
    }
    let many: Vec<Value> = (0..51).map(|n| json!(format!("v{n}"))).collect();
    let error = desk.error("evo.content.search", json!({"limit": 1, "with_tvs": many})).await;
    assert_eq!(error, "-32602 The argument at /with_tvs is not valid: at most 50 items are allowed.");
}

#[tokio::test]
async fn e_11_every_list_requires_a_limit() {
    let desk = TestDesk::on_sqlite().await;
    for tool in [
        "content.search",
        "content.root_tree",
        "content.descendants",
        "content.ancestors",
        "content.children",
        "content.siblings",
        "content.neighbors",
        "content.prev_siblings",
        "content.next_siblings",
        "content.children_range",
        "content.siblings_range",
        "model.list",
    ] {
        let asked = match tool {
            "content.search" | "content.root_tree" => json!({}),
            "content.children_range" | "content.siblings_range" => json!({"id": 1, "from": 0}),
            "model.list" => json!({"model": "User"}),
            _ => json!({"id": 1}),
        };
        let error = desk.error(&format!("evo.{tool}"), asked).await;
        assert_eq!(error, "-32602 The argument at /limit is not valid: it is required.", "{tool}");
    }
}

/// SQL in any text argument is a plain value.
#[tokio::test]
async fn e_32_sql_injection_finds_nothing_or_is_refused() {
    let desk = TestDesk::on_sqlite().await;
    for text in
        ["' OR '1'='1", "1) OR 1=1 --", "x'; DROP TABLE evo_users; --", "` OR 1", "\" OR \"\"=\"", "${7*7}", "\\", "%"]
    {
        for arguments in [
            json!({"limit": 1, "tv_filters": [{"tv": "sku", "op": "=", "value": text}]}),
            json!({"limit": 1, "tv_filters": [{"tv": "sku", "op": "in", "value": [text]}]}),
            json!({"limit": 1, "tv_filters": [{"tv": "sku", "op": "like", "value": text}]}),
            json!({"limit": 1, "tv_filters": [{"tv": text, "op": "null"}]}),
            json!({"limit": 1, "tags_data": {"tv_id": 9, "tags": [text]}}),
            json!({"limit": 1, "with_tvs": [text]}),
            json!({"limit": 1, "order_by": text}),
        ] {
            let body = desk.call("evo.content.search", arguments.clone()).await;
            let refused = body["error"]["code"] == json!(-32602);
            let empty = body["result"]["structuredContent"]["items"] == json!([]);
            assert!(refused || empty, "{arguments}: {body}");
        }
    }
    assert_eq!(desk.count(json!({})).await, 257);
}
