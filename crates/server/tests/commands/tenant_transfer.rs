//! Exporting and importing a dealership as an operator does it: what is said, and what is refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use serde_json::{Value, json};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandOutput, run_frontdesk};
use frontdesk_testkit::app::{DemoTenant, TestAgent, TestApp};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn export(desk: &TestApp, file: &Path) -> (Option<i32>, String, String) {
    desk.command(&["tenant", "export", "--tenant", "dlr_lakeside", text(file)])
}

fn import(file: &Path, data: &Path) -> CommandOutput {
    run_frontdesk(Path::new("/"), &["tenant", "import", text(file), "--data", text(data), "--unverified"])
}

async fn order(agent: &mut TestAgent, key: &str) -> Value {
    let order = json!({"contact": {"name": "Canary Name", "email": "canary@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key});
    agent.call("leads.create", order).await
}

#[tokio::test]
async fn what_is_said_names_the_file_its_key_and_what_to_do() {
    let desk = TestApp::start();
    let files = TestFolder::new();
    let file = files.join("moving.desk");
    let (code, out, errors) = export(&desk, &file);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.starts_with("exporting ") && errors.contains(" rows/s"), "{errors}");
    let bytes = fs::read(&file).unwrap();
    let rows = out.split(' ').next().unwrap();
    let hash = out.lines().nth(1).unwrap();
    let sender = out.split_once("--sender ").unwrap().1.lines().next().unwrap();
    assert!(sender.starts_with("fdpub_"), "{out}");
    assert_eq!(
        out,
        format!(
            "{rows} rows of dlr_lakeside written to {path}, {} bytes\n{hash}\n\
             The key is in {path}.key; both files together give access to everything. Send them over two different channels.\n\
             The receiver names this installation with: --sender {sender}\n\
             Later changes to dlr_lakeside are not in the file.\n",
            bytes.len(),
            path = file.display(),
        )
    );
    let sums = std::process::Command::new("sha256sum").arg(&file).output().unwrap();
    let sum = String::from_utf8(sums.stdout).unwrap();
    assert_eq!(Some(hash), sum.split(' ').next().map(|sum| format!("SHA-256 {sum}")).as_deref());
    for path in [&file, &files.join("moving.desk.key")] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // It is on record that everything was read.
    let (_, records, _) = desk.command(&["audit", "export", "--tenant", "dlr_lakeside"]);
    assert!(records.contains(r#""operator":"tenant.export""#), "{records}");

    let data = files.join("data");
    let import = ["tenant", "import", text(&file), "--data", text(&data), "--sender", sender];
    let said = run_frontdesk(Path::new("/"), &import);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("checking 100%") && said.err.contains("importing 100%"), "{}", said.err);
    assert_eq!(
        said.out,
        format!(
            "{rows} rows of dlr_lakeside (Lakeside Motors) imported.\n\
             Its agents get new tokens here with the same ids and secrets. Delete {path} and {path}.key.\n",
            path = file.display(),
        )
    );
    let records = run_frontdesk(Path::new("/"), &["audit", "export", "--data", text(&data)]).out;
    assert!(records.contains(&format!(r#""sender":"{sender}""#)), "{records}");
}

/// Somebody with the file and its key is not its sender.
#[tokio::test]
async fn a_file_of_another_sender_is_refused_before_anything_is_made() {
    let (desk, other) = (TestApp::start(), TestApp::start());
    let files = TestFolder::new();
    let (file, foreign, data) = (files.join("moving.desk"), files.join("foreign.desk"), files.join("data"));
    let sender = |out: &str| out.split_once("--sender ").unwrap().1.lines().next().unwrap().to_owned();
    let known = sender(&export(&desk, &file).1);
    assert_ne!(sender(&export(&other, &foreign).1), known, "two installations have one key");
    let import = |file: &Path, more: &[&str]| {
        let arguments = ["tenant", "import", text(file), "--data", text(&data)];
        let said = run_frontdesk(Path::new("/"), &[&arguments, more].concat());
        (said.code, said.err.lines().last().unwrap_or_default().replace(text(file), "FILE"))
    };
    let refused = |file: &Path, more: &[&str]| {
        let (code, said) = import(file, more);
        assert_eq!(code, Some(1), "{said}");
        assert!(!data.exists(), "something was made");
        said
    };
    let other_sender = "frontdesk: FILE was not signed by the installation that --sender names. Compare the public key with \
         the one that `frontdesk tenant export` printed there, and do not import the file if they are the same.";
    assert_eq!(refused(&foreign, &["--sender", &known]), other_sender);
    let whole = fs::read(&file).unwrap();
    let mut forged = whole.clone();
    *forged.last_mut().unwrap() ^= 1;
    fs::write(&file, &forged).unwrap();
    assert_eq!(refused(&file, &["--sender", &known]), other_sender);
    // As an earlier release has written it.
    let mut unsigned = whole[..whole.len() - 64].to_vec();
    unsigned[17] = b'1';
    fs::write(&file, &unsigned).unwrap();
    assert_eq!(
        refused(&file, &["--sender", &known]),
        "frontdesk: FILE has no signature, because an earlier version of Frontdesk wrote it. Export the tenant again with \
         this version, or import it with --unverified if you know where it comes from."
    );
    fs::write(&file, &whole).unwrap();
    assert_eq!(
        refused(&file, &[]),
        "frontdesk: say who sent the file: --sender PUBLIC_KEY, which `frontdesk tenant export` printed there. A file whose \
         sender you cannot ask is imported with --unverified, and the audit log says so."
    );
    assert_eq!(
        refused(&file, &["--sender", "fdpub_abc"]),
        "frontdesk: that is not the public key of an installation. `frontdesk tenant export` prints it there, as fdpub_…"
    );
    assert_eq!(import(&file, &["--unverified"]).0, Some(0));
    let records = run_frontdesk(Path::new("/"), &["audit", "export", "--data", text(&data)]).out;
    assert!(records.contains(r#""sender":"unverified""#), "{records}");
}

#[tokio::test]
async fn nothing_of_the_dealership_can_be_read_in_the_file() {
    let desk = TestApp::start();
    let (client, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let mut agent = desk.agent().await;
    order(&mut agent, "k").await;
    let files = TestFolder::new();
    assert_eq!(export(&desk, &files.join("moving.desk")).0, Some(0));
    let bytes = fs::read(files.join("moving.desk")).unwrap();
    let key = fs::read_to_string(desk.data().join("master.key")).unwrap();
    let key = key.lines().next().unwrap();
    let found = |part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
    assert!(found("frontdesk-tenant 2"));
    for part in ["Canary", "canary@", "Lakeside", "dlr_lakeside", "leads.create", &client, &secret, key] {
        assert!(!found(part), "{part}");
    }
}

/// Whatever the server writes meanwhile, the file is one moment of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_under_load_is_one_moment() {
    let desk = TestApp::start();
    let mut writer = desk.agent().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let (begun, begins) = tokio::sync::oneshot::channel();
    let ends = Arc::clone(&is_over);
    let load = tokio::spawn(async move {
        let mut begun = Some(begun);
        let mut number = 0;
        while !ends.load(Ordering::Relaxed) {
            assert_eq!(order(&mut writer, &format!("k-{number}")).await["type"], json!("lead"));
            number += 1;
            if number == 5 {
                begun.take().unwrap().send(()).unwrap();
            }
        }
        number
    });
    begins.await.unwrap();
    let files = TestFolder::new();
    let exported = export(&desk, &files.join("moving.desk"));
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(exported.0, Some(0), "{}", exported.2);
    let written: i64 = load.await.unwrap();
    assert_eq!(import(&files.join("moving.desk"), &files.join("data")).code, Some(0));
    let raw = Connection::open(files.join("data").join("frontdesk.db")).unwrap();
    let one = |text: &str| -> i64 { raw.query_row(text, [], |row| row.get(0)).unwrap() };
    let orders = one("SELECT count(*) FROM fd_claim WHERE tool = 'leads.create'");
    assert!((5..written).contains(&orders), "{orders} of {written}: nothing was written meanwhile");
    // A lead and its consent.
    assert_eq!(one("SELECT count(*) FROM fd_outbox WHERE at > (SELECT min(at) FROM fd_outbox)"), 2 * orders);
    assert_eq!(one("SELECT max(seq) - count(*) FROM fd_outbox"), 0);
    assert_eq!(one("SELECT event_seq FROM fd_counter") - one("SELECT max(seq) FROM fd_outbox"), 0);
    // The seeding, the orders, and that it came.
    assert_eq!(one("SELECT count(*) FROM fd_audit WHERE chain = 'tenant:dlr_lakeside'"), orders + 2);
}

#[tokio::test]
async fn a_bad_file_is_refused_before_anything_is_made() {
    let desk = TestApp::start();
    let files = TestFolder::new();
    let file = files.join("moving.desk");
    assert_eq!(export(&desk, &file).0, Some(0));
    let whole = fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let data = files.join("data");
        let said = import(&file, &data);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        assert!(!data.exists(), "something was made");
        said.err.lines().last().unwrap().replace(text(&file), "FILE")
    };
    let damaged = "frontdesk: FILE is truncated or was changed. Copy it again, and compare its SHA-256 with the one that the export printed.";
    assert_eq!(refused(&whole[..whole.len() - 100]), damaged);
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    assert_eq!(refused(&changed), damaged);
    assert_eq!(refused(b"id,name\n1,Dana\n"), "frontdesk: FILE is not a file written by `frontdesk tenant export`");

    let key = files.join("moving.desk.key");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let said = refused(&whole);
    assert!(said.contains("FILE.key can be read by other users"), "{said}");
    fs::remove_file(&key).unwrap();
    assert_eq!(
        refused(&whole),
        "frontdesk: cannot use FILE.key: it does not exist. Put it beside the file, or name it with --key"
    );
}

#[tokio::test]
async fn nothing_is_written_over_and_nobody_is_interrupted() {
    let desk = TestApp::start();
    let files = TestFolder::new();
    let file = files.join("moving.desk");
    assert_eq!(export(&desk, &file).0, Some(0));
    let (code, _, errors) = export(&desk, &file);
    assert_eq!((code, errors), (Some(1), format!("frontdesk: {} exists already; name another file\n", file.display())));
    let (code, _, errors) =
        desk.command(&["tenant", "export", "--tenant", "dlr_elsewhere", text(&files.join("other.desk"))]);
    assert_eq!(code, Some(1));
    assert_eq!(
        errors,
        "frontdesk: there is no tenant `dlr_elsewhere`; there are: dlr_bengaluru, dlr_lakeside, dlr_summit, fod_monsoon, htl_monsoon, rid_monsoon, site\n"
    );
    assert!(!files.join("other.desk").exists() && !files.join("other.desk.key").exists());

    // Into a desk that serves, and into one that has it already.
    let (code, _, errors) = desk.command(&["tenant", "import", text(&file), "--unverified"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("another Frontdesk is using"), "{errors}");
    let mut desk = desk;
    assert_eq!(desk.stop(), Some(0));
    let (code, _, errors) = desk.command(&["tenant", "import", text(&file), "--unverified"]);
    assert_eq!(code, Some(1));
    let said = errors.lines().last().unwrap();
    assert_eq!(
        said,
        "frontdesk: tenant dlr_lakeside already exists in this database, and an import overwrites nothing. \
         Import it into another database."
    );
    assert_eq!(desk.command(&["audit", "verify"]).0, Some(0));
}

/// What was tampered with does not get a clean record elsewhere.
#[tokio::test]
async fn a_dealership_whose_record_was_changed_is_not_exported() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    let raw = Connection::open(desk.data().join("frontdesk.db")).unwrap();
    raw.execute_batch("UPDATE fd_audit SET records = '{}' WHERE chain = 'tenant:dlr_lakeside'").unwrap();
    drop(raw);
    let files = TestFolder::new();
    let (code, _, errors) = export(&desk, &files.join("moving.desk"));
    assert_eq!(code, Some(1));
    let said = errors.lines().last().unwrap();
    assert_eq!(
        said,
        "frontdesk: the audit chain tenant:dlr_lakeside is broken at link 1: the link is not what was written. \
         Check it with `frontdesk audit verify`."
    );
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 0, "something is left");
}

#[tokio::test]
async fn the_export_key_is_a_file_that_opens_only_its_export() {
    let desk = TestApp::start();
    let files = TestFolder::new();
    let file = files.join("moving.desk");
    let with_key = |key: &Path| {
        let (code, _, errors) =
            desk.command(&["tenant", "export", "--tenant", "dlr_lakeside", text(&file), "--key", text(key)]);
        assert_eq!(code, Some(1), "{errors}");
        errors.replace(text(files.path()), "FOLDER")
    };
    let there = || {
        let mut names: Vec<_> = fs::read_dir(files.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    for (key, said) in [("moving.desk", "FOLDER/./moving.desk"), ("moving.desk.part", "FOLDER/./moving.desk.part")] {
        let key = files.path().join(".").join(key);
        assert_eq!(
            with_key(&key),
            format!("frontdesk: {said} is used for the rows; name another file for the key with --key\n")
        );
        assert_eq!(there(), [""; 0]);
    }
    // Somebody else's, perhaps of an export that is still under way.
    let draft = files.join("moving.desk.part");
    fs::write(&draft, "another's").unwrap();
    assert_eq!(
        with_key(&files.join("key")),
        "frontdesk: FOLDER/moving.desk.part exists already: another export is running, or was interrupted. Name another file, or delete it\n"
    );
    assert_eq!(there(), ["moving.desk.part"]);
    assert_eq!(fs::read_to_string(&draft).unwrap(), "another's");
    fs::remove_file(&draft).unwrap();
    let nowhere = files.join("nowhere").join("key");
    assert_eq!(with_key(&nowhere), "frontdesk: cannot use FOLDER/nowhere: No such file or directory (os error 2)\n");
    assert_eq!(there(), [""; 0]);
}

#[tokio::test]
async fn a_client_that_names_its_dealership_twice_comes_along() {
    let mut desk = TestApp::start();
    let twice = desk.add_client(&["dlr_lakeside", "dlr_lakeside"], "amcp:inventory:read");
    let raw = Connection::open(desk.data().join("frontdesk.db")).unwrap();
    let kept = |raw: &Connection| -> String {
        raw.query_row("SELECT tenants FROM fd_client WHERE client = ?1", [&twice.0], |row| row.get(0)).unwrap()
    };
    assert_eq!(kept(&raw), "dlr_lakeside");
    assert_eq!(desk.stop(), Some(0));
    drop(raw);
    let files = TestFolder::new();
    let (code, out, errors) = export(&desk, &files.join("moving.desk"));
    assert_eq!(code, Some(0), "{errors}");
    assert!(!out.contains(&twice.0), "{out}");
    assert_eq!(import(&files.join("moving.desk"), &files.join("data")).code, Some(0));
    assert_eq!(kept(&Connection::open(files.join("data").join("frontdesk.db")).unwrap()), "dlr_lakeside");
}
