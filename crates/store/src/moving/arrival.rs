//! A tenant on its way in. Everything is one transaction: until `finish` nobody sees anything of it, and if
//! this is dropped before, or its process ends, nothing is left.

use std::sync::Arc;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Random;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::seal::SealKey;

use super::shelf::Shelf;
use super::tables::{self, Holding, Table, Whose};
use super::{Announced, Field, Home, Manifest, rules};
use crate::StoreError;
use crate::audit::{self, Head, link, tenant_chain};
use crate::vault::Vault;

/// So many rows, or about so many bytes, go to the database together.
const PIECE_ROWS: usize = 1_000;
const PIECE_BYTES: usize = 1024 * 1024;

/// Where a tenant is received, and with which keys.
pub struct Receiving {
    /// Its tables must have been made already.
    pub home: Home,
    pub master: SealKey,
    pub random: Arc<dyn Random>,
    pub kinds: Vec<&'static TableSpec>,
}

pub struct Arrival {
    shelf: Shelf,
    tenant: Tenant,
    sealed_key: Vec<u8>,
    chain: String,
    audit_key: SealKey,
    head: Head,
    /// Where the chain has to have come.
    last: i64,
    /// The highest number of an event that came, and the one that the next is counted from.
    last_event: i64,
    counted: i64,
    kinds: Vec<&'static TableSpec>,
    tables: Vec<RequestBody>,
    waiting: Waiting,
}

struct RequestBody {
    table: Table,
    expected: u64,
    come: u64,
}

/// Rows of one table that have not been sent yet.
#[derive(Default)]
struct Waiting {
    table: usize,
    rows: Vec<Vec<Field>>,
    bytes: usize,
}

impl Arrival {
    /// Refuses a tenant that is here already, and one whose tables have another shape.
    pub async fn open(receiving: &Receiving, manifest: &Manifest) -> Result<Arrival, StoreError> {
        let known = tables::all(&receiving.kinds);
        check_shape(&known, manifest)?;
        if !rules::is_sound(manifest) {
            return Err(strange());
        }
        let tenant = manifest.tenant.id.as_str();
        let shelf = Shelf::to_write(receiving, tenant).await?;
        let id = [Field::Text(tenant.to_owned())];
        if !shelf.query("SELECT tenant FROM fd_tenant WHERE tenant = $1", &id, &[Holding::Text]).await?.is_empty() {
            return Err(StoreError::TenantExists(tenant.to_owned()));
        }
        let vault = Vault::new(&receiving.master, Arc::clone(&receiving.random));
        let sealed = vault.lock(tenant, &manifest.key).ok_or(StoreError::WrongKey)?;
        let ends = &manifest.chain;
        let rows = manifest.tables.iter().map(|announced| announced.rows);
        Ok(Arrival {
            shelf,
            tenant: manifest.tenant.clone(),
            sealed_key: sealed,
            chain: tenant_chain(tenant),
            audit_key: receiving.master.derive(audit::KEY),
            head: Head {
                seq: ends.kept_after_seq,
                hash: ends.kept_after_hash.clone(),
                kept_after_seq: ends.kept_after_seq,
                kept_after_hash: ends.kept_after_hash.clone(),
                intact: true,
            },
            last: ends.seq,
            last_event: 0,
            counted: 0,
            kinds: receiving.kinds.clone(),
            tables: known
                .into_iter()
                .zip(rows)
                .map(|(table, expected)| RequestBody { table, expected, come: 0 })
                .collect(),
            waiting: Waiting::default(),
        })
    }

    /// Takes a row of the table with this number in the manifest.
    pub async fn put(&mut self, table: usize, row: Vec<Field>) -> Result<(), StoreError> {
        let arriving = self.tables.get_mut(table).ok_or_else(strange)?;
        arriving.come += 1;
        let name = arriving.table.name.as_str();
        if !rules::fits(&arriving.table, &row) {
            return Err(StoreError::NotCommitted(format!(
                "a row of its table {name} is not as Frontdesk writes it. Export the dealership again"
            )));
        }
        match (name, row.first()) {
            ("fd_outbox", Some(Field::Integer(seq))) => self.last_event = self.last_event.max(*seq),
            ("fd_counter", Some(Field::Integer(seq))) => self.counted = *seq,
            _ => {}
        }
        let row = match arriving.table.whose() {
            Whose::Chain => self.linked(row)?,
            Whose::Tenant | Whose::Client => row,
        };
        if table != self.waiting.table || self.waiting.is_full() {
            self.send().await?;
            self.waiting.table = table;
        }
        self.waiting.bytes += row.iter().map(Field::bytes).sum::<usize>();
        self.waiting.rows.push(row);
        Ok(())
    }

    /// Makes all of it visible at once, if all of it has come. `record` is the next link of the tenant's chain.
    pub async fn finish(mut self, at: Millis, record: &str) -> Result<(), StoreError> {
        self.send().await?;
        let short = self.tables.iter().find(|arriving| arriving.come != arriving.expected);
        if let Some(RequestBody { table, expected, come }) = short {
            return Err(StoreError::Incomplete { table: table.name.clone(), expected: *expected, come: *come });
        }
        // The next event would get a number that is taken.
        let is_behind = self.counted < self.last_event;
        if self.head.seq != self.last || is_behind {
            return Err(strange());
        }
        let seq = Field::Integer(self.head.seq + 1);
        let (at, record) = (Field::Integer(at.0), Field::Text(record.to_owned()));
        let row = self.linked(vec![seq, at, record, Field::Null])?;
        if let Some(links) = self.tables.iter().find(|arriving| arriving.table.whose() == Whose::Chain) {
            self.shelf.put(&links.table, vec![row]).await?;
        }
        for kind in &self.kinds {
            self.shelf.remember_words(kind)?;
        }
        self.keep_head().await?;
        self.register().await?;
        self.shelf.commit().await
    }

    /// Comes last: whoever adds the same tenant elsewhere waits from here to the commit, and not for all the rows.
    async fn register(&self) -> Result<(), StoreError> {
        let text = "INSERT INTO fd_tenant (tenant, name, sealed_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        let id = self.tenant.id.as_str();
        let values =
            [Field::Text(id.to_owned()), Field::Text(self.tenant.name.clone()), Field::Bytes(self.sealed_key.clone())];
        match self.shelf.change(text, &values).await? {
            0 => Err(StoreError::TenantExists(id.to_owned())),
            _ => Ok(()),
        }
    }

    async fn send(&mut self) -> Result<(), StoreError> {
        let waiting = std::mem::take(&mut self.waiting);
        match (self.tables.get(waiting.table), waiting.rows.is_empty()) {
            (Some(arriving), false) => self.shelf.put(&arriving.table, waiting.rows).await,
            (Some(_) | None, true) => Ok(()),
            (None, false) => Err(strange()),
        }
    }

    /// The same link with the hash it has here.
    fn linked(&mut self, row: Vec<Field>) -> Result<Vec<Field>, StoreError> {
        let [Field::Integer(seq), Field::Integer(at), Field::Text(records), _] = row.as_slice() else {
            return Err(strange());
        };
        if *seq != self.head.seq + 1 {
            return Err(strange());
        }
        let hash = link(&self.audit_key, &self.chain, *seq, &self.head.hash, *at, records).to_vec();
        self.head.seq = *seq;
        self.head.hash.clone_from(&hash);
        Ok(vec![Field::Integer(*seq), Field::Integer(*at), Field::Text(records.clone()), Field::Bytes(hash)])
    }

    async fn keep_head(&self) -> Result<(), StoreError> {
        let text = "INSERT INTO fd_audit_head (chain, seq, hash, kept_after_seq, kept_after_hash, seal) \
                    VALUES ($1, $2, $3, $4, $5, $6)";
        let head = &self.head;
        let values = [
            Field::Text(self.chain.clone()),
            Field::Integer(head.seq),
            Field::Bytes(head.hash.clone()),
            Field::Integer(head.kept_after_seq),
            Field::Bytes(head.kept_after_hash.clone()),
            Field::Bytes(head.seal(&self.audit_key, &self.chain).to_vec()),
        ];
        self.shelf.change(text, &values).await.map(|_| ())
    }
}

/// Rows of another shape could only be kept by guessing.
fn check_shape(known: &[Table], manifest: &Manifest) -> Result<(), StoreError> {
    let fits = |(known, came): &(&Table, &Announced)| **came == Announced::of(known, came.rows);
    let other = known.iter().zip(&manifest.tables).find(|pair| !fits(pair)).map(|(known, _)| known.name.clone());
    match (other, known.len() == manifest.tables.len()) {
        (None, true) => Ok(()),
        (Some(table), _) => Err(StoreError::OtherShape { table }),
        (None, false) => Err(StoreError::OtherShape { table: "of a contract".to_owned() }),
    }
}

impl Waiting {
    fn is_full(&self) -> bool {
        self.rows.len() >= PIECE_ROWS || self.bytes >= PIECE_BYTES
    }
}

impl Field {
    fn bytes(&self) -> usize {
        match self {
            Field::Null => 1,
            Field::Integer(_) => 8,
            Field::Text(text) => text.len(),
            Field::Bytes(bytes) => bytes.len(),
        }
    }
}

fn strange() -> StoreError {
    StoreError::NotCommitted("the rows do not fit what was announced".to_owned())
}
