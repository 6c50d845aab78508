//! What is to be known about a tenant before its rows come. It holds the tenant's key in clear: it must never be
//! written anywhere unsealed.

use frontdesk_engine::TenantId;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;
use serde_json::{Value, json};

use super::tables::Table;

#[derive(Debug, Clone)]
pub struct Manifest {
    pub tenant: Tenant,
    pub key: SealKey,
    pub chain: ChainEnds,
    /// In the order in which their rows come.
    pub tables: Vec<Announced>,
    /// Clients that act for other tenants too, by id and name.
    pub left_behind: Vec<(String, String)>,
}

/// A table and how many of its rows come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    pub table: String,
    /// Its columns with what they hold: rows of another shape could only be kept by guessing.
    pub columns: String,
    pub rows: u64,
}

/// The last link of the tenant's chain, and the last one that retention has removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEnds {
    pub seq: i64,
    pub hash: Vec<u8>,
    pub kept_after_seq: i64,
    pub kept_after_hash: Vec<u8>,
}

impl Announced {
    pub(super) fn of(table: &Table, rows: u64) -> Announced {
        Announced { table: table.name.clone(), columns: table.shape(), rows }
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
            "left_behind": self.left_behind,
        })
    }

    /// `None` if this is no manifest.
    pub fn from_json(value: &Value) -> Option<Manifest> {
        let chain = value.get("chain")?;
        let key: Vec<u8> = taken(value, "key")?;
        let tables = value.get("tables")?.as_array()?.iter().map(|table| {
            Some(Announced {
                table: taken(table, "table")?,
                columns: taken(table, "columns")?,
                rows: taken(table, "rows")?,
            })
        });
        Some(Manifest {
            tenant: Tenant { id: TenantId::parse(value.get("tenant")?.as_str()?)?, name: taken(value, "name")? },
            key: SealKey::from_bytes(key.try_into().ok()?),
            chain: ChainEnds {
                seq: taken(chain, "seq")?,
                hash: taken(chain, "hash")?,
                kept_after_seq: taken(chain, "kept_after_seq")?,
                kept_after_hash: taken(chain, "kept_after_hash")?,
            },
            tables: tables.collect::<Option<_>>()?,
            left_behind: taken(value, "left_behind")?,
        })
    }
}

fn taken<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
    serde_json::from_value(value.get(name)?.clone()).ok()
}
