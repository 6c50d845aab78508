//! Records are written into files for people: masked or whole, recorded, and such that an import reads them again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;

const TENANT: &str = "dlr_lakeside";

fn export(desk: &TestApp, arguments: &[&str]) -> (Option<i32>, String, String) {
    desk.command(&[&["export", "--tenant", TENANT], arguments].concat())
}

/// The records about exports, without their time and place.
fn audited(desk: &TestApp) -> Vec<Value> {
    let (code, out, errors) = desk.command(&["audit", "export", "--tenant", TENANT]);
    assert_eq!(code, Some(0), "{errors}");
    let records = out.lines().filter(|line| line.contains("\"operator\":\"export."));
    let plain = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        for name in ["at", "chain", "link"] {
            record.as_object_mut().unwrap().remove(name);
        }
        record
    };
    records.map(plain).collect()
}

#[tokio::test]
async fn lines_are_masked_unless_personal_data_is_asked_for() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let (code, masked, errors) = export(&desk, &["leads", "--format", "jsonl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let (code, whole, _) = export(&desk, &["leads", "--format", "jsonl", "--with-personal-data"]);
    assert_eq!(code, Some(0));
    let parse = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let (masked, whole) = (parse(&masked), parse(&whole));
    let mut listed = agent.all("leads.list", json!({"limit": 100})).await;
    listed.reverse();
    assert_eq!(masked.len(), 80);
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<std::collections::HashSet<_>>();
    assert_eq!(ids(&masked), ids(&listed));
    for row in &masked {
        assert!(listed.contains(row), "{row}");
    }
    for row in &whole {
        let mut read = agent.call("leads.get", json!({"id": row["id"]})).await;
        // It follows from all consents of the person, which are exported by themselves.
        read.as_object_mut().unwrap().remove("do_not_contact");
        assert_eq!(*row, read);
    }
    // Without a server the command opens the data itself, and writes the same.
    assert_eq!(desk.stop(), Some(0));
    let (code, again, errors) = export(&desk, &["leads", "--format", "jsonl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(parse(&again), masked);
    let record = |operator: &str, personal: bool| json!({"operator": operator, "tenant": TENANT, "resource": "leads", "personal": personal, "outcome": "ok"});
    let ended = |personal| {
        let mut record = record("export.end", personal);
        record["count"] = json!(80);
        record
    };
    assert_eq!(
        audited(&desk),
        [
            record("export.start", false),
            ended(false),
            record("export.start", true),
            ended(true),
            record("export.start", false),
            ended(false)
        ]
    );
}

#[test]
fn a_file_is_new_and_its_owners_alone() {
    let desk = TestApp::start();
    let file = desk.folder.join("people.csv");
    let path = file.to_str().unwrap();
    let (code, out, errors) = export(&desk, &["customers", "--with-personal-data", "--output", path]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert_eq!(
        errors,
        format!(
            "120 records (customers of {TENANT}) written to {path}, with personal data: keep the file as you keep the \
             data.\n"
        )
    );
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let before = fs::read(&file).unwrap();
    let (code, _, errors) = export(&desk, &["customers", "--output", path]);
    assert_eq!(code, Some(1));
    assert!(errors.starts_with(&format!("frontdesk: {path} exists already.")), "{errors}");
    assert_eq!(fs::read(&file).unwrap(), before);
    let text = String::from_utf8(before).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "id,kind,dms_customer_number,preferred_contact,preferred_contact_time,language,location.city,location.region,location.country,lifetime_value.amount,lifetime_value.currency,\
             latest_lead.id,latest_lead.status,latest_sale.id,latest_sale.closed_at,vehicle_of_interest.make,\
             vehicle_of_interest.model,primary_contact.name,primary_contact.email,primary_contact.phone,redacted,\
             created_at,updated_at,version"
        )
    );
    // A telephone number is no formula.
    assert!(lines.all(|line| line.contains(",'+1")), "{text}");
    let (code, _, errors) = export(&desk, &["people"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("`people`") && errors.contains("vehicles, leads, customers"), "{errors}");
}

#[test]
fn a_masked_file_is_not_imported() {
    let desk = TestApp::start();
    let file = desk.folder.join("people.csv");
    let path = file.to_str().unwrap();
    assert_eq!(export(&desk, &["customers", "--output", path]).0, Some(0));
    let (code, out, _) = desk.command(&["import", "customers", path, "--tenant", TENANT, "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &said["counts"]["rejected"]), (Some(1), &json!(120)), "{said}");
    let problems = fs::read_to_string(format!("{path}.errors.csv")).unwrap();
    assert!(problems.contains("2,redacted,\"this record was exported masked, "), "{problems}");
}

#[tokio::test]
async fn an_exported_stock_is_imported_again_unchanged() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let first = agent.call("inventory.search", json!({"limit": 1})).await["items"][0].clone();
    let own = json!({"id": first["id"], "x_acme_shelf": "B7", "description": "=2+2, \"really\""});
    agent.call("inventory.update", own).await;
    // A status that is unknown cannot be sent by anybody, so not by an import either.
    let (_, lines, _) = export(&desk, &["vehicles", "--format", "jsonl"]);
    for line in lines.lines().filter(|line| line.contains("\"status\":\"unknown\"")) {
        let unknown: Value = serde_json::from_str(line).unwrap();
        agent.call("inventory.update", json!({"id": unknown["id"], "status": "on_hold"})).await;
    }
    let file = desk.folder.join("stock.csv");
    let path = file.to_str().unwrap();
    let (code, _, errors) = export(&desk, &["vehicles", "--output", path]);
    assert_eq!(code, Some(0), "{errors}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("id,vin,vin_check,stock_number,condition,year,make,model,trim,"), "{text}");
    assert!(text.lines().next().unwrap().ends_with(",version,x_acme_shelf"), "{text}");
    assert!(text.contains("\"'=2+2, \"\"really\"\"\"") && text.contains(",B7\r\n"), "{text}");
    let lines = desk.folder.join("stock.jsonl");
    let (code, _, errors) = export(&desk, &["vehicles", "--format", "jsonl", "--output", lines.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{errors}");
    for path in [path, lines.to_str().unwrap()] {
        let arguments = ["import", "vehicles", path, "--tenant", TENANT, "--dry-run", "--json"];
        let (code, out, errors) = desk.command(&arguments);
        let problems = fs::read_to_string(format!("{path}.errors.csv")).unwrap_or_default();
        assert_eq!(code, Some(0), "{errors}{out}{problems}");
        let said: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            said["counts"],
            json!({"rows": 300, "created": 0, "updated": 0, "unchanged": 300, "rejected": 0, "withdrawn": 0})
        );
    }
}
