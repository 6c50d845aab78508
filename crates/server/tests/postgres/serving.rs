//! `frontdesk serve` and `frontdesk config check` on PostgreSQL, as an operator starts them.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::{DemoTenant, TestApp};
use frontdesk_testkit::databases::{PostgresDatabase, PostgresServer};

/// A desk with a configuration file; the process is killed with it.
struct Served {
    folder: TestFolder,
    process: Option<Child>,
}

impl Served {
    fn new(database: &str) -> Served {
        let folder = TestFolder::new();
        let text = format!(
            "data = \"{}\"\nlisten = \"127.0.0.1:0\"\ndatabase = \"{database}\"\n\
             [operator]\nlisten = \"127.0.0.1:0\"\n[[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n",
            folder.join("data").display()
        );
        std::fs::write(folder.join("desk.toml"), text).unwrap();
        Served { folder, process: None }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.env_clear().args(arguments).arg("--config").arg(self.folder.join("desk.toml"));
        command
    }

    fn said(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Starts to serve; where.
    fn start(&mut self) -> SocketAddr {
        let mut process = self.command(&["serve"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
        self.process = Some(process);
        let port = log.find_map(|line| {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            Some(line["url"].as_str()?.strip_prefix("https://localhost:")?.to_owned())
        });
        // Somebody must go on reading, or the desk could not go on writing.
        std::thread::spawn(move || log.for_each(drop));
        format!("127.0.0.1:{}", port.unwrap()).parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[tokio::test]
async fn a_desk_on_postgres_takes_admin_requests_while_serving() {
    let server = PostgresDatabase::create();
    let mut desk = Served::new(&server.url());
    assert_eq!(
        desk.said(&["config", "check"]),
        (
            Some(0),
            "The configuration is valid: PostgreSQL can be reached, and its role has the privileges it needs. Its tables, and whether they belong to the master key, are checked when `frontdesk serve` starts.\n"
                .to_owned(),
            String::new()
        )
    );
    let address = desk.start();
    let scope = "amcp:inventory:read";
    let (code, out, errors) = desk.said(&[
        "client",
        "add",
        "--json",
        "--name",
        "Finder",
        "--tenant",
        "dlr_acme",
        "--new-tenant",
        "--scope",
        scope,
    ]);
    assert_eq!(code, Some(0), "{errors}");
    let client: Value = serde_json::from_str(&out).unwrap();
    let mut http = HttpClient::new(address, &desk.folder.join("data").join("tls").join("ca.pem"));
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}",
        client["id"].as_str().unwrap(),
        client["secret"].as_str().unwrap()
    );
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let granted = http.request("POST", "/token", &headers, form).await;
    let granted: Value = serde_json::from_str(granted.text()).unwrap();
    let bearer = format!("Bearer {}", granted["access_token"].as_str().unwrap());
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "inventory.list", "arguments": {}}});
    let answer = http.request("POST", "/mcp/automotive", &headers, call.to_string()).await;
    let answer: Value = serde_json::from_str(answer.text()).unwrap();
    assert_eq!(answer["result"]["structuredContent"], json!({"items": []}), "{answer}");
    assert_eq!(server.sql("SELECT tenant FROM fd_tenant"), ["dlr_acme"]);
    assert_eq!(desk.said(&["audit", "export", "--tenant", "dlr_acme"]).0, Some(0));
    let (code, out, errors) = desk.said(&["audit", "export", "--tenant", "dlr_nobody"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(errors.starts_with("frontdesk: there is no tenant \"dlr_nobody\" and no record of one."), "{errors}");
    assert!(!desk.folder.join("data").join("frontdesk.db").exists());
}

#[test]
fn the_audit_of_an_unserved_database_says_what_to_do() {
    let server = PostgresDatabase::create();
    let desk = Served::new(&server.url());
    let data = desk.folder.join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("master.key"), "ab".repeat(32)).unwrap();
    for (path, mode) in [(data.join("master.key"), 0o600), (data, 0o700)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let said =
        "frontdesk: there is no Frontdesk data in the PostgreSQL database. Start `frontdesk serve` with it once.\n";
    for command in ["verify", "export"] {
        assert_eq!(desk.said(&["audit", command]), (Some(1), String::new(), said.to_owned()));
    }
}

#[test]
fn a_check_says_what_is_wrong_with_the_database() {
    let server = PostgresDatabase::on(PostgresServer::start());
    let (code, out, errors) = Served::new(&server.url_as("postgres")).said(&["config", "check"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(
        errors,
        "frontdesk: the configuration has a problem:\n  database: the PostgreSQL role postgres is a superuser, so row-level security would not apply to it. \
         Use a role made with: CREATE ROLE name LOGIN NOSUPERUSER NOBYPASSRLS\n"
    );
    assert_eq!(server.sql("SELECT count(*) FROM pg_class WHERE relname LIKE 'fd_%'"), ["0"], "it was only asked");
    let desk = Served::new(&server.url());
    server.server().crash();
    let (code, _, errors) = desk.said(&["config", "check"]);
    assert_eq!(code, Some(1));
    let said = errors.contains("\n  database: cannot connect to PostgreSQL: ");
    assert!(said, "{errors}");
    assert!(errors.ends_with(". Check `database` and that the server runs.\n"), "{errors}");
}

/// Nobody sees it before it is whole, and from then on everybody does.
#[tokio::test]
async fn a_dealership_is_taken_in_while_the_desk_serves() {
    let server = PostgresDatabase::create();
    let mut desk = Served::new(&server.url());
    let address = desk.start();
    let old = TestApp::start();
    let (id, secret, dealership) = old.credentials(DemoTenant::Lakeside);
    let file = desk.folder.join("moving.desk");
    let file = file.to_str().unwrap();
    let (code, _, errors) = old.command(&["tenant", "export", "--tenant", &dealership, file]);
    assert_eq!(code, Some(0), "{errors}");

    let mut http = HttpClient::new(address, &desk.folder.join("data").join("tls").join("ca.pem"));
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(http.request("POST", "/token", &headers, form.clone()).await.status, 401);
    let (code, out, errors) = desk.said(&["tenant", "import", file, "--unverified"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert_eq!(http.request("POST", "/token", &headers, form).await.status, 200);
    let (code, _, errors) = desk.said(&["tenant", "import", file, "--unverified"]);
    assert_eq!(code, Some(1));
    assert!(errors.ends_with(
        "already exists in this database, and an import overwrites nothing. Import it into another database.\n"
    ));
    assert_eq!(desk.said(&["audit", "verify"]).0, Some(0));
}
