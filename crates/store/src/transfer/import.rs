//! The import of a tenant, in one transaction: before `finish` nothing is visible, and if this is dropped or the
//! process ends, nothing is left.

use std::sync::Arc;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Random;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;

use super::layout::{self, ImportTable};
use super::tables::{RowOwner, TransferTable};
use super::tx::TransferTx;
use super::{DataLocation, Manifest, StoredValue, validation};
use crate::StoreError;
use crate::audit::row_versions::with_registry_rows;
use crate::audit::{ChainHead, KEY_PURPOSE, UPSERT_HEAD, tenant_chain};
use crate::backend::{tenant_columns, usage};
use crate::keyring::{Keyring, TenantKeys};
use crate::reindex::IndexWork;
use crate::sql::registry_rows::{Assignment, CLIENTS, RegistryKey, TENANTS, tenant_exists};

/// About this many rows or bytes are inserted by one statement.
const CHUNK_ROWS: usize = 1_000;
const CHUNK_BYTES: usize = 1024 * 1024;

/// Where a tenant is imported to, and with which keys.
pub struct ImportTarget {
    /// Its tables must exist.
    pub location: DataLocation,
    pub master: SealKey,
    pub random: Arc<dyn Random>,
    pub tables: Vec<&'static TableSpec>,
}

pub struct TenantImport {
    tx: TransferTx,
    tenant: Tenant,
    wrapped_key: Vec<u8>,
    chain: String,
    audit_key: SealKey,
    registry_key: RegistryKey,
    head: ChainHead,
    /// The number of the last link according to the manifest.
    last_link: i64,
    /// The highest number of an imported event, and the imported event counter.
    last_event: i64,
    event_counter: i64,
    /// The ids of the imported clients.
    clients: Vec<String>,
    specs: Vec<&'static TableSpec>,
    tables: Vec<ImportTable>,
    /// What has to be computed for rows of an earlier release.
    work: Vec<IndexWork>,
    keys: Arc<TenantKeys>,
    batch: RowBatch,
}

/// Rows of one table that have not been inserted yet.
#[derive(Default)]
struct RowBatch {
    table: usize,
    rows: Vec<Vec<StoredValue>>,
    bytes: usize,
}

impl TenantImport {
    /// Refuses a tenant that exists already, and one whose tables have columns that are not known here.
    pub async fn open(target: &ImportTarget, manifest: &Manifest) -> Result<TenantImport, StoreError> {
        let (tables, work) = layout::arrange(&target.tables, manifest)?;
        if !validation::is_valid_manifest(manifest) {
            return Err(mismatch());
        }
        let tenant = manifest.tenant.id.as_str();
        let tx = TransferTx::begin_write(target, tenant).await?;
        if tenant_exists(&tx, tenant).await? {
            return Err(StoreError::TenantExists(tenant.to_owned()));
        }
        let keyring = Keyring::new(&target.master, Arc::clone(&target.random));
        let wrapped_key = keyring.wrap(tenant, &manifest.key).ok_or(StoreError::WrongKey)?;
        let keys = keyring.unwrap(tenant, &wrapped_key)?;
        let ends = &manifest.chain;
        Ok(TenantImport {
            tx,
            tenant: manifest.tenant.clone(),
            wrapped_key,
            chain: tenant_chain(tenant),
            audit_key: target.master.derive(KEY_PURPOSE),
            registry_key: RegistryKey::new(&target.master),
            head: ChainHead {
                seq: ends.kept_after_seq,
                hash: ends.kept_after_hash.clone(),
                kept_after_seq: ends.kept_after_seq,
                kept_after_hash: ends.kept_after_hash.clone(),
                intact: true,
            },
            last_link: ends.seq,
            last_event: 0,
            event_counter: 0,
            clients: Vec::new(),
            specs: target.tables.clone(),
            tables,
            work,
            keys,
            batch: RowBatch::default(),
        })
    }

    /// Takes a row of the table with this number in the manifest.
    pub async fn put(&mut self, table: usize, row: Vec<StoredValue>) -> Result<(), StoreError> {
        let progress = self.tables.get_mut(table).ok_or_else(mismatch)?;
        progress.received += 1;
        let name = progress.table.name.as_str();
        let row = progress.arrange(row).filter(|row| validation::is_valid_row(&progress.table, row));
        let Some(row) = row else {
            return Err(StoreError::NotCommitted(format!(
                "a row of table {name} has values that Frontdesk does not write. Export the tenant again"
            )));
        };
        match (name, row.first()) {
            ("fd_outbox", Some(StoredValue::Integer(seq))) => self.last_event = self.last_event.max(*seq),
            ("fd_client", Some(StoredValue::Text(id))) => self.clients.push(id.clone()),
            ("fd_counter", Some(StoredValue::Integer(seq))) => self.event_counter = *seq,
            _ => {}
        }
        let row = match progress.table.owner() {
            RowOwner::Chain => self.rehash_link(row)?,
            RowOwner::Tenant => with_mac(&progress.table, self.tenant.id.as_str(), &self.keys, self.tx.stored(row))?,
            RowOwner::Client => row,
        };
        if table != self.batch.table || self.batch.is_full() {
            self.insert_batch().await?;
            self.batch.table = table;
        }
        self.batch.bytes += row.iter().map(size).sum::<usize>();
        self.batch.rows.push(row);
        Ok(())
    }

    /// Commits, if all rows were received. `record` becomes the next link of the tenant's chain.
    pub async fn finish(mut self, at: Millis, record: &str) -> Result<(), StoreError> {
        self.insert_batch().await?;
        let incomplete = self.tables.iter().find(|progress| progress.received != progress.expected);
        if let Some(ImportTable { table, expected, received, .. }) = incomplete {
            let (table, expected, received) = (table.name.clone(), *expected, *received);
            return Err(StoreError::Incomplete { table, expected, received });
        }
        // With a smaller counter the next event would get a number that is taken.
        if self.head.seq != self.last_link || self.event_counter < self.last_event {
            return Err(mismatch());
        }
        let mut rows = vec![(TENANTS.name, self.tenant.id.as_str().to_owned(), Some(1))];
        rows.extend(self.clients.drain(..).map(|client| (CLIENTS.name, client, Some(1))));
        let record = with_registry_rows(record, &rows);
        let link = self.rehash_link(vec![(self.head.seq + 1).into(), at.0.into(), record.into(), StoredValue::Null])?;
        if let Some(links) = self.tables.iter().find(|progress| progress.table.owner() == RowOwner::Chain) {
            self.tx.insert(&links.table, vec![link]).await?;
        }
        for table in &self.specs {
            self.tx.rebuild_term_lists(table)?;
        }
        for work in &self.work {
            self.tx.reindex(&self.keys, work).await?;
        }
        // What the links of an earlier release have written is not known.
        self.tx.begin_chain(&self.audit_key, &self.chain, self.head.seq).await?;
        self.tx.execute(UPSERT_HEAD, &self.head.params(&self.audit_key, &self.chain)).await?;
        self.tx.execute(&usage::count(&self.specs), &[self.tenant.id.as_str().into()]).await?;
        self.add_tenant().await?;
        self.tx.commit().await
    }

    /// In no group: what a group is here, and who may act for it, is for this server's operator to say. Comes last:
    /// another node that adds the same tenant then waits only for the commit, not for all rows.
    async fn add_tenant(&self) -> Result<(), StoreError> {
        let tenant = Tenant { group: None, ..self.tenant.clone() };
        let (text, params) = TENANTS.insertion(&self.registry_key, tenant_columns(&tenant, &self.wrapped_key)?)?;
        match self.tx.execute(&text, &params).await? {
            0 => Err(StoreError::TenantExists(tenant.id.as_str().to_owned())),
            _ => Ok(()),
        }
    }

    async fn insert_batch(&mut self) -> Result<(), StoreError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.rows.is_empty() {
            return Ok(());
        }
        let progress = self.tables.get(batch.table).ok_or_else(mismatch)?;
        match progress.table.owner() {
            RowOwner::Tenant | RowOwner::Chain => self.tx.insert(&progress.table, batch.rows).await,
            RowOwner::Client => self.insert_clients(&progress.table, batch.rows).await,
        }
    }

    async fn insert_clients(&self, table: &TransferTable, rows: Vec<Vec<StoredValue>>) -> Result<(), StoreError> {
        for row in rows {
            let mut columns: Vec<Assignment> = Vec::new();
            for (column, value) in table.columns.iter().zip(row) {
                let column = CLIENTS.columns.iter().find(|one| **one == column.name).ok_or_else(mismatch)?;
                columns.push((column, value));
            }
            columns.extend([("tenants", self.tenant.id.as_str().into()), ("tenant_groups", "".into())]);
            let (text, params) = CLIENTS.insertion(&self.registry_key, columns)?;
            if self.tx.execute(&text, &params).await? == 0 {
                return Err(StoreError::DuplicateRow { table: table.name.clone() });
            }
        }
        Ok(())
    }

    /// The same link with the hash it has in this database.
    fn rehash_link(&mut self, row: Vec<StoredValue>) -> Result<Vec<StoredValue>, StoreError> {
        let [StoredValue::Integer(seq), StoredValue::Integer(at), StoredValue::Text(records), _] = row.as_slice()
        else {
            return Err(mismatch());
        };
        if *seq != self.head.seq + 1 {
            return Err(mismatch());
        }
        self.head.append(&self.audit_key, &self.chain, *at, records);
        Ok(vec![(*seq).into(), (*at).into(), records.as_str().into(), self.head.hash.as_slice().into()])
    }
}

impl RowBatch {
    fn is_full(&self) -> bool {
        self.rows.len() >= CHUNK_ROWS || self.bytes >= CHUNK_BYTES
    }
}

/// The row with the MAC that it has in this database.
fn with_mac(
    table: &TransferTable,
    tenant: &str,
    keys: &TenantKeys,
    mut row: Vec<StoredValue>,
) -> Result<Vec<StoredValue>, StoreError> {
    if table.has_macs() {
        let mac = table.content(tenant, &row).ok_or_else(mismatch)?.mac(keys);
        row.push(StoredValue::Bytes(mac));
    }
    Ok(row)
}

fn size(value: &StoredValue) -> usize {
    match value {
        StoredValue::Null => 1,
        StoredValue::Integer(_) => 8,
        StoredValue::Text(text) => text.len(),
        StoredValue::Bytes(bytes) => bytes.len(),
    }
}

fn mismatch() -> StoreError {
    StoreError::NotCommitted("the rows do not match the manifest".to_owned())
}
