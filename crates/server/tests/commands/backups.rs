//! A copy of the data and the way back: while a server runs, without its key, and never over anything.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandOutput, run_frontdesk};
use frontdesk_testkit::app::{DemoTenant, TestAgent, TestApp};

async fn order(agent: &mut TestAgent, key: &str) -> Value {
    let order = json!({"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key});
    agent.call("leads.create", order).await
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn restore(backup: &Path, data: &Path) -> CommandOutput {
    run_frontdesk(Path::new("/"), &["restore", text(backup), "--data", text(data)])
}

/// A folder that holds this desk's master key and nothing else.
fn with_key_of(desk: &TestApp, folder: &TestFolder) -> std::path::PathBuf {
    let data = folder.join("restored");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
    fs::copy(desk.data().join("master.key"), data.join("master.key")).unwrap();
    data
}

#[tokio::test]
async fn a_backup_under_load_restores_every_answered_write() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let before = order(&mut agent, "before").await;
    let folder = TestFolder::new();
    let backup = folder.join("desk.db");
    let mut writer = desk.other_tenant().await;
    let load = tokio::spawn(async move {
        for number in 0..200 {
            assert_eq!(order(&mut writer, &format!("meanwhile-{number}")).await["type"], json!("lead"));
        }
    });
    let command = desk.command(&["backup", text(&backup)]);
    load.await.unwrap();
    let (code, out, err) = command;
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let bytes = fs::metadata(&backup).unwrap().len();
    assert_eq!(
        out,
        format!(
            "{bytes} bytes written to {}\n\
             The master key is not in it, and without the key no personal data in it can be decrypted.\n\
             Keep a copy of {} in another place.\n",
            backup.display(),
            desk.data().join("master.key").display()
        )
    );
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);

    let data = with_key_of(&desk, &folder);
    let said = restore(&backup, &data);
    assert_eq!(
        (said.code, said.err.as_str(), said.out),
        (
            Some(0),
            "",
            format!(
                "{} restored into {}\nIt was opened with the master key in the folder, and its audit log is complete and unchanged.\n",
                backup.display(),
                data.display()
            )
        )
    );
    // The same clients, secrets, data and idempotency keys.
    let restored = desk.restart_in(folder, "restored");
    let mut agent = restored.agent().await;
    assert_eq!(agent.call("leads.get", json!({"id": before["id"]})).await, before);
    assert_eq!(order(&mut agent, "before").await, before);
    assert_eq!(restored.command(&["audit", "verify"]).0, Some(0));
}

#[tokio::test]
async fn neither_the_key_nor_anything_personal_is_in_a_backup() {
    let desk = TestApp::start();
    let (_, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let mut agent = desk.agent().await;
    let order = json!({"contact": {"name": "Canary Name", "email": "canary@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}});
    agent.call("leads.create", order).await;
    let folder = TestFolder::new();
    let backup = folder.join("desk.db");
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    let bytes = fs::read(&backup).unwrap();
    let key = fs::read_to_string(desk.data().join("master.key")).unwrap();
    let raw: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&key[at * 2..at * 2 + 2], 16).unwrap()).collect();
    let found = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    // What it would look like if it were there.
    assert!(found(b"fd_tenant"));
    for part in [key.as_bytes(), &raw, secret.as_bytes(), agent.token.as_bytes(), b"Canary Name", b"canary@example"] {
        assert!(!found(part), "{}", String::from_utf8_lossy(part));
    }
}

#[test]
fn nothing_is_written_over() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let backup = folder.join("desk.db");
    fs::write(&backup, "something else").unwrap();
    let (code, out, err) = desk.command(&["backup", text(&backup)]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let said = format!("frontdesk: {} already exists and is not overwritten. Name another file.\n", text(&backup));
    assert_eq!(err, said);
    assert_eq!(fs::read_to_string(&backup).unwrap(), "something else");

    fs::remove_file(&backup).unwrap();
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    let said = restore(&backup, &desk.data());
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("is not empty: it contains "), "{}", said.err);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["desk.db"]);
}

#[test]
fn a_missing_master_key_is_explained() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let (backup, data) = (folder.join("desk.db"), folder.join("restored"));
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    let said = restore(&backup, &data);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let key = data.join("master.key");
    assert!(said.out.contains(&format!("Put the one that belongs to it at {}", key.display())), "{}", said.out);
    let verify = ["audit", "verify", "--data", text(&data)];
    assert_eq!(run_frontdesk(folder.path(), &verify).code, Some(1));
    fs::copy(desk.data().join("master.key"), &key).unwrap();
    assert_eq!(run_frontdesk(folder.path(), &verify).code, Some(0));
}

#[test]
fn a_wrong_key_is_found_and_the_right_one_still_works() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let backup = folder.join("desk.db");
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    let data = with_key_of(&desk, &folder);
    let right = fs::read(data.join("master.key")).unwrap();
    fs::write(data.join("master.key"), "ab".repeat(32)).unwrap();
    let said = restore(&backup, &data);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(
        said.err.contains("the backup was not restored: the master key does not open this database"),
        "{}",
        said.err
    );
    fs::write(data.join("master.key"), right).unwrap();
    assert_eq!(restore(&backup, &data).code, Some(0));
}

#[test]
fn a_damaged_backup_is_refused_before_anything_is_made() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let (backup, data) = (folder.join("desk.db"), folder.join("restored"));
    let missing = restore(&backup, &data);
    assert!(missing.err.contains("there is no file "), "{}", missing.err);
    fs::write(&backup, "not a database").unwrap();
    let refused = |why: &str| {
        let next = "Use another file written by `frontdesk backup`.";
        format!("frontdesk: {} cannot be restored, because it is not a complete backup: {why}. {next}\n", text(&backup))
    };
    assert_eq!(restore(&backup, &data).err, refused("file is not a database"));
    fs::remove_file(&backup).unwrap();
    rusqlite::Connection::open(&backup).unwrap().execute_batch("CREATE TABLE other (id)").unwrap();
    assert_eq!(restore(&backup, &data).err, refused("it is not a Frontdesk database"));
    fs::remove_file(&backup).unwrap();
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    let mut bytes = fs::read(&backup).unwrap();
    let middle = bytes.len() / 2;
    for length in [middle, 4096, 1000] {
        fs::write(&backup, &bytes[..length]).unwrap();
        let said = restore(&backup, &data);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        let head = refused("");
        let (begins, ends) = head.split_once("backup: .").unwrap();
        assert!(said.err.starts_with(begins) && said.err.ends_with(ends), "{length}: {}", said.err);
    }
    bytes[middle..middle + 8192].fill(0xab);
    fs::write(&backup, bytes).unwrap();
    let said = restore(&backup, &data);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
    assert!(said.err.contains("cannot be restored, because it is not a complete backup: "), "{}", said.err);
    assert!(!data.exists());
}

#[test]
fn a_stopped_desk_can_be_backed_up_an_empty_folder_cannot() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    let folder = TestFolder::new();
    assert_eq!(desk.command(&["backup", text(&folder.join("desk.db"))]).0, Some(0));
    let said = run_frontdesk(folder.path(), &["backup", "other.db", "--data", "nowhere"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("there is no Frontdesk data in nowhere"), "{}", said.err);
    assert!(!folder.join("other.db").exists() && !folder.join("nowhere").exists());
}
