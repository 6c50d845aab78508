//! A server with one partner, as a configuration file describes it.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};
use serde_json::Value;

pub(crate) const LIVE: &str = "live-token-0123456789abcdef0123456789";
pub(crate) const SANDBOX: &str = "sandbox-token-0123456789abcdef012345";
pub(crate) const KEY: &str = "live-key!0123456789abcdef0123456789ab";
pub(crate) const PATH: &str = "/mcp/hotel";
pub(crate) const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"clientInfo":{"name":"tomo-orchestrator","version":"1.0.0"}}}"#;
/// Any call: its arguments are looked at after the mount is found open.
pub(crate) const CALL: &str =
    r#"{"jsonrpc":"2.0","id":"c-1","method":"tools/call","params":{"name":"get_listing","arguments":{}}}"#;
pub(crate) const BEARERS: &str = "[mount.auth]\nlive_tokens = \"live\"\nsandbox_tokens = \"sandbox\"\n";

pub(crate) struct PartnerServer {
    pub(crate) folder: TestFolder,
    pub(crate) desk: CommandProcess,
    pub(crate) address: SocketAddr,
}

impl PartnerServer {
    /// With these lines in the mount's table, and this table of credentials.
    pub(crate) fn open(mount: &str, auth: &str) -> PartnerServer {
        PartnerServer::of(TestFolder::new(), mount, auth)
    }

    pub(crate) fn of(folder: TestFolder, mount: &str, auth: &str) -> PartnerServer {
        secrets(&folder);
        write(&folder, mount, auth);
        let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
        let address = desk.address();
        PartnerServer { folder, desk, address }
    }

    pub(crate) fn http(&self) -> HttpClient {
        HttpClient::new(self.address, &self.folder.join("data/tls/ca.pem"))
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: &str) -> HttpResponse {
        let all: Vec<(&str, &str)> =
            [("content-type", "application/json")].into_iter().chain(headers.iter().copied()).collect();
        self.http().request("POST", PATH, &all, body).await
    }

    pub(crate) async fn bearer(&self, token: &str, body: &str) -> HttpResponse {
        self.post(&[("authorization", &format!("Bearer {token}"))], body).await
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> CommandOutput {
        run_frontdesk(self.folder.path(), arguments)
    }

    pub(crate) fn reload(&mut self, mount: &str, auth: &str, awaited: &str) -> String {
        write(&self.folder, mount, auth);
        self.desk.reload(awaited)
    }

    /// Everything the log and the audit log say.
    pub(crate) fn records(self) -> String {
        let PartnerServer { folder, desk, .. } = self;
        let log = desk.stop();
        let audit = run_frontdesk(folder.path(), &["audit", "export", "--data", "data"]);
        assert_eq!(audit.code, Some(0), "{audit:?}");
        format!("{}{}{}", log.out, log.err, audit.out)
    }
}

pub(crate) fn secrets(folder: &TestFolder) {
    for (name, text) in [("live", LIVE), ("sandbox", SANDBOX), ("keys", KEY)] {
        secret(folder, name, text);
    }
}

pub(crate) fn secret(folder: &TestFolder, name: &str, text: &str) {
    let file = folder.join(name);
    fs::write(&file, format!("{text}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) fn write(folder: &TestFolder, mount: &str, auth: &str) {
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n\
         [[mount]]\ncontract = \"tomo\"\npath = \"{PATH}\"\ntenant = \"htl\"\nintents = [\"travel.book_hotel\"]\n{mount}\
         [mount.partner]\nid = \"acme\"\ncompany = \"Acme\"\n\
         signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Bengaluru\"]\n\
         pricing_band = \"good\"\ncallback = \"https://tomo.example/api/v1/cpc/mcp_provider/acme\"\n{auth}"
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
}

pub(crate) fn json_of(response: &HttpResponse) -> Value {
    serde_json::from_str(response.text()).unwrap_or_else(|_| panic!("{}: {}", response.status, response.text()))
}

/// The status and the whole error.
pub(crate) fn refusal(response: &HttpResponse) -> (u16, Value) {
    (response.status, json_of(response))
}
