//! A stream that stays open: what is sent when, and everything that ends it.

use std::time::Duration;

use frontdesk_engine::desk::Streaming;
use frontdesk_engine::limits::streams::{StreamEnd, StreamLimits};
use frontdesk_engine::model::observation::Streamed;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::{Desk, Fault, FaultKind};

use crate::support::requests::post;
use crate::support::watching::{LONG, ON_CHANGE, Stream, WatchDesk, watch};
use crate::support::{CLERK, KEEPER, READER, TestDesk, timeless};

const TOKEN: &str = r#""progressToken":"t""#;

fn progress(done: u32) -> String {
    format!(
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":\"t\",\"progress\":{done},\"total\":3,\"message\":\"Step {done}\"}}}}\n\n"
    )
}

fn answer(done: u32) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"item\":{{\"id\":\"b1\", \"done\":{done}}}}}}}\n\n")
}

fn ended(desk: &WatchDesk, end: StreamEnd) -> u64 {
    desk.test.desk.inflight.streams.ended().iter().find(|(known, _)| *known == end).unwrap().1
}

/// Nothing is left of it, and it has ended in this way.
fn assert_ended(desk: &WatchDesk, end: StreamEnd) {
    assert_eq!((desk.test.desk.inflight.streams.open(), ended(desk, end)), (0, 1));
}

async fn opened(desk: &WatchDesk, who: &str) -> Stream {
    let mut stream = desk.listen(who, "1", TOKEN);
    assert_eq!(stream.next().await, Some(progress(0)));
    stream
}

#[tokio::test]
async fn a_change_is_told_when_it_happens_and_the_end_ends_the_stream() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    assert!(stream.head.is_some());
    assert_eq!(desk.test.desk.inflight.streams.open(), 1);
    assert!(desk.test.calls.outcomes().is_empty(), "its record ends with it");
    desk.moves_to(1);
    assert_eq!(stream.next().await, Some(progress(1)));
    desk.moves_to(3);
    assert_eq!(stream.next().await, Some(progress(3) + &answer(3)));
    assert_eq!(stream.next().await, None);
    assert_ended(&desk, StreamEnd::Complete);
    let last = desk.test.calls.last();
    assert_eq!((last.streamed, last.outcome, last.status), (Streamed::Held, "ok", Some(200)));
    assert_eq!(
        desk.test.records().last().map(|line| timeless(line)).unwrap(),
        r#"{"at":"2026-01-01T00:00:00Z","trace":"t1","contract":"library","client":"reader","address":"192.0.2.1","method":"tools/call","tool":"book.watch","tenant":"north","outcome":"ok","ids":["b1"],"streamed":true}"#
    );
}

#[tokio::test]
async fn what_is_told_only_grows() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    desk.moves_to(2);
    assert_eq!(stream.next().await, Some(progress(2)));
    for (looks, done) in [(3, 1), (4, 2)] {
        desk.moves_to(done);
        stream.until_looked(&desk.loan, looks).await;
    }
    desk.moves_to(3);
    assert_eq!(stream.next().await, Some(progress(3) + &answer(3)));
}

#[tokio::test]
async fn without_a_token_only_the_answer_is_sent() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = desk.listen(READER, "1", "");
    stream.settle().await;
    desk.moves_to(1);
    stream.settle().await;
    desk.moves_to(3);
    assert_eq!(stream.next().await, Some(answer(3)));
}

#[tokio::test]
async fn it_looks_from_time_to_time_without_being_woken() {
    let desk = WatchDesk::new(Streaming { longest_pause: Duration::from_millis(5), ..ON_CHANGE });
    let mut stream = opened(&desk, READER).await;
    // As another node would: nobody here is told.
    *desk.loan_done() = 1;
    assert_eq!(stream.next().await, Some(progress(1)));
}

#[tokio::test]
async fn it_does_not_look_more_often_than_it_may() {
    let desk = WatchDesk::new(Streaming { shortest_pause: LONG, ..ON_CHANGE });
    let mut stream = opened(&desk, READER).await;
    for _ in 0..100 {
        desk.note();
        stream.settle().await;
    }
    assert_eq!(desk.loan.looks(), 1);
}

#[tokio::test]
async fn silence_is_broken_by_comments() {
    let desk = WatchDesk::new(Streaming { heartbeat: Duration::from_millis(5), ..ON_CHANGE });
    let mut stream = opened(&desk, READER).await;
    for _ in 0..3 {
        assert_eq!(stream.next().await.as_deref(), Some(": waiting\n\n"));
    }
    assert_eq!(desk.loan.looks(), 1, "a comment is no look");
}

#[tokio::test]
async fn its_time_is_limited() {
    let desk = WatchDesk::new(Streaming { time: Duration::from_millis(5), ..ON_CHANGE });
    let mut stream = opened(&desk, READER).await;
    assert_eq!(stream.next().await, Some(answer(0)));
    assert_ended(&desk, StreamEnd::TimeUp);
}

#[tokio::test]
async fn a_caller_who_goes_away_ends_it() {
    let desk = WatchDesk::new(ON_CHANGE);
    let stream = opened(&desk, READER).await;
    drop(stream);
    assert_ended(&desk, StreamEnd::Closed);
    assert_eq!(desk.test.calls.outcomes(), ["cancelled"]);
    desk.moves_to(1);
    tokio::task::yield_now().await;
    assert_eq!(desk.loan.looks(), 1);
}

#[tokio::test]
async fn a_caller_who_does_not_read_costs_one_event() {
    let desk = WatchDesk::new(Streaming { longest_pause: Duration::ZERO, ..ON_CHANGE });
    let mut stream = desk.listen(READER, "1", TOKEN);
    // The first event waits to be taken, and the second look for it.
    for done in 0..100 {
        *desk.loan_done() = done % 3;
        stream.settle().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(desk.loan.looks() <= 3, "{} looks", desk.loan.looks());
    assert_eq!(stream.next().await, Some(progress(0)));
}

#[tokio::test]
async fn its_caller_cancels_it() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    let cancel = |who| post(who, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    desk.test.serve(cancel(KEEPER)).await;
    stream.settle().await;
    desk.test.serve(cancel(READER)).await;
    assert_eq!(stream.next().await, None, "a cancelled request gets no answer");
    assert_ended(&desk, StreamEnd::Cancelled);
    assert_eq!(desk.test.calls.last().outcome, "cancelled");
}

#[tokio::test]
async fn a_look_that_fails_ends_it_with_an_error() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    desk.fails(Fault::unavailable("the store sleeps"));
    assert_eq!(
        stream.next().await.as_deref(),
        Some(
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"The service cannot do this right now; nothing was changed. Try again.\",\"data\":{\"fault\":\"unavailable\",\"at\":\"tool book.watch\",\"retry_after\":1}}}\n\n"
        )
    );
    assert_eq!(stream.next().await, None);
    assert_ended(&desk, StreamEnd::Failed);
    let last = desk.test.calls.last();
    assert_eq!((last.outcome, last.status), ("unavailable", Some(200)), "the status was sent before");
}

#[tokio::test]
async fn a_look_that_hangs_ends_at_the_deadline_of_a_call() {
    let settings =
        frontdesk_engine::desk::DeskSettings { deadline: Duration::from_millis(20), ..crate::support::SETTINGS };
    let desk = WatchDesk::on(TestDesk::with(settings).stock(), ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    desk.test.callers.sleep();
    desk.note();
    let last = stream.next().await.unwrap();
    assert!(last.contains("This took too long. Try again, or ask for less."), "{last}");
}

#[tokio::test]
async fn a_credential_that_changes_ends_it() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, KEEPER).await;
    desk.test.callers.narrow();
    desk.note();
    assert_eq!(
        stream.next().await.as_deref(),
        Some(
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":401,\"message\":\"The request was refused\",\"data\":{\"fault\":\"unauthenticated\",\"at\":\"tool book.watch\"}}}\n\n"
        )
    );
    assert_ended(&desk, StreamEnd::Failed);
}

#[tokio::test]
async fn maintenance_ends_it() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    desk.test.mount.maintenance.turn_on();
    desk.note();
    assert!(stream.next().await.unwrap().contains("closed for maintenance"));
}

#[tokio::test]
async fn the_end_of_the_server_is_the_end_of_all_streams() {
    let desk = WatchDesk::new(ON_CHANGE);
    let mut stream = opened(&desk, READER).await;
    desk.test.desk.inflight.streams.close();
    assert_eq!(stream.next().await, Some(answer(0)));
    assert_ended(&desk, StreamEnd::Shutdown);
    // One that begins now has one look.
    let mut late = desk.listen(READER, "1", TOKEN);
    assert_eq!(late.next().await, Some(progress(0)));
    assert_eq!(late.next().await, Some(answer(0)));
}

#[tokio::test]
async fn too_many_are_refused() {
    let test = TestDesk::stocked();
    let inflight = test.desk.inflight.with_stream_limits(StreamLimits { total: 3, per_client: 2 });
    let desk = WatchDesk::on(TestDesk { desk: Desk { inflight, ..test.desk }, ..test }, ON_CHANGE);
    let first = opened(&desk, READER).await;
    let _second = opened(&desk, READER).await;
    let mut third = desk.listen(READER, "1", TOKEN);
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Too many calls; wait before the next one.","data":{"fault":"rate_limited","at":"tool book.watch","retry_after":4}}}"#;
    assert_eq!(third.next().await.as_deref(), Some(refusal));
    assert_eq!(third.head, None, "it is no stream");
    let _other = opened(&desk, KEEPER).await;
    assert_eq!(desk.listen(CLERK, "1", TOKEN).next().await.as_deref(), Some(refusal), "all together have a limit");
    drop(first);
    let _again = opened(&desk, CLERK).await;
    let limited = desk.test.calls.outcomes();
    assert_eq!(limited.iter().filter(|outcome| **outcome == FaultKind::RateLimited.as_str()).count(), 2);
}

#[tokio::test]
async fn the_head_has_the_trace_of_the_message() {
    let desk = WatchDesk::new(ON_CHANGE);
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let body = watch("1", &format!(r#"{TOKEN},"traceparent":"{traceparent}""#));
    let mut stream = desk.listen_with(post(READER, &body));
    stream.next().await.unwrap();
    let trace = Trace::parse_traceparent(traceparent).unwrap();
    assert_eq!(stream.head.unwrap().trace.as_deref(), Some(trace.display_id()));
}
