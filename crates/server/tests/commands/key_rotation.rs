//! Replacing the master key while a desk serves, and killing it meanwhile: whatever happens, a key in the folder opens
//! the data, and in the end only the new one does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::process::run_frontdesk;
use rusqlite::Connection;
use serde_json::json;

const WRONG_KEY: &str =
    "frontdesk: the master key does not open this database. Put back the master.key file that was made with it.";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn verify(data: &Path) -> (Option<i32>, String) {
    let said = run_frontdesk(Path::new("/"), &["audit", "verify", "--data", text(data)]);
    (said.code, said.err.lines().last().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_new_master_key_takes_over_while_the_desk_serves() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let lead = json!({"contact": {"name": "Ada Canary", "email": "ada@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": "k"});
    let made = agent.call("leads.create", lead.clone()).await;
    let key = desk.data().join("master.key");
    let old = fs::read_to_string(&key).unwrap();

    let (code, out, errors) = desk.command(&["key", "rotate"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(
        out,
        format!(
            "The master key was replaced: {}\nThe old one no longer opens the database. Copy the new one to where you keep \
             it; backups that were made before need the old one.\n",
            key.display()
        )
    );
    let new = fs::read_to_string(&key).unwrap();
    assert_ne!(old, new);
    assert!(!desk.data().join("master.key.next").exists());
    // The running desk goes on, and so does one that starts with the new key.
    assert_eq!(agent.call("leads.create", lead.clone()).await["id"], made["id"]);
    assert_eq!(desk.stop(), Some(0));
    assert_eq!(verify(&desk.data()).0, Some(0));
    let raw = Connection::open(desk.data().join("frontdesk.db")).unwrap();
    let records: String = raw
        .query_row(
            "SELECT group_concat(records, char(10)) FROM fd_audit WHERE chain LIKE 'admin%' OR records LIKE '%key.r%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(
        records.contains(r#""operator":"key.rotate""#) && records.contains(r#""operator":"key.retire""#),
        "{records}"
    );
    drop(raw);

    // The old key opens nothing any more.
    fs::write(&key, &old).unwrap();
    assert_eq!(verify(&desk.data()), (Some(1), WRONG_KEY.to_owned()));
    fs::write(&key, &new).unwrap();
    assert_eq!(verify(&desk.data()).0, Some(0));
}

/// The command is killed a little later in every round.
#[test]
fn a_rotation_that_is_killed_at_any_point_loses_nothing() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    let data = desk.data();
    let mut interrupted = 0;
    for round in 0..24_u64 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.env_clear().args(["key", "rotate", "--data", text(&data)]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        sleep(Duration::from_millis(40 * round));
        let _ = child.kill();
        if !child.wait().unwrap().success() {
            interrupted += 1;
        }
        assert_eq!(verify(&data), (Some(0), String::new()), "after round {round}");
    }
    assert!(interrupted > 0, "nothing was interrupted");
    let said = run_frontdesk(Path::new("/"), &["key", "rotate", "--data", text(&data), "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.starts_with(r#"{"master_key":"#) && said.out.contains(r#""state":"rotated""#), "{}", said.out);
    let raw = Connection::open(data.join("frontdesk.db")).unwrap();
    let keys: i64 = raw.query_row("SELECT count(*) FROM fd_root_key", [], |row| row.get(0)).unwrap();
    assert_eq!(keys, 1);
    assert_eq!(verify(&data).0, Some(0));
}

/// Each point at which it can be interrupted, put together by hand.
#[test]
fn an_interrupted_rotation_is_continued_where_it_was() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    let (data, folder) = (desk.data(), TestFolder::new());
    let rotate = || run_frontdesk(Path::new("/"), &["key", "rotate", "--data", text(&data)]);
    let (key, next) = (data.join("master.key"), data.join("master.key.next"));
    let before = folder.join("before.db");
    fs::copy(data.join("frontdesk.db"), &before).unwrap();

    // The new key was written, and nothing else.
    fs::copy(&key, &next).unwrap();
    fs::write(&next, "cd".repeat(32)).unwrap();
    assert_eq!(verify(&data).0, Some(0));
    assert_eq!(rotate().code, Some(0));
    assert_eq!(fs::read_to_string(&key).unwrap(), "cd".repeat(32));
    assert!(!next.exists());

    // The file was replaced, and the old key still opens the database.
    let raw = Connection::open(data.join("frontdesk.db")).unwrap();
    raw.execute("ATTACH ?1 AS before", [text(&before)]).unwrap();
    raw.execute("INSERT INTO fd_root_key SELECT * FROM before.fd_root_key", []).unwrap();
    drop(raw);
    assert_eq!(rotate().code, Some(0));
    // Opened with the new key, the rows have MACs, which the file then says as well.
    let text = fs::read_to_string(&key).unwrap();
    assert_eq!(text.lines().next(), Some("cd".repeat(32).as_str()), "a second key was made");
    let raw = Connection::open(data.join("frontdesk.db")).unwrap();
    let keys: i64 = raw.query_row("SELECT count(*) FROM fd_root_key", [], |row| row.get(0)).unwrap();
    assert_eq!(keys, 1);
}
