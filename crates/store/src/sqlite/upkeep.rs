//! What the desk forgets, by policy: idempotency keys after a while, and audit links past their
//! retention, leaving behind the hash that keeps the rest of the chain checkable.

use frontdesk_engine::Fault;
use frontdesk_engine::timestamp::Millis;
use rusqlite::params;
use tokio::sync::oneshot;

use super::SqliteStore;
use super::apply::Scribe;
use super::chains::walk_links;
use super::writer::Job;
use crate::StoreError;
use crate::audit::{Head, Walk};

impl SqliteStore {
    /// Forgets idempotency keys that were claimed before this instant.
    pub async fn forget_claims(&self, before: Millis) -> Result<(), Fault> {
        self.tend(move |scribe| {
            scribe.connection.execute("DELETE FROM fd_claim WHERE at < ?1", [before.0])?;
            Ok(())
        })
        .await
    }

    /// Removes audit links written before this instant, oldest first. Each chain remembers the last
    /// link it lost, so that what is kept can still be checked.
    pub async fn forget_audit(&self, before: Millis) -> Result<(), Fault> {
        self.tend(move |scribe| {
            let mut chains = scribe.connection.prepare("SELECT chain FROM fd_audit_head")?;
            let chains: Vec<String> = chains.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for chain in chains {
                trim(scribe, &chain, before)?;
            }
            Ok(())
        })
        .await
    }

    async fn tend(
        &self,
        work: impl FnOnce(&mut Scribe<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), Fault> {
        let (answer, waiting) = oneshot::channel();
        self.writer.send(Job::Task(Box::new(work), answer))?;
        Ok(self.settled(waiting).await?)
    }
}

fn trim(scribe: &mut Scribe<'_>, chain: &str, before: Millis) -> Result<(), StoreError> {
    let connection = scribe.connection;
    let key = &scribe.shared.audit_key;
    let head = scribe.head(chain)?;
    // The first link that stays; everything before it goes, so that no gap can appear.
    let stays: Option<i64> = connection.query_row(
        "SELECT MIN(seq) FROM fd_audit WHERE chain = ?1 AND at >= ?2",
        params![chain, before.0],
        |row| row.get(0),
    )?;
    let upto = stays.map_or(head.seq, |seq| seq - 1);
    let mut walk = Walk::new(key, chain, head.clone());
    walk_links(connection, chain, upto, &mut walk)?;
    // What has been tampered with stays for somebody to look at.
    let Some((reached, hash)) = walk.reached().filter(|(reached, _)| *reached == upto && head.intact) else {
        return Ok(());
    };
    connection.execute("DELETE FROM fd_audit WHERE chain = ?1 AND seq <= ?2", params![chain, reached])?;
    let kept = Head { kept_after_seq: reached, kept_after_hash: hash.to_vec(), ..head };
    scribe.keep_head(chain, kept)
}
