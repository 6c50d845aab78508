//! A first look at a body: literal bytes in, what was seen out. That it agrees with the reader is tried in `any_bytes`.

use frontdesk_wire::frame::Id;
use frontdesk_wire::method::MethodName;
use frontdesk_wire::peek::{PeekedMessage, peek};

fn seen(id: Option<i64>, method: &str, name: Option<&str>) -> PeekedMessage {
    let method_name = (!method.is_empty()).then(|| MethodName::from(method.to_owned()));
    PeekedMessage { id: id.map(Id::Number), method_name, name: name.map(str::to_owned) }
}

#[test]
fn a_message_shows_its_id_its_method_and_what_it_calls() {
    for (body, wanted) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":[{}],"name":"a.b"}}"#,
            seen(Some(7), "tools/call", Some("a.b")),
        ),
        (r#"{"params":{"arguments":{"name":"inner","method":"inner"}},"method":"ping"}"#, seen(None, "ping", None)),
        (r#"{"extra":{"method":"inner","id":1},"m\u0065thod":"tool\u0073"}"#, seen(None, "tools", None)),
        (r#"{"id":[1,{"a":2}],"method":{"a":[1]},"params":{"name":["b"]}}"#, seen(None, "", None)),
        (r#"{"id":1.5,"method":"ping"}"#, seen(None, "ping", None)),
        (r#"{"id":null,"method":true}"#, seen(None, "", None)),
    ] {
        assert_eq!(peek(body.as_bytes()), wanted, "{body}");
    }
}

#[test]
fn parameters_that_are_no_object_hide_nothing_behind_them() {
    for params in ["null", "true", "7", "-7", "1.5", "\"text\"", "[]", "[{\"name\":\"a\"},[[]]]"] {
        let body = format!(r#"{{"params":{params},"method":"tools/call","id":7}}"#);
        assert_eq!(peek(body.as_bytes()), seen(Some(7), "tools/call", None), "{body}");
    }
}

#[test]
fn what_was_seen_before_a_body_ends_or_goes_wrong_counts() {
    for (body, wanted) in [
        (r#"{"method":"ping","id":3,"params":{"na"#, seen(Some(3), "ping", None)),
        (
            r#"{"method":"tools/call","params":{"name":"a","arguments":{"text":"aaaa"#,
            seen(None, "tools/call", Some("a")),
        ),
        (r#"{"method":"ping",}"#, seen(None, "ping", None)),
        ("[{\"method\":\"ping\"}]", PeekedMessage::default()),
        ("\u{feff}{\"method\":\"ping\"}", PeekedMessage::default()),
        ("", PeekedMessage::default()),
        ("7", PeekedMessage::default()),
    ] {
        assert_eq!(peek(body.as_bytes()), wanted, "{body}");
    }
    assert_eq!(peek(b"{\"method\":\"p\xff\"}"), PeekedMessage::default());
}

#[test]
fn no_depth_of_nesting_ends_anything_but_patience() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(peek(format!(r#"{{"method":"ping","a":{deep}"#).as_bytes()), seen(None, "ping", None));
    let deep = deep + &"]".repeat(1_000_000);
    for member in ["a", "id", "params\":{},\"b"] {
        let body = format!(r#"{{"{member}":{deep},"method":"ping"}}"#);
        assert_eq!(peek(body.as_bytes()), seen(None, "ping", None));
    }
    assert_eq!(peek(format!(r#"{{"params":{{"name":{deep}}},"method":"ping"}}"#).as_bytes()), seen(None, "ping", None));
}
