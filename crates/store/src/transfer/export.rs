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
use crate::backend::{GET_TENANT, read_tenant};
use crate::keyring;
use crate::sql::session::SqlReader;

/// The tenant in one snapshot, which is held until this is dropped.
pub struct TenantExport {
    tx: TransferTx,
    manifest: Manifest,
    tables: Vec<TransferTable>,
    head: ChainHead,
    audit_key: SealKey,
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
        let tables = tables::all(specs);
        let mut table_manifests = Vec::new();
        for table in &tables {
            table_manifests.push(TableManifest::of(table, tx.count(table).await?));
        }
        let head = chain_head(&tx, &audit_key, &tenant_chain(tenant.as_str())).await?;
        let manifest = Manifest {
            shared_clients: shared_clients(&tx, &tenant_row).await?,
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
        Ok(TenantExport { tx, manifest, tables, head, audit_key })
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
                RowOwner::Tenant | RowOwner::Client => {
                    self.tx.for_each_row(table, |row| take(number, row).map_err(failed)).await?;
                }
            }
        }
        Ok(())
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
    let rows = tx.query(&format!("{GET_TENANT} WHERE tenant = $1"), &[id.as_str().into()]).await?;
    let tenant = rows.first().map(read_tenant).transpose()?.flatten().ok_or(StoreError::UnknownTenant)?;
    if tenant.erasing_since.is_some() {
        return Err(StoreError::TenantErased);
    }
    let rows = tx.query("SELECT sealed_key FROM fd_tenant WHERE tenant = $1", &[id.as_str().into()]).await?;
    let wrapped = rows.first().ok_or(StoreError::UnknownTenant)?.bytes(0)?;
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

/// Active clients of this tenant and others, or of groups, by id and name.
async fn shared_clients(tx: &TransferTx, tenant: &Tenant) -> Result<Vec<(String, String)>, StoreError> {
    let text = "SELECT client, name, tenants, tenant_groups FROM fd_client WHERE revoked_at IS NULL \
                ORDER BY created_at, client";
    let mut clients = Vec::new();
    for row in tx.query(text, &[]).await? {
        let tenants = row.text(2)?.split(' ').filter(|one| !one.is_empty());
        let (own, other): (Vec<&str>, Vec<&str>) = tenants.partition(|one| *one == tenant.id.as_str());
        let groups = row.text(3)?;
        let is_of_group = tenant.group.as_ref().is_some_and(|group| groups.split(' ').any(|one| one == group.as_str()));
        let is_shared = !other.is_empty() || !groups.is_empty();
        if is_shared && (is_of_group || !own.is_empty()) {
            clients.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
        }
    }
    Ok(clients)
}
