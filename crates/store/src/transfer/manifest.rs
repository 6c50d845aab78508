//! What an import must know before the rows. It contains the tenant's key in clear, so it must only be written sealed.

use frontdesk_engine::TenantId;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;
use serde_json::{Value, json};

use super::tables::TransferTable;

#[derive(Debug, Clone)]
pub struct Manifest {
    pub tenant: Tenant,
    pub key: SealKey,
    pub chain: ChainEnds,
    /// In the order in which their rows follow.
    pub tables: Vec<TableManifest>,
    /// Clients that act for other tenants too, by id and name.
    pub shared_clients: Vec<(String, String)>,
}

/// A table and how many of its rows follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableManifest {
    pub table: String,
    /// Its columns and their types. Rows with other columns are refused.
    pub columns: String,
    pub rows: u64,
}

/// The last link of the tenant's chain, and the last one that retention has deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEnds {
    pub seq: i64,
    pub hash: Vec<u8>,
    pub kept_after_seq: i64,
    pub kept_after_hash: Vec<u8>,
}

impl TableManifest {
    pub(super) fn of(table: &TransferTable, rows: u64) -> TableManifest {
        TableManifest { table: table.name.clone(), columns: table.signature(), rows }
    }
}

impl Manifest {
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    pub fn to_json(&self) -> Value {
        let tables: Vec<Value> = self
            .tables
            .iter()
            .map(|one| json!({"table": one.table, "columns": one.columns, "rows": one.rows}))
            .collect();
        json!({
            "tenant": self.tenant.id.as_str(),
            "name": self.tenant.name,
            "key": self.key.expose(),
            "chain": {
                "seq": self.chain.seq,
                "hash": self.chain.hash,
                "kept_after_seq": self.chain.kept_after_seq,
                "kept_after_hash": self.chain.kept_after_hash,
            },
            "tables": tables,
            "left_behind": self.shared_clients,
        })
    }

    /// `None` if it is not a manifest.
    pub fn from_json(value: &Value) -> Option<Manifest> {
        let chain = value.get("chain")?;
        let key: Vec<u8> = field(value, "key")?;
        let tables = value.get("tables")?.as_array()?.iter().map(|table| {
            Some(TableManifest {
                table: field(table, "table")?,
                columns: field(table, "columns")?,
                rows: field(table, "rows")?,
            })
        });
        Some(Manifest {
            tenant: Tenant { id: TenantId::parse(value.get("tenant")?.as_str()?)?, name: field(value, "name")? },
            key: SealKey::from_bytes(key.try_into().ok()?),
            chain: ChainEnds {
                seq: field(chain, "seq")?,
                hash: field(chain, "hash")?,
                kept_after_seq: field(chain, "kept_after_seq")?,
                kept_after_hash: field(chain, "kept_after_hash")?,
            },
            tables: tables.collect::<Option<_>>()?,
            shared_clients: field(value, "left_behind")?,
        })
    }
}

fn field<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
    serde_json::from_value(value.get(name)?.clone()).ok()
}
