//! `frontdesk import` as a dealer uses it: beside a running server and without one, with right files and wrong ones.

use std::path::{Path, PathBuf};

use frontdesk_contracts::automotive::sample_feed;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::{READ_STOCK, TestApp};
use serde_json::{Value, json};

const TENANT: &[&str] = &["--tenant", "dlr_lakeside"];

/// The first so many vehicles of the sample feed, in a file.
fn feed(folder: &TestFolder, rows: u32) -> PathBuf {
    let text: String = (0..rows).map(sample_feed::row).collect();
    write(folder, "stock.csv", &format!("{}{text}", sample_feed::HEADER))
}

fn write(folder: &TestFolder, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn import(desk: &TestApp, resource: &str, file: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let arguments = [&["import", resource, file.to_str().unwrap()], more].concat();
    desk.command(&arguments)
}

#[tokio::test]
async fn a_feed_is_served_a_moment_after_its_import() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let file = feed(&files, 300);
    let (code, out, errors) = import(&desk, "vehicles", &file, TENANT);
    assert_eq!(
        (code, out),
        (Some(0), format!("{}: 300 rows: 300 new, 0 changed, 0 unchanged.\n", file.display())),
        "{errors}"
    );
    assert!(errors.contains("SellingPrice   price\n") && errors.contains("applying 100%: 300 of 300 rows"), "{errors}");
    let found = desk.weak_agent().await.call("inventory.search", json!({"text": "F000007"})).await;
    assert_eq!(found["items"][0]["stock_number"], "F000007");

    // The same file changes nothing; one changed line changes one record.
    let (_, out, _) = import(&desk, "vehicles", &file, TENANT);
    assert_eq!(out, format!("{}: 300 rows: 0 new, 0 changed, 300 unchanged. Nothing was changed.\n", file.display()));
    let changed = std::fs::read_to_string(&file).unwrap().replacen("White", "Pearl", 1);
    std::fs::write(&file, changed).unwrap();
    let (_, out, _) = import(&desk, "vehicles", &file, TENANT);
    assert!(out.ends_with("300 rows: 0 new, 1 changed, 299 unchanged.\n"), "{out}");
    let (_, records, _) = desk.command(&["audit", "export", "--tenant", "dlr_lakeside"]);
    let applied: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_tool =
        |tool: &str| applied.iter().filter(|record| record["tool"] == tool && record["client"] == "operator").count();
    assert_eq!((of_tool("inventory.create"), of_tool("inventory.update")), (300, 1));
    // An import is one event of the log, not one a row.
    assert!(!desk.log().contains("inventory.create"), "{}", desk.log());
}

#[tokio::test]
async fn a_feed_is_imported_without_a_server_too() {
    let (mut desk, files) = (TestApp::start(), TestFolder::new());
    assert_eq!(desk.stop(), Some(0));
    let (code, out, errors) = import(&desk, "vehicles", &feed(&files, 20), &[TENANT, &["--json"]].concat());
    assert_eq!(code, Some(0), "{errors}");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&said["status"], &said["counts"]["created"]), (&json!("completed"), &json!(20)));
    let desk = desk.start_again();
    let found = desk.weak_agent().await.call("inventory.search", json!({"text": "F000019"})).await;
    assert_eq!(found["items"][0]["stock_number"], "F000019");
}

#[tokio::test]
async fn wrong_rows_are_listed_and_nothing_is_applied() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let row = |number| sample_feed::row(number);
    let text =
        [sample_feed::HEADER.to_owned(), row(0), row(1).replace("Ford", "Fiat"), row(2).replace("USD", "$$"), row(0)];
    let file = write(&files, "stock.csv", &text.concat());
    let before = desk.weak_agent().await.call("inventory.list", json!({"x_frontdesk_total": true})).await;
    let (code, out, _) = import(&desk, "vehicles", &file, TENANT);
    let errors = format!("{}.errors.csv", file.display());
    assert_eq!(code, Some(1));
    assert_eq!(
        out,
        format!(
            "{}: 3 of 4 rows are wrong, and nothing was changed. {errors} lists each line with the reason. Correct them, or \
             leave them out with --skip-bad-rows.\n",
            file.display()
        )
    );
    let listed = std::fs::read_to_string(&errors).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[0], "line,column,reason");
    assert!(lines.contains(&"3,make,the VIN says Ford."), "{listed}");
    assert!(lines.iter().any(|line| line.starts_with("4,SellingPrice,")), "{listed}");
    assert!(lines.contains(&"5,vin,line 2 has the same vin; a feed has one row for each record"), "{listed}");
    let total = |list: &Value| list["x_frontdesk_total"].as_i64().unwrap();
    let mut agent = desk.weak_agent().await;
    let after = agent.call("inventory.list", json!({"x_frontdesk_total": true})).await;
    assert_eq!(total(&after), total(&before));
    let (code, out, _) = import(&desk, "vehicles", &file, &[TENANT, &["--skip-bad-rows"]].concat());
    assert_eq!(code, Some(0));
    assert!(out.contains("4 rows: 1 new, 0 changed, 0 unchanged, 3 wrong."), "{out}");
}

#[tokio::test]
async fn the_list_of_wrong_rows_overwrites_nothing_else() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let text = format!("{}{}", sample_feed::HEADER, sample_feed::row(1).replace("Ford", "Fiat"));
    let file = write(&files, "stock.csv", &text);
    // Somebody who may write to the feed's folder has put a link there.
    let precious = write(&files, "precious.txt", "precious");
    let list = files.join("stock.csv.errors.csv");
    std::os::unix::fs::symlink(&precious, &list).unwrap();
    let (code, out, errors) = import(&desk, "vehicles", &file, TENANT);
    assert!(code == Some(1) && out.contains("1 of 1 row is wrong"), "{out} {errors}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "line,column,reason\n2,make,the VIN says Ford.\n");
    let itself = [TENANT, &["--errors", file.to_str().unwrap()]].concat();
    let (code, _, errors) = import(&desk, "vehicles", &file, &itself);
    assert!(code == Some(1) && errors.ends_with("--errors names the feed itself; name another file\n"), "{errors}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    // A pipe or a device is written to, and stays.
    let pipe = files.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let (code, _, errors) = import(&desk, "vehicles", &file, &[TENANT, &["--errors", pipe.to_str().unwrap()]].concat());
    assert_eq!(code, Some(1), "{errors}");
    assert_eq!(reader.join().unwrap(), "line,column,reason\n2,make,the VIN says Ford.\n");
    assert!(!std::fs::symlink_metadata(&pipe).unwrap().is_file());
}

#[tokio::test]
async fn rows_left_out_at_the_check_stay_listed_to_the_end() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let text = [sample_feed::HEADER.to_owned(), sample_feed::row(1).replace("Ford", "Fiat"), sample_feed::row(2)];
    let file = write(&files, "stock.csv", &text.concat());
    let (code, out, errors) = import(&desk, "vehicles", &file, &[TENANT, &["--skip-bad-rows"]].concat());
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("2 rows: 1 new, 0 changed, 0 unchanged, 1 wrong."), "{out}");
    let listed = std::fs::read_to_string(files.join("stock.csv.errors.csv")).unwrap();
    assert_eq!(listed, "line,column,reason\n2,make,the VIN says Ford.\n");
}

#[tokio::test]
async fn what_a_feed_no_longer_has_is_withdrawn_on_request() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let client = desk.add_client(&["dlr_new"], READ_STOCK);
    let tenant = ["--tenant", "dlr_new"];
    import(&desk, "vehicles", &feed(&files, 10), &tenant);
    let shorter = feed(&files, 8);
    let dry = import(&desk, "vehicles", &shorter, &[&tenant[..], &["--withdraw-missing", "--dry-run"]].concat());
    assert!(dry.1.contains("8 unchanged; 2 withdrawn. Nothing was changed (--dry-run)."), "{}", dry.1);
    let (_, out, errors) = import(&desk, "vehicles", &shorter, &[&tenant[..], &["--withdraw-missing"]].concat());
    assert!(out.ends_with("8 rows: 0 new, 0 changed, 8 unchanged; 2 withdrawn.\n"), "{out} {errors}");
    let mut agent = desk.agent_of_client(&client, READ_STOCK).await;
    let gone = agent.call("inventory.search", json!({"status": "unavailable", "x_frontdesk_total": true})).await;
    assert_eq!(gone["x_frontdesk_total"], 2);
    // A file that was cut short does not empty the stock.
    let (code, _, errors) =
        import(&desk, "vehicles", &feed(&files, 3), &[&tenant[..], &["--withdraw-missing"]].concat());
    assert_eq!(code, Some(1));
    assert!(errors.contains("5 of 8 records are not in the feed, more than 50 %. Nothing was changed"), "{errors}");
    // What is listed again is for sale again.
    let (_, out, _) = import(&desk, "vehicles", &feed(&files, 10), &tenant);
    assert!(out.ends_with("10 rows: 0 new, 2 changed, 8 unchanged.\n"), "{out}");
}

const ADF: &str = r#"<?xml version="1.0"?><?adf version="1.0"?><adf><prospect><id source="portal">77</id>
    <requestdate>2026-01-30T10:00:00-06:00</requestdate><vehicle interest="buy"><year>2024</year><make>Ford</make>
    <model>Bronco</model></vehicle><customer><contact><name part="full">Pat Doe</name><email>pat@example.com</email>
    </contact><comments>Is it red?</comments></customer><vendor><vendorname>Lakeside</vendorname></vendor></prospect></adf>"#;

#[tokio::test]
async fn adf_leads_come_in_once_with_the_consent_that_is_stated() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let file = write(&files, "lead.xml", ADF);
    let (code, _, _) = import(&desk, "leads", &file, TENANT);
    assert_eq!(code, Some(1));
    let listed = std::fs::read_to_string(files.join("lead.xml.errors.csv")).unwrap();
    assert!(listed.contains("1,consent,\"the person's consent to be contacted is required."), "{listed}");
    let stated = [TENANT, &["--consent", "email"]].concat();
    let (code, out, errors) = import(&desk, "leads", &file, &stated);
    assert_eq!(code, Some(0), "{out} {errors}");
    assert!(out.contains("1 row: 1 new") && out.contains("kept in the comments: "), "{out}");
    let (_, out, _) = import(&desk, "leads", &file, &stated);
    assert!(out.contains("this file was imported at ") && out.ends_with("Nothing was changed.\n"), "{out}");
    let found = desk.agent().await.call("leads.list", json!({"email": "pat@example.com"})).await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_imported_is_said_with_what_can() {
    let (desk, files) = (TestApp::start(), TestFolder::new());
    let file = feed(&files, 1);
    let (_, _, errors) = import(&desk, "cars", &file, TENANT);
    assert!(
        errors.contains("there is nothing called `cars` to import; there are: vehicles, leads, customers"),
        "{errors}"
    );
    let (_, _, errors) = import(&desk, "vehicles", &file, &[]);
    assert!(
        errors.contains("there are several tenants; name one with --tenant: dlr_bengaluru, dlr_lakeside, dlr_summit"),
        "{errors}"
    );
    let (_, _, errors) = import(&desk, "vehicles", &file, &["--tenant", "dlr_typo"]);
    assert!(errors.contains("there is no tenant `dlr_typo`"), "{errors}");
    let (_, _, errors) = import(&desk, "vehicles", &files.join("nothing.csv"), TENANT);
    assert!(errors.contains("cannot read ") && errors.contains("No such file"), "{errors}");
}

/// Hotels, rooms and rates need no mount: a business brings them in before a partner calls.
#[tokio::test]
async fn hotels_are_imported_beside_a_server_and_without_one() {
    let (mut desk, files) = (TestApp::start(), TestFolder::new());
    let example = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/feeds").join(name);
    let imported = |desk: &TestApp, resource: &str, file: &Path| {
        let (code, out, errors) = import(desk, resource, file, &[TENANT, &["--json"]].concat());
        assert_eq!(code, Some(0), "{resource}: {errors}");
        serde_json::from_str::<Value>(&out).unwrap()["counts"].clone()
    };
    assert_eq!(imported(&desk, "listings", &example("listings.csv"))["created"], 2);
    assert_eq!(desk.stop(), Some(0));
    assert_eq!(imported(&desk, "rooms", &example("rooms.csv"))["created"], 3);
    assert_eq!(imported(&desk, "rates", &example("rates.csv"))["created"], 4);
    assert_eq!(imported(&desk, "rates", &example("rates.csv"))["unchanged"], 4);

    let wrong = write(
        &files,
        "rooms.csv",
        "room_code,listing_code,name,max_guests,units,bed_type,base_price_inr\n\
        A,NOWHERE,Room,2,1,king,100\n",
    );
    let (code, out, _) = import(&desk, "rooms", &wrong, &[TENANT, &["--dry-run"]].concat());
    assert_eq!(code, Some(1), "{out}");
    let reasons = std::fs::read_to_string(wrong.with_added_extension("errors.csv")).unwrap();
    assert_eq!(reasons, "line,column,reason\n2,listing_code,there is no listing with this code; import it first.\n");
    let (code, out, errors) = desk.command(&[&["export", "listings"], TENANT].concat());
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("Sample Palace Inn") && !out.contains("tomo_listing"), "{out}");
}
