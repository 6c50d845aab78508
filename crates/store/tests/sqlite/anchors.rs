//! Anchors outside the database: what they prove, and what they do not take for an attack.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{ErasureProgress, ErasureRecords, Registry as _};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationPublicKey;
use frontdesk_store::audit::{AnchorReport, AnchorStart, anchor_key};
use frontdesk_store::{AuditReader, Backend as _};

use crate::test_store::TestStore;
use frontdesk_testkit::store_suite::boats::{boat, done, insert, plan};
use frontdesk_testkit::store_suite::{north, south};

fn reader(test: &TestStore) -> AuditReader {
    AuditReader::open(&test.folder.database(), &SealKey::from_bytes([7; 32]))
}

/// Writes these for both tenants, seals, and appends an anchor.
async fn anchored(test: &TestStore, lines: &mut Vec<String>, ids: &[&str]) {
    for id in ids {
        for tenant in [north(), south()] {
            done(&*test.store, plan(id, &tenant, vec![insert(boat(id, 7))])).await;
        }
    }
    test.store.seal_audit().await.unwrap();
    let start = lines.last().map_or_else(AnchorStart::default, |line| AnchorStart::after_line(line).unwrap());
    lines.extend(reader(test).anchor(&start, Millis(5_000)).unwrap());
}

fn compared(test: &TestStore, lines: &[String]) -> AnchorReport {
    compared_with(test, anchor_key(&lines[0]).unwrap(), lines)
}

fn compared_with(test: &TestStore, key: InstallationPublicKey, lines: &[String]) -> AnchorReport {
    reader(test).verify_anchors(key, lines.iter().cloned().map(Ok)).unwrap()
}

fn findings(report: &AnchorReport) -> Vec<String> {
    report.findings.iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
}

#[tokio::test]
async fn a_line_names_what_has_grown_since_the_line_before() {
    let test = TestStore::new().await;
    let mut lines = Vec::new();
    anchored(&test, &mut lines, &["b1"]).await;
    done(&*test.store, plan("b2", &north(), vec![insert(boat("b2", 7))])).await;
    anchored(&test, &mut lines, &[]).await;
    anchored(&test, &mut lines, &[]).await;
    assert_eq!(lines.len(), 2, "nothing has changed for a third");
    let chains = |line: &str| -> Vec<(String, i64)> {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let chain = |one: &serde_json::Value| (one[0].as_str().unwrap().to_owned(), one[2].as_i64().unwrap());
        line["chains"].as_array().unwrap().iter().map(chain).collect()
    };
    assert_eq!(chains(&lines[0]), [("tenant:north".to_owned(), 1), ("tenant:south".to_owned(), 1)]);
    assert_eq!(chains(&lines[1]), [("tenant:north".to_owned(), 2)]);
    let expected = AnchorReport { lines: 2, held: 3, ..AnchorReport::default() };
    assert_eq!(compared(&test, &lines), expected);
}

#[tokio::test]
async fn a_database_put_back_whole_is_older_than_its_anchor() {
    let test = TestStore::new().await;
    let mut lines = Vec::new();
    anchored(&test, &mut lines, &["b1"]).await;
    let TestStore { store, folder, clock } = test;
    drop(store);
    std::fs::copy(folder.database(), folder.database().with_extension("old")).unwrap();
    let test = TestStore::open(folder, clock);
    anchored(&test, &mut lines, &["b2"]).await;
    let TestStore { store, folder, clock } = test;
    drop(store);
    std::fs::copy(folder.database().with_extension("old"), folder.database()).unwrap();
    let test = TestStore::open(folder, clock);
    // By itself the database is whole.
    assert!(test.store.verify_audit().unwrap().is_intact());
    let older =
        "2: the database is older than the anchor of 1970-01-01T00:00:05Z: its summary has count 2, and the anchor 3";
    let lost = |tenant: &str| format!("2: tenant:{tenant}: link 2 is missing (anchored 1970-01-01T00:00:05Z)");
    assert_eq!(findings(&compared(&test, &lines)), [older.to_owned(), lost("north"), lost("south")]);
    // Going on hides nothing: the links are others, and the file shows where it went back.
    anchored(&test, &mut lines, &["b3", "b4"]).await;
    let other = |tenant: &str| {
        format!("2: tenant:{tenant}: link 2 is another than the anchored one (anchored 1970-01-01T00:00:05Z)")
    };
    assert_eq!(findings(&compared(&test, &lines)), [other("north"), other("south")]);
}

#[tokio::test]
async fn a_restored_backup_is_told_from_a_database_put_back() {
    let test = TestStore::new().await;
    let mut lines = Vec::new();
    anchored(&test, &mut lines, &["b1"]).await;
    let TestStore { store, folder, clock } = test;
    drop(store);
    std::fs::copy(folder.database(), folder.database().with_extension("old")).unwrap();
    let test = TestStore::open(folder, clock);
    anchored(&test, &mut lines, &["b2"]).await;
    let TestStore { store, folder, clock } = test;
    drop(store);
    std::fs::copy(folder.database().with_extension("old"), folder.database()).unwrap();
    let test = TestStore::open(folder, clock);
    test.store.count_restore(Millis(5_000), r#"{"action":"backup.restored"}"#.to_owned()).await.unwrap();
    anchored(&test, &mut lines, &["b3"]).await;
    let report = compared(&test, &lines);
    assert_eq!(findings(&report), [""; 0]);
    // Both chains of both tenants' first link, and those of after the restore with the record of it.
    assert_eq!((report.lines, report.held, report.before_restore), (3, 5, 2));
    assert!(test.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn retention_and_erasure_are_no_findings() {
    let test = TestStore::new().await;
    let mut lines = Vec::new();
    anchored(&test, &mut lines, &["b1", "b2"]).await;
    test.delete_expired_audit(Millis(i64::MAX)).await.unwrap();
    let records = || ErasureRecords { begin: "{}".to_owned(), end: "{}".to_owned() };
    while !matches!(
        test.store.erase_tenant(&south(), Millis(5_000), records()).await.unwrap(),
        ErasureProgress::Done(_)
    ) {}
    anchored_for_north(&test, &mut lines).await;
    let report = compared(&test, &lines);
    assert_eq!(findings(&report), [""; 0]);
    assert_eq!((report.held, report.deleted), (2, 3));
    assert!(test.store.verify_audit().unwrap().is_intact());
}

async fn anchored_for_north(test: &TestStore, lines: &mut Vec<String>) {
    done(&*test.store, plan("b3", &north(), vec![insert(boat("b3", 7))])).await;
    anchored(test, lines, &[]).await;
}

#[tokio::test]
async fn forged_and_missing_lines_are_found() {
    let test = TestStore::new().await;
    let mut lines = Vec::new();
    for id in ["b1", "b2", "b3"] {
        anchored(&test, &mut lines, &[id]).await;
    }
    let key = anchor_key(&lines[0]).unwrap();
    let forged = vec![lines[0].replace("\"count\":2", "\"count\":1")];
    assert_eq!(findings(&compared_with(&test, key, &forged)), ["1: the signature is not that of the public key"]);
    let gap = vec![lines[0].clone(), lines[2].clone()];
    let missing = "2: the line does not follow the one before it: lines are missing or were changed";
    assert_eq!(findings(&compared_with(&test, key, &gap)), [missing]);
    assert_eq!(findings(&compared_with(&test, key, &["{}".to_owned()])), ["1: the line is not an anchor"]);
    assert_eq!(findings(&compared_with(&test, key, &[])), ["0: there is no anchor in the file"]);
    let other = TestStore::new().await;
    let mut others = Vec::new();
    anchored(&other, &mut others, &["b1"]).await;
    let report = compared_with(&test, anchor_key(&others[0]).unwrap(), &lines[..1]);
    let stranger = findings(&report);
    assert!(anchor_key(&others[0]) == Some(key) || stranger == ["1: the signature is not that of the public key"]);
}
