//! A server with rides and orders of food that can be killed, and a receiver that knows nothing of it: a program of its
//! own, which verifies every completion and writes it down.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};
use serde_json::{Map, Value};

use super::tables::Database;

pub(crate) const LIVE: &str = "live-token-0123456789abcdef0123456789";
pub(crate) const SANDBOX: &str = "sandbox-token-0123456789abcdef012345";
pub(crate) const NOTIFICATION_KEY: &str = "notification-key-0123456789abcdef0123";
const COMPLETION_KEY: &str = "whsec_0123456789abcdef0123456789abcdef";
const CALLBACK_PATH: &str = "/api/v1/cpc/mcp_provider/acme";
pub(crate) const RIDES: (&str, &str) = ("rid_monsoon", "mobility.book_intracity_ride");
pub(crate) const FOOD: (&str, &str) = ("fod_monsoon", "food.order_delivery");

/// A dish of the restaurant that is always open, of which there are few.
const SCARCE_DISH: &str = "dish_code,restaurant_code,name,description,category,price_inr,diet,spice_level,daily_stock\n\
                           ANYTIME-99,ANYTIME,Mysore Pak,Gram flour and ghee,Sweets,85,veg,none,40\n";

pub(crate) struct EndingStage {
    folder: TestFolder,
    desk: CommandProcess,
    address: SocketAddr,
    pub(crate) database: Database,
    /// Ends with this value.
    _receiver: CommandProcess,
}

/// A request that the receiver has written down.
pub(crate) struct ReceivedCompletion {
    pub(crate) external_id: String,
    pub(crate) body: String,
    pub(crate) status: u64,
}

impl EndingStage {
    /// The businesses of the demo under another partner.
    pub(crate) fn start(database: Database, seed: u64) -> EndingStage {
        let folder = TestFolder::new();
        let url = match &database {
            Database::Embedded => String::new(),
            Database::Postgres(server) => server.url(),
        };
        let demo = ["demo", "--data", "data", "--listen", "127.0.0.1:0", "--json"];
        let mut demo = CommandProcess::new(folder.path(), &demo, &[("FRONTDESK_DATABASE", &url)]);
        demo.printed("\"mounts\"");
        demo.stop();
        let secrets = [
            ("live", LIVE),
            ("sandbox", SANDBOX),
            ("notifications", NOTIFICATION_KEY),
            ("completions", COMPLETION_KEY),
        ];
        for (name, text) in secrets {
            let file = folder.join(name);
            fs::write(&file, format!("{text}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let (receiver, port) = start_receiver(&folder, seed);
        let mounts = [RIDES, FOOD].map(|mount| mount_table(mount, port)).concat();
        let text = format!(
            "data = \"data\"\ndatabase = \"{url}\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
             [limits]\ncalls_per_minute = 10000000\nburst = 1000000\n\
             [outbound]\nallow = [\"127.0.0.0/8\"]\nca = \"receiver.pem\"\n\
             [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n{mounts}"
        );
        fs::write(folder.join("desk.toml"), text).unwrap();
        fs::write(folder.join("dishes.csv"), SCARCE_DISH).unwrap();
        let import = ["import", "dishes", "dishes.csv", "--tenant", FOOD.0, "--config", "desk.toml"];
        let imported = run_frontdesk(folder.path(), &import);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let (desk, address) = serve(&folder);
        EndingStage { folder, desk, address, database, _receiver: receiver }
    }

    /// Killed at once and started again on what it left.
    pub(crate) fn kill(self) -> EndingStage {
        let EndingStage { folder, desk, database, _receiver, .. } = self;
        desk.signal("KILL");
        desk.end();
        let (desk, address) = serve(&folder);
        EndingStage { folder, desk, address, database, _receiver }
    }

    pub(crate) fn http(&self) -> HttpClient {
        HttpClient::new(self.address, &self.data().join("tls/ca.pem"))
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> CommandOutput {
        run_frontdesk(self.folder.path(), &[arguments, &["--config", "desk.toml"]].concat())
    }

    /// Every row of a table of this tenant, with what is shown of its personal part.
    pub(crate) fn bodies(&self, table: &str, tenant: &str) -> Vec<Value> {
        let both = "'[' || body || ',' || COALESCE(masked, '{}') || ']'";
        let query = format!("SELECT {both} FROM {table} WHERE tenant = '{tenant}'");
        let join = |row: &String| {
            let [body, masked]: [Map<String, Value>; 2] = serde_json::from_str(row).unwrap();
            Value::Object(body.into_iter().chain(masked).collect())
        };
        self.database.rows_in(&self.data(), &query).iter().map(join).collect()
    }

    /// What the receiver has written down so far. It has refused nothing.
    pub(crate) fn received(&self) -> Vec<ReceivedCompletion> {
        let text = fs::read_to_string(self.folder.join("received.jsonl")).unwrap_or_default();
        // The last line may not be complete yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let read = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["problem"], Value::Null, "{line}");
            let body = line["body"].as_str().unwrap().to_owned();
            let completion: Value = serde_json::from_str(&body).unwrap();
            let external_id = completion["external_id"].as_str().unwrap().to_owned();
            ReceivedCompletion { external_id, body, status: line["status"].as_u64().unwrap() }
        };
        whole.lines().map(read).collect()
    }

    /// Returns when nothing is left to be delivered. What a killed server had begun to send is leased for a minute, and
    /// what was answered 503 waits longer and longer: the operator need not wait for either.
    pub(crate) async fn wait_for_deliveries(&self) {
        let list = ["tomo", "completions", "list", "--status", "pending", "--json"];
        for _ in 0..120 {
            let listed = self.command(&list);
            assert_eq!(listed.code, Some(0), "{listed:?}");
            if listed.out.is_empty() {
                return;
            }
            for line in listed.out.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                // It may have arrived meanwhile.
                self.command(&["tomo", "completions", "replay", line["delivery"]["id"].as_str().unwrap()]);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        panic!("completions are not delivered");
    }

    /// The status of every delivery, by its booking.
    pub(crate) fn deliveries(&self) -> BTreeMap<String, String> {
        let rows = [RIDES.0, FOOD.0].map(|tenant| self.bodies("delivery", tenant)).concat();
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        let deliveries: BTreeMap<_, _> = rows.iter().map(|row| (text(row, "subject"), text(row, "status"))).collect();
        assert_eq!(deliveries.len(), rows.len(), "one delivery for each booking");
        deliveries
    }
}

fn serve(folder: &TestFolder) -> (CommandProcess, SocketAddr) {
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
    let address = desk.address();
    (desk, address)
}

fn start_receiver(folder: &TestFolder, seed: u64) -> (CommandProcess, u16) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.join("receiver.pem"), made.cert.pem()).unwrap();
    fs::write(folder.join("receiver.key"), made.signing_key.serialize_pem()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/completion_receiver.py");
    let mut command = Command::new("python3");
    command.arg(script).args(["--certificate", "receiver.pem", "--key", "receiver.key", "--path", CALLBACK_PATH]);
    command.args(["--signing-keys", "completions", "--out", "received.jsonl", "--trouble", "25"]);
    command.args(["--seed", &seed.to_string()]);
    let mut receiver = CommandProcess::spawn(command, folder.path());
    let printed = receiver.printed("port ");
    let port = printed.trim().strip_prefix("port ").unwrap().parse().unwrap();
    (receiver, port)
}

fn mount_table((tenant, intent): (&str, &str), port: u16) -> String {
    format!(
        "[[mount]]\ncontract = \"tomo\"\npath = \"/mcp/{intent}\"\ntenant = \"{tenant}\"\nintents = [\"{intent}\"]\n\
         [mount.partner]\nid = \"acme\"\ncompany = \"Acme\"\n\
         signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Bengaluru\"]\n\
         pricing_band = \"good\"\ncallback = \"https://localhost:{port}{CALLBACK_PATH}\"\n\
         [mount.auth]\nlive_tokens = \"live\"\nsandbox_tokens = \"sandbox\"\n\
         [mount.notifications]\nkeys = \"notifications\"\n[mount.completion]\nkeys = \"completions\"\n"
    )
}
