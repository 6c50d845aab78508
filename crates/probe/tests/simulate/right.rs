//! A partner that is right, and what the command itself refuses.

use crate::partner::Defect;
use crate::partner_server::PartnerServer;

/// The points, without the table of figures before them.
pub(crate) fn points(text: &str) -> &str {
    &text[text.find(['✓', '✗', '–']).unwrap()..]
}

#[test]
fn a_partner_that_is_right_passes_and_keeps_no_booking() {
    let server = PartnerServer::start(Defect::None);
    let report = server.simulate_and_receive(&[]);
    let expected = "\
✓  1. registration: sandbox_ok, 4 tools called
✓  2. every answer is the intent's: 4 booked
✓  3. a repeated create answers the same booking: 5 repeats
✓  4. tracking answers in the form of §5: 12 times
✓  5. TOMO's pauses are enough for every limit: 1 call was limited
✓  6. the tools are the same after 24 hours
✓  7. latency within the targets
✓  8. completions are reported, signed and right: 4 completed
✓  9. nothing is left booked

9 passed, 0 failed, 0 not checked";
    assert_eq!(points(&report.text), expected);
    assert_eq!(report.failed, 0);
    assert_eq!(server.partner.lock().unwrap().open(), 0, "everything is cancelled again");
    let figures: Vec<&str> = report.text.lines().take(5).map(|line| &line[..6]).collect();
    assert_eq!(figures, ["kind  ", "search", "create", "track ", "cancel"]);
    let lines: Vec<serde_json::Value> = report.json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["status"] == "passed").count(), 9);
    assert_eq!(lines.iter().filter(|line| line["millis"]["p95"].is_number()).count(), 4);
}

#[test]
fn completions_that_were_refused_come_again() {
    let server = PartnerServer::start(Defect::None);
    let report = server.simulate_and_receive(&[("fail-first", "3")]);
    assert_eq!(report.failed, 0, "{}", report.text);
    assert!(report.text.contains("✓  8. completions are reported, signed and right: 4 completed\n"), "{}", report.text);
}

#[test]
fn what_was_not_tried_is_not_called_checked() {
    let server = PartnerServer::start(Defect::None);
    let report = server.simulate(&[("tracks", "0")]).unwrap();
    assert_eq!(report.failed, 0);
    let text = points(&report.text);
    for line in [
        "–  4. tracking answers in the form of §5: not checked\n      not checked: nothing was tracked\n",
        "–  8. completions are reported, signed and right: not checked\n      \
         not checked: --receive takes them; it was not given\n",
        "7 passed, 0 failed, 2 not checked",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let server = PartnerServer::start(Defect::None);
    let report = server.simulate_and_receive(&[("fail-first", "50"), ("sessions", "1")]);
    assert!(report.text.contains("of --fail-first 50 came"), "{}", report.text);
}

#[test]
fn wrong_arguments_are_explained() {
    let server = PartnerServer::start(Defect::None);
    for (options, reason) in [
        (vec![("sessions", "0")], "--sessions takes a number from 1 to 2000"),
        (vec![("speed", "fast")], "--speed takes a number from 1 to 100"),
        (vec![("fail-first", "1")], "--fail-first belongs to --receive: name the address, too"),
        (vec![("receive", "localhost")], "--receive takes an address and a port, such as 127.0.0.1:9443"),
        (vec![("receive", "127.0.0.1:0")], "--receive needs --receive-cert and --receive-key, or --receive-ca"),
        (vec![("receive", "127.0.0.1:0"), ("receive-ca", "x")], "--receive needs --cpc-key-file"),
    ] {
        assert_eq!(server.simulate(&options).unwrap_err(), reason);
    }
}
