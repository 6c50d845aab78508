//! A dealership goes from one database to another and is the same there.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::{TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;

const LAKESIDE: &str = "dlr_lakeside";

/// A folder for data, and where its rows are if not in it.
struct Place {
    folder: TestFolder,
    database: Option<String>,
}

impl Place {
    fn new(database: Option<String>) -> Place {
        Place { folder: TestFolder::new(), database }
    }

    fn settings(&self) -> Vec<(&str, &str)> {
        self.database.iter().map(|url| ("FRONTDESK_DATABASE", url.as_str())).collect()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.env_clear().envs(self.settings()).args(arguments).arg("--data").arg(self.folder.join("data"));
        command
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn import(&self, file: &Path) {
        let (code, _, errors) = self.run(&["tenant", "import", file.to_str().unwrap(), "--unverified"]);
        assert_eq!(code, Some(0), "{errors}");
    }

    fn export(&self, file: &Path) -> Value {
        let arguments = ["tenant", "export", "--tenant", LAKESIDE, file.to_str().unwrap(), "--json"];
        let (code, out, errors) = self.run(&arguments);
        assert_eq!(code, Some(0), "{errors}");
        serde_json::from_str(&out).unwrap()
    }
}

async fn order(agent: &mut TestAgent, name: &str, key: &str) -> Value {
    let order = json!({"contact": {"name": name, "email": "dana@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key});
    agent.call("leads.create", order).await
}

/// Every row of the dealership in an embedded database, table by table. Hashes of links are left out: they are made
/// with another key in every home.
fn kept(database: &Path) -> BTreeMap<String, Vec<String>> {
    let connection = Connection::open(database).unwrap();
    let list = |text: &str| -> Vec<String> {
        let mut statement = connection.prepare(text).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let mut found = BTreeMap::new();
    for table in list("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'fd_tenant' ORDER BY name") {
        // Hashes are computed again, so are the MACs of clients, which are keyed by the database; and what a client has
        // added is about the database in which it did.
        let mac = if table == "fd_client" { "mac" } else { "hash" };
        let columns = list(&format!(
            "SELECT name FROM pragma_table_info('{table}') WHERE name NOT IN ('hash', 'client_usage', '{mac}')"
        ));
        let whose = match table.as_str() {
            "fd_client" => format!("tenants = '{LAKESIDE}'"),
            "fd_audit" => format!("chain = 'tenant:{LAKESIDE}'"),
            _ if columns.iter().any(|column| column == "tenant") => format!("tenant = '{LAKESIDE}'"),
            _ => continue,
        };
        let quoted: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
        let text = format!("SELECT {} FROM {table} WHERE {whose} ORDER BY 1", quoted.join(" || ' ' || "));
        found.insert(table, list(&text));
    }
    found
}

#[tokio::test]
async fn a_tenant_moves_between_databases_without_loss() {
    let server = PostgresDatabase::create();
    let second_database = PostgresDatabase::create();
    let second = second_database.url();
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let first = order(&mut agent, "Dana Rivera", "before-the-move").await;
    assert_eq!(first["type"], json!("lead"));
    let stock = agent.all("inventory.search", json!({"limit": 50})).await;
    let shared = desk.add_client(&[LAKESIDE, "dlr_summit"], "amcp:inventory:read");
    let files = TestFolder::new();

    // Beside the running server, and then from home to home: both databases, each way and to its like.
    let file = files.join("0.desk");
    let arguments = ["tenant", "export", "--tenant", LAKESIDE, file.to_str().unwrap()];
    let (code, out, errors) = desk.command(&arguments);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains(&format!("  {}  another client\n", shared.0)), "{out}");
    let homes = [Place::new(Some(server.url())), Place::new(Some(second)), Place::new(None), Place::new(None)];
    let mut rows = Vec::new();
    for (number, home) in homes.iter().enumerate() {
        home.import(&files.join(&format!("{number}.desk")));
        rows.push(home.export(&files.join(&format!("{}.desk", number + 1)))["rows"].as_u64().unwrap());
    }
    // One record more in every home: that it came.
    assert_eq!(rows, [rows[0], rows[0] + 1, rows[0] + 2, rows[0] + 3]);
    let there = kept(&desk.data().join("frontdesk.db"));
    let [_, second, _, last] = homes;
    let mut here = kept(&last.folder.join("data").join("frontdesk.db"));
    let links = here.get_mut("fd_audit").unwrap();
    let came: Vec<String> = links.drain(links.len() - 4..).collect();
    assert!(came.iter().all(|link| link.contains(r#""operator":"tenant.import""#)), "{came:?}");
    for table in ["vehicle", "vehicle_word", "lead", "fd_claim", "fd_outbox", "fd_counter", "fd_client", "fd_audit"] {
        assert!(!there[table].is_empty(), "{table} proves nothing");
    }
    assert_eq!(here, there);
    // Nothing of the other dealership came along.
    let raw = Connection::open(last.folder.join("data").join("frontdesk.db")).unwrap();
    let tenants: Vec<String> = {
        let mut statement = raw.prepare("SELECT tenant FROM fd_tenant").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(tenants, [LAKESIDE]);

    // In its new homes it answers as in the old one, goes on counting where it was, and its record holds.
    for home in [second, last] {
        let (code, out, _) = home.run(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}");
        let settings = home.database.clone();
        let settings: Vec<(&str, &str)> = settings.iter().map(|url| ("FRONTDESK_DATABASE", url.as_str())).collect();
        let moved = TestApp::start_in(&desk, home.folder, &settings);
        let mut agent = moved.agent().await;
        assert_eq!(order(&mut agent, "Dana Rivera", "before-the-move").await, first);
        let reused = order(&mut agent, "Somebody Else", "before-the-move").await;
        assert_eq!(reused["error"]["code"], json!("request.idempotency_conflict"), "{reused}");
        assert_eq!(agent.call("leads.get", json!({"id": first["id"]})).await, first);
        assert_eq!(agent.all("inventory.search", json!({"limit": 50})).await, stock);
        let next = order(&mut agent, "Dana Rivera", "after-the-move").await;
        assert_ne!(next["id"], first["id"]);
        let (code, out, _) = moved.command(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}");
        let events = match settings.is_empty() {
            true => kept(&moved.data().join("frontdesk.db"))["fd_outbox"].len(),
            false => {
                let text = format!(
                    "SELECT CASE WHEN count(*) = max(seq) AND min(seq) = 1 THEN count(*) END FROM fd_outbox WHERE tenant = '{LAKESIDE}'"
                );
                second_database.sql(&text)[0].parse().unwrap()
            }
        };
        // A lead and its consent.
        assert_eq!(events, there["fd_outbox"].len() + 2);
    }
}

/// Enough rows that an import takes a while.
fn large(files: &TestFolder) -> std::path::PathBuf {
    let desk = TestApp::start();
    let fill = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) \
         INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) \
         SELECT '{LAKESIDE}', event_seq + i, 'evt_' || i, 'vehicle', 'v' || i, 'updated', 1 FROM n, fd_counter \
         WHERE tenant = '{LAKESIDE}'; \
         UPDATE fd_counter SET event_seq = event_seq + 60000 WHERE tenant = '{LAKESIDE}'"
    );
    let raw = Connection::open(desk.data().join("frontdesk.db")).unwrap();
    raw.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
    raw.execute_batch(&fill).unwrap();
    let file = files.join("large.desk");
    let arguments = ["tenant", "export", "--tenant", LAKESIDE, file.to_str().unwrap()];
    let (code, _, errors) = desk.command(&arguments);
    assert_eq!(code, Some(0), "{errors}");
    file
}

/// A home in which an import was killed in its middle. Where it came to its end before the kill did, nothing is shown,
/// and it is done once more in another home.
fn killed_in<T>(new: impl Fn() -> (T, Place), file: &Path) -> (T, Place) {
    for _ in 0..10 {
        let (server, home) = new();
        if is_killed(&home, file) {
            return (server, home);
        }
    }
    panic!("every import had ended before it was killed");
}

/// Kills an import once it has begun to write; whether that was before its end.
fn is_killed(home: &Place, file: &Path) -> bool {
    let mut command = home.command(&["tenant", "import", file.to_str().unwrap(), "--unverified"]);
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let begun = lines.map(Result::unwrap).find(|line| line.starts_with("importing "));
    process.kill().unwrap();
    let begun = begun.unwrap();
    match process.wait().unwrap().code() {
        None => !begun.starts_with("importing 100%"),
        code => {
            assert_eq!(code, Some(0), "{begun}");
            false
        }
    }
}

#[tokio::test]
async fn a_killed_import_leaves_nothing_and_can_be_repeated() {
    let files = TestFolder::new();
    let file = large(&files);
    let events = "SELECT count(*) FROM fd_outbox UNION ALL SELECT count(*) FROM fd_client";
    let on_a_server = || {
        let server = PostgresDatabase::create();
        let home = Place::new(Some(server.url()));
        (server, home)
    };
    let (server, home) = killed_in(on_a_server, &file);
    let tenants = || server.sql("SELECT tenant FROM fd_tenant");
    assert_eq!(tenants(), [""; 0]);
    assert_eq!(server.sql(events), ["0", "0"]);
    home.import(&file);
    assert_eq!(tenants(), [LAKESIDE]);
    assert!(server.sql(events)[0].parse::<u64>().unwrap() > 60_000);

    let ((), home) = killed_in(|| ((), Place::new(None)), &file);
    let kept = || {
        let raw = Connection::open(home.folder.join("data").join("frontdesk.db")).unwrap();
        let count = |table: &str| -> i64 {
            raw.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        ["fd_tenant", "fd_client", "fd_claim", "vehicle", "fd_audit"].map(count)
    };
    assert_eq!(kept(), [0; 5]);
    home.import(&file);
    assert!(kept().iter().all(|count| *count > 0));
}

/// A server that holds the folder need not serve the database that is named, nor have looked at it lately.
#[tokio::test]
async fn an_import_beside_a_running_server_checks_the_database() {
    let server = PostgresDatabase::create();
    let empty = PostgresDatabase::create();
    let desk = TestApp::start();
    desk.add_client(&["dlr_third"], "amcp:inventory:read");
    let files = TestFolder::new();
    for tenant in [LAKESIDE, "dlr_third"] {
        let file = files.join(tenant);
        let (code, _, errors) = desk.command(&["tenant", "export", "--tenant", tenant, file.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{errors}");
    }
    let home = Place::new(Some(server.url()));
    home.import(&files.join(LAKESIDE));
    let running = TestApp::start_in(&desk, home.folder, &[("FRONTDESK_DATABASE", &server.url())]);
    let imported = |data: &Path, url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.env_clear().env("FRONTDESK_DATABASE", url).args(["tenant", "import", "--unverified"]);
        let output = command.arg(files.join("dlr_third")).arg("--data").arg(data).output().unwrap();
        String::from_utf8(output.stderr).unwrap().lines().last().unwrap_or_default().to_owned()
    };
    let is_here = || server.sql("SELECT count(*) FROM fd_tenant WHERE tenant = 'dlr_third'") == ["1"];

    assert_eq!(
        imported(&desk.data(), &server.url()),
        "frontdesk: the master key does not open this database. Put back the master.key file that was made with it."
    );
    let said = imported(&running.data(), &server.url_as("postgres"));
    assert!(said.starts_with("frontdesk: the PostgreSQL role postgres is a superuser"), "{said}");
    assert_eq!(
        imported(&running.data(), &empty.url()),
        "frontdesk: this version of Frontdesk has not set up the database yet. Start `frontdesk serve` with \
         it, or stop the server that uses the data folder, and import again."
    );
    server.sql("ALTER TABLE vehicle NO FORCE ROW LEVEL SECURITY");
    let said = imported(&running.data(), &server.url());
    assert!(said.starts_with("frontdesk: row-level security of the table vehicle is not as"), "{said}");
    assert!(!is_here());

    server.sql("ALTER TABLE vehicle FORCE ROW LEVEL SECURITY");
    let said = imported(&running.data(), &server.url());
    assert!(is_here(), "{said}");
}
