//! What a server serves where, as `frontdesk connect` needs it: the addresses that it has, not those of the configuration
//! that the command reads.

use frontdesk_contracts as contracts;
use serde::{Deserialize, Serialize};

use crate::config::{CertificateConfig, Config};
use crate::connect::NetworkReach;
use crate::data_dir;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerDescription {
    pub public_url: String,
    /// What clients must trust; none for a publicly trusted certificate.
    pub ca_file: Option<String>,
    pub reach: NetworkReach,
    /// Those that a client can be connected to, in their order.
    pub mounts: Vec<MountDescription>,
}

/// One contract at one URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountDescription {
    pub contract: String,
    pub url: String,
    pub scopes: Vec<String>,
}

impl ServerDescription {
    pub fn new(config: &Config) -> ServerDescription {
        let known = contracts::all();
        let scopes_of = |name: &str| {
            let contract = known.iter().find(|contract| contract.id == name);
            contract.map_or_else(Vec::new, |contract| {
                contract.ordinary_scopes.iter().map(|scope| scope.as_str().to_owned()).collect()
            })
        };
        // A partner has credentials of its own.
        let mounts = config.mounts.iter().filter(|mount| mount.partner.is_none());
        let (ca_file, is_trusted) = match config.certificate {
            CertificateConfig::Development => {
                let file = data_dir::tls_dir(&config.data).join("ca.pem");
                (Some(std::path::absolute(&file).unwrap_or(file).display().to_string()), false)
            }
            CertificateConfig::Files { .. } => (None, true),
        };
        ServerDescription {
            public_url: config.public_url.to_string(),
            ca_file,
            reach: if is_trusted { NetworkReach::of(config.public_url.host()) } else { NetworkReach::Local },
            mounts: mounts
                .map(|mount| MountDescription {
                    contract: mount.contract.clone(),
                    url: config.public_url.at(&mount.endpoint()),
                    scopes: scopes_of(&mount.contract),
                })
                .collect(),
        }
    }
}
