//! Anchors of the audit chains, by the server and by command, and what they show that the database alone does not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::TestApp;

async fn create_lead(desk: &TestApp, key: &str) {
    let mut agent = desk.agent().await;
    let order = json!({"contact": {"name": "Dana Rivera", "email": "dana.rivera@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key});
    agent.call("leads.create", order).await;
}

fn database(desk: &TestApp) -> std::path::PathBuf {
    desk.data().join("frontdesk.db")
}

/// Puts an old copy of the database in place, as whoever has a backup and no key can.
fn put_back(desk: &TestApp, copy: &Path) {
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(desk.data().join(format!("frontdesk.db{ending}")));
    }
    fs::copy(copy, database(desk)).unwrap();
}

#[tokio::test]
async fn an_anchor_file_shows_a_database_put_back() {
    let folder = TestFolder::new();
    let (file, copy) = (folder.join("anchors.jsonl"), folder.join("copy.db"));
    let path = file.to_str().unwrap();
    let mut desk = TestApp::start_with(&[("FRONTDESK_AUDIT_ANCHOR", path)]);
    create_lead(&desk, "k-1").await;
    assert_eq!(desk.stop(), Some(0));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::copy(database(&desk), &copy).unwrap();
    let mut desk = desk.start_again();
    create_lead(&desk, "k-2").await;
    assert_eq!(desk.stop(), Some(0));

    let (code, key, _) = desk.command(&["audit", "anchor", "--public-key"]);
    assert!(code == Some(0) && key.starts_with("fdpub_"), "{key}");
    let compare = ["audit", "verify", "--anchor", path, "--public-key", key.trim()];
    let (code, out, err) = desk.command(&compare);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("read, with the given public key\n"), "{out}");
    assert!(out.ends_with("\nThe audit log is complete and unchanged.\n"), "{out}");
    let (_, out, _) = desk.command(&["audit", "verify", "--anchor", path]);
    assert!(
        out.contains("read, with the public key that the file names; give --public-key to be sure of it\n"),
        "{out}"
    );

    put_back(&desk, &copy);
    assert_eq!(desk.command(&["audit", "verify"]).0, Some(0), "by itself it is whole");
    let (code, out, _) = desk.command(&compare);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains(": the database is older than the anchor of "), "{out}");
    assert!(out.contains(": tenant:dlr_lakeside: link 3 is missing (anchored "), "{out}");
    assert!(out.ends_with("Keep this data folder unchanged and investigate.\n"), "{out}");
    let stranger = "fdpub_6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw";
    let (code, out, _) = desk.command(&["audit", "verify", "--anchor", path, "--public-key", stranger]);
    assert_eq!(code, Some(1));
    assert!(out.contains("FOUND   anchor in line 1: the signature is not that of the public key\n"), "{out}");
}

#[tokio::test]
async fn an_anchor_is_printed_or_appended_by_command() {
    let folder = TestFolder::new();
    let file = folder.join("anchors.jsonl");
    let path = file.to_str().unwrap();
    let mut desk = TestApp::start();
    create_lead(&desk, "k-1").await;
    assert_eq!(desk.stop(), Some(0));
    let (code, line, _) = desk.command(&["audit", "anchor"]);
    let anchor: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((code, anchor["anchor"].as_i64(), anchor["restores"].as_i64()), (Some(0), Some(1), Some(0)));
    let chains: Vec<&str> = anchor["chains"].as_array().unwrap().iter().map(|one| one[0].as_str().unwrap()).collect();
    assert!(chains.contains(&"tenant:dlr_lakeside") && chains.contains(&"admin:embedded"), "{chains:?}");
    let append = ["audit", "anchor", "--append", path];
    assert_eq!(desk.command(&append).1, format!("an anchor was appended to {path}\n"));
    assert_eq!(desk.command(&append).1, format!("nothing has changed since the last anchor in {path}\n"));
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1);
    let (code, out, _) = desk.command(&["audit", "verify", "--anchor", path]);
    assert_eq!(code, Some(0), "{out}");
}

#[tokio::test]
async fn a_chain_deleted_whole_and_a_row_put_back_are_found() {
    let mut desk = TestApp::start();
    create_lead(&desk, "k-1").await;
    assert_eq!(desk.stop(), Some(0));
    let raw = rusqlite::Connection::open(database(&desk)).unwrap();
    raw.execute_batch("UPDATE lead SET version = version - 1 WHERE tenant = 'dlr_lakeside'").unwrap();
    let (code, out, _) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains(": the row has version 0, and the last audited write made version 1\n"), "{out}");
    raw.execute_batch(
        "DELETE FROM fd_audit WHERE chain LIKE 'tenant:%'; DELETE FROM fd_audit_head WHERE chain LIKE 'tenant:%'",
    )
    .unwrap();
    let (code, out, _) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("FOUND   tenant:dlr_lakeside: the chain is missing; it had 2 links\n"), "{out}");
    assert!(out.contains("FOUND   tenant:dlr_summit: the chain is missing; it had 1 links\n"), "{out}");
}
