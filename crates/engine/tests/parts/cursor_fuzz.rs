//! A fuzz target: no text opens as a cursor unless it was issued here.

use bolero::check;
use frontdesk_engine::FaultKind;
use frontdesk_engine::cursor::{CursorScope, CursorState, issue, open};
use frontdesk_engine::model::page::PageKey;
use frontdesk_engine::seal::SealKey;
use frontdesk_testkit::{TestClock, TestRandom};

const INPUTS: usize = 5_000;

#[test]
fn fuzz_cursor() {
    let key = SealKey::from_bytes([1; 32]);
    let scope = CursorScope { contract: "library", tenant: "north", tool: "book.list" };
    let state =
        CursorState { filter: serde_json::Map::new(), key: PageKey { value: 7, id: "b1".to_owned() }, limit: 2 };
    let issued = issue(&key, &TestRandom::default(), TestClock::START, scope, &state).unwrap();
    assert_eq!(open(&key, TestClock::START, scope, &issued).unwrap(), state);
    check!().with_iterations(INPUTS).for_each(|bytes: &[u8]| {
        // As it is, and in place of the beginning of a cursor.
        let text = String::from_utf8_lossy(bytes);
        let start = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).take_while(|at| *at <= 8).last();
        let start = text.get(..start.unwrap_or(0)).unwrap_or_default();
        let forged = format!("{start}{}", issued.get(start.len()..).unwrap_or_default());
        for cursor in [&*text, &forged] {
            match open(&key, TestClock::START, scope, cursor) {
                Ok(_) => assert_eq!(cursor, issued),
                Err(fault) => assert_eq!(fault.kind, FaultKind::InvalidCursor),
            }
        }
    });
}
