//! Reading a `traceparent`: what is exactly one is taken, and nothing else is kept.

use frontdesk_engine::model::trace::{Sampling, Trace, TraceParent};

use crate::support::TestDesk;

const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

#[test]
fn a_traceparent_has_trace_parent_span_and_sampling() {
    let trace = |wish| {
        Some(Trace { id: ID.into(), name: None, parent: Some(TraceParent { span: SPAN.into(), sampling: wish }) })
    };
    for (text, wanted) in [
        (format!("00-{ID}-{SPAN}-01"), trace(Sampling::Sampled)),
        (format!("00-{ID}-{SPAN}-00"), trace(Sampling::Unsampled)),
        (format!("00-{ID}-{SPAN}-03"), trace(Sampling::Sampled)),
        (format!("00-{ID}-{SPAN}-02"), trace(Sampling::Unsampled)),
        // Of a version to come the beginning is read.
        (format!("01-{ID}-{SPAN}-01-more"), trace(Sampling::Sampled)),
        (format!("cc-{ID}-{SPAN}-01"), trace(Sampling::Sampled)),
    ] {
        assert_eq!(Trace::parse_traceparent(&text), wanted, "{text}");
    }
}

#[test]
fn what_is_not_exactly_a_traceparent_is_passed_over() {
    for text in [
        String::new(),
        "canary".to_owned(),
        format!("00-{ID}-{SPAN}"),
        format!("00-{ID}-{SPAN}-01-more"),
        format!("00-{ID}-{SPAN}-01-"),
        format!("ff-{ID}-{SPAN}-01"),
        format!("0-{ID}-{SPAN}-01"),
        format!("00-{}-{SPAN}-01", ID.to_uppercase()),
        format!("00-{}-{SPAN}-01", "0".repeat(32)),
        format!("00-{ID}-{}-01", "0".repeat(16)),
        format!("00-{ID}0-{SPAN}-01"),
        format!("00-{ID}-{SPAN}-1"),
        format!("00-{ID}-{SPAN}-0g"),
        format!(" 00-{ID}-{SPAN}-01"),
        format!("00-{}-{SPAN}-01", "é".repeat(16)),
    ] {
        assert_eq!(Trace::parse_traceparent(&text), None, "{text}");
    }
}

#[test]
fn a_new_trace_has_an_id_of_the_same_form() {
    let test = TestDesk::new();
    let (first, second) = (test.desk.new_trace(), test.desk.new_trace());
    assert_ne!(first, second);
    assert_eq!(Trace::parse_traceparent(&format!("00-{}-{SPAN}-01", first.id)).unwrap().id, first.id);
    assert_eq!(first.parent, None);
}

#[test]
fn a_trace_name_does_not_change_span_ids() {
    let begun = || Trace::new(ID);
    let named = |name: &str| Trace { id: ID.into(), name: Some(name.into()), parent: None };
    assert_eq!(begun().with_name("order-7:a/b"), named("order-7:a/b"));
    assert_eq!(begun().with_name(" \tx "), named("x"));
    assert_eq!(begun().with_name(&"x".repeat(128)), named(&"x".repeat(128)));
    assert_eq!(begun().with_name("x").display_id(), "x");
    assert_eq!(begun().display_id(), ID);
}

#[test]
fn a_name_in_the_form_of_an_id_is_the_id_of_the_spans_too() {
    let other = "0af7651916cd43dd8448eb211c80319c";
    let traceparent = format!("00-{ID}-{SPAN}-01");
    let above = || Trace::parse_traceparent(&traceparent).unwrap();
    assert_eq!(above().with_name(ID), Trace { name: Some(ID.into()), ..above() });
    // A span of another trace is nobody's parent.
    assert_eq!(above().with_name(other), Trace { id: other.into(), name: Some(other.into()), parent: None });
    for no_id in [other.to_uppercase(), "0".repeat(32)] {
        assert_eq!(above().with_name(&no_id), Trace { name: Some(no_id.into()), ..above() });
    }
}

#[test]
fn what_is_no_name_is_passed_over() {
    let long = "x".repeat(129);
    for text in ["", "  ", "a b", "a\"b", "a'b", "a\\b", "a`b", "a\nb", "a\u{7f}", "é", long.as_str()] {
        assert_eq!(Trace::new(ID).with_name(text), Trace::new(ID), "{text:?}");
    }
}
