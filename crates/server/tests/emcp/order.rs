//! The order in which a request is looked at: each one here breaks several rules, and the first of them is what is said.

use serde_json::json;

use crate::stage::{BASE, Stage, TRACE, calling, message, plain, rpc, said};

const SERVERS: &str = "allow_servers = [\"content\"]\ndeny_tools = [\"evo.model.*\"]\n\
    [mount.limits]\nper_minute = 2\nmax_payload_kb = 1\n\
    [[mount.server]]\nhandle = \"content\"\n\
    [[mount.server]]\nhandle = \"shut\"\n";

const UNKNOWN: &str = "An access token is required: send it as `Authorization: Bearer`.";
const MEDIA: &str = "Send the message as `Content-Type: application/json`, in UTF-8 and uncompressed.";
const LARGE: &str = "The message is larger than 1024 bytes.";
const SHUT: &str = "The operator does not let this server be used.";
const DENIED: &str = "The operator does not let this tool be used.";
const NOWHERE: &str = "No server has this name; look at the last part of the address.";

#[tokio::test]
async fn e_57_of_several_rules_that_are_broken_the_first_is_said() {
    let stage = Stage::with(SERVERS);
    let large = calling("evo.model.list", json!({"model": "x".repeat(1024), "limit": "no"}));
    let small = calling("evo.model.list", json!({"model": "x", "limit": "no"}));
    let text = [("content-type", "text/plain")];
    let (shut, nowhere) = (format!("{BASE}/shut"), format!("{BASE}/nowhere"));

    // Everything is wrong; then one rule after the other is kept.
    let stranger = stage.holder("").at(&shut).send("POST", &text, &large).await;
    assert_eq!(said(&stranger), plain(401, "unauthenticated", UNKNOWN));

    let weak = stage.caller("weak", json!(["mcp:read"])).at(&shut).send("POST", &text, &large).await;
    let needed = "The token does not carry the scope this needs: mcp:call.";
    assert_eq!(said(&weak), plain(403, "scope_denied", needed));

    let mut tired = stage.caller("tired", json!(["mcp:call"])).at(&shut);
    for _ in 0..2 {
        assert_eq!(tired.post(&small).await.status, 403);
    }
    let late = tired.send("POST", &text, &large).await;
    assert_eq!(said(&late), plain(429, "rate_limited", "Too many calls; wait before the next one."));
    let wait: u32 = late.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");

    let caller = |name: &str, path: &str| stage.caller(name, json!(["mcp:call"])).at(path);
    let answer = caller("a", &shut).send("POST", &text, &large).await;
    assert_eq!(said(&answer), plain(415, "unsupported_media_type", MEDIA));
    let answer = caller("b", &shut).post(&large).await;
    assert_eq!(said(&answer), plain(413, "payload_too_large", LARGE));
    let answer = caller("c", &shut).post(&small).await;
    assert_eq!(said(&answer), plain(403, "server_denied", SHUT));
    let answer = caller("d", &nowhere).post(&small).await;
    assert_eq!(said(&answer), plain(403, "tool_denied", DENIED));
    let allowed = calling("evo.content.get", json!({"id": "no"}));
    let answer = caller("e", &nowhere).post(&allowed).await;
    let wanted = rpc(404, Some(1), -32601, NOWHERE);
    assert_eq!(said(&answer).replace(&format!(",\"data\":{{\"trace_id\":\"{TRACE}\"}}"), ""), wanted);
    let answer = caller("f", &format!("{BASE}/content")).post(&allowed).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["error"]["code"], json!(-32602));
}

#[tokio::test]
async fn e_57_the_verb_is_checked_right_after_the_caller() {
    let stage = Stage::with(SERVERS);
    let get = stage.holder("").send("GET", &[], "").await;
    assert_eq!(said(&get), plain(401, "unauthenticated", UNKNOWN));
    let verb = "Send JSON-RPC messages with POST; there is no stream to GET here.";
    for verb_sent in ["GET", "PUT", "PATCH"] {
        let answer = stage.caller("anna", json!([])).send(verb_sent, &[], "").await;
        assert_eq!(said(&answer), plain(405, "method_not_allowed", verb), "{verb_sent}");
        assert_eq!(answer.header("allow"), Some("POST, DELETE"));
    }
}

#[tokio::test]
async fn e_57_an_unreadable_method_is_refused_without_a_scope() {
    let stage = Stage::with(SERVERS);
    let mut nobody = stage.caller("nobody", json!([]));
    let broken = nobody.post("{\"jsonrpc\":\"2.0\",").await;
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (200, &json!(-32700)));
    let named = stage.caller("nobody", json!([])).post(message("tools/list", json!({}))).await;
    assert_eq!(named.status, 403, "{}", named.text());
}

#[tokio::test]
async fn e_57_a_path_that_is_nobodys_is_not_found() {
    let stage = Stage::with(SERVERS);
    for path in ["/api/v1/mcp", "/api/v1/mcp/", "/api/v1/mcp/content/more", "/api/v1", "/api/v1/mcp//content"] {
        assert_eq!(stage.agent().at(path).post(message("ping", json!({}))).await.status, 404, "{path}");
    }
}

/// Dispatch looks in its own order: the server before the message, the message before the tool.
#[tokio::test]
async fn e_57_dispatch_says_the_first_of_several_rules_too() {
    let stage = Stage::with(SERVERS);
    let text = [("content-type", "text/plain")];
    let at =
        |name: &str, handle: &str| stage.caller(name, json!(["mcp:call"])).at(&format!("{BASE}/{handle}/dispatch"));
    let large = calling("evo.model.list", json!({"model": "x".repeat(1024)})).replace("\"method\":\"tools/call\",", "");
    let nameless = calling("evo.model.list", json!({})).replace("\"method\":\"tools/call\",", "");
    let denied = calling("evo.model.list", json!({}));
    let stranger = stage.holder("").at(&format!("{BASE}/shut/dispatch")).send("POST", &text, &large).await;
    assert_eq!(said(&stranger), plain(401, "unauthenticated", UNKNOWN));
    assert_eq!(said(&at("a", "shut").send("POST", &text, &large).await), plain(415, "unsupported_media_type", MEDIA));
    assert_eq!(said(&at("b", "shut").post(&large).await), plain(413, "payload_too_large", LARGE));
    assert_eq!(said(&at("c", "shut").post(&nameless).await), plain(403, "server_denied", SHUT));
    assert_eq!(at("d", "nowhere").post(&nameless).await.status, 404);
    let required = "The member `method` is required and must be a string.";
    assert_eq!(said(&at("e", "content").post(&nameless).await), plain(400, "invalid_payload", required));
    assert_eq!(said(&at("f", "content").post(&denied).await), plain(403, "tool_denied", DENIED));
    assert_eq!(at("g", "content").send("GET", &[], "").await.status, 405);
}
