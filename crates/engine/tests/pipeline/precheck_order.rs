//! The order of a door's checks: each request breaks several rules at once, and its answer shows which one counts.

use frontdesk_engine::Scope;
use frontdesk_engine::limits::rate::Quota;
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::incoming::{Incoming, RequestBody};
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};

use crate::support::requests::{call, post};
use crate::support::{KEEPER, READER, TestDesk, TestReply, heard};

const STRANGER: &str = "stranger";

/// Everything a request can break, from the first rule to the last.
#[derive(Clone, Copy)]
struct Breach {
    who: &'static str,
    /// How many calls were made in this minute already; the door lets two pass.
    before: usize,
    media: Option<&'static str>,
    /// The door takes 120 bytes.
    padding: usize,
    standing: MountStatus,
    tool: &'static str,
}

const WORST: Breach = Breach {
    who: STRANGER,
    before: 2,
    media: Some("text/plain"),
    padding: 200,
    standing: MountStatus::Denied,
    tool: "book.burn",
};

async fn answer(breach: Breach) -> TestReply {
    let rules = [(Glob::new("tools/call"), Scope::new("books:write"))];
    let test = TestDesk::stocked().behind(MountPolicy {
        scopes: MethodScopes::new(rules, Scope::new("books:read")),
        calls: Quota { per_minute: 2 },
        payload_bytes: 120,
        result_bytes: 64 * 1024,
        denied_tools: vec![Glob::new("book.burn*")],
        status: breach.standing,
    });
    for _ in 0..breach.before {
        test.call(KEEPER, "book.get", r#"{"id":"b1"}"#).await;
    }
    let body = call("7", breach.tool, r#"{"wrong":1}"#) + &" ".repeat(breach.padding);
    let refused = breach.media.map(|media| Fault::new(FaultKind::UnsupportedMediaType, format!("Not {media}.")));
    let heard = test.serve(Incoming { transport_fault: refused, ..post(breach.who, &body) }).await;
    let last = test.calls.lines().len();
    // Strangers are counted; everybody else is seen once.
    assert_eq!(last, breach.before + usize::from(breach.who != STRANGER));
    heard
}

fn error(message: &str, fault: &str) -> TestReply {
    let data = format!(r#"{{"fault":"{fault}","at":"method"}}"#);
    heard(200, &format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":-1,"message":"{message}","data":{data}}}}}"#))
}

#[tokio::test]
async fn the_first_rule_that_is_broken_gives_the_answer() {
    let identity = answer(WORST).await;
    assert_eq!(identity, heard(401, r#"{"fault":"unauthenticated","at":"transport"}"#));

    let scope = Breach { who: READER, ..WORST };
    assert_eq!(answer(scope).await, heard(403, r#"{"fault":"forbidden","at":"method","needed":"books:write"}"#));

    let rate = Breach { who: KEEPER, ..WORST };
    assert_eq!(
        answer(rate).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"Too many calls; wait before the next one.","data":{"fault":"rate_limited","at":"method","retry_after":60}}}"#
        )
    );

    let media = Breach { before: 0, ..rate };
    assert_eq!(answer(media).await, error("Not text/plain.", "wrong_media"));

    let payload = Breach { media: None, ..media };
    assert_eq!(answer(payload).await, error("The message is larger than 120 bytes.", "too_large"));

    let server = Breach { padding: 0, ..payload };
    assert_eq!(answer(server).await, error("The operator does not let this server be used.", "server_denied"));

    let tool = Breach { standing: MountStatus::Unknown, ..server };
    assert_eq!(answer(tool).await, error("The operator does not let this tool be used.", "tool_denied"));

    let unknown_server = Breach { tool: "book.eat", ..tool };
    assert_eq!(
        answer(unknown_server).await,
        error("No server has this name; look at the last part of the address.", "unknown_server")
    );

    let unknown_tool = Breach { standing: MountStatus::Served, ..unknown_server };
    assert_eq!(
        answer(unknown_tool).await,
        error("There is no tool of this name; `tools/list` names those there are.", "unknown_tool")
    );

    let arguments = answer(Breach { tool: "book.get", ..unknown_tool }).await.body;
    assert!(arguments.contains(r#""fault":"invalid_argument","at":"tool book.get""#), "{arguments}");
}

#[tokio::test]
async fn ambiguous_bodies_and_those_of_strangers_are_not_read() {
    let unread = || RequestBody::from_future(async { panic!("somebody read it") });
    let test = TestDesk::new().behind(super::precheck::door());
    test.serve(Incoming { body: unread(), ..post(STRANGER, "") }).await;
    let refused = Some(Fault::new(FaultKind::Malformed, "Two ends."));
    assert_eq!(
        test.serve(Incoming { body: unread(), transport_fault: refused, ..post(READER, "") }).await.body,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Two ends.","data":{"fault":"malformed","at":"transport"}}}"#
    );
}
