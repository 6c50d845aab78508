//! A server that is killed while it erases a tenant, at moments left to chance. The next run completes the erasure, and
//! the neighbour has lost nothing.

use std::time::Duration;

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::process::CommandProcess;
use frontdesk_testkit::databases::PostgresDatabase;

use super::seed::{rounds, seeded};

const ERASE: [&str; 6] = ["tenant", "erase", "dlr_summit", "--confirm", "dlr_summit", "--json"];

#[tokio::test]
async fn a_killed_erasure_on_sqlite_is_completed_later() {
    survive("an erasure on SQLite", TestApp::start()).await;
}

#[tokio::test]
async fn a_killed_erasure_on_postgres_is_completed_later() {
    let database = PostgresDatabase::create();
    survive("an erasure on PostgreSQL", TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())])).await;
    for table in ["vehicle", "vehicle_word", "lead", "fd_claim", "fd_outbox", "fd_counter", "fd_tenant"] {
        let left = database.sql(&format!("SELECT count(*) FROM {table} WHERE tenant = 'dlr_summit'"));
        assert_eq!(left, ["0"], "{table}");
    }
    assert_eq!(database.sql("SELECT count(*) FROM fd_audit WHERE chain = 'tenant:dlr_summit'"), ["0"]);
}

async fn survive(what: &str, mut desk: TestApp) {
    let random = seeded(what);
    let stock = desk.agent().await.all("inventory.list", json!({"limit": 100})).await;
    let whole = desk.other_tenant().await.all("inventory.list", json!({"limit": 100})).await.len();
    for _ in 0..rounds() {
        let data = desk.data().display().to_string();
        let erasing = CommandProcess::new(&desk.data(), &[&ERASE[..], &["--data", &data]].concat(), &[]);
        // The wait before its end is the longest part, so most kills are aimed before it.
        let longest = *random.pick(&[150_000, 300_000, 1_200_000]);
        tokio::time::sleep(Duration::from_micros(random.number() % longest)).await;
        desk = desk.crash_and_restart();
        drop(erasing);
        let (code, out, errors) = desk.command(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}{errors}");
    }
    let (code, out, errors) = desk.command(&ERASE);
    assert_eq!(code, Some(0), "{errors}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["rows"]["vehicle"], json!(whole), "each row is counted once: {report}");
    assert_eq!(report["chain"]["intact"], json!(true));
    let (code, out, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    let (_, records, _) = desk.command(&["audit", "export", "--tenant", "dlr_summit"]);
    let erasures = records.lines().filter(|line| line.contains(r#""operator":"tenant.erase""#)).count();
    assert_eq!(erasures, 2, "it began once and ended once: {records}");
    assert_eq!(desk.agent().await.all("inventory.list", json!({"limit": 100})).await, stock);
}
