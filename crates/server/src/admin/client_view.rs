//! Clients as operators see them; never their secrets.

use frontdesk_engine::ports::registry::Client;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientList {
    pub clients: Vec<ClientView>,
    /// Rows that were changed without the master key; they are not among the clients.
    #[serde(default)]
    pub refused: usize,
}

/// A client as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientView {
    pub id: String,
    pub name: String,
    pub tenants: Vec<String>,
    #[serde(default)]
    pub groups: Vec<String>,
    pub scopes: Vec<String>,
    pub created_at: String,
    pub revoked_at: Option<String>,
}

pub(super) fn view(client: &Client) -> ClientView {
    ClientView {
        id: client.id.as_str().to_owned(),
        name: client.name.clone(),
        tenants: client.tenants.iter().map(|tenant| tenant.as_str().to_owned()).collect(),
        groups: client.groups.iter().map(|group| group.as_str().to_owned()).collect(),
        scopes: client.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        created_at: client.created_at.to_rfc3339(),
        revoked_at: client.revoked_at.map(|at| at.to_rfc3339()),
    }
}
