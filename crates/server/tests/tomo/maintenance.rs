//! Closed for maintenance: by a command while the server runs, and by the configuration.

use serde_json::json;

use crate::stage::{BEARERS, CALL, INITIALIZE, LIST, LIVE, PATH, PartnerServer, json_of};

const CLOSED: &str = r#"{"jsonrpc":"2.0","id":"c-1","error":{"code":-32002,"message":"The business is closed for maintenance; nothing was changed. Try again later.","data":{"tomo_error_code":"PARTNER_MAINTENANCE"}}}"#;

#[tokio::test]
async fn t_080_the_operator_closes_tools_while_the_server_runs() {
    let mut server = PartnerServer::open("", BEARERS);
    assert_eq!(json_of(&server.bearer(LIVE, CALL).await)["error"]["code"], -32602);
    let on = server.command(&["maintenance", "on", "--mount", PATH, "--data", "data"]);
    assert_eq!(
        (on.code, on.out.as_str()),
        (
            Some(0),
            "MOUNT       CONTRACT  TOOLS\n\
             /mcp/hotel  tomo      closed: calls of tools get PARTNER_MAINTENANCE with HTTP status 200\n"
        )
    );
    let closed = server.bearer(LIVE, CALL).await;
    assert_eq!((closed.status, closed.text(), closed.header("retry-after")), (200, CLOSED, Some("16")));
    assert_eq!(server.bearer(LIVE, INITIALIZE).await.status, 200);
    assert_eq!(json_of(&server.bearer(LIVE, LIST).await)["result"]["tools"].as_array().unwrap().len(), 5);
    // Who may not call learns nothing.
    assert_eq!(server.post(&[], CALL).await.status, 401);
    // A reload leaves it closed.
    server.desk.reload("configuration reloaded");
    assert_eq!(server.bearer(LIVE, CALL).await.text(), CLOSED);
    let status = server.command(&["maintenance", "status", "--json", "--data", "data"]);
    let states: Vec<serde_json::Value> = serde_json::from_str(&status.out).unwrap();
    assert_eq!((&states[0]["path"], &states[0]["state"]), (&json!("/mcp/automotive"), &json!("open")));
    assert_eq!((&states[1]["path"], &states[1]["state"]), (&json!(PATH), &json!("closed")));
    let off = server.command(&["maintenance", "off", "--data", "data"]);
    assert_eq!(off.code, Some(0), "{off:?}");
    assert_eq!(json_of(&server.bearer(LIVE, CALL).await)["error"]["code"], -32602);
    let unknown = server.command(&["maintenance", "on", "--mount", "/mcp/none", "--data", "data"]);
    assert!(unknown.err.contains("nothing is mounted at `/mcp/none`; there are: /mcp/automotive, /mcp/hotel"));
    let records = server.records();
    assert!(records.contains(r#""operator":"maintenance.on""#), "{records}");
    assert!(records.contains(r#""operator":"maintenance.off""#), "{records}");
}

#[tokio::test]
async fn t_080_the_configuration_closes_tools_with_a_reload() {
    let mut server = PartnerServer::open("", BEARERS);
    server.reload("maintenance = true\n", BEARERS, "configuration reloaded");
    assert_eq!(server.bearer(LIVE, CALL).await.text(), CLOSED);
    let off = server.command(&["maintenance", "off", "--mount", PATH, "--data", "data"]);
    assert_eq!(
        off.out,
        "MOUNT       CONTRACT  TOOLS\n\
         /mcp/hotel  tomo      closed by the configuration: calls of tools get PARTNER_MAINTENANCE with HTTP status 200\n\
         What the configuration has closed stays closed: set `maintenance = false`, and reload.\n"
    );
    assert_eq!(server.bearer(LIVE, CALL).await.text(), CLOSED);
    server.reload("error_status = \"equivalent\"\nmaintenance = true\n", BEARERS, "configuration reloaded");
    let closed = server.bearer(LIVE, CALL).await;
    assert_eq!((closed.status, closed.text()), (503, CLOSED));
    server.reload("", BEARERS, "configuration reloaded");
    assert_eq!(json_of(&server.bearer(LIVE, CALL).await)["error"]["code"], -32602);
}

#[test]
fn without_a_server_nothing_can_be_closed() {
    let folder = frontdesk_testkit::TestFolder::new();
    let refused = frontdesk_testkit::app::process::run_frontdesk(folder.path(), &["maintenance", "on"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("no server runs on frontdesk-data"), "{}", refused.err);
}
