//! Messages dispatched to a site over HTTPS: one answer for each key, and none lost when the desk is killed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::certificates::address;
use crate::sites::{json_of, with_site, write};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::process::CommandProcess;

const SEARCH: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evo.content.search","arguments":{"limit":2}}}"#;
const OTHER: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evo.content.search","arguments":{"limit":1}}}"#;

fn serve(folder: &TestFolder) -> (CommandProcess, HttpClient) {
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
    let client = HttpClient::new(address(&mut desk), &folder.join("data/tls/ca.pem"));
    (desk, client)
}

async fn dispatch(client: &mut HttpClient, more: &[(&str, &str)], body: &str) -> HttpResponse {
    let mut headers = vec![("content-type", "application/json"), ("x-trace-id", "mine")];
    headers.extend(more);
    client.request("POST", "/api/v1/mcp/content/dispatch", &headers, body).await
}

#[tokio::test]
async fn e_54_e_65_another_message_under_a_key_conflicts() {
    let folder = with_site();
    write(&folder, "auth = [\"none\"]\n");
    let (_desk, mut client) = serve(&folder);
    let first = dispatch(&mut client, &[("idempotency-key", "k1")], SEARCH).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let first = json_of(&first);
    assert_eq!(first["result"]["response"]["result"]["structuredContent"]["meta"]["count"], json!(2));
    let text = |value: &Value| value.to_string().replace(r#""reused":false"#, r#""reused":true"#);
    let in_body = SEARCH.replace(r#""id":1"#, r#""id":"two","idempotency_key":"k1""#);
    for (more, body) in [(vec![("idempotency-key", "k1")], SEARCH), (vec![], in_body.as_str())] {
        let again = dispatch(&mut client, &more, body).await;
        assert_eq!((again.status, json_of(&again).to_string()), (200, text(&first)));
    }
    let other = dispatch(&mut client, &[("idempotency-key", "k1")], OTHER).await;
    assert_eq!(other.status, 409);
    let said = json_of(&other);
    assert_eq!((&said["error"]["code"], &said["error"]["trace_id"]), (&json!("idempotency_conflict"), &json!("mine")));
    let empty = dispatch(&mut client, &[], "{}").await;
    assert_eq!((empty.status, &json_of(&empty)["error"]["code"]), (400, &json!("invalid_payload")));
}

/// Whatever the desk was doing when it was killed, it is done after the next start and can be asked for.
#[tokio::test]
async fn e_65_an_accepted_task_completes_after_a_kill() {
    let folder = with_site();
    write(&folder, "auth = [\"none\"]\nlimits = { per_minute = 5000 }\n[deadlines]\ncall_seconds = 2\n");
    let (desk, mut client) = serve(&folder);
    let mut tasks = Vec::new();
    for number in 0..20 {
        let key = format!("k{number}");
        let more = [("idempotency-key", key.as_str()), ("prefer", "respond-async")];
        let accepted = dispatch(&mut client, &more, SEARCH).await;
        assert_eq!(accepted.status, 202, "{}", accepted.text());
        tasks.push((key, json_of(&accepted)["task_id"].clone()));
    }
    // Dropped, it is killed at once.
    drop(desk);
    let (_desk, mut client) = serve(&folder);
    let patience = Instant::now() + Duration::from_secs(120);
    for (key, task) in &tasks {
        loop {
            let more = [("idempotency-key", key.as_str()), ("prefer", "respond-async")];
            let answer = dispatch(&mut client, &more, SEARCH).await;
            if answer.status == 200 {
                let answer = json_of(&answer);
                let known = (&answer["status"], &answer["reused"], &answer["task_id"]);
                assert_eq!(known, (&json!("completed"), &json!(true), task));
                break;
            }
            assert_eq!(answer.status, 202, "{}", answer.text());
            assert!(Instant::now() < patience, "{key} was never completed");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
