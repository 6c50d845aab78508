//! How many template variables a call may name, and which one is used when several have one name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use frontdesk_testkit::TestClock;
use serde_json::{Value, json};

use crate::support::TestDesk;

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
        (json!(["price"]), -5000),
    ] {
        clock.advance(wait);
        desk.call_ok("evo.content.get", json!({"id": 13, "with_tvs": names})).await;
        seen.push(lookups.load(Ordering::Relaxed));
    }
    assert_eq!(seen, [1, 1, 1, 2, 3, 4, 4, 5]);
    for _ in 0..2 {
        desk.error("evo.content.get", json!({"id": 13, "with_tvs": ["nowhere"]})).await;
    }
    assert_eq!(lookups.load(Ordering::Relaxed), 7);
}
