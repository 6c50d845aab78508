//! A partner that answers calls wrongly in one way: the point that fails, with its words.

use crate::partner::Defect;
use crate::partner_server::PartnerServer;
use crate::right::points;

/// Each point that failed, and the first line of why.
pub(crate) fn failures(text: &str) -> Vec<(String, String)> {
    let mut lines = points(text).lines().peekable();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with('✗') {
            found.push((line.to_owned(), lines.peek().map(|next| next.trim().to_owned()).unwrap_or_default()));
        }
    }
    found
}

/// The partner with this defect fails this point and no other, and what is said about it begins so.
fn fails(defect: Defect, (point, reason): (&str, &str)) {
    let server = PartnerServer::start(defect);
    let report = server.simulate(&[]).unwrap();
    let found = failures(&report.text);
    assert_eq!((found.len(), report.failed), (1, 1), "{defect:?}: {found:?}");
    assert_eq!(found[0].0, point, "{defect:?}");
    assert!(found[0].1.starts_with(reason), "{defect:?}: {found:?}");
}

const ANSWERS: &str = "✗  2. every answer is the intent's";
const REPEATS: &str = "✗  3. a repeated create answers the same booking";
const TRACKING: &str = "✗  4. tracking answers in the form of §5";
const LIMITS: &str = "✗  5. TOMO's pauses are enough for every limit";

#[test]
fn a_registration_that_fails_ends_the_run() {
    let server = PartnerServer::start(Defect::NoMeta);
    let report = server.simulate(&[]).unwrap();
    let text = &report.text;
    assert!(
        text.starts_with("✗  1. registration\n      probe_failed: create_booking: _meta.tomo is missing"),
        "{text}"
    );
    assert_eq!(text.matches("not checked: the registration failed").count(), 8, "{text}");
    assert_eq!(server.partner.lock().unwrap().bookings.len(), 0);
}

#[test]
fn answers_that_are_not_the_intents_are_named() {
    fails(Defect::ExtraField, (ANSWERS, "search_tables: /tables/0/seats is not in the response shape."));
    fails(Defect::Forbidden, (ANSWERS, "search_tables: the answer has /result/content/0/text/tables/0/adBid."));
    fails(Defect::EchoesToken, (ANSWERS, "search_tables: the answer repeats a secret."));
    fails(Defect::FreeCode, (ANSWERS, "search_tables: error -32602 SOLD OUT, SORRY: no."));
}

#[test]
fn a_repeat_that_is_another_booking_is_named() {
    fails(
        Defect::BooksTwice,
        (REPEATS, "create_booking: a repeat with the same idempotency_key answered the booking_ref b_"),
    );
    fails(Defect::KeepsStatus, (REPEATS, "create_booking: a repeat after the cancellation has the status "));
}

#[test]
fn a_stream_in_another_form_is_named() {
    fails(Defect::ForeignProgress, (TRACKING, "track_booking: progress came without the progressToken of the call."));
    fails(
        Defect::TalksOn,
        (TRACKING, "track_booking: 1 more came after the response, which must be the last message."),
    );
    fails(Defect::StaysOpen, (TRACKING, "track_booking: the stream was not ended after the response."));
}

#[test]
fn limits_that_tomo_cannot_wait_for_are_named() {
    let report = PartnerServer::start(Defect::LimitsForEver).simulate(&[]).unwrap();
    let dropped = "search_tables: RATE_LIMITED after 5 retries: listing dropped, falls back to another partner.";
    assert!(report.text.contains(dropped) && report.failed == 2, "{}", report.text);
    assert_eq!(failures(&report.text)[0], (ANSWERS.to_owned(), "no session could book.".to_owned()));
    fails(Defect::LimitsAgain, (LIMITS, "search_tables: it was limited again after its own Retry-After of 1 s."));
    fails(Defect::NoRetryAfter, (LIMITS, "search_tables: RATE_LIMITED comes without Retry-After in seconds."));
    fails(Defect::LongRetryAfter, (LIMITS, "search_tables: Retry-After is 60."));
}

#[test]
fn tools_that_differ_a_day_later_are_named() {
    fails(
        Defect::Drifts,
        (
            "✗  6. the tools are the same after 24 hours",
            "search_tables: /_meta/tomo/pricing_band was \"good\", is \"great\".",
        ),
    );
}

#[test]
fn calls_that_take_longer_than_the_targets_are_named() {
    let server = PartnerServer::start(Defect::Slow);
    let report = server.simulate(&[]).unwrap();
    let found = failures(&report.text);
    assert_eq!(found.len(), 1, "{}", report.text);
    assert_eq!(found[0].0, "✗  7. latency within the targets");
    assert!(found[0].1.starts_with("search: p50 is "), "{found:?}");
}

#[test]
fn a_booking_that_cannot_be_cancelled_is_named() {
    let server = PartnerServer::start(Defect::NeverCancels);
    let report = server.simulate(&[]).unwrap();
    let found = failures(&report.text);
    let left = ("✗  9. nothing is left booked".to_owned(), "b_1 could not be cancelled.".to_owned());
    assert!(found.iter().any(|(point, _)| *point == left.0), "{}", report.text);
    assert_eq!(report.text.matches(" could not be cancelled.").count(), 3, "{}", report.text);
}
