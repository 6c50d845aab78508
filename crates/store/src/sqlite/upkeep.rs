//! What the desk forgets, by policy: idempotency keys after a while, and audit links past their
//! retention, leaving behind the hash that keeps the rest of the chain checkable.

use frontdesk_engine::Fault;
use frontdesk_engine::timestamp::Millis;
use rusqlite::params;
use tokio::sync::oneshot;

use super::SqliteStore;
use super::apply::Scribe;
use super::writer::Job;
use crate::StoreError;

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
            let connection = scribe.connection;
            let mut heads = connection.prepare("SELECT chain, kept_after_seq FROM fd_audit_head")?;
            let heads: Vec<(String, i64)> =
                heads.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            for (chain, kept_after) in heads {
                trim(scribe, &chain, kept_after, before)?;
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
        self.settled(waiting).await
    }
}

fn trim(scribe: &Scribe<'_>, chain: &str, kept_after: i64, before: Millis) -> Result<(), StoreError> {
    let connection = scribe.connection;
    // The first link that stays; everything before it goes, so that no gap can appear.
    let stays: Option<i64> = connection.query_row(
        "SELECT MIN(seq) FROM fd_audit WHERE chain = ?1 AND at >= ?2",
        params![chain, before.0],
        |row| row.get(0),
    )?;
    let last: Option<i64> =
        connection.query_row("SELECT MAX(seq) FROM fd_audit WHERE chain = ?1", [chain], |row| row.get(0))?;
    let Some(upto) = stays.map(|seq| seq - 1).or(last).filter(|upto| *upto > kept_after) else {
        return Ok(());
    };
    connection.execute(
        "UPDATE fd_audit_head SET kept_after_seq = ?2, \
         kept_after_hash = (SELECT hash FROM fd_audit WHERE chain = ?1 AND seq = ?2) WHERE chain = ?1",
        params![chain, upto],
    )?;
    connection.execute("DELETE FROM fd_audit WHERE chain = ?1 AND seq <= ?2", params![chain, upto])?;
    Ok(())
}
