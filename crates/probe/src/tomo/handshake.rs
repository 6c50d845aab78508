//! `initialize` as TOMO sends it (§1), and once more as the simulation of §10 does.

use frontdesk_wire::version::Version;
use serde_json::{Value, json};

use super::doctor::Doctor;
use crate::report::shown;
use crate::rpc::AcceptHeader;

const ASKED: &str = "2024-11-05";
/// Names that come with a library and say nothing about a company.
const GENERIC: [&str; 8] = ["mcp", "mcp-server", "server", "test", "example", "rmcp", "my-server", "your-company-mcp"];

impl Doctor {
    /// Whether there was a handshake at all.
    pub(super) async fn check_handshake(&mut self) -> bool {
        let params = |name: &str| {
            json!({
                "protocolVersion": ASKED,
                "capabilities": {"tools": {}},
                "clientInfo": {"name": name, "version": "1.0.0"},
            })
        };
        let exchange = self.rpc.send("initialize", Some(params("tomo-orchestrator"))).await;
        let result = match exchange.and_then(|exchange| exchange.result().cloned()) {
            Ok(result) => result,
            Err(problem) => {
                let remedy = if problem.starts_with("HTTP 401") {
                    "Name the partner's token with --bearer-file (or --partner-key-file, --client-cert)."
                } else {
                    "Answer initialize with a JSON-RPC result (§1)."
                };
                self.points.handshake.wrong(format!("initialize: {problem}."), remedy);
                return false;
            }
        };
        self.check_answer(&result);
        let credential = self.rpc.credential.clone();
        let plain = self.rpc.send_as(&credential, AcceptHeader::Missing, "initialize", Some(params("tomo-test"))).await;
        if let Err(problem) = plain.and_then(|exchange| exchange.result().cloned()) {
            let problem = format!("initialize without an Accept header, as in §10: {problem}.");
            self.points.handshake.wrong(problem, "Answer with JSON when a request names no media type.");
        }
        true
    }

    fn check_answer(&mut self, result: &Value) {
        let point = &mut self.points.handshake;
        let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if Version::parse(version).is_none() {
            let problem = format!("protocolVersion is {:?}.", shown(version));
            point.wrong(problem, "Answer with 2024-11-05, which TOMO asks for.");
        }
        match result.pointer("/capabilities/tools") {
            Some(Value::Object(_)) => {}
            Some(_) | None => {
                point.wrong("capabilities.tools is missing.", "Declare it: {\"capabilities\": {\"tools\": {}}}.")
            }
        }
        let name = result.pointer("/serverInfo/name").and_then(Value::as_str).unwrap_or_default().trim().to_lowercase();
        if name.is_empty() || GENERIC.contains(&name.as_str()) {
            let problem = format!("serverInfo.name is {:?}, which identifies no company.", shown(&name));
            point.wrong(problem, "Write the name of your company there.");
        }
        let release = result.pointer("/serverInfo/version").and_then(Value::as_str).unwrap_or_default();
        if release.trim().is_empty() {
            point.wrong("serverInfo.version is missing.", "Write the version of your server there.");
        }
        point.note(format!("{} speaks {}", shown(&name), shown(version)));
    }
}
