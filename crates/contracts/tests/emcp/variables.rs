//! How many template variables a call may name, and which one is used when several have one name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use frontdesk_engine::model::contract_entry::QueryLimits;
use frontdesk_testkit::TestClock;
use serde_json::{Value, json};

use crate::support::{TOKEN, TestDesk, limited};

/// Sixty more variables, and a second `sku` with another value for one page.
async fn desk() -> TestDesk {
    TestDesk::on_three_with(|_| {
        let named = (100..160).map(|id| format!("({id}, 'v{id}')")).collect::<Vec<String>>().join(", ");
        format!(
            "INSERT INTO evo_site_tmplvars (id, name) VALUES {named}, (900, 'sku'); \
             INSERT INTO evo_site_tmplvar_contentvalues (id, tmplvarid, contentid, value) VALUES (9001, 900, 13, 'new'), \
             (9002, 101, 13, 'one'), (9003, 145, 13, 'other');"
        )
    })
    .await
}

fn names(ids: std::ops::Range<u32>) -> Vec<String> {
    ids.map(|id| format!("v{id}")).collect()
}

#[tokio::test]
async fn a_call_may_name_fifty_variables_and_the_newest_name_wins() {
    let desk = desk().await;
    let orders: Vec<Value> = names(140..150).iter().map(|name| json!({"tv": name})).collect();
    let filters = json!([{"tv": "v101", "op": "=", "value": "one"}, {"tv": "v145", "op": "like", "value": "the"}]);
    let mut asked = json!({"parent": 2, "with_tvs": names(100..140), "tv_filters": filters, "tv_order": orders});
    assert_eq!(desk.search(asked.clone()).await, [13]);
    let all = json!({"id": 13, "with_tvs": names(100..150)});
    assert_eq!(desk.call_ok("evo.content.get", all).await["item"]["tvs"]["v145"], json!("other"));

    let mut more = names(100..141);
    more.push("sku".to_owned());
    asked["with_tvs"] = json!(more);
    asked["limit"] = json!(5);
    assert_eq!(
        desk.error("evo.content.search", asked).await,
        "-32602 The argument at /tv_order/9/tv is not valid: no more than 50 different template variables may be named in \
         one call."
    );
    let newest = desk.call_ok("evo.content.get", json!({"id": 13, "with_tvs": ["sku"]})).await;
    assert_eq!(newest["item"]["tvs"], json!({"sku": "new"}));
}

#[tokio::test]
async fn variable_lookups_are_cached_for_a_second_if_found() {
    let clock = Arc::new(TestClock::default());
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lookups);
    let desk = TestDesk::on_sqlite_at(Arc::clone(&clock), move |select| {
        counted.fetch_add(usize::from(select.from.1 == "site_tmplvars"), Ordering::Relaxed);
    })
    .await;
    let mut seen = Vec::new();
    for (names, wait) in [
        (json!(["price"]), 0),
        (json!(["price"]), 600),
        // A cache hit does not extend the life of an entry.
        (json!(["price"]), 399),
        (json!(["price"]), 1),
        (json!(["price:d"]), 0),
        (json!(["price", "sku"]), 0),
        (json!(["price"]), 0),
        // A clock that is set back changes nothing: entries age by the monotonic one.
        (json!(["price"]), -5000),
    ] {
        if wait < 0 {
            clock.step(wait);
        } else {
            clock.advance(wait);
        }
        desk.call_ok("evo.content.get", json!({"id": 13, "with_tvs": names})).await;
        seen.push(lookups.load(Ordering::Relaxed));
    }
    assert_eq!(seen, [1, 1, 1, 2, 3, 4, 4, 4]);
    for _ in 0..2 {
        desk.error("evo.content.get", json!({"id": 13, "with_tvs": ["nowhere"]})).await;
    }
    assert_eq!(lookups.load(Ordering::Relaxed), 6);
}

/// All twelve variables of the site, one of them with its default.
const ALL: [&str; 12] = [
    "price:d",
    "old_price",
    "sku",
    "color",
    "rating",
    "in_stock",
    "image",
    "author:d",
    "tags",
    "event_date",
    "meta_title",
    "side-bar",
];

#[tokio::test]
async fn many_variables_are_answered_as_each_of_them_alone() {
    let desk = TestDesk::on_three().await;
    // The filter's own variable is among those that are shown.
    let mut asked = json!({"parent": 2, "limit": 40, "tv_filters": [{"tv": "rating", "op": ">", "value": "2"}],
        "tv_order": [{"tv": "price", "dir": "desc", "cast": "DECIMAL(10,2)"}], "with_tvs": ALL});
    let together = desk.call_ok("evo.content.search", asked.clone()).await;
    let pages = together["items"].as_array().unwrap();
    assert_eq!(pages.len(), 40);
    for name in ALL {
        asked["with_tvs"] = json!([name]);
        let alone = desk.call_ok("evo.content.search", asked.clone()).await;
        let name = name.trim_end_matches(":d");
        for (page, other) in pages.iter().zip(alone["items"].as_array().unwrap()) {
            assert_eq!((&page["id"], &page["tvs"][name]), (&other["id"], &other["tvs"][name]), "{name}");
        }
    }
    let order: Vec<&String> = pages[0]["tvs"].as_object().unwrap().keys().collect();
    assert_eq!(order.len(), 12);
    // A page without any value, and no page.
    let get = async |id: i64| desk.call_ok("evo.content.get", json!({"id": id, "with_tvs": ALL})).await["item"].clone();
    let home = get(1).await;
    assert_eq!((&home["tvs"]["price"], &home["tvs"]["author"]), (&json!("0"), &json!("Редакція")));
    assert_eq!(home["tvs"]["sku"], Value::Null);
    assert_eq!(get(99_999).await, Value::Null);
}

#[tokio::test]
async fn only_filters_and_orders_join_when_many_variables_are_named() {
    let joins = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&joins);
    let desk = TestDesk::on_sqlite_recording(move |select| {
        counted.fetch_max(select.joins.len(), Ordering::Relaxed);
    })
    .await;
    for (arguments, expected) in [
        (json!({"limit": 5, "with_tvs": ALL[..4]}), 4),
        (json!({"limit": 5, "with_tvs": ALL}), 0),
        (json!({"limit": 5, "with_tvs": ALL, "tv_order": [{"tv": "sku"}]}), 1),
    ] {
        joins.store(0, Ordering::Relaxed);
        desk.call_ok("evo.content.search", arguments).await;
        assert_eq!(joins.load(Ordering::Relaxed), expected);
    }
}

#[tokio::test]
async fn the_values_of_many_variables_count_against_the_size_of_an_answer() {
    let limits = QueryLimits { items: 100, bytes: 4_000, depth: 6, offset: 5_000 };
    let long = "y".repeat(3_000);
    let more = format!(
        "UPDATE evo_site_tmplvar_contentvalues SET value = '{long}' WHERE contentid = 13 AND tmplvarid IN (1, 3);"
    );
    let desk = TestDesk::on_sqlite_with(&more, limited(limits)).await;
    let one_long = ["sku", "color", "rating", "in_stock", "image", "author:d", "tags"];
    for (names, expected) in [(&one_long[..2], 200), (&one_long[..], 200), (&ALL[..4], 413), (&ALL[..], 413)] {
        let params = json!({"name": "evo.content.get", "arguments": {"id": 13, "with_tvs": names}});
        let reply = desk.send(TOKEN, "2025-11-25", "tools/call", params).await;
        assert_eq!(reply.status, expected, "{} variables", names.len());
    }
}

/// PostgreSQL plans every list anew, and 50 joins for longer than the whole call takes on MariaDB.
#[tokio::test]
async fn fifty_variables_cost_postgres_little_more_than_mariadb() {
    let desk = desk().await;
    let arguments = json!({"parent": 2, "limit": 100, "with_tvs": names(100..150)});
    let params = json!({"name": "evo.content.search", "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    desk.ids("evo.content.search", arguments.clone()).await;
    let mut fastest = [Duration::MAX; 3];
    for _ in 0..5 {
        for (fastest, (_, _, time)) in fastest.iter_mut().zip(desk.timed(TOKEN, "2025-11-25", &body).await) {
            *fastest = time.min(*fastest);
        }
    }
    let [_, mariadb, postgres] = fastest;
    assert!(postgres < 3 * mariadb, "SQLite, MariaDB, PostgreSQL: {fastest:?}");
}
