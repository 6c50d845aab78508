//! A tenant on its way out. Nothing is changed, and a chain that does not hold goes nowhere.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;

use super::shelf::Shelf;
use super::tables::{self, Holding, Table, Whose};
use super::{Announced, ChainEnds, Field, Home, Manifest};
use crate::StoreError;
use crate::audit::{self, Head, Link, START, Walk, tenant_chain};
use crate::vault;

/// The tenant at one moment, held until this is dropped.
pub struct Departure {
    shelf: Shelf,
    manifest: Manifest,
    tables: Vec<Table>,
    head: Head,
    audit_key: SealKey,
}

impl Departure {
    pub async fn open(
        home: &Home,
        master: &SealKey,
        kinds: &[&'static TableSpec],
        tenant: &TenantId,
    ) -> Result<Departure, StoreError> {
        let shelf = Shelf::to_read(home, tenant.as_str()).await?;
        let (name, key) = identity(&shelf, master, tenant).await?;
        let audit_key = master.derive(audit::KEY);
        let tables = tables::all(kinds);
        let mut announced = Vec::new();
        for table in &tables {
            announced.push(Announced::of(table, shelf.count(table).await?));
        }
        let head = head(&shelf, &audit_key, &tenant_chain(tenant.as_str())).await?;
        let manifest = Manifest {
            tenant: Tenant { id: tenant.clone(), name },
            key,
            chain: ChainEnds {
                seq: head.seq,
                hash: head.hash.clone(),
                kept_after_seq: head.kept_after_seq,
                kept_after_hash: head.kept_after_hash.clone(),
            },
            tables: announced,
            left_behind: left_behind(&shelf, tenant).await?,
        };
        Ok(Departure { shelf, manifest, tables, head, audit_key })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Hands out every row: the number of its table in the manifest, and its fields.
    pub async fn rows(&self, mut take: impl FnMut(usize, Vec<Field>) -> std::io::Result<()>) -> Result<(), StoreError> {
        let failed = |error| StoreError::Folder { path: "the file".into(), error };
        for (number, table) in self.tables.iter().enumerate() {
            match table.whose() {
                Whose::Chain => self.links(table, |row| take(number, row).map_err(failed)).await?,
                Whose::Tenant | Whose::Client => {
                    self.shelf.each(table, |row| take(number, row).map_err(failed)).await?;
                }
            }
        }
        Ok(())
    }

    async fn links(
        &self,
        table: &Table,
        mut take: impl FnMut(Vec<Field>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let chain = tenant_chain(self.manifest.tenant.id.as_str());
        let mut walk = Walk::new(&self.audit_key, &chain, self.head.clone());
        self.shelf
            .each(table, |row| {
                walk.step(&link(&row)?);
                take(row)
            })
            .await?;
        match walk.end().broken {
            None => Ok(()),
            Some((seq, why)) => Err(StoreError::BrokenChain { chain, seq, why }),
        }
    }
}

async fn identity(shelf: &Shelf, master: &SealKey, tenant: &TenantId) -> Result<(String, SealKey), StoreError> {
    let text = "SELECT name, sealed_key FROM fd_tenant WHERE tenant = $1";
    let id = [Field::Text(tenant.as_str().to_owned())];
    let mut rows = shelf.query(text, &id, &[Holding::Text, Holding::Bytes]).await?;
    match rows.pop().as_deref() {
        Some([Field::Text(name), Field::Bytes(sealed)]) => {
            let key = vault::tenant_key(master, tenant.as_str(), sealed).ok_or(StoreError::WrongKey)?;
            Ok((name.clone(), key))
        }
        Some(_) | None => Err(StoreError::UnknownTenant),
    }
}

async fn head(shelf: &Shelf, key: &SealKey, chain: &str) -> Result<Head, StoreError> {
    use Holding::{Bytes, Integer};
    let text = "SELECT seq, hash, kept_after_seq, kept_after_hash, seal FROM fd_audit_head WHERE chain = $1";
    let values = [Field::Text(chain.to_owned())];
    let mut rows = shelf.query(text, &values, &[Integer, Bytes, Integer, Bytes, Bytes]).await?;
    let Some(row) = rows.pop() else {
        let links = shelf.query("SELECT seq FROM fd_audit WHERE chain = $1 LIMIT 1", &values, &[Integer]).await?;
        return Ok(match links.is_empty() {
            true => Head::new(),
            // Its head was taken away.
            false => Head::lost(0, START.to_vec()),
        });
    };
    let [
        Field::Integer(seq),
        Field::Bytes(hash),
        Field::Integer(kept_after_seq),
        Field::Bytes(kept_after_hash),
        Field::Bytes(seal),
    ] = row.as_slice()
    else {
        return Err(StoreError::Closed);
    };
    let mut head = Head {
        seq: *seq,
        hash: hash.clone(),
        kept_after_seq: *kept_after_seq,
        kept_after_hash: kept_after_hash.clone(),
        intact: false,
    };
    head.intact = *seal == head.seal(key, chain);
    Ok(head)
}

fn link(row: &[Field]) -> Result<Link, StoreError> {
    match row {
        [Field::Integer(seq), Field::Integer(at), Field::Text(records), Field::Bytes(hash)] => {
            Ok(Link { seq: *seq, at: *at, records: records.clone(), hash: hash.clone() })
        }
        _ => Err(StoreError::Closed),
    }
}

async fn left_behind(shelf: &Shelf, tenant: &TenantId) -> Result<Vec<(String, String)>, StoreError> {
    let text = "SELECT client, name, tenants FROM fd_client WHERE revoked_at IS NULL ORDER BY created_at, client";
    let mut clients = Vec::new();
    for row in shelf.query(text, &[], &[Holding::Text; 3]).await? {
        if let [Field::Text(client), Field::Text(name), Field::Text(tenants)] = row.as_slice()
            && tenants.split(' ').any(|one| one == tenant.as_str())
            && tenants.split(' ').any(|one| one != tenant.as_str())
        {
            clients.push((client.clone(), name.clone()));
        }
    }
    Ok(clients)
}
