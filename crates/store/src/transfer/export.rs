//! The export of a tenant. Nothing is changed, and a tenant whose audit chain is not intact is not exported.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;

use super::tables::{self, RowOwner, TransferTable};
use super::tx::TransferTx;
use super::{ChainEnds, DataLocation, Manifest, StoredValue, TableManifest};
use crate::StoreError;
use crate::audit::{AuditLink, ChainHead, ChainVerifier, GENESIS_HASH, KEY_PURPOSE, tenant_chain};
use crate::backend::read_tenant;
use crate::keyring::{self, TenantKeys};
use crate::sql::registry_rows::{CLIENTS, RegistryKey, RegistryRow, TENANTS};
use crate::sql::session::SqlReader;

/// The tenant in one snapshot, which is held until this is dropped.
pub struct TenantExport {
    tx: TransferTx,
    manifest: Manifest,
    tables: Vec<TransferTable>,
    head: ChainHead,
    audit_key: SealKey,
    registry_key: RegistryKey,
    keys: TenantKeys,
}

impl TenantExport {
    pub async fn open(
        location: &DataLocation,
        master: &SealKey,
        specs: &[&'static TableSpec],
        tenant: &TenantId,
    ) -> Result<TenantExport, StoreError> {
        let tx = TransferTx::begin_read(location, tenant.as_str()).await?;
        let (tenant_row, key) = tenant_and_key(&tx, master, tenant).await?;
        let audit_key = master.derive(KEY_PURPOSE);
        let registry_key = RegistryKey::new(master);
        let tables = tables::all(specs);
        let keys = TenantKeys::of(&key);
        let mut table_manifests = Vec::new();
        for table in &tables {
            let rows = match table.owner() {
                RowOwner::Client => clients(&tx, &registry_key, table, tenant).await?.len() as u64,
                RowOwner::Tenant | RowOwner::Chain => tx.count(table).await?,
            };
            table_manifests.push(TableManifest::of(table, rows));
        }
        let head = chain_head(&tx, &audit_key, &tenant_chain(tenant.as_str())).await?;
        let manifest = Manifest {
            shared_clients: shared_clients(&tx, &registry_key, &tenant_row).await?,
            tenant: tenant_row,
            key,
            chain: ChainEnds {
                seq: head.seq,
                hash: head.hash.clone(),
                kept_after_seq: head.kept_after_seq,
                kept_after_hash: head.kept_after_hash.clone(),
            },
            tables: table_manifests,
        };
        Ok(TenantExport { tx, manifest, tables, head, audit_key, registry_key, keys })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Hands out every row: the number of its table in the manifest, and its values.
    pub async fn rows(
        &self,
        mut take: impl FnMut(usize, Vec<StoredValue>) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        let failed = |error| StoreError::Io { path: "the file".into(), error };
        for (number, table) in self.tables.iter().enumerate() {
            match table.owner() {
                RowOwner::Chain => self.links(table, |row| take(number, row).map_err(failed)).await?,
                RowOwner::Tenant => {
                    let verified = |row| take(number, self.verify(table, row)?).map_err(failed);
                    self.tx.for_each_row(table, verified).await?;
                }
                RowOwner::Client => {
                    for row in clients(&self.tx, &self.registry_key, table, &self.manifest.tenant.id).await? {
                        take(number, row).map_err(failed)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The row without its MAC, if that is right.
    fn verify(&self, table: &TransferTable, mut row: Vec<StoredValue>) -> Result<Vec<StoredValue>, StoreError> {
        if table.has_macs() {
            let mac = row.pop();
            let mac = mac
                .as_ref()
                .and_then(|mac| if let StoredValue::Bytes(mac) = mac { Some(mac.as_slice()) } else { None });
            let content = table.content(self.manifest.tenant.id.as_str(), &row).ok_or(StoreError::Closed)?;
            content.verify(&self.keys, mac)?;
        }
        Ok(row)
    }

    async fn links(
        &self,
        table: &TransferTable,
        mut take: impl FnMut(Vec<StoredValue>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let chain = tenant_chain(self.manifest.tenant.id.as_str());
        let mut verifier = ChainVerifier::new(&self.audit_key, &chain, self.head.clone());
        self.tx
            .for_each_row(table, |row| {
                verifier.check_link(&read_link(&row)?);
                take(row)
            })
            .await?;
        match verifier.finish().broken {
            None => Ok(()),
            Some((seq, why)) => Err(StoreError::BrokenChain { chain, seq, why }),
        }
    }
}

async fn tenant_and_key(tx: &TransferTx, master: &SealKey, id: &TenantId) -> Result<(Tenant, SealKey), StoreError> {
    let registry_key = RegistryKey::new(master);
    let rows = TENANTS.find(tx, &registry_key, "WHERE tenant = $1", &[id.as_str().into()]).await?;
    let row = rows.first().ok_or(StoreError::UnknownTenant)?;
    let tenant = read_tenant(row)?.ok_or(StoreError::UnknownTenant)?;
    if tenant.erasing_since.is_some() {
        return Err(StoreError::TenantErased);
    }
    let wrapped = row.bytes("sealed_key")?;
    let key = keyring::unwrap_tenant_key(master, id.as_str(), wrapped).ok_or(StoreError::WrongKey)?;
    Ok((tenant, key))
}

async fn chain_head(tx: &TransferTx, key: &SealKey, chain: &str) -> Result<ChainHead, StoreError> {
    if let Some(head) = ChainHead::find(tx, key, chain).await? {
        return Ok(head);
    }
    let links = tx.query("SELECT seq FROM fd_audit WHERE chain = $1 LIMIT 1", &[chain.into()]).await?;
    Ok(if links.is_empty() {
        ChainHead::new()
    } else {
        // The head row was removed.
        ChainHead::missing(0, GENESIS_HASH.to_vec())
    })
}

fn read_link(row: &[StoredValue]) -> Result<AuditLink, StoreError> {
    match row {
        [StoredValue::Integer(seq), StoredValue::Integer(at), StoredValue::Text(records), StoredValue::Bytes(hash)] => {
            Ok(AuditLink { seq: *seq, at: *at, records: records.clone(), hash: hash.clone() })
        }
        _ => Err(StoreError::Closed),
    }
}

/// The tenant's own clients, with the columns of the table. Those that were changed without the master key are left out.
async fn clients(
    tx: &TransferTx,
    key: &RegistryKey,
    table: &TransferTable,
    tenant: &TenantId,
) -> Result<Vec<Vec<StoredValue>>, StoreError> {
    let rest = format!("WHERE {} ORDER BY client", table.owner().condition());
    let rows = CLIENTS.find(tx, key, &rest, &[tenant.as_str().into()]).await?;
    let values = |row: &RegistryRow| table.columns.iter().map(|column| row.value(&column.name).cloned()).collect();
    rows.iter().map(values).collect()
}

/// Active clients of this tenant and others, or of groups, by id and name.
async fn shared_clients(
    tx: &TransferTx,
    key: &RegistryKey,
    tenant: &Tenant,
) -> Result<Vec<(String, String)>, StoreError> {
    let mut clients = Vec::new();
    for row in CLIENTS.find(tx, key, "WHERE revoked_at IS NULL ORDER BY created_at, client", &[]).await? {
        let tenants = row.text("tenants")?.split(' ').filter(|one| !one.is_empty());
        let (own, other): (Vec<&str>, Vec<&str>) = tenants.partition(|one| *one == tenant.id.as_str());
        let groups = row.text("tenant_groups")?;
        let is_of_group = tenant.group.as_ref().is_some_and(|group| groups.split(' ').any(|one| one == group.as_str()));
        let is_shared = !other.is_empty() || !groups.is_empty();
        if is_shared && (is_of_group || !own.is_empty()) {
            clients.push((row.text("client")?.to_owned(), row.text("name")?.to_owned()));
        }
    }
    Ok(clients)
}
