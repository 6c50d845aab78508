//! `frontdesk audit`: the record of calls, whole or not, while the desk runs and after.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use frontdesk_testkit::app::process::run_frontdesk;
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, TestApp};

/// A desk on which a lead was taken, read and something was refused. The record of a refusal is not waited for by its
/// caller, so it is waited for here.
async fn busy() -> TestApp {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let order = json!({"contact": {"name": "Dana Rivera", "email": "dana.rivera@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": "k-1"});
    let lead = agent.call("leads.create", order).await;
    agent.call("leads.get", json!({"id": lead["id"]})).await;
    assert_eq!(agent.code("leads.get", json!({"id": "led_nobody"})).await, "leads.not_found");
    let deadline = Instant::now() + Duration::from_secs(60);
    while tools(&exported(&desk, &[])).len() < 3 {
        assert!(Instant::now() < deadline, "the refusal was not recorded");
    }
    desk
}

fn exported(desk: &TestApp, more: &[&str]) -> Vec<Value> {
    let (code, out, err) = desk.command(&[&["audit", "export"], more].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn tools(records: &[Value]) -> Vec<&str> {
    records.iter().filter_map(|record| record["tool"].as_str()).collect()
}

/// Changes the database of a closed desk behind its back.
fn tamper(desk: &TestApp, statement: &str) {
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    assert_eq!(database.execute(statement, []).unwrap(), 1, "{statement}");
}

#[tokio::test]
async fn the_audit_is_whole_while_serving_and_after() {
    let mut desk = busy().await;
    for closed in [false, true] {
        if closed {
            assert_eq!(desk.stop(), Some(0));
        }
        let (code, out, err) = desk.command(&["audit", "verify"]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(out.contains("valid   tenant:dlr_lakeside  2 records in 2 links\n"), "{out}");
        assert!(out.ends_with("\nThe audit log is complete and unchanged.\n"), "{out}");

        let records = exported(&desk, &[]);
        let mut seen = tools(&records);
        seen.sort_unstable();
        assert_eq!(seen, ["leads.create", "leads.get", "leads.get"]);
        let outcomes: Vec<&str> = records.iter().filter_map(|record| record["outcome"].as_str()).collect();
        assert!(outcomes.contains(&"not_found"), "{outcomes:?}");
        assert!(records.iter().all(|record| record["chain"].is_string() && record["at"].is_string()), "{records:?}");
        // The links of a chain by their numbers, as `verify` counts them.
        let links = records.iter().filter(|record| record["chain"] == "tenant:dlr_lakeside");
        assert_eq!(links.map(|record| record["link"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2]);
        let text = format!("{records:?}");
        assert!(!text.contains("Dana") && !text.contains("dana.rivera") && !text.contains("fds_"), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_a_moment_before_the_desk_closes_is_on_record() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    for number in 0..20 {
        agent.code("leads.get", json!({"id": format!("led_nobody{number}")})).await;
    }
    assert_eq!(desk.stop(), Some(0));
    assert_eq!(tools(&exported(&desk, &[])), ["leads.get"; 20]);
}

#[tokio::test]
async fn an_export_can_be_limited_by_tenant_and_time() {
    let desk = busy().await;
    let theirs = exported(&desk, &["--tenant", "dlr_summit"]);
    assert_eq!(tools(&theirs), [""; 0]);
    // The reads of a tenant are among its records, although they are on the chain of the node.
    let ours = exported(&desk, &["--tenant", "dlr_lakeside"]);
    let mut seen = tools(&ours);
    seen.sort_unstable();
    assert_eq!(seen, ["leads.create", "leads.get", "leads.get"]);
    assert!(ours.iter().any(|record| record["chain"] == "node:embedded"), "{ours:?}");
    let (code, out, err) = desk.command(&["audit", "export", "--tenant", "dlr_nobody"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(
        err,
        "frontdesk: there is no tenant \"dlr_nobody\" and no record of one. `frontdesk client list` shows the tenants of clients.\n"
    );
    assert_eq!(exported(&desk, &["--since", "2999-01-01T00:00:00Z"]), Vec::<Value>::new());

    let said = run_frontdesk(desk.folder.path(), &["audit", "export", "--data", "data", "--output", "audit.jsonl"]);
    let written = fs::read_to_string(desk.folder.join("audit.jsonl")).unwrap();
    let count = written.lines().count();
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""));
    assert_eq!(said.err, format!("{count} records written to audit.jsonl\n"));
    assert!(count >= 5, "{written}");
    let file = desk.folder.join("audit.jsonl");
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let again = |more: &[&str]| {
        let arguments = [&["audit", "export", "--data", "data", "--output", "audit.jsonl"], more].concat();
        run_frontdesk(desk.folder.path(), &arguments)
    };
    fs::write(&file, "kept").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let said = again(&[]);
    let refusal = "audit.jsonl exists already. Name another file with --output, or overwrite it with --force.";
    assert_eq!((said.code, said.err), (Some(1), format!("frontdesk: {refusal}\n")));
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    assert_eq!(again(&["--force"]).code, Some(0));
    assert_eq!((fs::read_to_string(&file).unwrap().lines().count(), mode()), (count, 0o600));

    let said =
        run_frontdesk(desk.folder.path(), &["audit", "export", "--data", "data", "--output", "no/such/audit.jsonl"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.starts_with("frontdesk: cannot write no/such/audit.jsonl: "), "{said:?}");
    assert!(said.err.ends_with("Name another file with --output.\n"), "{said:?}");
}

#[tokio::test]
async fn an_export_ends_quietly_when_whoever_reads_it_has_enough() {
    let desk = busy().await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut export = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
    export.args(["audit", "export", "--data"]).arg(desk.data()).env_clear().stdout(writer);
    let said = export.output().unwrap();
    assert_eq!((said.status.code(), String::from_utf8(said.stderr).unwrap().as_str()), (Some(0), ""));
}

#[tokio::test]
async fn a_failed_export_leaves_the_previous_file() {
    let mut desk = busy().await;
    assert_eq!(desk.stop(), Some(0));
    let folder = desk.folder.join("exports");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("audit.jsonl"), "kept").unwrap();
    fs::write(desk.data().join("frontdesk.db"), "no database").unwrap();
    let arguments = ["audit", "export", "--data", "data", "--output", "exports/audit.jsonl", "--force"];
    let said = run_frontdesk(desk.folder.path(), &arguments);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
    assert_eq!(fs::read_to_string(folder.join("audit.jsonl")).unwrap(), "kept");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["audit.jsonl"]);
}

#[tokio::test]
async fn an_export_writes_to_links_and_pipes_not_to_folders() {
    let mut desk = busy().await;
    // From here on nothing is added to the record.
    assert_eq!(desk.stop(), Some(0));
    let export = |output: &str| {
        run_frontdesk(desk.folder.path(), &["audit", "export", "--data", "data", "--output", output, "--force"])
    };
    fs::write(desk.folder.join("old.jsonl"), "old").unwrap();
    std::os::unix::fs::symlink("old.jsonl", desk.folder.join("link.jsonl")).unwrap();
    assert_eq!(export("link.jsonl").code, Some(0));
    assert!(fs::symlink_metadata(desk.folder.join("link.jsonl")).unwrap().is_symlink());
    let written = fs::read_to_string(desk.folder.join("old.jsonl")).unwrap();
    assert!(written.starts_with("{\"chain\":"), "{written}");

    let pipe = desk.folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg("-m").arg("640").arg(&pipe).status().unwrap().success());
    let reading = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(export("pipe").code, Some(0));
    assert_eq!(reading.join().unwrap(), written);
    assert_eq!(fs::metadata(&pipe).unwrap().permissions().mode() & 0o777, 0o640);

    let said = export("data");
    let refusal = "frontdesk: data is not a file. Name another one with --output.\n";
    assert_eq!((said.code, said.err.as_str()), (Some(1), refusal));
}

#[tokio::test]
async fn changed_removed_and_truncated_audit_records_are_found() {
    for (statement, complaint) in [
        (
            "UPDATE fd_audit SET records = replace(records, 'leads.create', 'leads.update') \
             WHERE chain = 'tenant:dlr_lakeside' AND seq = 2",
            "BROKEN  tenant:dlr_lakeside  at link 2: the link is not what was written\n",
        ),
        (
            "DELETE FROM fd_audit WHERE chain = 'tenant:dlr_lakeside' AND seq = 1",
            "BROKEN  tenant:dlr_lakeside  at link 1: a link is missing\n",
        ),
        (
            "DELETE FROM fd_audit WHERE chain = 'tenant:dlr_lakeside' AND seq = 2",
            "BROKEN  tenant:dlr_lakeside  at link 2: the end of the chain is missing\n",
        ),
    ] {
        let mut desk = busy().await;
        assert_eq!(desk.stop(), Some(0));
        tamper(&desk, statement);
        let (code, out, err) = desk.command(&["audit", "verify"]);
        assert_eq!((code, err.as_str()), (Some(1), ""));
        assert!(out.contains(complaint), "{out}");
        assert!(out.contains("valid   tenant:dlr_summit  1 record in 1 link\n"), "{out}");
        assert!(out.ends_with("Keep this data folder unchanged and investigate.\n"), "{out}");
    }
}

#[tokio::test]
async fn orders_of_the_operator_are_on_record() {
    let desk = TestApp::start();
    let (id, _) = desk.add_client(&["dlr_lakeside"], EVERYTHING);
    for order in ["rotate", "revoke"] {
        assert_eq!(desk.command(&["client", order, &id]).0, Some(0));
    }
    let records = exported(&desk, &[]);
    let ordered: Vec<&str> = records
        .iter()
        .filter(|record| record["client"] == id.as_str())
        .filter_map(|record| record["operator"].as_str())
        .collect();
    assert_eq!(ordered, ["client.add", "client.rotate", "client.revoke"]);
}

#[tokio::test]
async fn new_tenants_and_the_demos_own_clients_are_on_record() {
    let desk = TestApp::start();
    desk.add_client(&["dlr_lakeside", "dlr_new"], EVERYTHING);
    let records = exported(&desk, &[]);
    let ordered = |order: &str, whose: &str| -> Vec<String> {
        let ordered = records.iter().filter(|record| record["operator"] == order);
        ordered.map(|record| record[whose].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        ordered("tenant.add", "tenant"),
        ["site", "htl_monsoon", "dlr_bengaluru", "rid_monsoon", "fod_monsoon", "dlr_lakeside", "dlr_summit", "dlr_new"]
    );
    let added = ordered("client.add", "client");
    let demo = [DemoTenant::Lakeside, DemoTenant::Summit].map(|house| desk.credentials(house).0);
    assert_eq!((added.len(), &added[..2]), (5, &demo[..]));
    assert_eq!(added[3], desk.banner["site"]["id"].as_str().unwrap());
}

#[tokio::test]
async fn token_events_are_recorded_without_the_tokens() {
    let desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let token = desk.token(&id, &secret, EVERYTHING).await;
    assert_eq!(desk.request_token(&id, &secret, "amcp:all:write").await.status, 400);
    let form = format!("client_id={id}&client_secret={secret}&token={token}");
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(desk.stranger().request("POST", "/revoke", &headers, form).await.status, 200);
    for _ in 0..3 {
        assert_eq!(desk.request_token(&id, "wrong", EVERYTHING).await.status, 401);
    }
    let mut desk = desk;
    assert_eq!(desk.stop(), Some(0));
    let records = exported(&desk, &[]);
    let mut told: Vec<Value> = records
        .iter()
        .filter(|record| record["contract"] == "identity")
        .map(|record| json!([record["method"], record["outcome"], record["client"], record["address"]]))
        .collect();
    told.sort_by_key(Value::to_string);
    assert_eq!(
        told,
        [
            json!(["revoke", "ok", id, "127.0.0.1"]),
            json!(["token", "invalid_scope", id, "127.0.0.1"]),
            json!(["token", "ok", id, "127.0.0.1"]),
        ]
    );
    let strangers: u64 = records
        .iter()
        .filter(|record| record["outcome"] == "invalid_client" && record["address"] == "127.0.0.1")
        .map(|record| record["count"].as_u64().unwrap())
        .sum();
    assert_eq!(strangers, 3);
    let text = json!(records).to_string();
    assert!(!text.contains(&token) && !text.contains(&secret), "{text}");
}
