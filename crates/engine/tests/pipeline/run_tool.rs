//! A tool that is called without a JSON-RPC request, as a route does: the same stages, record and deadline.

use std::time::Duration;

use frontdesk_engine::desk::DeskSettings;
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::pipeline::record::{CallRecord, RunCall, record_call};
use frontdesk_engine::serve::{CallContext, run_tool};
use frontdesk_engine::{Fault, FaultKind, Reply};
use frontdesk_testkit::memory_store::InjectedFault;
use serde_json::{Map, Value};

use crate::support::requests::{keyed, post};
use crate::support::{KEEPER, READER, SETTINGS, TestDesk, TestReply, heard};

/// A call of a tool by its name and arguments.
struct RouteCall<'t> {
    tool: &'t str,
    arguments: Map<String, Value>,
}

impl RunCall for RouteCall<'_> {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        let mount = call_record.mount();
        let mut context = CallContext::identify(call_record).await?;
        let tool = mount.contract.tools.iter().find(|tool| tool.spec.name == self.tool);
        let tool = tool.ok_or_else(|| Fault::new(FaultKind::UnknownTool, "There is no such route."))?;
        run_tool(&mut context, tool, self.arguments).await
    }
}

async fn send(test: &TestDesk, tool: &str, arguments: &str, incoming: Incoming) -> TestReply {
    let call = RouteCall { tool, arguments: serde_json::from_str(arguments).unwrap() };
    let reply = record_call(&test.desk, &test.mount, &incoming, call).await;
    heard(reply.status, std::str::from_utf8(&reply.body).unwrap())
}

#[tokio::test]
async fn a_read_needs_no_message_and_has_no_envelope() {
    let test = TestDesk::stocked();
    assert_eq!(
        send(&test, "book.get", r#"{"id":"b1"}"#, post(READER, "")).await,
        heard(200, r#"{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}"#)
    );
    let [record] = test.records().try_into().unwrap();
    assert!(record.contains(r#""tool":"book.get""#) && !record.contains(r#""method""#), "{record}");
    assert!(record.contains(r#""outcome":"ok""#) && record.contains(r#""ids":["b1"]"#), "{record}");
}

#[tokio::test]
async fn a_write_has_its_effect_once_under_the_key_of_the_header() {
    let test = TestDesk::stocked();
    let lend = || send(&test, "book.lend", r#"{"id":"b2"}"#, keyed("k1", post(KEEPER, "")));
    let done = heard(200, r#"{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}"#);
    assert_eq!(lend().await, done);
    assert_eq!(lend().await, done);
    assert_eq!(test.store.inspect(|state| state.commits), 1);
}

#[tokio::test]
async fn every_stage_refuses_as_it_does_for_a_message() {
    let test = TestDesk::stocked();
    let faults = [
        ("stranger", "book.get", r#"{"id":"b1"}"#, "unauthenticated", "transport"),
        (READER, "book.none", "{}", "unknown_tool", "transport"),
        (READER, "book.lend", r#"{"id":"b1"}"#, "forbidden", "route book.lend Changes"),
        (READER, "book.get", r#"{"id":7}"#, "invalid_argument", "route book.get Reads"),
        (READER, "book.get", r#"{"id":"b1","branch":"south"}"#, "cross_tenant_denied", "route book.get Reads"),
        (READER, "book.get", r#"{"id":"none"}"#, "not_found", "route book.get Reads"),
    ];
    for (who, tool, arguments, fault, place) in faults {
        let body = send(&test, tool, arguments, post(who, "")).await.body;
        assert!(body.contains(&format!(r#""fault":"{fault}","at":"{place}""#)), "{tool} {arguments}: {body}");
    }
    assert_eq!(test.records().len(), faults.len() - 1, "a refusal of a stranger is only counted");
}

#[tokio::test]
async fn a_slow_read_ends_at_the_deadline_and_waits_for_no_cancellation() {
    let test = TestDesk::with(DeskSettings { deadline: Duration::from_millis(40), ..SETTINGS }).stock();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    let body = send(&test, "book.get", r#"{"id":"b1"}"#, post(READER, "")).await.body;
    assert!(body.contains(r#""fault":"unavailable","at":"route book.get Reads""#), "{body}");
    assert_eq!(test.calls.outcomes(), ["unavailable"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_recorded_as_cancelled() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    let call = send(&test, "book.get", r#"{"id":"b1"}"#, post(READER, ""));
    assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    assert_eq!(test.calls.outcomes(), ["cancelled"]);
}
