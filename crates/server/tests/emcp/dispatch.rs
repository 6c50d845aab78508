//! Dispatched messages: answered once for each key, at once or later, also across a crash.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::{CONTENT, Caller, ROOMY, Stage, TOKENS, TRACE, calling, fill, message, plain, said};
use frontdesk_testkit::TestFolder;

fn dispatch(stage: &Stage) -> Caller {
    stage.agent().at(&format!("{CONTENT}/dispatch"))
}

fn search(limit: u32) -> String {
    calling("evo.content.search", json!({"limit": limit}))
}

#[tokio::test]
async fn e_54_e_65_a_key_is_reused_and_refused_for_another_body() {
    let stage = Stage::open();
    let mut agent = dispatch(&stage);
    let key = [("idempotency-key", "order-1")];
    let first = agent.send("POST", &key, search(1)).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let first = first.json();
    let plain_answer: Value = serde_json::from_slice(&stage.agent_answer(&search(1)).await).unwrap();
    let task = first["task_id"].as_str().unwrap().to_owned();
    assert_eq!(
        first,
        json!({
            "status": "completed",
            "task_id": task,
            "trace_id": TRACE,
            "idempotency_key": "order-1",
            "reused": false,
            "result": {"http_status": 200, "session_id": "", "trace_id": TRACE, "response": plain_answer},
        })
    );
    // Another id of JSON-RPC is the same payload.
    let again = search(1).replace("\"id\":1,", "\"id\":77,");
    let reused = agent.send("POST", &[key[0], ("x-trace-id", "another")], &again).await;
    assert_eq!((reused.status, reused.json()["reused"].clone()), (200, json!(true)));
    assert_eq!(reused.json()["task_id"], json!(task));
    assert_eq!(reused.json()["result"], first["result"]);
    let conflict = agent.send("POST", &key, search(2)).await;
    let words = "This key was used for another message. Send this one under a key of its own.";
    assert_eq!(said(&conflict), plain(409, "idempotency_conflict", words));
    // The key may stand in the body, and a key is its caller's own.
    let named = search(1).replace("\"id\":1,", "\"id\":1,\"idempotency_key\":\"order-1\",");
    assert_eq!(agent.post(&named).await.json()["reused"], json!(true));
    let mut other = stage.caller("other", json!("mcp:read,mcp:call")).at(&format!("{CONTENT}/dispatch"));
    assert_eq!(other.send("POST", &key, search(2)).await.json()["reused"], json!(false));
    // On the plain endpoint a key means nothing.
    let mut plain_agent = stage.agent();
    for limit in [1, 2] {
        assert_eq!(plain_agent.send("POST", &key, search(limit)).await.status, 200);
    }
}

#[tokio::test]
async fn e_65_a_task_is_polled_by_its_key_until_completed() {
    let stage = Stage::with(&format!("dispatch = \"async\"\n{ROOMY}"));
    let mut agent = dispatch(&stage);
    let key = [("idempotency-key", "later-1")];
    let accepted = agent.send("POST", &key, search(3)).await;
    let task = accepted.json()["task_id"].clone();
    assert_eq!(
        (accepted.status, accepted.json()),
        (
            202,
            json!({
                "status": "accepted",
                "task_id": task,
                "trace_id": TRACE,
                "idempotency_key": "later-1",
                "reused": false,
            })
        )
    );
    let done = polled(&mut agent, "later-1", &search(3)).await;
    assert_eq!((&done["task_id"], &done["reused"]), (&task, &json!(true)));
    let items = &done["result"]["response"]["result"]["structuredContent"]["items"];
    assert_eq!(items.as_array().unwrap().len(), 3);
    assert_eq!(agent.send("POST", &key, search(4)).await.status, 409);
    // A mistake is an answer too, and is kept like one.
    agent.send("POST", &[("idempotency-key", "wrong-1")], calling("evo.content.search", json!({}))).await;
    let wrong = polled(&mut agent, "wrong-1", &calling("evo.content.search", json!({}))).await;
    assert_eq!(wrong["result"]["response"]["error"]["code"], json!(-32602));
}

/// Repeats the message under its key until it is completed.
async fn polled(agent: &mut Caller, key: &str, body: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(180);
    loop {
        let answer = agent.send("POST", &[("idempotency-key", key)], body).await.json();
        if answer["status"] == json!("completed") {
            return answer;
        }
        assert_eq!(answer["status"], json!("accepted"), "{answer}");
        assert!(Instant::now() < until, "{answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn e_65_tasks_and_answers_survive_a_crash() {
    let folder = TestFolder::new();
    fill(&folder, "");
    // A task that was begun is taken over once whoever began it is out of time.
    let mount = format!(
        "[deadlines]\ncall_seconds = 5\n[[mount]]\ncontract = \"emcp\"\ndatabase = \"site.sqlite\"\n{TOKENS}\
         dispatch = \"async\"\n{ROOMY}"
    );
    let stage = Stage::serving(folder, &mount);
    let mut agent = dispatch(&stage);
    agent.send("POST", &[("idempotency-key", "before")], search(2)).await;
    let done = polled(&mut agent, "before", &search(2)).await;
    let accepted = agent.send("POST", &[("idempotency-key", "open")], search(3)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let stage = stage.crashed();
    let mut agent = dispatch(&stage);
    let again = polled(&mut agent, "before", &search(2)).await;
    assert_eq!(again["result"], done["result"]);
    let open = polled(&mut agent, "open", &search(3)).await;
    assert_eq!(open["task_id"], accepted.json()["task_id"]);
    assert_eq!(open["result"]["http_status"], json!(200));
    let conflict = agent.send("POST", &[("idempotency-key", "before")], search(9)).await;
    assert_eq!(conflict.status, 409);
}

#[tokio::test]
async fn e_65_invalid_messages_and_denied_tools_make_no_task() {
    let stage = Stage::open();
    let mut agent = dispatch(&stage);
    let required = "The member `method` is required and must be a string.";
    let object = "Send one JSON-RPC message as a JSON object.";
    for (body, words) in [(r#"{"jsonrpc":"2.0","id":1}"#, required), ("{", object), ("[]", object), ("", object)] {
        let answer = agent.send("POST", &[("idempotency-key", "k")], body).await;
        assert_eq!(said(&answer), plain(400, "invalid_payload", words), "{body}");
    }
    let denied = agent.send("POST", &[("idempotency-key", "k")], calling("evo.write.publish", json!({"id": 1}))).await;
    let words = "The operator does not let this tool be used.";
    assert_eq!(said(&denied), plain(403, "tool_denied", words));
    // The key was never used.
    let first = agent.send("POST", &[("idempotency-key", "k")], message("ping", json!({}))).await;
    assert_eq!((first.status, first.json()["reused"].clone()), (200, json!(false)));
}

#[tokio::test]
async fn e_65_an_outage_completes_no_dispatched_message() {
    let stage = Stage::with(&format!("statement_seconds = 1\n{ROOMY}"));
    let mut agent = dispatch(&stage);
    let site = rusqlite::Connection::open(stage.folder.join("site.sqlite")).unwrap();
    site.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let key = [("idempotency-key", "during")];
    let began = Instant::now();
    for headers in [&key[..], &[], &key[..]] {
        let answer = agent.send("POST", headers, search(1)).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (503, &json!("unavailable")), "{}", answer.text());
        assert_eq!((answer.json().get("status"), answer.header("x-trace-id")), (None, Some(TRACE)));
    }
    // Three times the second that the mount allows, not the five that are the default.
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    site.execute_batch("COMMIT").unwrap();
    let after = agent.send("POST", &key, search(1)).await.json();
    assert_eq!((&after["status"], &after["reused"]), (&json!("completed"), &json!(false)), "{after}");
    assert_eq!(after["result"]["http_status"], json!(200));
}
