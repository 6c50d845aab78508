//! `resources/list`: every readable address, once.

use serde_json::Value;

use crate::support::library::{BOOK, MEMBER};
use crate::support::requests::modern;
use crate::support::{CLERK, KEEPER, READER, SOUTHERNER, TRAVELLER, TestDesk, tools};

/// Addresses of a page, and the cursor to the next.
async fn page(test: &TestDesk, who: &str, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let params = cursor.map_or_else(|| "{}".to_owned(), |cursor| format!(r#"{{"cursor":"{cursor}"}}"#));
    let answer = test.ask(who, "resources/list", &params).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let entries = answer["result"]["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let addresses = entries.iter().map(|entry| entry["uri"].as_str().unwrap().to_owned()).collect();
    (addresses, answer["result"]["nextCursor"].as_str().map(str::to_owned))
}

/// The sizes of all pages, and every address in order.
async fn walk(test: &TestDesk, who: &str) -> (Vec<usize>, Vec<String>) {
    let (mut all, mut cursor) = page(test, who, None).await;
    let mut sizes = vec![all.len()];
    while let Some(more) = cursor {
        let (addresses, next) = page(test, who, Some(&more)).await;
        sizes.push(addresses.len());
        all.extend(addresses);
        cursor = next;
    }
    (sizes, all)
}

fn fill(test: &TestDesk, books: i64, members: i64) {
    for age in 0..books {
        test.store.put("north", &BOOK, tools::book(&format!("b{age}"), "T", "novel", 1, 1, age));
    }
    for age in 0..members {
        test.store.put("north", &MEMBER, tools::reader(&format!("m{age}"), "A", "a@example.org", age));
    }
}

fn expected(books: i64, members: i64) -> Vec<String> {
    let books = (0..books).rev().map(|age| format!("lib://north/book/b{age}"));
    let members = (0..members).rev().map(|age| format!("lib://north/member/m{age}"));
    let fixed = ["lib://rules", "lib://north/books"].map(str::to_owned);
    fixed.into_iter().chain(books).chain(members).collect()
}

#[tokio::test]
async fn resource_lists_have_fixed_addresses_first_then_rows() {
    let test = TestDesk::stocked();
    let entry = |uri: &str, name: &str| {
        format!(r#"{{"uri":"{uri}","name":"{name}","title":"From the library","mimeType":"application/json"}}"#)
    };
    let books = [
        entry("lib://rules", "rules"),
        entry("lib://north/books", "books"),
        entry("lib://north/book/b3", "b3"),
        entry("lib://north/book/b2", "b2"),
        entry("lib://north/book/b1", "b1"),
    ]
    .join(",");
    assert_eq!(
        test.ask(READER, "resources/list", "{}").await,
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"resources":[{books}]}}}}"#)
    );
    let member = entry("lib://north/member/m1", "m1");
    assert_eq!(
        test.serve(modern(CLERK, "resources/list", None, "")).await.body,
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resources":[{books},{member}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}}}"#
        )
    );
}

#[tokio::test]
async fn every_address_is_listed_exactly_once_across_kinds() {
    for (books, members, sizes) in [
        (150, 120, vec![100, 100, 72]),
        // The kinds change exactly where a page ends.
        (98, 120, vec![100, 100, 20]),
        (198, 1, vec![100, 100, 1]),
        // No page is empty, though a kind is.
        (98, 0, vec![100]),
        (0, 98, vec![100]),
        (0, 99, vec![100, 1]),
        (0, 0, vec![2]),
    ] {
        let test = TestDesk::new();
        fill(&test, books, members);
        assert_eq!(walk(&test, KEEPER).await, (sizes, expected(books, members)), "{books} {members}");
    }
}

#[tokio::test]
async fn every_listed_address_can_be_read() {
    let test = TestDesk::stocked();
    for address in walk(&test, KEEPER).await.1 {
        let answer = test.open(KEEPER, &address).await;
        assert!(answer.contains(r#""result""#), "{address}: {answer}");
    }
}

#[tokio::test]
async fn a_cursor_of_another_tenant_is_refused() {
    let test = TestDesk::new();
    fill(&test, 150, 0);
    let cursor = page(&test, KEEPER, None).await.1.unwrap();
    assert_eq!(
        test.ask(SOUTHERNER, "resources/list", &format!(r#"{{"cursor":"{cursor}"}}"#)).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This cursor does not belong to this request, or has expired. Start again without a cursor.","data":{"fault":"invalid_cursor","at":"method"}}}"#
    );
}

#[tokio::test]
async fn a_cursor_into_a_kind_the_token_cannot_read_is_refused() {
    let test = TestDesk::new();
    fill(&test, 98, 120);
    let cursor = page(&test, KEEPER, None).await.1.unwrap();
    assert_eq!(
        test.ask(READER, "resources/list", &format!(r#"{{"cursor":"{cursor}"}}"#)).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This cursor was issued to a token with other scopes. Start again without a cursor.","data":{"fault":"invalid_cursor","at":"method"}}}"#
    );
}

#[tokio::test]
async fn a_caller_of_several_tenants_sees_what_belongs_to_none() {
    let test = TestDesk::stocked();
    assert_eq!(page(&test, TRAVELLER, None).await, (vec!["lib://rules".to_owned()], None));
    assert_eq!(
        test.ask(TRAVELLER, "resources/list", r#"{"cursor":"x"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This list has one page and issues no cursors.","data":{"fault":"invalid_cursor","at":"method"}}}"#
    );
}
