//! Stage 7, cursors: bound to tenant, tool and filter, for a day, and unreadable.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::support::library::BOOK;
use crate::support::{KEEPER, READER, TRAVELLER, TestDesk, tools};

const FOREIGN: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This cursor does not belong to this request, or has expired. Start again without a cursor.","data":{"fault":"invalid_cursor","at":"tool book.list"}}}"#;

/// Ids of a page, and the cursor to the next.
fn page(answer: &str) -> (Vec<String>, Option<String>) {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let items = answer["result"]["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let ids = items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    (ids, answer["result"]["more"].as_str().map(str::to_owned))
}

async fn list(test: &TestDesk, who: &str, members: &str) -> String {
    test.call(who, "book.list", &format!("{{{members}}}")).await
}

/// A cursor after the first of the north's novels.
async fn issued(test: &TestDesk) -> String {
    page(&list(test, READER, r#""genre":"novel","limit":1"#).await).1.unwrap()
}

#[tokio::test]
async fn a_cursor_alone_continues_the_list_it_came_from() {
    let test = TestDesk::stocked();
    // Older than all others, and not a novel.
    test.store.put("north", &BOOK, tools::book("b0", "Ilias", "poetry", 1, 1, 0));
    let cursor = issued(&test).await;
    let next = list(&test, READER, &format!(r#""cursor":"{cursor}""#)).await;
    assert_eq!(
        next,
        r#"{"jsonrpc":"2.0","id":1,"result":{"items":[{"id":"b1","title":"Emma","genre":"novel","copies":2}]}}"#
    );
}

#[tokio::test]
async fn a_cursor_beside_filters_wants_the_ones_it_came_from() {
    let test = TestDesk::stocked();
    let cursor = issued(&test).await;
    let same = list(&test, READER, &format!(r#""cursor":"{cursor}","genre":"novel","limit":50"#)).await;
    assert_eq!(page(&same), (vec!["b1".to_owned()], None));
    for other in [r#""genre":"poetry""#, r#""title":"emma""#, r#""genre":"novel","title":"emma""#] {
        assert_eq!(
            list(&test, READER, &format!(r#""cursor":"{cursor}",{other}"#)).await,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This cursor was issued for other filters. Repeat the same filters, or start again without a cursor.","data":{"fault":"invalid_cursor","at":"tool book.list"}}}"#
        );
    }
}

#[tokio::test]
async fn walking_gives_each_row_once_while_rows_are_added() {
    let test = TestDesk::new();
    for age in 0..7 {
        test.store.put("north", &BOOK, tools::book(&format!("b{age}"), "T", "novel", 1, 1, age));
    }
    let (mut seen, mut cursor) = page(&list(&test, READER, "").await);
    while let Some(more) = cursor {
        test.store.put("north", &BOOK, tools::book(&format!("new{}", seen.len()), "T", "novel", 1, 1, 100));
        let (ids, next) = page(&list(&test, READER, &format!(r#""cursor":"{more}""#)).await);
        seen.extend(ids);
        cursor = next;
    }
    assert_eq!(seen, ["b6", "b5", "b4", "b3", "b2", "b1", "b0"]);
}

#[tokio::test]
async fn a_cursor_opens_for_its_tenant_only() {
    let test = TestDesk::stocked();
    let cursor = issued(&test).await;
    let of = |branch: &str| format!(r#""cursor":"{cursor}","branch":"{branch}""#);
    assert_eq!(list(&test, TRAVELLER, &of("south")).await, FOREIGN);
    // The tenant is what counts, not the client.
    assert_eq!(page(&list(&test, TRAVELLER, &of("north")).await).0, ["b1"]);
}

#[tokio::test]
async fn a_cursor_opens_for_its_tool_only() {
    let test = TestDesk::new();
    for age in 0..150 {
        test.store.put("north", &BOOK, tools::book(&format!("b{age}"), "T", "novel", 1, 1, age));
    }
    let answer: Value = serde_json::from_str(&test.ask(KEEPER, "resources/list", "{}").await).unwrap();
    let of_resources = answer["result"]["nextCursor"].as_str().unwrap();
    assert_eq!(list(&test, KEEPER, &format!(r#""cursor":"{of_resources}""#)).await, FOREIGN);
    let of_books = issued(&test).await;
    assert_eq!(
        test.ask(KEEPER, "resources/list", &format!(r#"{{"cursor":"{of_books}"}}"#)).await,
        FOREIGN.replace("tool book.list", "method")
    );
}

#[tokio::test]
async fn a_cursor_expires_after_a_day() {
    let test = TestDesk::stocked();
    let cursor = issued(&test).await;
    let next = format!(r#""cursor":"{cursor}""#);
    test.clock.advance(24 * 60 * 60 * 1000 - 1);
    assert_eq!(page(&list(&test, READER, &next).await).0, ["b1"]);
    test.clock.advance(1);
    assert_eq!(list(&test, READER, &next).await, FOREIGN);
}

#[tokio::test]
async fn every_changed_bit_and_every_cut_is_refused() {
    let test = TestDesk::stocked();
    let cursor = issued(&test).await;
    let sealed = URL_SAFE_NO_PAD.decode(&cursor).unwrap();
    let mut forged = vec![String::from("A"), format!("{cursor}="), format!("{cursor}A"), "x".repeat(3999)];
    forged.extend((1..cursor.len()).map(|length| cursor[..length].to_owned()));
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        forged.push(URL_SAFE_NO_PAD.encode(changed));
    }
    for (position, letter) in cursor.char_indices() {
        let other = if letter == 'A' { "B" } else { "A" };
        forged.push(format!("{}{other}{}", &cursor[..position], &cursor[position + 1..]));
    }
    assert!(forged.len() > 900);
    for forged in forged {
        // A flood of forgeries is not what is tested here.
        test.clock.advance(10);
        assert_eq!(list(&test, READER, &format!(r#""cursor":"{forged}""#)).await, FOREIGN, "{forged}");
    }
}

#[tokio::test]
async fn nothing_can_be_read_in_a_cursor_and_its_length_tells_nothing() {
    let test = TestDesk::new();
    for id in ["bookcanary1", "bookcanary2", "bookcanary3"] {
        test.store.put("north", &BOOK, tools::book(id, "Titlecanary", "novel", 1, 1, 1));
    }
    let short = page(&list(&test, READER, r#""genre":"novel""#).await).1.unwrap();
    let long = page(&list(&test, READER, r#""genre":"novel","title":"titlecanary""#).await).1.unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&long).unwrap();
    for readable in ["canary", "novel", "genre", "title", "north", "book"] {
        assert!(!long.contains(readable));
        assert!(!bytes.windows(readable.len()).any(|window| window.eq_ignore_ascii_case(readable.as_bytes())));
    }
    let bare = page(&list(&test, READER, "").await).1.unwrap();
    assert_eq!((bare.len(), short.len()), (123, 123));
    let again = page(&list(&test, READER, r#""genre":"novel""#).await).1.unwrap();
    assert_ne!(short, again, "the same place must not look the same twice");
}
