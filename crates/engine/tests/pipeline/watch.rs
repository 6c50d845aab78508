//! A tool that watches something, without any configuration: one JSON answer, or a stream that is complete at once.

use frontdesk_engine::desk::Streaming;
use frontdesk_engine::model::incoming::{Incoming, Listening};
use frontdesk_engine::model::observation::Streamed;
use frontdesk_engine::model::reply::{Reply, ReplyKind};
use frontdesk_engine::serve;

use crate::support::requests::{call, modern, post, versioned};
use crate::support::watching::{ON_CHANGE, WatchDesk, watch};
use crate::support::{READER, TestDesk, heard};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1", "done":0}}}"#;

fn at_once(incoming: Incoming) -> Incoming {
    Incoming { listening: Listening::AtOnce, ..incoming }
}

async fn reply(desk: &WatchDesk, incoming: Incoming) -> Reply {
    serve(&desk.test.desk, &desk.test.mount, incoming).await
}

fn text(reply: &Reply) -> &str {
    std::str::from_utf8(&reply.body).unwrap()
}

#[tokio::test]
async fn who_does_not_listen_gets_one_message() {
    for streaming in [Streaming::default(), ON_CHANGE] {
        let desk = WatchDesk::new(streaming);
        let answer = reply(&desk, post(READER, &watch("1", r#""progressToken":"t""#))).await;
        assert_eq!(answer.kind, ReplyKind::Rpc);
        assert_eq!(text(&answer).replace('\n', " "), ANSWER);
        assert_eq!(desk.test.calls.last().streamed, Streamed::No);
    }
}

#[tokio::test]
async fn a_stream_is_complete_at_once() {
    let desk = WatchDesk::new(Streaming::default());
    for (meta, progress) in [(r#""progressToken":"ride 7""#, r#""ride 7""#), (r#""progressToken":7"#, "7")] {
        let answer = reply(&desk, at_once(post(READER, &watch("1", meta)))).await;
        assert_eq!((answer.status, answer.kind), (200, ReplyKind::Events));
        assert_eq!(
            text(&answer),
            format!(
                "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{progress},\"progress\":0,\"total\":3,\"message\":\"Step 0\"}}}}\n\ndata: {ANSWER}\n\n"
            )
        );
    }
    let last = desk.test.calls.last();
    assert_eq!((last.streamed, last.outcome, last.status), (Streamed::AtOnce, "ok", Some(200)));
    assert!(!desk.test.records().concat().contains("streamed"));
    assert_eq!(desk.loan.looks(), 2, "one look each");
}

#[tokio::test]
async fn who_gives_no_token_is_told_no_progress() {
    let desk = WatchDesk::new(Streaming::default());
    let answer = reply(&desk, at_once(post(READER, &watch("1", "")))).await;
    assert_eq!(text(&answer), format!("data: {ANSWER}\n\n"));
}

#[tokio::test]
async fn a_token_of_another_form_is_refused() {
    let desk = WatchDesk::new(Streaming::default());
    for token in ["null", "1.5", "\"\"", "[]", &format!("\"{}\"", "x".repeat(257))] {
        let meta = format!(r#""progressToken":{token}"#);
        let answer = reply(&desk, at_once(post(READER, &watch("1", &meta)))).await;
        assert_eq!(answer.kind, ReplyKind::Rpc);
        assert!(text(&answer).contains("/_meta/progressToken type: a string of 1 to 256 bytes"), "{}", text(&answer));
        // It means nothing to who does not listen.
        let answer = reply(&desk, post(READER, &watch("1", &meta))).await;
        assert!(text(&answer).contains("\"result\""), "{}", text(&answer));
    }
    assert_eq!(desk.loan.looks(), 5);
}

#[tokio::test]
async fn the_modern_era_listens_in_the_same_way() {
    let desk = WatchDesk::new(Streaming::default());
    let members = r#""name":"book.watch","arguments":{"id":"b1"}"#;
    let answer = reply(&desk, at_once(modern(READER, "tools/call", Some("book.watch"), members))).await;
    assert_eq!(
        text(&answer),
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"item\":{\"id\":\"b1\", \"done\":0},\"resultType\":\"complete\"}}\n\n"
    );
}

#[tokio::test]
async fn a_fault_is_an_ordinary_answer() {
    for streaming in [Streaming::default(), ON_CHANGE] {
        let desk = WatchDesk::new(streaming);
        desk.fails(frontdesk_engine::Fault::not_found());
        let plain = reply(&desk, post(READER, &watch("1", ""))).await;
        assert!(text(&plain).contains("\"fault\":\"not_found\""), "{}", text(&plain));
        assert_eq!(reply(&desk, at_once(post(READER, &watch("1", "")))).await, plain);
        let mut stream = desk.listen(READER, "1", "");
        assert_eq!(stream.next().await.as_deref(), Some(text(&plain)));
        assert_eq!((stream.head, stream.reply), (None, Some(plain)));
        let unknown = reply(&desk, at_once(post("stranger", &watch("1", "")))).await;
        assert_eq!((unknown.status, unknown.kind), (401, ReplyKind::Plain));
    }
}

#[tokio::test]
async fn other_tools_and_messages_are_answered_as_ever() {
    let desk = WatchDesk::new(ON_CHANGE);
    let get = call("1", "book.get", r#"{"id":"b1"}"#);
    for body in [get.as_str(), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#] {
        let mut stream = desk.listen_with(post(READER, body));
        stream.next().await.unwrap();
        assert_eq!((stream.head, stream.reply.unwrap().kind), (None, ReplyKind::Rpc));
    }
}

#[tokio::test]
async fn a_batch_is_one_json_answer() {
    let desk = WatchDesk::new(ON_CHANGE);
    let body = format!("[{}]", watch("1", r#""progressToken":"t""#));
    let mut stream = desk.listen_with(versioned("2025-03-26", post(READER, &body)));
    assert_eq!(stream.next().await.unwrap().replace('\n', " "), format!("[{ANSWER}]"));
    assert_eq!(stream.head, None);
}

#[tokio::test]
async fn a_loan_that_has_ended_is_told_at_once() {
    let desk = WatchDesk::new(ON_CHANGE);
    desk.moves_to(3);
    let mut stream = desk.listen(READER, "1", "");
    assert!(stream.next().await.unwrap().starts_with("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\""));
    assert_eq!((stream.head, stream.reply.unwrap().kind), (None, ReplyKind::Events));
    assert_eq!(desk.test.desk.inflight.streams.open(), 0);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused_before_it_begins() {
    let settings = frontdesk_engine::desk::DeskSettings { reply_bytes: 50, ..crate::support::SETTINGS };
    let desk = WatchDesk::on(TestDesk::with(settings).stock(), Streaming::default());
    let answer = desk.test.serve(at_once(post(READER, &watch("1", "")))).await;
    assert_eq!(
        answer,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The answer would be too large. Ask for less.","data":{"fault":"answer_too_large","at":"tool book.watch"}}}"#
        )
    );
}
