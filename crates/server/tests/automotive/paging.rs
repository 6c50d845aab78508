//! Walking lists (section 3.4): pages, their ends, and walks that neither skip nor repeat.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;

use super::requests::{LISTS, ids, lead, text};

/// What a list is ordered by.
type Measured = fn(&Value) -> i64;

#[tokio::test]
async fn a3_18_a3_19_last_page_has_no_cursor_empty_list_has_items() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    assert_eq!(text(&mut agent, "inventory.search", json!({"make": "Trabant"})).await, "{\"items\":[]}");
    for (list, _) in LISTS {
        let all = ids(&agent.all(list, json!({"limit": 100})).await);
        // A size that divides the list exactly must not end in an empty page.
        let divisor = (20..=100).find(|size| all.len().is_multiple_of(*size)).unwrap_or(1);
        let mut sizes = vec![1, 7, 25, 100];
        sizes.extend((divisor > 1).then_some(divisor));
        for size in sizes.into_iter().filter(|size| *size > 1 || all.len() < 100) {
            let (mut walked, mut arguments, mut pages) = (Vec::new(), json!({"limit": size}), 0);
            loop {
                let page = agent.call(list, arguments.clone()).await;
                let keys: Vec<&str> = page.as_object().unwrap().keys().map(String::as_str).collect();
                let items = page["items"].as_array().unwrap();
                pages += 1;
                walked.extend(ids(items));
                if walked.len() == all.len() {
                    assert_eq!(keys, ["items"], "{list} by {size}");
                    break;
                }
                assert_eq!((keys, items.len()), (vec!["items", "next_cursor"], size), "{list} by {size}");
                arguments["cursor"] = page["next_cursor"].clone();
            }
            assert_eq!(walked, all, "{list} by {size}");
            assert_eq!(pages, all.len().div_ceil(size), "{list} by {size}");
        }
    }
    for limit in [json!(0), json!(-1), json!(101), json!(1_000_000_000), json!(1.5), json!("5"), json!(null)] {
        assert_eq!(agent.code("inventory.list", json!({"limit": limit})).await, "request.invalid", "{limit}");
    }
}

#[tokio::test]
async fn a3_20_every_order_is_total_and_walks_through_everything_once() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let all: BTreeSet<String> = ids(&agent.all("inventory.list", json!({"limit": 100})).await).into_iter().collect();
    let orders: [(&str, Measured, bool); 6] = [
        ("price_asc", |car| car["price"]["amount"].as_i64().unwrap(), true),
        ("price_desc", |car| car["price"]["amount"].as_i64().unwrap(), false),
        ("year_asc", |car| car["year"].as_i64().unwrap(), true),
        ("year_desc", |car| car["year"].as_i64().unwrap(), false),
        ("mileage_asc", |car| car["mileage"]["value"].as_i64().unwrap(), true),
        ("mileage_desc", |car| car["mileage"]["value"].as_i64().unwrap(), false),
    ];
    for (sort, value, rises) in orders {
        let walked = agent.all("inventory.search", json!({"sort": sort, "limit": 17})).await;
        assert_eq!(walked.len(), all.len(), "{sort}");
        assert_eq!(BTreeSet::from_iter(ids(&walked)), all, "{sort}");
        let values: Vec<i64> = walked.iter().map(value).collect();
        match rises {
            true => assert!(values.is_sorted(), "{sort}"),
            false => assert!(values.iter().rev().is_sorted(), "{sort}"),
        }
    }
    let newest = agent.all("inventory.search", json!({"sort": "newest", "limit": 17})).await;
    assert_eq!(newest, agent.all("inventory.list", json!({"limit": 100})).await);
}

#[tokio::test]
async fn a3_20_a_walk_neither_skips_nor_repeats_changing_leads() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let before = ids(&agent.all("leads.list", json!({"limit": 100})).await);
    let (mut walked, mut arguments) = (Vec::new(), json!({"limit": 7}));
    let mut added = Vec::new();
    loop {
        let page = agent.call("leads.list", arguments.clone()).await;
        walked.extend(ids(page["items"].as_array().unwrap()));
        for _ in 0..3 {
            added.push(agent.call("leads.create", lead("Dana Rivera")).await["id"].as_str().unwrap().to_owned());
        }
        // A change moves nothing: one that was seen, and one that is still to come.
        for id in [walked.last(), before.last()].into_iter().flatten() {
            agent.call("leads.update", json!({"id": id, "comments": "called back"})).await;
        }
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(walked, before);
    let after = ids(&agent.all("leads.list", json!({"limit": 100})).await);
    // Newest first. An id begins with its time; those of one millisecond are in the order of their ids.
    added.sort_unstable();
    added.reverse();
    assert_eq!(after, [added, before].concat());
}

#[tokio::test]
async fn a3_20_a_cursor_alone_continues_the_search_it_came_from() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let search = json!({"fuel_type": "gasoline", "sort": "price_desc", "limit": 4});
    let whole = agent.all("inventory.search", search.clone()).await;
    assert!(whole.len() > 12);
    let first = agent.call("inventory.search", search.clone()).await;
    assert_eq!(first["items"].as_array().unwrap()[..], whole[..4]);
    let mut with_filters = search.clone();
    with_filters["cursor"] = first["next_cursor"].clone();
    for arguments in [with_filters, json!({"cursor": first["next_cursor"]})] {
        let second = agent.call("inventory.search", arguments).await;
        assert_eq!(second["items"].as_array().unwrap()[..], whole[4..8]);
    }
    // The size may change on the way.
    let second = agent.call("inventory.search", json!({"cursor": first["next_cursor"], "limit": 9})).await;
    assert_eq!(second["items"].as_array().unwrap()[..], whole[4..13]);
    // And the same cursor again gives the same page again.
    let again = agent.call("inventory.search", json!({"cursor": first["next_cursor"], "limit": 9})).await;
    assert_eq!(again["items"], second["items"]);
}

#[tokio::test]
async fn a3_18_a3_20_an_oversized_page_ends_early_with_a_cursor() {
    const BUDGET: usize = 8192;
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_PAGE_BYTES", "8192")]);
    let mut agent = desk.agent().await;
    for (list, _) in LISTS {
        let (mut walked, mut arguments, mut longest) = (Vec::new(), json!({"limit": 100}), 0);
        loop {
            let answer = text(&mut agent, list, arguments.clone()).await;
            let page: Value = serde_json::from_str(&answer).unwrap();
            let items = page["items"].as_array().unwrap();
            let bytes: usize = items.iter().map(|item| item.to_string().len()).sum();
            assert!(!items.is_empty() && bytes <= BUDGET, "{list}: {} items in {bytes} bytes", items.len());
            longest = longest.max(bytes);
            walked.extend(ids(items));
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert!(longest > BUDGET / 2, "{list}: the longest page has {longest} bytes");
        let one_by_few = ids(&agent.all(list, json!({"limit": 3})).await);
        assert_eq!(walked, one_by_few, "{list}");
        assert!(walked.len() >= 80, "{list}");
    }
}

#[tokio::test]
async fn a3_20_long_items_come_whole_under_the_smallest_page() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_PAGE_BYTES", "4096")]);
    let mut agent = desk.agent().await;
    // Everything a list shows of a lead and a caller can make long.
    let long = lead(&"Ön ".repeat(66));
    let mut made = Vec::new();
    for _ in 0..12 {
        made.push(agent.call("leads.create", long.clone()).await["id"].as_str().unwrap().to_owned());
    }
    let walked = ids(&agent.all("leads.list", json!({"limit": 100})).await);
    made.reverse();
    assert_eq!(walked[..12], made[..]);
    assert_eq!(walked.len(), 92);
}
