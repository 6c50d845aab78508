//! Ids sort by the time they were made at.

use std::collections::HashSet;

use crate::support::TestDesk;

#[test]
fn ids_made_later_sort_after_earlier_ones() {
    let test = TestDesk::new();
    let mut ids = Vec::new();
    for step in [0, 1, 1, 30, 1000, 86_400_000, 31_536_000_000] {
        test.clock.advance(step + 1);
        ids.push(test.desk.new_id("bk"));
    }
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(ids, sorted);
}

#[test]
fn ids_of_one_instant_differ_in_their_random_part_only() {
    let test = TestDesk::new();
    let ids: HashSet<String> = (0..1000).map(|_| test.desk.new_id("bk")).collect();
    assert_eq!(ids.len(), 1000);
    // 2026-01-01T00:00:00Z in the first ten of the 26 letters.
    assert!(ids.iter().all(|id| id.len() == 29 && id.starts_with("bk_01kdvdna00")), "{:?}", ids.iter().next());
    let plain = |letter: u8| letter.is_ascii_digit() || letter.is_ascii_lowercase();
    assert!(ids.iter().all(|id| id.bytes().skip(3).all(plain)));
}
