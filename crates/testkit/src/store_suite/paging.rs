//! Windows onto an order: every row once, whole, and a next place exactly when there is one.

use frontdesk_engine::model::page::{Direction, Order, Page, PageKey, Projection, Query, Start, Window};
use frontdesk_engine::model::table::Row;

use super::boats::{BY_LENGTH, add, boat, query, walk};
use super::{StoreUnderTest, north};

pub async fn rows_come_in_the_order_asked_for(subject: &StoreUnderTest) {
    let rows = [("b3", 7, 30), ("b1", 9, 20), ("b4", 7, 20), ("b2", 8, 10)];
    let rows = rows.map(|(id, length, created_at)| Row { created_at, ..boat(id, length) });
    add(&*subject.store, &north(), rows).await;
    let cases = [
        ("length", Direction::Ascending, ["b3", "b4", "b2", "b1"]),
        ("length", Direction::Descending, ["b1", "b2", "b4", "b3"]),
        ("created_at", Direction::Ascending, ["b2", "b1", "b4", "b3"]),
        ("created_at", Direction::Descending, ["b3", "b4", "b1", "b2"]),
    ];
    for (column, direction, expected) in cases {
        let wanted = Query { order: Order { column, direction }, projection: Projection::Ids, ..query(Vec::new()) };
        let page = subject.store.page(&north(), wanted).await.unwrap();
        assert_eq!(page.rows, expected, "{column} {direction:?}");
    }
}

pub async fn a_walk_over_equal_values_meets_each_row_once(subject: &StoreUnderTest) {
    // Twenty boats of only three lengths.
    let rows = (0..20).map(|number| boat(&format!("b{number:02}"), 7 + number % 3));
    add(&*subject.store, &north(), rows).await;
    for direction in [Direction::Ascending, Direction::Descending] {
        let order = Order { column: "length", direction };
        let all = subject.store.page(&north(), sized(order, 1_000)).await.unwrap();
        assert_eq!((all.rows.len(), all.next), (20, None));
        for limit in [1, 2, 3, 7, 19] {
            let walked = joined(&walk(&*subject.store, &north(), sized(order, limit)).await);
            assert_eq!(walked, all.rows, "{direction:?} by {limit}");
        }
    }
}

pub async fn a_walk_meets_each_old_row_once_while_rows_are_inserted(subject: &StoreUnderTest) {
    for direction in [Direction::Ascending, Direction::Descending] {
        let name = direction_letter(direction);
        let old: Vec<String> = (0..12).map(|number| format!("{name}{number:02}")).collect();
        add(&*subject.store, &north(), old.iter().map(|id| boat(id, 7))).await;
        let mut wanted = sized(Order { column: "length", direction }, 3);
        let mut seen: Vec<String> = Vec::new();
        for round in 0.. {
            let page = subject.store.page(&north(), wanted.clone()).await.unwrap();
            seen.extend(page.rows);
            // One before, one among and one after where the walk stands.
            let new = [6, 7, 8].map(|length| boat(&format!("{name}{round:02}x{length}"), length));
            add(&*subject.store, &north(), new).await;
            match page.next {
                Some(key) if round < 40 => wanted.window.start = Start::After(key),
                Some(_) | None => break,
            }
        }
        for id in &old {
            assert_eq!(seen.iter().filter(|met| *met == id).count(), 1, "{id} {direction:?}");
        }
        let mut unique = seen.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), seen.len(), "nothing comes twice");
    }
}

pub async fn a_last_page_that_is_exactly_full_has_no_next(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), (1..=6).map(|number| boat(&format!("b{number}"), number))).await;
    let sizes = |pages: &[Page]| pages.iter().map(|page| page.rows.len()).collect::<Vec<_>>();
    assert_eq!(sizes(&walk(&*subject.store, &north(), sized(BY_LENGTH, 3)).await), [3, 3]);
    assert_eq!(sizes(&walk(&*subject.store, &north(), sized(BY_LENGTH, 6)).await), [6]);
    assert_eq!(sizes(&walk(&*subject.store, &north(), sized(BY_LENGTH, 4)).await), [4, 2]);
    let first = subject.store.page(&north(), sized(BY_LENGTH, 3)).await.unwrap();
    assert_eq!(first.next, Some(PageKey { value: 3, id: "b3".to_owned() }));
}

pub async fn a_byte_budget_gives_fewer_whole_rows_and_where_to_go_on(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), (1..=5).map(|number| boat(&format!("b{number}"), number))).await;
    // Each row is 39 bytes long: {"id":"b1","length":1,"owner":"A***"}.
    let budget = |bytes| {
        let mut wanted = query(Vec::new());
        wanted.window.bytes = bytes;
        wanted
    };
    let page = subject.store.page(&north(), budget(100)).await.unwrap();
    assert_eq!(page.rows, [r#"{"id":"b1","length":1,"owner":"A***"}"#, r#"{"id":"b2","length":2,"owner":"A***"}"#,]);
    assert_eq!(page.next, Some(PageKey { value: 2, id: "b2".to_owned() }));
    let pages = walk(&*subject.store, &north(), budget(100)).await;
    assert_eq!(pages.iter().map(|page| page.rows.len()).collect::<Vec<_>>(), [2, 2, 1]);
    let exact = page.rows.iter().map(String::len).sum::<usize>() / 2 * 5;
    let whole = subject.store.page(&north(), budget(exact)).await.unwrap();
    assert_eq!((whole.rows.len(), whole.next), (5, None));
}

pub async fn a_row_larger_than_the_budget_still_comes(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 1), boat("b2", 2)]).await;
    let mut wanted = query(Vec::new());
    wanted.window.bytes = 1;
    let pages = walk(&*subject.store, &north(), wanted).await;
    assert_eq!(joined(&pages).len(), 2);
    assert_eq!(pages.len(), 2);
}

pub async fn ids_alone_can_be_asked_for(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b2", 1), boat("b1", 2), boat("b3", 3)]).await;
    let wanted = Query { projection: Projection::Ids, ..sized(BY_LENGTH, 2) };
    let page = subject.store.page(&north(), wanted).await.unwrap();
    assert_eq!(page.rows, ["b2", "b1"]);
    assert_eq!(page.next, Some(PageKey { value: 2, id: "b1".to_owned() }));
}

pub async fn an_offset_skips_rows(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), (1..=5).map(|number| boat(&format!("b{number}"), number))).await;
    let from = |offset| {
        let mut wanted = Query { projection: Projection::Ids, ..sized(BY_LENGTH, 2) };
        wanted.window.start = Start::Offset(offset);
        wanted
    };
    assert_eq!(subject.store.page(&north(), from(0)).await.unwrap().rows, ["b1", "b2"]);
    let page = subject.store.page(&north(), from(3)).await.unwrap();
    assert_eq!((page.rows, page.next), (vec!["b4".to_owned(), "b5".to_owned()], None));
    assert_eq!(subject.store.page(&north(), from(5)).await.unwrap(), Page::default());
    assert_eq!(subject.store.page(&north(), from(u64::MAX)).await.unwrap(), Page::default());
}

pub async fn listed_rows_are_masked_and_whole(subject: &StoreUnderTest) {
    let bare = Row { masked: None, personal: None, ..boat("b2", 8) };
    add(&*subject.store, &north(), [boat("b1", 7), bare]).await;
    let page = subject.store.page(&north(), query(Vec::new())).await.unwrap();
    assert_eq!(page.rows, [r#"{"id":"b1","length":7,"owner":"A***"}"#, r#"{"id":"b2","length":8}"#]);
}

pub async fn a_page_names_the_rows_that_have_a_masked_part(subject: &StoreUnderTest) {
    let bare = Row { masked: None, personal: None, ..boat("b2", 8) };
    add(&*subject.store, &north(), [boat("b1", 7), bare, boat("b3", 9), boat("b4", 10)]).await;
    let all = subject.store.page(&north(), query(Vec::new())).await.unwrap();
    assert_eq!((all.rows.len(), all.ids), (4, vec!["b1".to_owned(), "b3".to_owned(), "b4".to_owned()]));
    // Only rows that are on the page: neither the one that shows there is more, nor one beyond the budget.
    let three = Query { projection: Projection::Rows, ..sized(BY_LENGTH, 3) };
    assert_eq!(subject.store.page(&north(), three).await.unwrap().ids, ["b1", "b3"]);
    let mut small = query(Vec::new());
    small.window.bytes = 70;
    assert_eq!(subject.store.page(&north(), small).await.unwrap().ids, ["b1"]);
    // Who asked for ids has seen nothing of the rows.
    let bare = subject.store.page(&north(), sized(BY_LENGTH, 3)).await.unwrap();
    assert_eq!((bare.rows.len(), bare.ids), (3, Vec::new()));
}

pub async fn a_row_without_a_sort_value_sorts_as_zero(subject: &StoreUnderTest) {
    let mut unmeasured = boat("b2", 0);
    unmeasured.cells.retain(|(name, _)| *name != "length");
    add(&*subject.store, &north(), [boat("b1", -1), unmeasured, boat("b3", 1)]).await;
    let wanted = Query { projection: Projection::Ids, ..sized(BY_LENGTH, 1) };
    assert_eq!(joined(&walk(&*subject.store, &north(), wanted).await), ["b1", "b2", "b3"]);
}

pub async fn a_limit_beyond_all_bounds_is_no_error(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    for limit in [i64::MAX as usize, usize::MAX] {
        let page = subject.store.page(&north(), sized(BY_LENGTH, limit)).await.unwrap();
        assert_eq!((page.rows.len(), page.next), (1, None));
    }
    let none = subject.store.page(&north(), sized(BY_LENGTH, 0)).await.unwrap();
    assert_eq!(none, Page::default());
}

fn sized(order: Order, limit: usize) -> Query {
    let window = Window { start: Start::First, limit, bytes: 1_000_000 };
    Query { order, window, projection: Projection::Ids, ..query(Vec::new()) }
}

fn joined(pages: &[Page]) -> Vec<String> {
    pages.iter().flat_map(|page| page.rows.clone()).collect()
}

fn direction_letter(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "r",
        Direction::Descending => "f",
    }
}
