//! Messages that are not quite JSON-RPC, each refused in one way and never guessed at.

use serde_json::{Value, json};

use frontdesk_testkit::app::{PATH, TestApp};

use super::requests::{refusal, whole};

#[tokio::test]
async fn what_is_not_strict_json_is_a_parse_error() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}{}}}}}"#, "[".repeat(70), "]".repeat(70));
    let deeper = "[".repeat(100_000);
    let cases: [(&str, &str); 17] = [
        ("", "The text is not valid JSON."),
        (" ", "The text is not valid JSON."),
        ("{", "The text is not valid JSON."),
        ("ping", "The text is not valid JSON."),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
            "The text is not valid JSON.",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#, "The text is not valid JSON."),
        (r#"{'jsonrpc':'2.0','id':1,'method':'ping'}"#, "The text is not valid JSON."),
        (r#"{"jsonrpc":"2.0","id":NaN,"method":"ping"}"#, "The text is not valid JSON."),
        (r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, "The text is not valid JSON."),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}"#, "The text is not valid JSON."),
        (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, "The text is not valid JSON."),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}", "The text is not valid JSON."),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}"#, "An object names the same key twice."),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leads.list","arguments":{"limit":1,"\u006cimit":2}}}"#,
            "An object names the same key twice.",
        ),
        (
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            "The text is not UTF-8 without a byte order mark.",
        ),
        (&deep, "The text is nested too deeply."),
        (&deeper, "The text is nested too deeply."),
    ];
    for (body, words) in cases {
        let expected = refusal(Value::Null, -32700, "request.malformed", words);
        assert_eq!(whole(&agent.post(body, &[]).await), (400, expected), "{body:.100}");
    }
    let bearer = format!("Bearer {}", agent.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let utf16: Vec<u8> = r#"{"jsonrpc":"2.0"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"[..], b"\xff\xfe", &utf16] {
        let answer = agent.http.request("POST", PATH, &headers, bytes).await;
        let (status, answer) = whole(&answer);
        assert_eq!((status, &answer["error"]["code"], &answer["id"]), (400, &json!(-32700), &Value::Null));
    }
}

#[tokio::test]
async fn what_is_json_but_no_message_is_an_invalid_request() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(257));
    let cases: [(&str, Value); 22] = [
        ("null", json!(null)),
        ("1", json!(null)),
        ("\"ping\"", json!(null)),
        ("{}", json!(null)),
        ("[]", json!(null)),
        (r#"{"id":1,"method":"ping"}"#, json!(1)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, json!(1)),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":null}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, json!(1)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1e3,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#, json!(null)),
        (&long, json!(null)),
    ];
    for (body, id) in cases {
        let (status, answer) = whole(&agent.post(body, &[]).await);
        assert_eq!(
            (status, &answer["error"]["code"], &answer["id"]),
            (400, &json!(-32600), &id),
            "{body:.100}: {answer}"
        );
        assert_eq!(answer["error"]["data"]["error"]["code"], json!("request.not_rpc"), "{body:.100}");
    }
}

#[tokio::test]
async fn an_id_comes_back_exactly_as_it_was_sent() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for id in
        ["0", "-1", "9007199254740993", "9223372036854775807", "18446744073709551615", "\"\"", "\"1\"", "\"ä\\n\\\"\""]
    {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let response = agent.post(&body, &[]).await;
        assert_eq!(response.text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    // Without a session equal ids of one token are two requests like any others.
    for _ in 0..2 {
        assert_eq!(agent.post(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, &[]).await.status, 200);
    }
}
