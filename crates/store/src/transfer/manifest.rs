//! What an import must know before the rows. It contains the tenant's key in clear, so it must only be written sealed.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::tenant::GroupId;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tables::TransferTable;

/// Those of `Manifest::to_json`.
const MEMBERS: [&str; 8] = ["tenant", "name", "profile", "group", "key", "chain", "tables", "left_behind"];

#[derive(Debug, Clone)]
pub struct Manifest {
    /// Its group is that of the old server: an import does not put it into one.
    pub tenant: Tenant,
    pub key: SealKey,
    pub chain: ChainEnds,
    /// In the order in which their rows follow.
    pub tables: Vec<TableManifest>,
    /// Clients that act for other tenants too, by id and name.
    pub shared_clients: Vec<(String, String)>,
}

/// A table and how many of its rows follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableManifest {
    pub table: String,
    /// Its columns and their types.
    pub columns: String,
    /// The fields its rows are searched by, `None` in exports of releases that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<Vec<String>>,
    pub rows: u64,
}

/// The last link of the tenant's chain, and the last one that retention has deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainEnds {
    pub seq: i64,
    pub hash: Vec<u8>,
    pub kept_after_seq: i64,
    pub kept_after_hash: Vec<u8>,
}

impl TableManifest {
    pub(super) fn of(table: &TransferTable, rows: u64) -> TableManifest {
        TableManifest {
            table: table.name.clone(),
            columns: table.signature(),
            searched: table.searched().map(|fields| fields.iter().map(|&field| field.to_owned()).collect()),
            rows,
        }
    }
}

impl Manifest {
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "tenant": self.tenant.id.as_str(),
            "name": self.tenant.name,
            "profile": self.tenant.profile,
            "group": self.tenant.group.as_ref().map(GroupId::as_str),
            "key": self.key.expose(),
            "chain": self.chain,
            "tables": self.tables,
            "left_behind": self.shared_clients,
        })
    }

    /// `None` if it is not a manifest, or has a member that is not one of a manifest.
    pub fn from_json(value: &Value) -> Option<Manifest> {
        if !value.as_object()?.keys().all(|name| MEMBERS.contains(&name.as_str())) {
            return None;
        }
        let key: Vec<u8> = field(value, "key")?;
        let id = TenantId::parse(value.get("tenant")?.as_str()?)?;
        let mut tenant = Tenant::new(id, field::<String>(value, "name")?);
        // Exports of earlier releases have neither.
        if value.get("profile").is_some() {
            tenant.profile = field(value, "profile")?;
        }
        tenant.group = value.get("group").and_then(Value::as_str).and_then(GroupId::parse);
        Some(Manifest {
            tenant,
            key: SealKey::from_bytes(key.try_into().ok()?),
            chain: field(value, "chain")?,
            tables: field(value, "tables")?,
            shared_clients: field(value, "left_behind")?,
        })
    }
}

fn field<T: DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
    serde_json::from_value(value.get(name)?.clone()).ok()
}
