//! Starts that cannot be: each says what is wrong and what to do next, and exits with 1.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk, run_script};

const DEMO: [&str; 5] = ["demo", "--listen", "127.0.0.1:0", "--data", "data"];

/// What a refused command says.
fn complaint(folder: &Path, arguments: &[&str]) -> String {
    let CommandOutput { code, out, err } = run_frontdesk(folder, arguments);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    err
}

fn mode(file: &Path, mode: u32) {
    fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
}

/// Data of a desk that was open once.
fn used() -> TestApp {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    desk
}

#[test]
fn a_port_in_use_is_reported_with_its_flag() {
    let folder = TestFolder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let port = address.rsplit(':').next().unwrap();
    assert_eq!(
        complaint(folder.path(), &["demo", "--listen", &address, "--data", "data"]),
        format!(
            "frontdesk: port {port} is taken: another program listens on {address}; stop it, choose another port with \
             `--listen 127.0.0.1:PORT`, or let the system choose a free one with `--listen 127.0.0.1:0`\n"
        )
    );
    assert!(!folder.join("data").exists());
}

#[test]
fn data_of_another_user_is_not_said_to_be_missing() {
    let nobody = 65534;
    for arguments in [&["audit", "verify"][..], &["backup", "desk.db"], &["client", "list"], &["client", "add"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.args(arguments).args(["--data", "/root"]).current_dir("/").env_clear();
        if arguments.ends_with(&["add"]) {
            command.args(["--name", "a", "--tenant", "dlr_a", "--new-tenant", "--scope", "amcp:inventory:read"]);
        }
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.uid(nobody).gid(nobody);
        }
        let said = command.output().unwrap();
        assert_eq!(
            (said.status.code(), String::from_utf8(said.stderr).unwrap().as_str()),
            (
                Some(1),
                "frontdesk: /root belongs to another user, root, and only that user has access. Run the command as that user, with: sudo -u 'root'\n"
            )
        );
    }
}

#[test]
fn serve_names_the_key_of_a_port_in_use() {
    let folder = TestFolder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let free = "127.0.0.1:0";
    for (listen, operator, advice) in [
        (address.as_str(), free, "`listen = \"127.0.0.1:PORT\"`"),
        (free, address.as_str(), "`operator.listen = \"127.0.0.1:PORT\"`"),
    ] {
        let environment = [("FRONTDESK_LISTEN", listen), ("FRONTDESK_OPERATOR_LISTEN", operator)];
        let said = CommandProcess::new(folder.path(), &["serve"], &environment).end();
        assert_eq!(said.code, Some(1));
        assert!(said.err.contains(&format!("choose another port with {advice}, or")), "{}", said.err);
    }
}

#[test]
fn a_data_folder_has_one_desk_at_a_time() {
    let desk = TestApp::start();
    assert_eq!(
        complaint(desk.folder.path(), &DEMO),
        "frontdesk: another Frontdesk is using data. Stop it, or name another folder with --data.\n"
    );
}

/// Whatever is wrong with the folder, the advice works with `serve`, too.
#[test]
fn serve_takes_another_data_folder_by_its_option() {
    let desk = TestApp::start();
    let any_port = [("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")];
    let serve = |data| CommandProcess::new(desk.folder.path(), &["serve", "--data", data], &any_port);
    let refused = serve("data").end();
    assert_eq!(
        (refused.code, refused.err.as_str()),
        (Some(1), "frontdesk: another Frontdesk is using data. Stop it, or name another folder with --data.\n")
    );
    let mut other = serve("other");
    assert!(other.logged("serving").contains(r#""data":"other""#));
    let log = other.reload("configuration reloaded");
    assert!(log.contains("no keys changed") && !log.contains("restart required"), "{log}");
    drop(other);
    let checked = run_frontdesk(desk.folder.path(), &["config", "check", "--data", "none/of/these"]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
}

#[test]
fn a_damaged_database_is_named_with_the_way_to_restore_it() {
    let desk = used();
    let file = desk.data().join("frontdesk.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[100..9000].fill(0xff);
    for (content, why) in
        [(bytes, "database disk image is malformed"), (b"noise".repeat(999), "file is not a database")]
    {
        fs::write(&file, content).unwrap();
        for name in ["frontdesk.db-wal", "frontdesk.db-shm"] {
            let _ = fs::remove_file(desk.data().join(name));
        }
        assert_eq!(
            complaint(desk.folder.path(), &DEMO),
            format!(
                "frontdesk: data/frontdesk.db is damaged: {why}. Keep the folder, and make a new one from a backup and \
                 its master.key: frontdesk restore BACKUP --data NEW_FOLDER\n"
            )
        );
    }
}

/// The limit is one on files, which anybody may set; SQLite and the system name a full disk otherwise.
#[test]
fn a_full_disk_says_what_to_free() {
    let folder = TestFolder::new();
    let limited =
        "trap '' XFSZ; ulimit -f 0; export FRONTDESK_LISTEN=127.0.0.1:0 FRONTDESK_OPERATOR_LISTEN=127.0.0.1:0;";
    let said = run_script(folder.path(), &format!("{limited} frontdesk serve --data data"));
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            Some(1),
            "frontdesk: there is no space left to write data/master.key (File too large (os error 27)). Free some space on \
             its disk, or name another folder with --data.\n"
        )
    );
    let said = run_script(folder.path(), &format!("{limited} frontdesk demo --data demo"));
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            Some(1),
            "frontdesk: cannot use demo/demo-site.sqlite: disk I/O error. Check the free space, and that the folder exists \
             and may be written.\n"
        )
    );
}

#[test]
fn a_data_folder_of_a_newer_version_is_left_alone() {
    let desk = used();
    let file = desk.data().join("frontdesk.db");
    let database = rusqlite::Connection::open(&file).unwrap();
    let known: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    database.execute_batch("PRAGMA user_version = 999").unwrap();
    drop(database);
    let wanted = format!(
        "frontdesk: the data folder is from a newer version of Frontdesk (schema 999, this one knows {known}). \
         Start the newer version, or name another folder with --data.\n"
    );
    assert_eq!(complaint(desk.folder.path(), &DEMO), wanted);
    assert_eq!(complaint(desk.folder.path(), &["client", "list", "--data", "data"]), wanted);
}

#[test]
fn a_readable_master_key_is_refused_with_the_fix() {
    let desk = used();
    let key = desk.data().join("master.key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    mode(&key, 0o644);
    let wanted = "frontdesk: data/master.key can be read by others; consider everything encrypted with it disclosed. Run: chmod 600 data/master.key\n";
    assert_eq!(complaint(desk.folder.path(), &DEMO), wanted);
    assert_eq!(complaint(desk.folder.path(), &["audit", "verify", "--data", "data"]), wanted);
    mode(&key, 0o640);
    assert_eq!(complaint(desk.folder.path(), &DEMO), wanted);
}

#[test]
fn an_accessible_data_folder_is_refused_with_the_fix() {
    let desk = used();
    let wanted = "frontdesk: data is accessible to other users, and it contains the master key. \
                  Run: chmod 700 data\n";
    for open in [0o755, 0o710, 0o701, 0o770] {
        mode(&desk.data(), open);
        assert_eq!(complaint(desk.folder.path(), &DEMO), wanted, "{open:o}");
        assert_eq!(complaint(desk.folder.path(), &["client", "list", "--data", "data"]), wanted, "{open:o}");
    }
    mode(&desk.data(), 0o700);
    assert!(desk.start_again().banner["reused"].as_bool().unwrap());
}

#[test]
fn an_accessible_existing_folder_is_refused_and_left_empty() {
    let folder = TestFolder::new();
    fs::create_dir(folder.join("data")).unwrap();
    mode(&folder.join("data"), 0o755);
    assert!(complaint(folder.path(), &DEMO).ends_with("Run: chmod 700 data\n"));
    assert_eq!(fs::read_dir(folder.join("data")).unwrap().count(), 0);
}

#[test]
fn everything_in_a_data_folder_is_for_its_owner_alone() {
    let desk = TestApp::start();
    let mut seen = Vec::new();
    for entry in fs::read_dir(desk.data()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{name}");
        seen.push(name);
    }
    for name in ["frontdesk.db", "frontdesk.db-wal", "frontdesk.db-shm", "master.key"] {
        assert!(seen.iter().any(|seen| seen == name), "no {name}: {seen:?}");
    }
}

#[test]
fn a_lost_or_foreign_master_key_is_never_replaced_by_a_new_one() {
    let desk = used();
    let key = desk.data().join("master.key");
    let kept = fs::read_to_string(&key).unwrap();

    fs::write(&key, "f".repeat(64)).unwrap();
    assert_eq!(
        complaint(desk.folder.path(), &DEMO),
        "frontdesk: the master key does not open this database. Put back the master.key file that was made with it.\n"
    );
    fs::write(&key, "not a key").unwrap();
    assert_eq!(
        complaint(desk.folder.path(), &DEMO),
        "frontdesk: data/master.key is not a master key (64 hexadecimal digits). Restore the file that was created with this data folder.\n"
    );
    fs::remove_file(&key).unwrap();
    assert_eq!(
        complaint(desk.folder.path(), &DEMO),
        "frontdesk: data/master.key is missing, and without it the encrypted data cannot be read. Restore the file that was created with this data folder.\n"
    );
    assert!(!key.exists());

    fs::write(&key, kept).unwrap();
    mode(&key, 0o600);
    assert!(desk.start_again().banner["reused"].as_bool().unwrap());
}

#[test]
fn commands_on_a_folder_without_data_say_so_and_make_nothing() {
    let folder = TestFolder::new();
    for arguments in
        [&["client", "list"][..], &["client", "rotate", "cli_x"], &["audit", "verify"], &["audit", "export"]]
    {
        assert_eq!(
            complaint(folder.path(), &[arguments, &["--data", "typo"]].concat()),
            "frontdesk: there is no Frontdesk data in typo. Start `frontdesk demo` or `frontdesk serve` once, or name \
             the folder with --data.\n"
        );
    }
    assert!(!folder.join("typo").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = TestFolder::new();
    fs::write(folder.join("data"), "a file").unwrap();
    let said = complaint(folder.path(), &DEMO);
    assert!(said.starts_with("frontdesk: cannot use data: "), "{said}");
    assert!(said.ends_with("Check its owner and permissions, or name another folder with --data.\n"), "{said}");
}
