//! What is stored: nobody fills the disk, and a wrong clock deletes nothing.

use std::time::Duration;

use frontdesk_testkit::app::TestApp;
use rusqlite::Connection;
use serde_json::json;
use tokio::time::sleep;

use crate::requests::a_lead;

const MONTH_MILLIS: i64 = 30 * 24 * 3_600_000;

#[tokio::test]
async fn over_its_quota_a_dealership_reads_and_adds_nothing() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_TENANT_RECORDS", "1")]);
    let mut agent = desk.agent().await;
    let response = agent.send("tools/call", json!({"name": "leads.create", "arguments": a_lead()})).await;
    let expected = r#""structuredContent":{"error":{"code":"quota.exceeded","message":"The quota of stored records is used up; nothing was changed. Delete what is no longer needed, or ask the operator for more. Reading goes on.","details":{"retryable":false}}},"isError":true"#;
    assert!(response.text().contains(expected), "{}", response.text());
    let stock = agent.call("inventory.list", json!({"limit": 1})).await;
    assert_eq!(stock["items"].as_array().unwrap().len(), 1);
    let (code, shown, errors) = desk.command(&["tenant", "show", "dlr_lakeside"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.contains("\nstored       ") && shown.contains(" records, "), "{shown}");
}

/// [X19]
#[tokio::test]
async fn retention_waits_for_the_operators_word() {
    let mut desk = TestApp::start();
    let mut lead = a_lead();
    lead["idempotency_key"] = json!("a-month-ago");
    desk.agent().await.call("leads.create", lead).await;
    assert_eq!(desk.stop(), Some(0));
    let database = desk.data().join("frontdesk.db");
    let claims = || -> i64 {
        let connection = Connection::open(&database).unwrap();
        connection.query_row("SELECT count(*) FROM fd_claim", [], |row| row.get(0)).unwrap()
    };
    let before = claims();
    assert!(before > 0);
    for table in ["fd_audit", "fd_claim"] {
        let connection = Connection::open(&database).unwrap();
        connection.execute(&format!("UPDATE {table} SET at = at - {MONTH_MILLIS}"), []).unwrap();
    }
    let desk = desk.start_again();
    let (_, status, _) = desk.command(&["retention", "status"]);
    assert!(status.starts_with("Paused: the clock says "), "{status}");
    sleep(Duration::from_secs(3)).await;
    assert_eq!(claims(), before, "nothing is deleted meanwhile");
    let (code, resumed, _) = desk.command(&["retention", "resume"]);
    assert_eq!((code, resumed.as_str()), (Some(0), "Expired records are deleted again.\n"));
    let (code, _, again) = desk.command(&["retention", "resume"]);
    assert!(code == Some(1) && again.contains("retention is not paused"), "{again}");
    assert_eq!(desk.command(&["retention", "status"]).1, "Expired records are deleted.\n");
    for _ in 0..100 {
        if claims() == 0 {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(claims(), 0);
    let (_, audit, _) = desk.command(&["audit", "export"]);
    assert!(audit.contains(r#""operator":"retention.resume""#), "{audit}");
}
