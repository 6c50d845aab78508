//! What the desk forgets, by policy: idempotency keys and rows after a while, and audit links past their
//! retention, leaving behind the hash that keeps the rest of the chain checkable.

use frontdesk_engine::Fault;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use rusqlite::params;
use tokio::sync::oneshot;

use super::SqliteStore;
use super::apply::Scribe;
use super::chains::{Meet, walk_links};
use super::words;
use super::writer::Job;
use crate::StoreError;
use crate::audit::{Head, Walk};
use crate::sql;

/// So many rows go in one piece of the writer's work, or so many bytes of records: whoever wants to
/// write meanwhile waits for one piece only.
const PIECE_ROWS: usize = 1_000;
const PIECE_BYTES: usize = 8 * 1024 * 1024;

/// Whether another piece may find something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    More,
    Nothing,
}

impl SqliteStore {
    /// Forgets idempotency keys that were claimed before this instant.
    pub async fn forget_claims(&self, before: Millis) -> Result<(), Fault> {
        while self.tend(move |scribe| drop_claims(scribe, before)).await? == Left::More {}
        Ok(())
    }

    /// Forgets rows whose instant in this column has passed before this one, with the words they are found by.
    pub async fn forget_rows(
        &self,
        kind: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> Result<(), Fault> {
        let tenants: Vec<String> = self.pool.with(|connection| {
            // Where there is nothing to forget, the writer is not asked.
            let mut statement = connection.prepare_cached(&format!(
                "SELECT tenant FROM fd_tenant WHERE EXISTS (SELECT 1 FROM {} AS own \
                 WHERE own.tenant = fd_tenant.tenant AND own.{column} < ?1) ORDER BY tenant",
                kind.name
            ))?;
            Ok(statement.query_map([before.0], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })?;
        for tenant in tenants {
            loop {
                let tenant = tenant.clone();
                match self.tend(move |scribe| drop_rows(scribe, &tenant, kind, column, before)).await? {
                    Left::More => {}
                    Left::Nothing => break,
                }
            }
        }
        Ok(())
    }

    /// Removes audit links written before this instant, oldest first. Each chain remembers the last
    /// link it lost, so that what is kept can still be checked.
    pub async fn forget_audit(&self, before: Millis) -> Result<(), Fault> {
        let chains: Vec<String> = self.pool.with(|connection| {
            // The oldest link of each chain tells whether there is anything to do.
            let mut statement = connection.prepare_cached(
                "SELECT chain FROM fd_audit_head AS head WHERE \
                 (SELECT at FROM fd_audit WHERE chain = head.chain ORDER BY seq LIMIT 1) < ?1",
            )?;
            Ok(statement.query_map([before.0], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })?;
        for chain in chains {
            loop {
                let name = chain.clone();
                match self.tend(move |scribe| trim(scribe, &name, before)).await? {
                    Left::More => {}
                    Left::Nothing => break,
                }
            }
        }
        Ok(())
    }

    async fn tend(
        &self,
        work: impl FnOnce(&mut Scribe<'_>) -> Result<Left, StoreError> + Send + 'static,
    ) -> Result<Left, Fault> {
        let (answer, waiting) = oneshot::channel();
        let (tell, mut told) = oneshot::channel();
        let task = Box::new(move |scribe: &mut Scribe<'_>| {
            // Nobody waiting is not an error.
            let _ = tell.send(work(scribe)?);
            Ok(())
        });
        self.writer.send(Job::Task(task, answer))?;
        self.settled(waiting).await?;
        Ok(told.try_recv().map_err(|_| StoreError::Unfinished)?)
    }
}

fn drop_claims(scribe: &Scribe<'_>, before: Millis) -> Result<Left, StoreError> {
    let text = "DELETE FROM fd_claim WHERE rowid IN (SELECT rowid FROM fd_claim WHERE at < ?1 ORDER BY at LIMIT ?2)";
    let gone = scribe.connection.prepare_cached(text)?.execute(params![before.0, PIECE_ROWS as i64])?;
    Ok(match gone < PIECE_ROWS {
        true => Left::Nothing,
        false => Left::More,
    })
}

fn drop_rows(
    scribe: &Scribe<'_>,
    tenant: &str,
    kind: &TableSpec,
    column: &str,
    before: Millis,
) -> Result<Left, StoreError> {
    let run = |text: String| -> Result<usize, StoreError> {
        let mut statement = scribe.connection.prepare_cached(&text)?;
        Ok(statement.execute(params![tenant, before.0, PIECE_ROWS as i64])?)
    };
    run(words::remove_words_before(kind, column))?;
    Ok(match run(sql::for_sqlite(&sql::remove_rows_before(kind, column)))? < PIECE_ROWS {
        true => Left::Nothing,
        false => Left::More,
    })
}

/// Removes the oldest links of a chain, up to the first that stays, so that no gap can appear.
fn trim(scribe: &mut Scribe<'_>, chain: &str, before: Millis) -> Result<Left, StoreError> {
    let connection = scribe.connection;
    let head = scribe.head(chain)?;
    let mut walk = Walk::new(&scribe.shared.audit_key, chain, head.clone());
    let mut left = Left::Nothing;
    let mut stays = head.seq + 1;
    let (mut rows, mut bytes) = (0, 0);
    walk_links(connection, chain, &mut walk, |link| {
        let full = rows >= PIECE_ROWS || bytes >= PIECE_BYTES;
        if link.at >= before.0 || full {
            stays = link.seq;
            left = if full { Left::More } else { Left::Nothing };
            return Meet::Stop;
        }
        rows += 1;
        bytes += link.records.len();
        Meet::Next
    })?;
    // What has been tampered with stays for somebody to look at; so do links before a gap.
    let Some((reached, hash)) = walk.reached().filter(|(reached, _)| reached + 1 == stays && head.intact) else {
        return Ok(Left::Nothing);
    };
    connection
        .prepare_cached("DELETE FROM fd_audit WHERE chain = ?1 AND seq <= ?2")?
        .execute(params![chain, reached])?;
    let kept = Head { kept_after_seq: reached, kept_after_hash: hash.to_vec(), ..head };
    scribe.keep_head(chain, kept);
    Ok(left)
}
