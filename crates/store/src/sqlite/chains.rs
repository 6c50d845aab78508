//! Writing the audit chains, within the open transaction, and reading them link by link.

use frontdesk_engine::seal::SealKey;
use rusqlite::{Connection, OptionalExtension, params};

use super::apply::Scribe;
use crate::StoreError;
use crate::audit::{Head, Link, Walk, link, node_chain};

/// There is one node on an embedded database.
const NODE: &str = "embedded";

impl Scribe<'_> {
    /// Records for this node's own chain: one link for all that came together.
    pub(crate) fn note(&mut self, records: &str) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let at = self.shared.clock.now().0;
        self.append(&node_chain(NODE), at, records)
    }

    pub(crate) fn append(&mut self, chain: &str, at: i64, records: &str) -> Result<(), StoreError> {
        let mut head = self.head(chain)?;
        let seq = head.seq + 1;
        let hash = link(&self.shared.audit_key, chain, seq, &head.hash, at, records);
        self.hands.add_link()?.execute(params![chain, seq, at, records, hash])?;
        head.seq = seq;
        head.hash = hash.to_vec();
        self.keep_head(chain, head);
        Ok(())
    }

    pub(crate) fn head(&self, chain: &str) -> Result<Head, StoreError> {
        if let Some(head) = self.heads.get(chain) {
            return Ok(head.clone());
        }
        if let Some(head) = head(self.connection, &self.shared.audit_key, chain)? {
            return Ok(head);
        }
        // A chain that has links but no head has been tampered with; it is written on behind them.
        let last = self
            .connection
            .prepare_cached("SELECT seq, hash FROM fd_audit WHERE chain = ?1 ORDER BY seq DESC LIMIT 1")?
            .query_row([chain], |row| Ok(Head::lost(row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(last.unwrap_or_else(Head::new))
    }

    /// Its row is written before the transaction ends.
    pub(crate) fn keep_head(&mut self, chain: &str, head: Head) {
        self.heads.insert(chain.to_owned(), head);
        if !self.ahead.iter().any(|known| known == chain) {
            self.ahead.push(chain.to_owned());
        }
    }

    pub(super) fn write_heads(&mut self) -> Result<(), StoreError> {
        for chain in self.ahead.drain(..) {
            let Some(head) = self.heads.get(&chain) else { continue };
            let seal = match head.intact {
                true => head.seal(&self.shared.audit_key, &chain).to_vec(),
                false => Vec::new(),
            };
            self.connection
                .prepare_cached(
                    "INSERT INTO fd_audit_head (chain, seq, hash, kept_after_seq, kept_after_hash, seal) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, \
                     hash = excluded.hash, kept_after_seq = excluded.kept_after_seq, \
                     kept_after_hash = excluded.kept_after_hash, seal = excluded.seal",
                )?
                .execute(params![chain, head.seq, head.hash, head.kept_after_seq, head.kept_after_hash, seal])?;
        }
        Ok(())
    }
}

pub(crate) fn head(connection: &Connection, key: &SealKey, chain: &str) -> Result<Option<Head>, StoreError> {
    let text = "SELECT seq, hash, kept_after_seq, kept_after_hash, seal FROM fd_audit_head WHERE chain = ?1";
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query([chain])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let mut head = Head {
        seq: row.get(0)?,
        hash: row.get(1)?,
        kept_after_seq: row.get(2)?,
        kept_after_hash: row.get(3)?,
        intact: false,
    };
    head.intact = row.get::<_, Vec<u8>>(4)? == head.seal(key, chain);
    Ok(Some(head))
}

/// Whether to take the link that was met into the walk.
pub(crate) enum Meet {
    Next,
    Stop,
}

/// Meets the links of the chain in order, until one is not to be taken.
pub(crate) fn walk_links(
    connection: &Connection,
    chain: &str,
    walk: &mut Walk<'_>,
    mut meet: impl FnMut(&Link) -> Meet,
) -> Result<(), StoreError> {
    let text = "SELECT seq, at, records, hash FROM fd_audit WHERE chain = ?1 ORDER BY seq";
    let mut links = connection.prepare_cached(text)?;
    let mut rows = links.query([chain])?;
    while let Some(row) = rows.next()? {
        let link = Link { seq: row.get(0)?, at: row.get(1)?, records: row.get(2)?, hash: row.get(3)? };
        match meet(&link) {
            Meet::Next => walk.step(&link),
            Meet::Stop => break,
        }
    }
    Ok(())
}
