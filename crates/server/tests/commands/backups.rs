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
                "{} restored into {}\nIt was opened with the master key, and its audit log is complete and unchanged.\n",
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
    let key = key.lines().next().unwrap();
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
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    let key = data.join("master.key");
    assert!(said.err.starts_with(&format!("frontdesk: {} is missing", key.display())), "{}", said.err);
    assert!(!data.exists());
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
    let why = "was changed after it was written, or with another master key";
    assert!(said.err.contains(why), "{}", said.err);
    assert!(!data.join("frontdesk.db").exists() && !data.join("frontdesk.db.new").exists());
    fs::write(data.join("master.key"), right).unwrap();
    assert_eq!(restore(&backup, &data).code, Some(0));
}

#[test]
fn a_damaged_backup_is_refused_before_anything_is_made() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let (backup, data) = (folder.join("desk.db"), with_key_of(&desk, &folder));
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
    bytes[middle] ^= 1;
    fs::write(&backup, bytes).unwrap();
    let said = restore(&backup, &data);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
    assert!(said.err.contains("was changed after it was written"), "{}", said.err);
    let mut left: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["lock", "master.key"]);
}

/// The bytes of the trailer.
const TRAILER: usize = 48;

/// The database of a backup after these statements, with the old trailer or none.
fn edited(backup: &Path, statements: &str, with_trailer: bool) {
    let bytes = fs::read(backup).unwrap();
    let (database, trailer) = bytes.split_at(bytes.len() - TRAILER);
    fs::write(backup, database).unwrap();
    rusqlite::Connection::open(backup).unwrap().execute_batch(statements).unwrap();
    if with_trailer {
        let mut bytes = fs::read(backup).unwrap();
        bytes.extend_from_slice(trailer);
        fs::write(backup, bytes).unwrap();
    }
}

const INSERTED_CLIENT: &str = "INSERT INTO fd_client (client, name, secret_hash, tenants, scopes, created_at, version, mac) \
    SELECT 'cli_intruder', 'Intruder', zeroblob(32), tenants, scopes, created_at, version, mac FROM fd_client LIMIT 1";
const UNDONE_REVOCATION: &str = "CREATE TRIGGER undo AFTER UPDATE OF revoked_at ON fd_client BEGIN \
    UPDATE fd_client SET revoked_at = NULL WHERE client = NEW.client; END";

#[test]
fn an_edited_backup_is_refused() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let data = with_key_of(&desk, &folder);
    for (number, statements) in [INSERTED_CLIENT, UNDONE_REVOCATION].into_iter().enumerate() {
        let backup = folder.join(&format!("desk{number}.db"));
        assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
        edited(&backup, statements, true);
        let said = restore(&backup, &data);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        assert!(said.err.contains("was changed after it was written"), "{}", said.err);
        assert!(!data.join("frontdesk.db").exists());
    }
}

#[test]
fn a_backup_without_a_mac_needs_an_operators_word() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let (backup, data) = (folder.join("desk.db"), with_key_of(&desk, &folder));
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    edited(&backup, INSERTED_CLIENT, false);
    let said = restore(&backup, &data);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("has no MAC") && said.err.contains("add --unverified"), "{}", said.err);
    let command = ["restore", text(&backup), "--unverified", "--data", text(&data)];
    let said = run_frontdesk(Path::new("/"), &command);
    assert_eq!(said.code, Some(1), "the audit log shows what was inserted");
    assert!(said.err.contains("the data was restored, but its audit log was changed"), "{}", said.err);
    // The rows still have theirs: the intruder is refused, and the list says so.
    let listed = run_frontdesk(Path::new("/"), &["client", "list", "--data", text(&data)]);
    assert!(!listed.out.contains("cli_intruder"), "{}", listed.out);
    assert!(listed.err.starts_with("1 client refused: "), "{}", listed.err);
    let exported = run_frontdesk(Path::new("/"), &["audit", "export", "--data", text(&data)]);
    assert!(exported.out.contains(r#""operator":"restore.unverified""#), "{}", exported.out);
}

#[test]
fn a_backup_without_a_mac_is_restored_on_an_operators_word() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let (backup, data) = (folder.join("desk.db"), with_key_of(&desk, &folder));
    assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
    edited(&backup, "", false);
    let command = ["restore", text(&backup), "--unverified", "--data", text(&data)];
    let said = run_frontdesk(Path::new("/"), &command);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(said.out.contains("It had no MAC"), "{}", said.out);
    let exported = run_frontdesk(Path::new("/"), &["audit", "export", "--data", text(&data)]);
    assert!(exported.out.contains(r#""operator":"restore.unverified""#), "{}", exported.out);
}

/// Even if an operator vouches for the file.
#[test]
fn a_backup_with_a_trigger_is_refused() {
    let desk = TestApp::start();
    let folder = TestFolder::new();
    let data = with_key_of(&desk, &folder);
    let view = "CREATE VIEW everybody AS SELECT * FROM fd_client";
    let index = "CREATE INDEX more ON fd_client (upper(name))";
    let column = "ALTER TABLE fd_client ADD COLUMN more TEXT CHECK (revoked_at IS NULL)";
    let table = "CREATE TABLE more (id TEXT)";
    let found = [
        (UNDONE_REVOCATION, "the trigger undo in the database is not as Frontdesk makes it"),
        (view, "the view everybody in the database"),
        (index, "the index more in the database"),
        (column, "the table fd_client in the database"),
        (table, "the table more in the database"),
    ];
    for (number, (statements, why)) in found.into_iter().enumerate() {
        let backup = folder.join(&format!("desk{number}.db"));
        assert_eq!(desk.command(&["backup", text(&backup)]).0, Some(0));
        edited(&backup, statements, false);
        let command = ["restore", text(&backup), "--unverified", "--data", text(&data)];
        let said = run_frontdesk(Path::new("/"), &command);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        assert!(said.err.contains(why), "{}", said.err);
        assert!(!data.join("frontdesk.db").exists());
    }
}

#[test]
fn a_trigger_in_the_data_folder_stops_the_start() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap().execute_batch(UNDONE_REVOCATION).unwrap();
    let (code, _, err) = desk.command(&["client", "list"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("the trigger undo in the database is not as Frontdesk makes it"), "{err}");
}

/// Whoever can write to the database removes the MACs and has the upgrade trust his rows.
#[test]
fn a_database_without_macs_is_refused_once_it_had_them() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    for table in ["fd_tenant", "fd_client", "fd_token"] {
        let columns = format!("ALTER TABLE {table} DROP COLUMN version; ALTER TABLE {table} DROP COLUMN mac");
        database.execute_batch(&columns).unwrap();
    }
    database.execute_batch("PRAGMA user_version = 4").unwrap();
    let (code, _, err) = desk.command(&["client", "list"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("the rows of this database have no MACs, although they had them"), "{err}");
    let key = fs::read_to_string(desk.data().join("master.key")).unwrap();
    assert_eq!(key.lines().nth(1), Some("rows authenticated"));
}

#[test]
fn the_master_key_can_be_kept_outside_the_data_folder() {
    let folder = TestFolder::new();
    let keys = folder.join("keys");
    fs::create_dir(&keys).unwrap();
    let config = "data = \"data\"\nmaster_key = \"keys/desk.key\"\n[[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n";
    fs::write(folder.join("frontdesk.toml"), config).unwrap();
    let run = |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--config", "frontdesk.toml"]).collect();
        let said = run_frontdesk(folder.path(), &args);
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.err);
        said.out
    };
    run(&["tenant", "add", "north", "--name", "North"]);
    assert!(keys.join("desk.key").exists() && !folder.join("data").join("master.key").exists());
    assert_eq!(fs::metadata(keys.join("desk.key")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(run(&["tenant", "list"]).contains("North"));
    run(&["audit", "verify"]);
    run(&["tenant", "export", "--tenant", "north", "north.export"]);
    assert!(run(&["backup", "desk.db"]).contains("keys/desk.key"));
    fs::rename(folder.join("data"), folder.join("old")).unwrap();
    run(&["restore", "desk.db"]);
    assert!(run(&["tenant", "list"]).contains("North"));
    fs::set_permissions(keys.join("desk.key"), Permissions::from_mode(0o644)).unwrap();
    let said = run_frontdesk(folder.path(), &["tenant", "list", "--config", "frontdesk.toml"]);
    assert!(said.err.contains("can be read by others"), "{}", said.err);
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
