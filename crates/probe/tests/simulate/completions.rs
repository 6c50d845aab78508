//! A partner that reports completions wrongly in one way: what is said about it.

use crate::answers::failures;
use crate::partner::Defect;
use crate::partner_server::PartnerServer;

/// The point about completions fails, alone, and its first problem contains this.
fn fails(defect: Defect, options: &[(&'static str, &str)], reason: &str) {
    let server = PartnerServer::start(defect);
    let report = server.simulate_and_receive(options);
    let found = failures(&report.text);
    let points: Vec<&str> = found.iter().map(|(point, _)| &point[..50.min(point.len())]).collect();
    assert_eq!(found.len(), 1, "{defect:?}: {points:?}\n{}", report.text);
    assert!(found[0].0.starts_with("✗  8. completions are reported, signed and right"), "{defect:?}: {points:?}");
    assert!(report.text.contains(reason), "{defect:?}: {}", report.text);
    assert_eq!(report.failed, 1);
}

#[test]
fn a_delivery_to_another_place_or_in_another_form_is_named() {
    let path = "a completion: the path is /api/v1/cpc/mcp_provider/somebody; \
                /api/v1/cpc/mcp_provider/tables was declared.";
    fails(Defect::OtherPath, &[], path);
    fails(Defect::OtherMedia, &[], "a completion: the Content-Type is not application/json.");
}

#[test]
fn a_wrong_signature_or_time_is_named() {
    fails(
        Defect::OtherKey,
        &[],
        "X-TOMO-Signature is not the HMAC-SHA256 of timestamp.body with the key: 401 SIGNATURE_INVALID.",
    );
    fails(Defect::Seconds, &[], "X-TOMO-Timestamp is no time in milliseconds (13 digits): 401 SIGNATURE_INVALID.");
    fails(Defect::Outdated, &[], "X-TOMO-Timestamp is 301 seconds off; 300 are allowed: 401 SIGNATURE_INVALID.");
}

#[test]
fn a_key_that_was_replaced_counts_for_a_day() {
    let server = PartnerServer::start(Defect::OldKey);
    let report = server.simulate_and_receive(&[]);
    let refused = "it is signed with a key that was replaced 24 hours ago: 401 SIGNATURE_INVALID.";
    assert!(report.text.contains(refused), "{}", report.text);
    // Those before were accepted, and one problem is said once.
    assert!(report.text.contains("no completion came within 2 seconds for b_5."), "{}", report.text);
    assert_eq!(report.text.matches(refused).count(), 1, "{}", report.text);
}

#[test]
fn each_end_is_reported_once_and_nothing_else_is() {
    fails(Defect::Silent, &[], "no completion came within 2 seconds for b_");
    fails(Defect::ReportsOpen, &[], "it says that the order was cancelled, which it was not.");
    fails(Defect::OtherBody, &[], "it came before with another body.");
}

#[test]
fn what_a_completion_must_not_be_is_named() {
    fails(Defect::ExtraMember, &[], "partner is none of the nine fields.");
    fails(Defect::FractionalAmount, &[], "amount_inr is no whole number of rupees.");
    fails(Defect::OtherStatus, &[], "the status done is none of table_used, table_cancelled, table_failed.");
    fails(Defect::OtherRequest, &[], "request_id is req_of_nobody; the order was dispatched as req_sim_");
}

#[test]
fn who_does_not_try_again_as_it_must_is_named() {
    fails(Defect::GivesUp, &[("fail-first", "2")], "no completion came within 2 seconds for b_");
    fails(Defect::SameStamp, &[("fail-first", "1")], "it came again with the timestamp of the first try.");
}
