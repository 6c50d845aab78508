//! The values that stand in a text: where this installation is, which CA it has, and who calls.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What is known about an installation and a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The name under which the client lists it.
    pub name: String,
    /// The endpoint of the mount.
    pub url: String,
    /// The base of all its URLs, which is the issuer of tokens.
    pub public_url: String,
    /// The file that clients must trust; none for a publicly trusted certificate.
    pub ca_file: Option<String>,
    pub client_id: String,
    /// What a program asks for; it gets what its client may have.
    pub scopes: Vec<String>,
    /// The program that a desktop client starts.
    pub program: String,
    pub stdio: StdioArguments,
    pub reach: NetworkReach,
}

/// How `frontdesk stdio` and `frontdesk client` find the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioArguments {
    /// `--data` or `--config`.
    pub flag: &'static str,
    pub path: String,
    /// None for the contract that is served without naming one.
    pub contract: Option<String>,
}

/// Who can connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkReach {
    /// The name is one of this machine, or the certificate is trusted by nobody else.
    Local,
    Public,
}

impl NetworkReach {
    /// By the host of the public URL.
    pub fn of(host: &str) -> NetworkReach {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_local = bare == "localhost" || bare.ends_with(".localhost") || !bare.contains(['.', ':']);
        let is_private = match bare.parse() {
            Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
            Err(_) => false,
        };
        if is_local || is_private { NetworkReach::Local } else { NetworkReach::Public }
    }
}

impl Installation {
    /// The name under which clients list a mount; the one that is served without naming a contract has the short one.
    pub fn name_of(contract: Option<&str>) -> String {
        contract.map_or("frontdesk".to_owned(), |contract| format!("frontdesk-{contract}"))
    }
}
