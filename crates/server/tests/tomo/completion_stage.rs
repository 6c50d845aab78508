//! A server whose orders are reported to a receiver on this machine.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};
use frontdesk_testkit::app::receiver::HttpsReceiver;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::stage::{LIVE, SANDBOX, secret};

pub(crate) const KEY: &str = "whsec_0123456789abcdef";
pub(crate) const NEW_KEY: &str = "whsec_fedcba9876543210";
pub(crate) const CALLBACK_PATH: &str = "/api/v1/cpc/mcp_provider/acme";

pub(crate) struct CompletionServer {
    pub(crate) folder: TestFolder,
    pub(crate) desk: CommandProcess,
    pub(crate) address: SocketAddr,
    pub(crate) receiver: HttpsReceiver,
}

impl CompletionServer {
    /// The hotels of the demo under another partner, with these keys; without any if there are none.
    pub(crate) fn start(keys: &[&str]) -> CompletionServer {
        let folder = TestFolder::new();
        let mut demo =
            CommandProcess::new(folder.path(), &["demo", "--data", "data", "--listen", "127.0.0.1:0", "--json"], &[]);
        demo.printed("\"mounts\"");
        demo.stop();
        secret(&folder, "live", LIVE);
        secret(&folder, "sandbox", SANDBOX);
        let receiver = HttpsReceiver::start(&folder.join("receiver.pem"));
        write(&folder, receiver.address, keys, "[\"127.0.0.0/8\"]");
        CompletionServer::serve(folder, receiver)
    }

    pub(crate) fn serve(folder: TestFolder, receiver: HttpsReceiver) -> CompletionServer {
        let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
        let address = desk.address();
        CompletionServer { folder, desk, address, receiver }
    }

    /// With these keys from now on.
    pub(crate) fn reload(&mut self, keys: &[&str]) {
        write(&self.folder, self.receiver.address, keys, "[\"127.0.0.0/8\"]");
        self.desk.reload("configuration reloaded");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> CommandOutput {
        run_frontdesk(self.folder.path(), arguments)
    }

    pub(crate) async fn call(&self, token: &str, tool: &str, arguments: Value) -> Value {
        let mut http = HttpClient::new(self.address, &self.folder.join("data/tls/ca.pem"));
        let call = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let response = http.request("POST", "/mcp/hotel", &headers, body).await;
        let whole: Value = serde_json::from_str(response.text()).unwrap();
        let text = whole["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {whole}"));
        serde_json::from_str(text).unwrap()
    }

    /// Books a room, under this key and request.
    pub(crate) async fn book(&self, token: &str, key: &str) -> String {
        let search = json!({"destination": {"city": "Bengaluru", "country_code": "IN"},
            "dates": {"check_in": "2027-03-10", "check_out": "2027-03-12"}, "party": {"adults": 2, "rooms": 1}});
        let found = self.call(token, "search_availability", search).await;
        let listing = &found["listings"][0];
        let arguments = json!({"idempotency_key": key, "request_id": format!("request-{key}"),
            "result_token": found["result_token"], "listing_id": listing["listing_id"],
            "room_id": listing["room_options"][0]["room_id"],
            "guest": {"name": "Asha Rao", "phone": "+919812345678", "email": "asha.rao@example.com"}});
        let booked = self.call(token, "create_booking", arguments).await;
        booked["booking_ref"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn cancel(&self, token: &str, booking: &str) -> Value {
        self.call(token, "cancel_booking", json!({"booking_ref": booking})).await
    }

    /// Returns when so many completions have arrived and the server knows it.
    pub(crate) async fn wait_for_delivered(&self, count: usize) {
        let list = ["tomo", "completions", "list", "--status", "delivered", "--json", "--config", "desk.toml"];
        for _ in 0..600 {
            if self.command(&list).out.lines().count() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("not all of {count} completions were delivered");
    }

    /// Everything the log and the audit log say.
    pub(crate) fn records(self) -> String {
        let CompletionServer { folder, desk, .. } = self;
        let log = desk.stop();
        let audit = run_frontdesk(folder.path(), &["audit", "export", "--data", "data"]);
        assert_eq!(audit.code, Some(0), "{audit:?}");
        format!("{}{}{}", log.out, log.err, audit.out)
    }
}

/// `allow` is what the server may call besides public addresses.
pub(crate) fn write(folder: &TestFolder, receiver: SocketAddr, keys: &[&str], allow: &str) {
    let completion = if keys.is_empty() {
        String::new()
    } else {
        secret(folder, "completion", &keys.join("\n"));
        "[mount.completion]\nkeys = \"completion\"\n".to_owned()
    };
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
         [outbound]\nallow = {allow}\nca = \"receiver.pem\"\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n\
         [[mount]]\ncontract = \"tomo\"\npath = \"/mcp/hotel\"\ntenant = \"htl_monsoon\"\nintents = [\"travel.book_hotel\"]\n\
         [mount.partner]\nid = \"acme\"\ncompany = \"Acme\"\n\
         signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Bengaluru\"]\n\
         pricing_band = \"good\"\ncallback = \"https://localhost:{}{CALLBACK_PATH}\"\n\
         [mount.auth]\nlive_tokens = \"live\"\nsandbox_tokens = \"sandbox\"\n{completion}",
        receiver.port()
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
}

/// The signature as the receiver of a completion computes it.
pub(crate) fn signature(key: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}
