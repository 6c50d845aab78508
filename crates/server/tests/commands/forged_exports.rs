//! Export files that somebody with the key has changed: each row is checked as if a tool had written it, and a file with
//! one that no tool writes is refused before anything is made.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk::export_file::{ExportReader, ExportWriter, read_key};
use frontdesk::system::SystemRandom;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationKey;
use frontdesk_store::transfer::{Manifest, StoredValue};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::process::run_frontdesk;
use serde_json::{Value, json};

/// An export of a small dealership with a lead, and what its rows are sealed with.
struct Exported {
    folder: TestFolder,
    head: Value,
    rows: Vec<(usize, Vec<StoredValue>)>,
    tables: Vec<String>,
    data_key: SealKey,
}

impl Exported {
    async fn new() -> Exported {
        let desk = TestApp::start();
        let mut agent = desk.agent().await;
        let lead = json!({"contact": {"name": "Canary Name", "email": "canary@example.com"}, "interest": "buy",
            "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": "k", "x_acme_note": "kept"});
        assert_eq!(agent.call("leads.create", lead).await["type"], json!("lead"));
        let folder = TestFolder::new();
        let file = folder.join("moving.desk");
        let said = desk.command(&["tenant", "export", "--tenant", "dlr_lakeside", file.to_str().unwrap()]);
        assert_eq!(said.0, Some(0), "{}", said.2);
        let (mut reader, head) =
            ExportReader::open(&file, &read_key(&folder.join("moving.desk.key")).unwrap()).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = reader.row().unwrap() {
            rows.push(row);
        }
        let manifest = Manifest::from_json(&head["manifest"]).unwrap();
        let tables = manifest.tables.iter().map(|table| table.table.clone()).collect();
        Exported { folder, head, rows, tables, data_key: manifest.key.derive("data") }
    }

    /// The position of the last row of a table.
    fn last(&self, table: &str) -> usize {
        let number = self.tables.iter().position(|name| name == table).unwrap();
        self.rows.iter().rposition(|(of, _)| *of == number).unwrap()
    }

    /// What the import says to the file with one row changed. `None` if it takes it.
    fn import_with(&self, at: usize, change: impl FnOnce(&mut Vec<StoredValue>)) -> Option<String> {
        let mut rows = self.rows.clone();
        change(&mut rows[at].1);
        self.import(&rows)
    }

    fn import(&self, rows: &[(usize, Vec<StoredValue>)]) -> Option<String> {
        let (file, data) = (self.folder.join("forged.desk"), self.folder.join("data"));
        self.write(&file, rows);
        let said =
            run_frontdesk(Path::new("/"), &["tenant", "import", text(&file), "--data", text(&data), "--unverified"]);
        if said.code == Some(0) {
            fs::remove_dir_all(&data).unwrap();
            return None;
        }
        assert!(!data.exists(), "something was made");
        for personal in ["Canary", "canary@"] {
            assert!(!said.err.contains(personal), "{}", said.err);
        }
        Some(said.err.lines().last().unwrap().to_owned())
    }

    fn write(&self, file: &PathBuf, rows: &[(usize, Vec<StoredValue>)]) {
        let key_file = self.folder.join("forged.desk.key");
        fs::copy(self.folder.join("moving.desk.key"), &key_file).unwrap();
        let key = read_key(&key_file).unwrap();
        let out = File::create(file).unwrap();
        let mut writer = ExportWriter::new(out, key, Arc::new(SystemRandom), &self.head).unwrap();
        for (table, row) in rows {
            writer.row(*table, row).unwrap();
        }
        writer.finish(&InstallationKey::from_seed(&[9; 32]).unwrap()).unwrap();
    }

    /// The personal part of a row of this table, changed and sealed again.
    fn reseal(&self, table: &str, row: &mut [StoredValue], change: impl FnOnce(String) -> String) {
        let StoredValue::Text(id) = row[0].clone() else { panic!("no id") };
        let StoredValue::Bytes(sealed) = &row[6] else { panic!("nothing sealed") };
        let place = ["dlr_lakeside", table, &id, "personal"];
        let plain = String::from_utf8(self.data_key.open(&place, sealed).unwrap()).unwrap();
        let sealed = self.data_key.seal(&SystemRandom, &place, change(plain).as_bytes()).unwrap();
        row[6] = StoredValue::Bytes(sealed);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn change_text(value: &mut StoredValue, from: &str, to: &str) {
    let StoredValue::Text(text) = value else { panic!("no text") };
    assert!(text.contains(from), "{text}");
    *text = text.replacen(from, to, 1);
}

const END: &str = "Nothing was imported. Ask the sender for a new export, and do not import this one.";

#[tokio::test]
async fn a_row_that_no_tool_writes_is_refused_with_its_place() {
    let exported = Exported::new().await;
    assert_eq!(exported.import(&exported.rows), None, "an unchanged export with a vendor's field must be taken");
    let lead = exported.last("lead");
    let number = exported.rows[..=lead].iter().filter(|(table, _)| *table == exported.rows[lead].0).count();
    let refused = |said: Option<String>, why: &str| {
        let expected = format!("frontdesk: row {number} of table lead is not one that Frontdesk writes: {why}. {END}");
        assert_eq!(said, Some(expected));
    };
    let sealed =
        |change: &dyn Fn(String) -> String| exported.import_with(lead, |row| exported.reseal("lead", row, change));
    let not_one = "its personal part is not exactly one JSON object";
    refused(sealed(&|plain| format!("{plain}{{}}")), not_one);
    refused(sealed(&|plain| format!("[{plain}]")), not_one);
    refused(sealed(&|plain| plain.replacen('{', r#"{"redacted":[],"#, 1)), not_one);
    refused(sealed(&|plain| plain.replace("Canary", r"Can\u0000ary")), "its personal part has a NUL character");
    let undeclared = "its personal part has a member that is not declared";
    refused(sealed(&|plain| plain.replacen('{', r#"{"role":"admin","#, 1)), undeclared);
    refused(
        sealed(&|plain| plain.replace("canary@example.com", "other@example.com")),
        "its member `contact` has a value that no tool writes",
    );
    let body = |from: &'static str, to: &'static str| {
        exported.import_with(lead, move |row| change_text(&mut row[4], from, to))
    };
    refused(body(r#""dealership_id":"dlr_lakeside""#, r#""dealership_id":"dlr_harbor""#), "it names another tenant");
    refused(body("{", r#"{"admin":true,"#), "its public part has a member that is not declared");
    let interest = "its member `interest` has a value that its schema does not allow";
    refused(body(r#""interest":"buy""#, r#""interest":"steal""#), interest);
    refused(body(r#""interest":"buy""#, r#""interest":1"#), interest);
    refused(
        exported.import_with(lead, |row| row[1] = StoredValue::Integer(7)),
        "its member `version` has a value that no tool writes",
    );
    refused(
        exported.import_with(lead, |row| change_text(&mut row[5], "C. N.", "Canary Name")),
        "its member `contact` has a value that no tool writes",
    );
}

#[tokio::test]
async fn claims_events_links_and_terms_are_checked_too() {
    let exported = Exported::new().await;
    let said = |table: &str, change: &dyn Fn(&mut Vec<StoredValue>)| {
        exported.import_with(exported.last(table), change).unwrap()
    };
    let why = |said: String| said.split_once("Frontdesk writes: ").unwrap().1.replace(&format!(". {END}"), "");
    let event = said("fd_outbox", &|row| row[4] = "exploded".into());
    assert_eq!(why(event), "its change is none of created, updated and deleted");
    let claim = said("fd_claim", &|row| row[1] = "leads.get".into());
    assert_eq!(why(claim), "its answer does not open with the tenant's key");
    let link =
        said("fd_audit", &|row| change_text(&mut row[2], r#""tenant":"dlr_lakeside""#, r#""tenant":"dlr_harbor""#));
    assert_eq!(why(link), "it names another tenant");
    let word = said("lead_word", &|row| row[0] = "canine".into());
    assert_eq!(
        word,
        "frontdesk: not committed: the search terms of table lead_word are not those of its rows. Ask the sender for a new export"
    );
}
