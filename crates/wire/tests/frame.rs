//! JSON-RPC envelopes: what is taken for a request, a notification or a response, and what is
//! refused under which id.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use frontdesk_wire::frame::{Frame, FrameBody, FrameError, Id, Notification, Request, read};
use frontdesk_wire::json::JsonError;

fn one(text: &str) -> Frame {
    match read(text.as_bytes()).unwrap() {
        FrameBody::One(frame) => frame,
        FrameBody::Batch(_) => panic!("a batch"),
    }
}

fn request(text: &str) -> Request {
    match one(text) {
        Frame::Request(request) => request,
        other @ (Frame::Notification(_) | Frame::Response) => panic!("{other:?}"),
    }
}

/// Code, id as JSON text and message of a refusal.
fn refusal(text: &str) -> (i64, String, String) {
    shown(&read(text.as_bytes()).unwrap_err())
}

fn shown(error: &FrameError) -> (i64, String, String) {
    (error.code(), serde_json::to_string(&error.id()).unwrap(), error.to_string())
}

fn invalid(id: &str, message: &str) -> (i64, String, String) {
    (-32600, id.to_owned(), message.to_owned())
}

#[test]
fn a_request_carries_id_method_and_params() {
    let request = request(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"inventory.get"}}"#);
    assert_eq!(request.id, Id::Number(7));
    assert_eq!(request.method_name.as_str(), "tools/call");
    assert_eq!(serde_json::to_string(&request.params).unwrap(), r#"{"name":"inventory.get"}"#);
}

#[test]
fn absent_params_are_empty_params() {
    let request = request(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(request.params.is_empty());
    assert_eq!(request.meta(), None);
}

#[test]
fn meta_is_found_when_it_is_an_object() {
    let with = request(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":3}}}"#);
    assert_eq!(serde_json::to_string(&with.meta()).unwrap(), r#"{"progressToken":3}"#);
    let without = request(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}"#);
    assert_eq!(without.meta(), None);
}

#[test]
fn a_message_without_an_id_is_a_notification() {
    let frame = one(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let Frame::Notification(Notification { method_name, params }) = frame else { panic!("{frame:?}") };
    assert_eq!((method_name.as_str(), params.len()), ("notifications/initialized", 0));
}

#[test]
fn an_answer_to_nothing_is_a_response() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
    ] {
        assert_eq!(one(text), Frame::Response, "{text}");
    }
}

#[test]
fn an_id_keeps_its_type() {
    for id in ["0", "-1", "9223372036854775807", "9223372036854775808", "18446744073709551615", "\"1\"", "\"\""] {
        let request = request(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(serde_json::to_string(&request.id).unwrap(), id);
    }
}

#[test]
fn an_id_that_cannot_be_echoed_is_refused() {
    let why = "The id must be a whole number or a string of at most 256 bytes.";
    let long = format!("\"{}\"", "x".repeat(257));
    for id in ["null", "true", "1.5", "1.0", "18446744073709551616", "-9223372036854775809", "{}", "[1]", &long] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(refusal(&text), invalid("null", why), "{id}");
    }
}

#[test]
fn an_id_of_256_bytes_is_taken() {
    let id = "x".repeat(256);
    assert_eq!(request(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#)).id, Id::Text(id));
}

#[test]
fn another_protocol_is_refused_under_its_id() {
    let why = "A message must say \"jsonrpc\":\"2.0\".";
    assert_eq!(refusal(r#"{"id":3,"method":"ping"}"#), invalid("3", why));
    assert_eq!(refusal(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#), invalid("\"a\"", why));
    assert_eq!(refusal(r#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#), invalid("3", why));
    assert_eq!(refusal("{}"), invalid("null", why));
}

#[test]
fn a_message_that_names_no_method_is_refused() {
    assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":3}"#), invalid("3", "A message must name a method."));
    assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":3,"method":1}"#), invalid("3", "The method must be a string."));
}

#[test]
fn params_that_are_no_object_are_refused() {
    for params in ["[]", "[1]", "null", "1", "\"x\"", "false"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"ping","params":{params}}}"#);
        assert_eq!(refusal(&text), invalid("3", "The params must be an object."), "{params}");
    }
}

#[test]
fn a_message_that_asks_and_answers_is_refused() {
    assert_eq!(
        refusal(r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#),
        invalid("3", "A message must not be a request and a response at once.")
    );
}

#[test]
fn further_members_of_the_envelope_are_passed_over() {
    assert_eq!(request(r#"{"jsonrpc":"2.0","id":1,"method":"ping","trace":{"a":[1]}}"#).method_name.as_str(), "ping");
}

#[test]
fn a_body_that_is_no_message_is_refused() {
    for text in ["null", "true", "1", "\"ping\""] {
        assert_eq!(refusal(text), invalid("null", "A message must be an object."), "{text}");
    }
}

#[test]
fn a_body_that_is_no_json_is_a_parse_error() {
    let parse_error = |message: &str| (-32700, "null".to_owned(), message.to_owned());
    assert_eq!(refusal("{"), parse_error("The text is not valid JSON."));
    assert_eq!(
        refusal(r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#),
        parse_error("An object names the same key twice.")
    );
    for members in
        [r#""id":1,"\u0069d":1"#, r#""result":1,"result":1"#, r#""trace":1,"a":2,"trace":1"#, r#""a":{"b":1,"b":1}"#]
    {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"ping",{members}}}"#);
        assert_eq!(refusal(&text), parse_error("An object names the same key twice."), "{text}");
    }
    assert_eq!(read(b"\xff").unwrap_err(), FrameError::Malformed(JsonError::Encoding));
}

#[test]
fn the_elements_of_a_batch_stand_and_fall_each_for_itself() {
    let text = r#"[
        {"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/cancelled"},
        {"jsonrpc":"2.0","id":9,"result":{}},
        {"id":2,"method":"ping"},
        [{"jsonrpc":"2.0","id":3,"method":"ping"}],
        7
    ]"#;
    let FrameBody::Batch(items) = read(text.as_bytes()).unwrap() else { panic!("not a batch") };
    let seen: Vec<String> = items
        .iter()
        .map(|item| match item {
            Ok(Frame::Request(request)) => format!("request {}", request.method_name.as_str()),
            Ok(Frame::Notification(notification)) => {
                format!("notification {}", notification.method_name.as_str())
            }
            Ok(Frame::Response) => "response".to_owned(),
            Err(error) => format!("{:?}", shown(error)),
        })
        .collect();
    assert_eq!(
        seen,
        [
            "request ping",
            "notification notifications/cancelled",
            "response",
            r#"(-32600, "2", "A message must say \"jsonrpc\":\"2.0\".")"#,
            r#"(-32600, "null", "A message must be an object.")"#,
            r#"(-32600, "null", "A message must be an object.")"#,
        ]
    );
}

#[test]
fn an_empty_batch_is_refused() {
    assert_eq!(refusal("[]"), invalid("null", "A batch must not be empty."));
}

#[test]
fn sixty_four_messages_are_a_batch_and_sixty_five_are_too_many() {
    let batch = |count: usize| format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; count].join(","));
    let FrameBody::Batch(items) = read(batch(64).as_bytes()).unwrap() else { panic!("not a batch") };
    assert_eq!(items.len(), 64);
    assert_eq!(refusal(&batch(65)), invalid("null", "A batch must not hold more than 64 messages."));
}
