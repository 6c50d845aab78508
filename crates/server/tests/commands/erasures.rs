//! Somebody is erased: beside a running server and without one, with nothing of them left in answers, files or logs.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use frontdesk_testkit::app::process::frontdesk_binary;
use frontdesk_testkit::app::{TestAgent, TestApp};

const TENANT: &str = "dlr_lakeside";
const EMAIL: &str = "xylo.quern@zzmail.example";
/// What is stored in clear about them while they are there: masked forms and their town.
const IN_CLEAR: [&str; 3] = ["x***@z***.example", "+4******6789", "Zzborough"];
/// What is only ever sealed.
const SEALED: [&str; 4] = ["Xylophon", "zzmail", "+49301236789", "Zz private words"];

/// A customer, a lead of theirs, and one that only has the same address; their ids.
async fn seed(desk: &TestApp, agent: &mut TestAgent) -> [String; 3] {
    let file = desk.folder.join("people.json");
    let person = json!([{
        "primary_contact": {"name": "Xylophon Quern", "email": EMAIL, "phone": "+49301236789"},
        "location": {"city": "Zzborough", "region": "NY", "country": "US"},
        "consent": {"granted": true, "channels": ["email", "sms"]},
    }]);
    fs::write(&file, person.to_string()).unwrap();
    let (code, _, errors) = desk.command(&["import", "customers", file.to_str().unwrap(), "--tenant", TENANT]);
    assert_eq!(code, Some(0), "{errors}");
    fs::remove_file(&file).unwrap();
    let customers = agent.call("customers.list", json!({"email": EMAIL})).await;
    let customer = text(&customers["items"][0], "id");
    let linked = text(&order(agent, "linked", json!({"customer_id": customer})).await, "id");
    let unlinked = text(&order(agent, "unlinked", json!({})).await, "id");
    [customer, linked, unlinked]
}

async fn order(agent: &mut TestAgent, key: &str, more: Value) -> Value {
    let mut order = json!({"contact": {"name": "Xylophon Quern", "email": EMAIL}, "interest": "buy",
        "comments": "Zz private words", "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key});
    order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    agent.call("leads.create", order).await
}

fn text(object: &Value, name: &str) -> String {
    object[name].as_str().unwrap_or_else(|| panic!("no {name} in {object}")).to_owned()
}

fn erase(desk: &TestApp, arguments: &[&str]) -> (Option<i32>, String, String) {
    desk.command(&[&["customer", "erase", "--tenant", TENANT], arguments].concat())
}

/// The bytes of all files of the data folder.
pub(crate) fn files(desk: &TestApp) -> Vec<u8> {
    let entries = fs::read_dir(desk.data()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).flat_map(|path| fs::read(path).unwrap()).collect()
}

pub(crate) fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[tokio::test]
async fn an_erased_customer_is_in_no_answer_file_or_log() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let [customer, linked, unlinked] = seed(&desk, &mut agent).await;
    let before = files(&desk);
    for word in IN_CLEAR {
        assert!(has(&before, word), "{word}");
    }
    let (code, out, errors) = erase(&desk, &[&customer, "--dry-run"]);
    let expected =
        format!("3 consents, 1 customer, 2 leads would be erased. Nothing was changed (--dry-run).\nId: {customer}\n");
    assert_eq!((code, out, errors.as_str()), (Some(0), expected, ""));
    let (code, out, errors) = erase(&desk, &[&customer, "--confirm", &linked]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(errors, format!("frontdesk: nothing was erased: the id to confirm is {customer}\n"));
    assert_eq!(agent.call("customers.get", json!({"id": customer})).await["primary_contact"]["email"], EMAIL);

    let (code, out, errors) = erase(&desk, &[&customer, "--confirm", &customer]);
    assert_eq!(errors, "");
    // The answers to both leads.create and to the import's create.
    assert_eq!((code, out.as_str()), (Some(0), "3 consents, 1 customer, 2 leads erased, 3 stored answers changed.\n"));

    let shown = agent.call("customers.get", json!({"id": customer})).await;
    assert_eq!(shown["primary_contact"], json!({"name": "[erased]"}));
    for tool in ["customers.list", "leads.list"] {
        assert_eq!(agent.call(tool, json!({"email": EMAIL})).await["items"], json!([]), "{tool}");
    }
    // A retry of the old key creates nothing and shows nobody.
    let replayed = order(&mut agent, "unlinked", json!({})).await;
    assert_eq!(text(&replayed, "id"), unlinked);
    assert_eq!((replayed.get("contact"), replayed.get("comments")), (None, None), "{replayed}");
    assert_eq!(agent.call("leads.list", json!({"email": EMAIL})).await["items"], json!([]));

    let (code, out, _) = erase(&desk, &[&customer, "--confirm", &customer]);
    assert_eq!((code, out.as_str()), (Some(0), "Nothing is left to be erased.\n"));
    let (code, audit, _) = desk.command(&["audit", "export", "--tenant", TENANT]);
    assert_eq!(code, Some(0));
    let records: Vec<&str> = audit.lines().filter(|line| line.contains("x_frontdesk.erase_person")).collect();
    assert_eq!(records.len(), 1);
    let record: Value = serde_json::from_str(records[0]).unwrap();
    assert_eq!((&record["client"], &record["ids"]), (&json!("operator"), &json!([customer])));
    let (code, _, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{errors}");

    assert_eq!(desk.stop(), Some(0));
    let changes = changes(&desk, &[&linked, &unlinked, &customer]);
    assert_eq!(changes, ["lead updated", "lead updated", "customer deleted"]);
    let after = files(&desk);
    let log = desk.log();
    for word in IN_CLEAR.iter().chain(&SEALED) {
        assert!(!has(&after, word), "{word} is in a file");
        assert!(!log.contains(word), "{word} is in the log");
        assert!(!audit.contains(word), "{word} is in the audit log");
    }
}

/// The last events about these records.
pub(crate) fn changes(desk: &TestApp, ids: &[&str]) -> Vec<String> {
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    let mut statement = database
        .prepare("SELECT kind || ' ' || change FROM fd_outbox WHERE id = ?1 ORDER BY seq DESC LIMIT 1")
        .unwrap();
    ids.iter().map(|id| statement.query_row([id], |row| row.get(0)).unwrap()).collect()
}

#[tokio::test]
async fn somebody_is_erased_by_address_while_no_server_runs() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let [customer, linked, _] = seed(&desk, &mut agent).await;
    assert_eq!(desk.stop(), Some(0));
    // Without --tenant the tenants are listed; without a terminal nothing is asked.
    let (code, _, errors) = desk.command(&["customer", "erase", "--email", EMAIL]);
    assert_eq!(code, Some(1));
    assert_eq!(
        errors,
        "frontdesk: there are several tenants; name one with --tenant: dlr_bengaluru, dlr_lakeside, dlr_summit, fod_monsoon, htl_monsoon, rid_monsoon, site\n"
    );
    let (code, _, errors) = erase(&desk, &["--email", EMAIL]);
    let expected =
        format!("frontdesk: 3 consents, 1 customer, 2 leads would be erased; to erase, add --confirm {customer}\n");
    assert_eq!((code, errors), (Some(1), expected));
    // The address comes by standard input, so that nobody sees it among the arguments.
    let mut command = Command::new(frontdesk_binary());
    command.env_clear().args([
        "customer",
        "erase",
        "--tenant",
        TENANT,
        "--email",
        "-",
        "--confirm",
        &customer,
        "--json",
    ]);
    command.arg("--data").arg(desk.data()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{}", EMAIL.to_uppercase()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        said,
        json!({"tenant": TENANT, "subject": customer, "found": {"consent": 3, "customer": 1, "lead": 2},
            "erased": {"consent": 3, "customer": 1, "lead": 2}, "answers": 3, "others": []})
    );
    let desk = desk.start_again();
    let mut agent = desk.agent().await;
    assert_eq!(agent.call("leads.get", json!({"id": linked})).await["contact"], json!({"name": "[erased]"}));
}

#[test]
fn an_unknown_id_and_a_wrong_address_are_explained() {
    let desk = TestApp::start();
    let (code, _, errors) = erase(&desk, &["cus_nobody", "--confirm", "cus_nobody"]);
    assert_eq!(
        (code, errors.as_str()),
        (
            Some(1),
            "frontdesk: Nobody with this id exists here. The lists of the tenant give ids; --email and --phone find one.\n"
        )
    );
    let (code, _, errors) = erase(&desk, &["--email", "no-address", "--dry-run"]);
    assert_eq!(code, Some(1));
    assert!(errors.starts_with("frontdesk: email: ") && !errors.contains("no-address"), "{errors}");
}
