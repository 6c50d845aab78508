//! What a contract may say and do at the beginning beside the protocol, and what none does by itself.

use frontdesk_engine::Contract;
use frontdesk_engine::model::contract::{Compatibility, ServerInfo};
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::serve;
use frontdesk_wire::version::Version;

use crate::support::dialect::Plainly;
use crate::support::requests::{modern, post, rpc};
use crate::support::{READER, TestDesk, library};

fn test() -> TestDesk {
    let library = library::contract();
    let capabilities = r#"{"tools":{},"prompts":{}}"#.to_owned();
    let info = vec![("platform", "Shelves \"7\"".to_owned()), ("platformVersion", "1.0".to_owned())];
    let manners = Compatibility {
        default_version: Some(Version::V2025_11_25),
        sends_session_id: true,
        accepts_trace_id: true,
        ..Compatibility::default()
    };
    TestDesk::new().under(Contract {
        server_info: ServerInfo { extra: info, capabilities, ..library.server_info },
        dialect: Box::new(Plainly(manners)),
        ..library
    })
}

const INFO: &str =
    r#"{"name":"library","title":"The library","version":"1.2.3","platform":"Shelves \"7\"","platformVersion":"1.0"}"#;

#[tokio::test]
async fn server_info_has_the_extra_fields_of_the_contract() {
    let test = test();
    let hello = |version: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{}},"prompts":{{}}}},"serverInfo":{INFO},"instructions":"Ask for books."}}}}"#
        )
    };
    assert_eq!(test.ask(READER, "initialize", r#"{"protocolVersion":"2024-11-05"}"#).await, hello("2024-11-05"));
    assert_eq!(test.ask(READER, "initialize", "{}").await, hello("2025-11-25"));
    let discovered = test.serve(modern(READER, "server/discover", None, "")).await.body;
    let expected = format!(r#""_meta":{{"io.modelcontextprotocol/serverInfo":{INFO}}}"#);
    assert!(discovered.contains(&expected), "{discovered}");
}

#[tokio::test]
async fn a_version_that_is_no_text_is_refused() {
    let answer = test().ask(READER, "initialize", r#"{"protocolVersion":7}"#).await;
    assert!(answer.contains(r#""fault":"invalid_argument""#), "{answer}");
}

#[tokio::test]
async fn declared_prompts_are_an_empty_list_and_others_no_method() {
    assert_eq!(test().ask(READER, "prompts/list", "{}").await, r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}"#);
    assert_eq!(
        TestDesk::new().ask(READER, "prompts/list", "{}").await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"Method not found","data":{"fault":"unknown_method","at":"method"}}}"#
    );
}

#[tokio::test]
async fn a_session_id_is_random_and_sent_only_where_configured() {
    let initialize = || post(READER, &rpc("1", "initialize", r#"{"protocolVersion":"2025-11-25"}"#));
    let (test, plain) = (test(), TestDesk::new());
    let mut names = Vec::new();
    for _ in 0..2 {
        let reply = serve(&test.desk, &test.mount, initialize()).await;
        assert_eq!(reply.headers.len(), 1);
        assert_eq!(reply.headers[0].0, "MCP-Session-Id");
        names.push(reply.headers[0].1.clone());
    }
    assert_eq!(names, ["e220a839-7b1d-4daf-ae78-9e6aa1b965f4", "06c45d18-8009-454f-b88b-b8a8724c81ec"]);
    let ping = serve(&test.desk, &test.mount, post(READER, &rpc("1", "ping", "{}"))).await;
    assert_eq!(ping.headers, []);
    assert_eq!(serve(&plain.desk, &plain.mount, initialize()).await.headers, []);
}

#[tokio::test]
async fn a_call_is_recorded_under_the_trace_name_of_its_caller() {
    let test = test();
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let ping = rpc("1", "ping", &format!(r#"{{"_meta":{{"traceparent":"{traceparent}"}}}}"#));
    let trace = Trace::new("0af7651916cd43dd8448eb211c80319c").with_name("order-7");
    let reply = serve(&test.desk, &test.mount, Incoming { trace, ..post(READER, &ping) }).await;
    assert_eq!(reply.headers, [("X-Trace-Id", "order-7".into())]);
    let seen = test.calls.last();
    assert_eq!(seen.trace, Trace { name: Some("order-7".into()), ..Trace::parse_traceparent(traceparent).unwrap() });
    assert!(seen.to_line().contains(r#","trace":"order-7","contract""#), "{}", seen.to_line());
}
