//! Which texts are idempotency keys, and that a key shows itself to nobody.

use frontdesk_engine::model::fault::FaultKind;
use frontdesk_engine::model::idempotency_key::IdempotencyKey;

#[test]
fn a_key_has_1_to_255_printable_ascii_characters_and_no_space() {
    for text in ["k", "!", "~", "0a6b-Z_:/=", &"k".repeat(255)] {
        assert_eq!(IdempotencyKey::parse(text).unwrap().as_str(), text);
    }
    for text in ["", " ", "a b", "k\t", "\u{7f}", "é", &"k".repeat(256)] {
        assert_eq!(IdempotencyKey::parse(text), None, "{text:?}");
    }
}

#[test]
fn a_bad_key_is_refused_at_the_argument_and_not_repeated() {
    let fault = IdempotencyKey::read("can ary", "request_key").unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidArgument);
    assert_eq!(
        fault.message,
        "The argument at /request_key is not valid: an idempotency key has 1 to 255 printable ASCII characters without \
         spaces."
    );
    let [problem] = fault.problems.as_slice() else { panic!("{fault:?}") };
    assert_eq!((problem.pointer.as_str(), problem.keyword), ("/request_key", "pattern"));
    assert_eq!(problem.expected, "an idempotency key has 1 to 255 printable ASCII characters without spaces");
}

#[test]
fn a_key_is_printed_as_stars() {
    assert_eq!(format!("{:?}", IdempotencyKey::parse("canary")), "Some(***)");
}
