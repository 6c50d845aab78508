//! The door of a mount, one rule at a time.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::desk::Mount;
use frontdesk_engine::dispatch::{DispatchConfig, DispatchMode, OnQueueFull};
use frontdesk_engine::limits::rate::Quota;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, ClientId, FaultKind, Scope, Scopes, TenantId, serve};
use serde_json::Value;

use crate::support::requests::{call, post, presenting, rpc, with_verb};
use crate::support::{KEEPER, READER, TestDesk, VAGRANT, WARDEN, heard};

/// Lets everybody who may read books do everything but administer.
pub(crate) fn door() -> MountPolicy {
    let rule = |pattern: &str, scope: &str| (Glob::new(pattern), Scope::new(scope));
    let read = ["initialize", "ping", "tools/*", "resources/*", "notifications/*"].map(|it| rule(it, "books:read"));
    MountPolicy {
        scopes: MethodScopes::new(read, Scope::new("admin")),
        calls: Quota { per_minute: 30 },
        payload_bytes: 4096,
        result_bytes: 64 * 1024,
        denied_tools: Vec::new(),
        status: MountStatus::Served,
    }
}

/// What went wrong, or nothing.
fn fault(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let word = answer["error"]["data"]["fault"].as_str().or(answer["fault"].as_str());
    word.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_method_needs_its_scope_or_the_default_one() {
    let test = TestDesk::stocked().behind(door());
    assert_eq!(test.ask(READER, "ping", "{}").await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    for method in ["admin/reindex", "server/discover", "PING", "tools"] {
        let refused = r#"{"fault":"forbidden","at":"method","needed":"admin"}"#;
        assert_eq!(test.serve(post(KEEPER, &rpc("1", method, "{}"))).await, heard(403, refused), "{method}");
    }
    assert_eq!(
        test.calls.lines()[1],
        r#"{"at":"2026-01-01T00:00:00Z","trace":"t1","contract":"library","client":"keeper","address":"192.0.2.1","method":"unknown","outcome":"forbidden"}"#
    );
}

#[tokio::test]
async fn a_star_scope_counts_only_with_a_mount_policy() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"m1","name":"Ada","email":"ada@example.org"}}}"#;
    let test = TestDesk::stocked().behind(door());
    assert_eq!(test.call(WARDEN, "member.get", r#"{"id":"m1"}"#).await, answer);
    assert_eq!(fault(&test.ask(WARDEN, "admin/reindex", "{}").await), "unknown_method");
    let open = TestDesk::stocked();
    assert_eq!(fault(&open.call(WARDEN, "member.get", r#"{"id":"m1"}"#).await), "forbidden");
}

#[tokio::test]
async fn the_scope_of_a_tool_is_asked_for_behind_a_door_too() {
    let test = TestDesk::stocked().behind(door());
    assert_eq!(
        test.call(READER, "book.add", "{}").await,
        r#"{"fault":"forbidden","at":"tool book.add","needed":"books:write"}"#
    );
}

#[tokio::test]
async fn a_method_that_cannot_be_read_needs_no_scope_and_costs_a_call() {
    let scopes = MethodScopes::new([], Scope::new("admin"));
    let test = TestDesk::new().behind(MountPolicy { scopes, calls: Quota { per_minute: 4 }, ..door() });
    for (body, word) in [
        ("", "malformed"),
        (r#"{"method":7}"#, "not_rpc"),
        ("[]", "not_rpc"),
        (r#"{"method"#, "malformed"),
        ("{}", "rate_limited"),
    ] {
        assert_eq!(fault(&test.serve(post(READER, body)).await.body), word, "{body}");
    }
}

#[tokio::test]
async fn method_scopes_hold_for_any_spelling_and_position() {
    let scopes = MethodScopes::new([(Glob::new("ping"), Scope::new("books:read"))], Scope::new("admin"));
    let door = MountPolicy { scopes, denied_tools: vec![Glob::new("book.*")], ..door() };
    let test = TestDesk::stocked().behind(door);
    let deep = "[".repeat(1500) + &"]".repeat(1500);
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tool\u0073/call","params":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"params":{},"m\u0065thod":"tools/call"}"#.to_owned(),
        format!(r#"{{"id":1,"params":{{"a":{deep}}},"method":"tools/call"}}"#),
        r#"{"method":"tools/call","nothing":"#.to_owned(),
    ] {
        assert_eq!(fault(&test.serve(post(KEEPER, &body)).await.body), "forbidden", "{body}");
    }
    let body = r#"{"jsonrpc":"2.0","id":1,"params":{"n\u0061me":"book\u002eget"},"method":"tools\/call"}"#;
    assert_eq!(fault(&test.serve(post(WARDEN, body)).await.body), "tool_denied");
}

#[tokio::test]
async fn each_caller_has_its_calls_of_each_method_in_a_minute() {
    let test = TestDesk::stocked().behind(MountPolicy { calls: Quota { per_minute: 3 }, ..door() });
    let ok = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let wait = |seconds: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"Too many calls; wait before the next one.","data":{{"fault":"rate_limited","at":"method","retry_after":{seconds}}}}}}}"#
        )
    };
    let ping = async |who| test.ask(who, "ping", "{}").await;
    for _ in 0..3 {
        assert_eq!(ping(READER).await, ok);
    }
    assert_eq!(ping(READER).await, wait(60));
    test.clock.advance(59_500);
    assert_eq!(ping(READER).await, wait(1));
    assert_eq!(ping(KEEPER).await, ok);
    assert_eq!(fault(&test.ask(READER, "tools/list", "{}").await), "");
    test.clock.advance(500);
    assert_eq!(ping(READER).await, ok);
}

#[tokio::test]
async fn a_further_address_of_a_server_gives_nobody_further_calls() {
    let test = TestDesk::new();
    let mount = |address: &str| {
        let dispatching = DispatchConfig {
            tenant: TenantId::parse("south").unwrap(),
            server: "desk".to_owned(),
            when: DispatchMode::Now,
            full: OnQueueFull::Refuse,
            retain: Duration::from_secs(60),
        };
        Mount::new(crate::support::library::contract(), address.to_owned(), String::new())
            .with_policy(MountPolicy { calls: Quota { per_minute: 2 }, ..door() })
            .with_identity(Arc::new(Welcoming))
            .with_dispatch(dispatching)
    };
    let mut words = Vec::new();
    for address in ["https://library.example/a", "https://library.example/b", "https://library.example/a"] {
        let ping = presenting(Credential::Missing, &rpc("1", "ping", "{}"));
        let reply = serve(&test.desk, &mount(address), ping).await;
        words.push(fault(std::str::from_utf8(&reply.body).unwrap()));
    }
    assert_eq!(words, ["", "", "rate_limited"]);
}

#[tokio::test]
async fn all_invented_methods_share_one_budget() {
    let test = TestDesk::new().behind(MountPolicy { calls: Quota { per_minute: 2 }, ..door() });
    let mut words = Vec::new();
    for method in ["tools/a", "tools/b", "tools/c"] {
        words.push(fault(&test.ask(READER, method, "{}").await));
    }
    assert_eq!(words, ["unknown_method", "unknown_method", "rate_limited"]);
}

#[tokio::test]
async fn a_request_at_the_size_limit_passes_one_byte_more_fails() {
    let ping = rpc("1", "ping", "{}");
    let test = TestDesk::new().behind(MountPolicy { payload_bytes: ping.len(), ..door() });
    assert_eq!(test.serve(post(READER, &ping)).await.body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(
        test.serve(post(READER, &(ping + " "))).await.body,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The message is larger than 52 bytes.","data":{"fault":"too_large","at":"method"}}}"#
    );
    // What the transport itself would not take has no method to be seen, and is too large by the door's own measure.
    let body = RequestBody::from_future(async { Err(Fault::new(FaultKind::TooLarge, "Too much.")) });
    assert_eq!(
        test.serve(Incoming { body, ..post(READER, "") }).await.body,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"The message is larger than 52 bytes.","data":{"fault":"too_large","at":"transport"}}}"#
    );
}

#[tokio::test]
async fn a_reply_at_the_size_limit_passes_one_byte_more_fails() {
    for (method, params) in [
        ("initialize", r#"{"protocolVersion":"2025-11-25"}"#),
        ("tools/list", "{}"),
        ("resources/list", "{}"),
        ("resources/templates/list", "{}"),
        ("tools/call", r#"{"name":"book.list","arguments":{}}"#),
    ] {
        let limited = |result_bytes| TestDesk::stocked().behind(MountPolicy { result_bytes, ..door() });
        let whole = TestDesk::stocked().behind(door()).ask(READER, method, params).await;
        assert_eq!(fault(&whole), "", "{method}");
        assert_eq!(limited(whole.len()).ask(READER, method, params).await, whole);
        let refused = limited(whole.len() - 1);
        assert_eq!(fault(&refused.ask(READER, method, params).await), "answer_too_large", "{method}");
        assert_eq!(refused.calls.outcomes(), ["answer_too_large"]);
    }
}

#[tokio::test]
async fn a_door_may_let_out_more_than_the_desk_would() {
    let small =
        || TestDesk::with(frontdesk_engine::desk::DeskSettings { reply_bytes: 50, ..crate::support::SETTINGS }).stock();
    assert_eq!(fault(&small().call(READER, "book.get", r#"{"id":"b1"}"#).await), "answer_too_large");
    assert_eq!(fault(&small().behind(door()).call(READER, "book.get", r#"{"id":"b1"}"#).await), "");
}

#[tokio::test]
async fn a_write_that_has_happened_says_so_however_small_the_door() {
    let test = TestDesk::stocked().behind(MountPolicy { result_bytes: 1, ..door() });
    let answer = test.call(KEEPER, "book.lend", r#"{"id":"b1"}"#).await;
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":1}}}"#
    );
}

#[tokio::test]
async fn a_batch_is_no_message_behind_a_door() {
    let test = TestDesk::stocked().behind(door());
    let batch = format!("[{}]", call("1", "book.get", r#"{"id":"b1"}"#));
    assert_eq!(
        test.serve(post(KEEPER, &batch)).await.body,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Send one message per request; batches are not accepted.","data":{"fault":"not_rpc","at":"transport"}}}"#
    );
    assert_eq!(test.calls.outcomes(), ["not_rpc"]);
}

#[tokio::test]
async fn whoever_may_list_tools_sees_all_that_are_not_denied() {
    let denied_tools = vec![Glob::new("member.*"), Glob::new("book.add")];
    let test = TestDesk::stocked().behind(MountPolicy { denied_tools, ..door() });
    let answer: Value = serde_json::from_str(&test.ask(READER, "tools/list", "{}").await).unwrap();
    let names: Vec<&str> =
        answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["book.list", "book.get", "book.change", "book.lend", "book.add_anew"]);
}

#[tokio::test]
async fn a_denied_tool_is_denied_by_every_way_to_it() {
    let test = TestDesk::stocked().behind(MountPolicy { denied_tools: vec![Glob::new("book.get")], ..door() });
    assert_eq!(fault(&test.call(READER, "book.get", r#"{"id":"b1"}"#).await), "tool_denied");
    assert_eq!(fault(&test.open(READER, "lib://north/book/b1").await), "tool_denied");
    assert!(!test.ask(READER, "resources/templates/list", "{}").await.contains("lib://{branch}/book/{id}"));
    assert_eq!(fault(&test.call(READER, "book.list", "{}").await), "");
}

#[tokio::test]
async fn wrong_verbs_are_refused_and_session_deletes_succeed() {
    for standing in [MountStatus::Served, MountStatus::Denied, MountStatus::Unknown] {
        let test = TestDesk::new().behind(MountPolicy { status: standing, ..door() });
        let refused = heard(405, r#"{"fault":"wrong_verb","at":"transport"}"#);
        assert_eq!(test.serve(with_verb(Verb::Get, READER)).await, refused);
        assert_eq!(test.serve(with_verb(Verb::Delete, READER)).await, heard(204, ""));
        let stranger = heard(401, r#"{"fault":"unauthenticated","at":"transport"}"#);
        assert_eq!(test.serve(with_verb(Verb::Get, "stranger")).await, stranger);
    }
}

#[tokio::test]
async fn a_notification_passes_the_door_like_a_request() {
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let test = TestDesk::new().behind(door());
    assert_eq!(test.serve(post(READER, notice)).await, heard(202, ""));
    let test = TestDesk::new().behind(MountPolicy { scopes: MethodScopes::new([], Scope::new("admin")), ..door() });
    assert_eq!(
        test.serve(post(READER, notice)).await,
        heard(403, r#"{"fault":"forbidden","at":"transport","needed":"admin"}"#)
    );
}

/// Takes everybody for a visitor, also whoever presents nothing.
struct Welcoming;

impl Identity for Welcoming {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let visitor = Caller {
            client: ClientId::new("visitor"),
            subject: "visitor".into(),
            tenants: vec![TenantId::parse("south").unwrap()],
            scopes: Scopes::new([Scope::new("*")]),
            authenticated_at: None,
        };
        Box::pin(async move {
            match credential {
                Credential::Missing => Ok(Arc::new(visitor)),
                Credential::Bearer(_) | Credential::ApiKey(_) | Credential::Certificate(_) | Credential::Unusable => {
                    Err(Fault::new(FaultKind::Unauthenticated, "Come as you are."))
                }
            }
        })
    }
}

#[tokio::test]
async fn a_mount_may_have_its_own_identity() {
    let test = TestDesk::stocked();
    let test = TestDesk { mount: test.mount.with_identity(Arc::new(Welcoming)).with_policy(door()), ..test };
    let get = call("1", "book.get", r#"{"id":"s1"}"#);
    assert_eq!(
        test.serve(presenting(Credential::Missing, &get)).await.body,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"s1","title":"Ulysses","genre":"novel","copies":1}}}"#
    );
    assert_eq!(test.serve(post(READER, &get)).await.status, 401);
    assert_eq!(test.serve(post(VAGRANT, &get)).await.status, 401);
}
