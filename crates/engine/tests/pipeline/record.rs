//! Stage 10: what is remembered of a call.

use std::time::Duration;

use frontdesk_engine::model::incoming::{Incoming, Verb};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::Durability;
use frontdesk_engine::serve;
use frontdesk_wire::version::Era;

use crate::support::requests::{call, modern, post, rpc, with_verb};
use crate::support::{CLERK, KEEPER, READER, TRAVELLER, TestDesk, timeless};
use frontdesk_testkit::memory_store::InjectedFault;

fn line(client: &str, rest: &str) -> String {
    format!(
        r#"{{"at":"2026-01-01T00:00:00Z","trace":"t1","contract":"library","client":"{client}","address":"192.0.2.1",{rest}}}"#
    )
}

async fn hang_up(test: &TestDesk, incoming: Incoming) {
    let hung_up = tokio::time::timeout(Duration::from_millis(20), test.serve(incoming)).await;
    assert!(hung_up.is_err(), "{hung_up:?}");
}

#[tokio::test]
async fn every_call_leaves_one_line_without_argument_values() {
    let test = TestDesk::stocked();
    test.call(READER, "book.get", r#"{"id":"b2"}"#).await;
    test.call(READER, "book.list", r#"{"title":"emma"}"#).await;
    test.call(READER, "book.get", r#"{"id":"secret"}"#).await;
    test.call(READER, "book.lend", r#"{"id":"secret"}"#).await;
    test.call(READER, "book.get", r#"{"id":"b1","branch":"south"}"#).await;
    test.ask(READER, "tools/list", "{}").await;
    test.ask(READER, "resources/list", "{}").await;
    test.ask(READER, "secret", "{}").await;
    test.serve(post(READER, "secret")).await;
    test.serve(with_verb(Verb::Delete, READER)).await;
    test.call(TRAVELLER, "book.lend", r#"{"id":"b3","branch":"north"}"#).await;
    let expected = [
        line(READER, r#""method":"tools/call","tool":"book.get","tenant":"north","outcome":"ok","ids":["b2"]"#),
        line(READER, r#""method":"tools/call","tool":"book.list","tenant":"north","outcome":"ok","count":1"#),
        line(READER, r#""method":"tools/call","tool":"book.get","tenant":"north","outcome":"not_found""#),
        line(READER, r#""method":"tools/call","tool":"book.lend","outcome":"forbidden""#),
        line(READER, r#""method":"tools/call","tool":"book.get","outcome":"cross_tenant_denied""#),
        line(READER, r#""method":"tools/list","outcome":"ok""#),
        line(READER, r#""method":"resources/list","tenant":"north","outcome":"ok""#),
        line(READER, r#""method":"unknown","outcome":"unknown_method""#),
        line(READER, r#""outcome":"malformed""#),
        line(READER, r#""outcome":"ok""#),
        line(TRAVELLER, r#""method":"tools/call","tool":"book.lend","tenant":"north","outcome":"book.none_left""#),
    ];
    assert_eq!(test.records(), expected);
    assert_eq!(test.calls.lines(), expected);
    test.store.inspect(|state| assert!(state.records.iter().all(|(_, when)| *when == Durability::Grouped)));
}

#[tokio::test]
async fn a_record_says_how_a_call_was_answered_and_how_long_it_took() {
    let test = TestDesk::stocked();
    test.call(READER, "book.get", r#"{"id":"b2"}"#).await;
    test.call(READER, "book.lend", r#"{"id":"b2"}"#).await;
    test.store.inspect(|state| {
        for ((record, _), status) in state.records.iter().zip([200, 403]) {
            let (_, end) = record.split_once(",\"status\":").unwrap_or_else(|| panic!("{record}"));
            let micros = end.strip_prefix(&format!("{status},\"micros\":")).and_then(|end| end.strip_suffix('}'));
            assert!(micros.is_some_and(|micros| micros.parse::<u64>().is_ok()), "{record}");
        }
        assert_eq!(state.records.len(), 2);
    });
}

#[tokio::test]
async fn personal_data_waits_for_its_record_and_says_so_in_it() {
    let test = TestDesk::stocked();
    test.call(KEEPER, "member.get", r#"{"id":"m1"}"#).await;
    test.call(CLERK, "member.get", r#"{"id":"m1"}"#).await;
    let records = test.store.inspect(|state| state.records.clone());
    let records: Vec<_> = records.iter().map(|(record, durability)| (timeless(record), *durability)).collect();
    assert_eq!(
        records,
        [
            (
                line(
                    KEEPER,
                    r#""method":"tools/call","tool":"member.get","tenant":"north","outcome":"ok","ids":["m1"],"personal":true"#
                ),
                Durability::Awaited
            ),
            (
                line(
                    CLERK,
                    r#""method":"tools/call","tool":"member.get","tenant":"north","outcome":"ok","ids":["m1"]"#
                ),
                Durability::Grouped
            ),
        ]
    );
}

#[tokio::test]
async fn nothing_personal_leaves_while_it_cannot_be_recorded() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.records = InjectedFault::Fail);
    assert_eq!(
        test.call(KEEPER, "member.get", r#"{"id":"m1"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This answer has personal data, and the record of its reading cannot be stored right now; what was done before under an idempotency key stays done. Repeat the request, with the same key.","data":{"fault":"unavailable","at":"tool member.get","retry_after":1}}}"#
    );
    let seen = r#""method":"tools/call","tool":"member.get","tenant":"north","outcome":"unavailable","ids":["m1"]"#;
    assert_eq!(test.calls.lines(), [line(KEEPER, seen)]);
    assert_eq!(test.calls.causes(), ["the call could not be recorded: injected failure"]);
}

#[tokio::test]
async fn a_write_is_recorded_once_and_with_itself() {
    let test = TestDesk::stocked();
    test.call(KEEPER, "book.lend", r#"{"id":"b2"}"#).await;
    let expected =
        line(KEEPER, r#""method":"tools/call","tool":"book.lend","tenant":"north","outcome":"ok","ids":["b2"]"#);
    assert_eq!((test.store.audit(), test.store.records().len()), (vec![expected.clone()], 0));
    assert_eq!(test.calls.lines(), [expected]);
}

#[tokio::test]
async fn a_committed_write_is_answered_though_audit_fails() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.records = InjectedFault::Fail);
    assert!(test.call(KEEPER, "book.lend", r#"{"id":"b2"}"#).await.contains(r#""copies":0"#));
}

#[tokio::test]
async fn a_write_that_returns_personal_data_is_recorded_so() {
    let test = TestDesk::stocked();
    for (who, ending) in [(KEEPER, r#""],"personal":true}"#), (CLERK, r#""]}"#)] {
        test.call(who, "member.join", r#"{"name":"Cy","email":"cy@example.org"}"#).await;
        let last = test.store.audit().pop().unwrap();
        assert!(last.ends_with(ending) && !last.contains("cy@example.org"), "{last}");
        assert_eq!(test.calls.lines().last(), Some(&last));
    }
}

#[tokio::test]
async fn an_unknown_write_does_not_claim_that_nothing_changed() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| {
        faults.unknown_commit = true;
        faults.records = InjectedFault::Fail;
    });
    let answer = test.call(KEEPER, "book.lend", r#"{"id":"b2"}"#).await;
    assert!(answer.contains("It is not known yet whether this was done."), "{answer}");
}

#[tokio::test]
async fn a_replay_is_recorded_as_a_call_of_its_own() {
    let test = TestDesk::stocked();
    for _ in 0..2 {
        test.call(KEEPER, "book.lend", r#"{"id":"b2","request_key":"k1"}"#).await;
    }
    test.store.inspect(|state| assert_eq!((state.audit.len(), state.records.len()), (1, 1)));
    assert_eq!(test.calls.outcomes(), ["ok", "ok"]);
}

#[tokio::test]
async fn a_caller_who_hangs_up_during_a_read_is_recorded_as_cancelled() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    hang_up(&test, post(KEEPER, &call("1", "member.get", r#"{"id":"m1"}"#))).await;
    let expected =
        [line(KEEPER, r#""method":"tools/call","tool":"member.get","tenant":"north","outcome":"cancelled""#)];
    assert_eq!(test.records(), expected);
    assert_eq!(test.calls.lines(), expected);
}

#[tokio::test]
async fn hanging_up_during_the_audit_write_is_recorded_once() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.records = InjectedFault::Hang);
    hang_up(&test, post(KEEPER, &call("1", "member.get", r#"{"id":"m1"}"#))).await;
    assert_eq!(test.records().len(), 1);
    assert_eq!(test.calls.outcomes(), ["cancelled"]);
}

#[tokio::test]
async fn a_stranger_who_hangs_up_is_counted_and_seen() {
    let test = TestDesk::new();
    test.callers.sleep();
    hang_up(&test, post("stranger", &rpc("1", "ping", "{}"))).await;
    assert_eq!(test.calls.outcomes(), ["cancelled"]);
    assert_eq!(test.desk.tally.take().len(), 1);
    assert_eq!(test.records(), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_is_observed_with_status_era_and_stage_times() {
    let test = TestDesk::stocked();
    test.serve(modern(READER, "tools/call", Some("book.get"), r#""name":"book.get","arguments":{"id":"b2"}"#)).await;
    let seen = test.calls.last();
    assert_eq!((seen.outcome, seen.status, seen.era), ("ok", Some(200), Some(Era::Modern)));
    let laps = [seen.stages.identify, seen.stages.perform, seen.stages.record].map(Option::unwrap);
    let times: Vec<u64> = laps.iter().flat_map(|lap| [lap.from, lap.until]).chain([seen.micros]).collect();
    assert!(times.is_sorted(), "{times:?}");

    test.call(READER, "book.add", r#"{"title":"x","genre":"novel","copies":1}"#).await;
    let seen = test.calls.last();
    assert_eq!((seen.outcome, seen.status, seen.stages.perform), ("forbidden", Some(403), None));
    test.serve(post(READER, "no message")).await;
    assert_eq!(test.calls.last().era, None);
}

#[tokio::test]
async fn a_call_that_nobody_waited_for_shows_where_its_time_went() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    hang_up(&test, post(READER, &call("1", "book.get", r#"{"id":"b2"}"#))).await;
    let seen = test.calls.last();
    assert_eq!((seen.outcome, seen.status), ("cancelled", None));
    assert!(seen.stages.perform.is_some_and(|lap| lap.until > lap.from), "{seen:?}");
}

#[tokio::test]
async fn a_message_that_names_its_trace_belongs_to_it_and_says_so() {
    let test = TestDesk::stocked();
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let ping = |traceparent: &str| rpc("1", "ping", &format!(r#"{{"_meta":{{"traceparent":"{traceparent}"}}}}"#));
    let reply = serve(&test.desk, &test.mount, post(READER, &ping(traceparent))).await;
    assert_eq!(reply.headers, [("X-Trace-Id", "4bf92f3577b34da6a3ce929d0e0e4736".into())]);
    assert_eq!(Some(test.calls.last().trace), Trace::parse_traceparent(traceparent));
    let reply = serve(&test.desk, &test.mount, post(READER, &ping("canary"))).await;
    assert_eq!((reply.headers, test.calls.last().trace), (Vec::new(), Trace::new("t1")));
}
