//! How much may be asked, sent and answered: to the byte, to the item and to the call.

use serde_json::json;

use crate::stage::{BASE, CONTENT, ROOMY, Stage, calling, message, plain, said};

const LARGE_ANSWER: &str = "The answer would be too large. Ask for less.";

#[tokio::test]
async fn e_55_a_request_at_the_limit_passes_one_byte_more_fails() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    let ping = message("ping", json!({}));
    for (bytes, wanted) in [
        (128 * 1024, r#"200 {"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned()),
        (128 * 1024 + 1, plain(413, "payload_too_large", "The message is larger than 131072 bytes.")),
        (300 * 1024, plain(413, "payload_too_large", "The message is larger than 131072 bytes.")),
    ] {
        let body = format!("{ping}{}", " ".repeat(bytes - ping.len()));
        assert_eq!(said(&agent.post(&body).await), wanted, "{bytes}");
    }
    let argument = calling("evo.content.get", json!({"id": 1, "more": "x".repeat(300 * 1024)}));
    assert_eq!(agent.post(&argument).await.status, 413);
}

/// What a server answers in so many bytes, another may not answer with one byte less.
#[tokio::test]
async fn e_55_e_61_a_reply_at_the_limit_passes_one_byte_more_fails() {
    let body = calling("evo.content.search", json!({"limit": 7, "with_tvs": ["price:d", "author:d"]}));
    let size = Stage::open().agent_answer(&body).await.len();
    let stage = Stage::with(&format!(
        "{ROOMY}[[mount.server]]\nhandle = \"exact\"\n[mount.server.limits]\nmax_result_bytes = {size}\n\
         [[mount.server]]\nhandle = \"less\"\n[mount.server.limits]\nmax_result_bytes = {}\n\
         [[mount.server]]\nhandle = \"tiny\"\n[mount.server.limits]\nmax_result_bytes = 32\n",
        size - 1
    ));
    let at = |handle: &str| stage.agent().at(&format!("{BASE}/{handle}"));
    let exact = at("exact").post(&body).await;
    assert_eq!((exact.status, exact.body.len()), (200, size));
    let less = at("less").post(&body).await;
    assert_eq!(
        (less.status, less.json()["error"]["code"].as_str()),
        (413, Some("result_too_large")),
        "{}",
        less.text()
    );
    for method in ["initialize", "tools/list"] {
        let tiny = at("tiny").post(message(method, json!({}))).await;
        let code = tiny.json()["error"]["code"].clone();
        assert_eq!((tiny.status, code), (413, json!("result_too_large")), "{method}");
    }
    assert_eq!(said(&at("less").post(&body).await), plain(413, "result_too_large", LARGE_ANSWER));
}

#[tokio::test]
async fn e_60_e_62_limit_depth_and_offset_are_bounded_for_each_server() {
    let stage = Stage::with(&format!(
        "{ROOMY}[[mount.server]]\nhandle = \"content\"\n\
         [[mount.server]]\nhandle = \"few\"\n[mount.server.limits]\nmax_result_items = 5\nmax_depth = 2\nmax_offset = 10\n\
         [[mount.server]]\nhandle = \"many\"\n[mount.server.limits]\nmax_result_items = 200\nmax_depth = 10\n\
         max_offset = 6000\n"
    ));
    let cases = [("content", 100, 6, 5000), ("few", 5, 2, 10), ("many", 200, 10, 6000)];
    for (handle, items, depth, offset) in cases {
        let mut agent = stage.agent().at(&format!("{BASE}/{handle}"));
        for (argument, most) in [("limit", items), ("depth", depth), ("offset", offset)] {
            let asked = |value: i32| {
                let mut arguments = json!({"parent": 2, "limit": 1});
                arguments[argument] = json!(value);
                arguments
            };
            agent.ask("evo.content.search", asked(most)).await;
            assert_eq!(
                agent.refusal("evo.content.search", asked(most + 1)).await,
                format!("-32602 The argument at /{argument} is not valid: it must be at most {most}."),
                "{handle}"
            );
        }
        let found = agent.ids("evo.content.search", json!({"limit": items})).await;
        assert_eq!(found.split(' ').count(), items as usize);
    }
}

#[tokio::test]
async fn e_64_the_31st_call_of_a_method_in_a_minute_waits() {
    let stage = Stage::with(
        "[[mount.server]]\nhandle = \"content\"\npath = \"/mcp/site\"\n[[mount.server]]\nhandle = \"other\"\n",
    );
    let mut agent = stage.agent();
    let list = message("tools/list", json!({}));
    for number in 1..=30 {
        assert_eq!(agent.post(&list).await.status, 200, "{number}");
    }
    let late = agent.post(&list).await;
    assert_eq!(said(&late), plain(429, "rate_limited", "Too many calls; wait before the next one."));
    let wait: u32 = late.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    // Another method, another caller and another server have budgets of their own.
    assert_eq!(agent.post(message("ping", json!({}))).await.status, 200);
    assert_eq!(stage.caller("other", json!(["mcp:read"])).post(&list).await.status, 200);
    assert_eq!(stage.agent().at(&format!("{BASE}/other")).post(&list).await.status, 200);
    // Another token of the same caller has not, nor have methods that are made up.
    let again = stage.caller("agent", json!("*")).post(&list).await;
    assert_eq!(again.status, 429);
    let mut inventor = stage.caller("inventor", json!("*"));
    for number in 1..=30 {
        assert_eq!(inventor.post(message(&format!("zebra/{number}"), json!({}))).await.status, 200);
    }
    assert_eq!(inventor.post(message("zebra/31", json!({}))).await.status, 429);
    assert_eq!(inventor.at(CONTENT).post(message("ping", json!({}))).await.status, 200);
}
