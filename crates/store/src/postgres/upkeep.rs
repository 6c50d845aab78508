//! What the desk forgets, by policy, on PostgreSQL. It has a connection of its own while it works, and
//! works in pieces: whoever wants to write meanwhile waits for one piece only. Between two tenants it rests, because
//! there may be many and nobody waits for it.

use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;

use tokio::time::{Instant, sleep};

use super::PostgresStore;
use super::audits::link;
use super::chains::{HEAD, KEEP_HEAD, kept, read_head};
use super::live::{Live, Values};
use super::node::Change;
use super::texts::{LOCK, remove_words_before};
use super::walls::AUDITOR;
use crate::audit::{Head, Walk};
use crate::sql;
use crate::{Load, StoreError};

const PIECE_ROWS: i64 = 1_000;
/// It rests so many times as long as it has worked,
const EASE: u32 = 9;
/// but no longer than this.
const LONGEST_REST: Duration = Duration::from_millis(50);

/// Whether another piece may find something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    More,
    Nothing,
}

impl PostgresStore {
    /// How busy this node's writers are; other nodes count their own.
    pub fn load(&self) -> Load {
        self.writers.load()
    }

    /// Commits something that changes nothing, by the same way and to the same disk as everything else.
    pub async fn writable(&self) -> Result<(), Fault> {
        self.change(Change::Pulse, String::new()).await.map(|_| ())
    }

    /// Forgets idempotency keys that were claimed before this instant.
    pub async fn forget_claims(&self, before: Millis) -> Result<(), Fault> {
        let live = self.tending().await?;
        let old = "SELECT 1 FROM fd_claim WHERE tenant = $1 AND at < $2 LIMIT 1";
        for tenant in tenants(&live).await? {
            let began = Instant::now();
            if has(&live, &tenant, old, before).await? {
                while drop_claims(&live, &tenant, before).await? == Left::More {}
            }
            rest(began).await;
        }
        Ok(())
    }

    /// Forgets rows whose instant in this column has passed before this one, with the words they are found by.
    pub async fn forget_rows(
        &self,
        kind: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> Result<(), Fault> {
        let live = self.tending().await?;
        let old = format!("SELECT 1 FROM {} WHERE tenant = $1 AND {column} < $2 LIMIT 1", kind.name);
        for tenant in tenants(&live).await? {
            let began = Instant::now();
            if has(&live, &tenant, &old, before).await? {
                while drop_rows(&live, &tenant, kind, column, before).await? == Left::More {}
            }
            rest(began).await;
        }
        Ok(())
    }

    /// Removes audit links written before this instant, oldest first. Each chain remembers the last
    /// link it lost, so that what is kept can still be checked.
    pub async fn forget_audit(&self, before: Millis) -> Result<(), Fault> {
        let live = self.tending().await?;
        // The oldest link of each chain tells whether there is anything to do.
        let text = "SELECT chain FROM fd_audit_head AS head WHERE \
                    (SELECT at FROM fd_audit WHERE chain = head.chain ORDER BY seq LIMIT 1) < $1";
        let rows = live.query_as(AUDITOR, text, &[&before.0]).await.map_err(StoreError::from)?;
        for row in rows {
            let chain: String = row.try_get(0).map_err(StoreError::from)?;
            while self.trim(&live, &chain, before).await? == Left::More {}
        }
        Ok(())
    }

    async fn tending(&self) -> Result<Live, StoreError> {
        Live::connect(&self.address.brief()).await
    }

    async fn trim(&self, live: &Live, chain: &str, before: Millis) -> Result<Left, StoreError> {
        let tenant = chain.strip_prefix("tenant:").unwrap_or_default();
        // A tenant's writers hold its row; a node's writer is stopped by the head of its chain.
        let head = format!("{HEAD} FOR UPDATE");
        let questions: [(&str, Values<'_>); 2] = [(LOCK, &[&tenant]), (&head, &[&chain])];
        let answers = live.begin_as(tenant, &questions).await;
        let outcome = match answers.map(|answers| answers.into_iter().nth(1).unwrap_or_default()) {
            Ok(rows) => match rows.first().map(|row| read_head(&self.shared.audit_key, chain, row)) {
                Some(Ok(head)) => self.trim_behind(live, chain, head, before).await,
                Some(Err(error)) => Err(error.into()),
                None => Ok(Left::Nothing),
            },
            Err(error) => Err(error.into()),
        };
        live.batch(if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
        outcome
    }

    /// Removes the oldest links of a chain, up to the first that stays, so that no gap can appear.
    async fn trim_behind(&self, live: &Live, chain: &str, head: Head, before: Millis) -> Result<Left, StoreError> {
        let key = &self.shared.audit_key;
        let text = "SELECT seq, at, records, hash FROM fd_audit WHERE chain = $1 ORDER BY seq LIMIT $2";
        let rows = live.query(text, &[&chain, &(PIECE_ROWS + 1)]).await?;
        let mut walk = Walk::new(key, chain, head.clone());
        let mut stays = head.seq + 1;
        let mut left = Left::Nothing;
        for (place, row) in (0..).zip(&rows) {
            let link = link(row)?;
            let is_full = place >= PIECE_ROWS;
            if link.at >= before.0 || is_full {
                stays = link.seq;
                left = if is_full { Left::More } else { Left::Nothing };
                break;
            }
            walk.step(&link);
        }
        // What has been tampered with stays for somebody to look at; so do links before a gap.
        let Some((reached, hash)) = walk.reached().filter(|(reached, _)| reached + 1 == stays && head.intact) else {
            return Ok(Left::Nothing);
        };
        let kept_after_hash = hash.to_vec();
        live.execute("DELETE FROM fd_audit WHERE chain = $1 AND seq <= $2", &[&chain, &reached]).await?;
        let head = Head { kept_after_seq: reached, kept_after_hash, ..head };
        for answer in live.change_all(None, &[(KEEP_HEAD, &kept(key, chain, &head))]).await? {
            answer?;
        }
        Ok(left)
    }
}

async fn tenants(live: &Live) -> Result<Vec<String>, StoreError> {
    let rows = live.query("SELECT tenant FROM fd_tenant ORDER BY tenant", &[]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Whether there is anything to forget. Most often there is not, and asking takes no lock.
async fn has(live: &Live, tenant: &str, old: &str, before: Millis) -> Result<bool, StoreError> {
    Ok(!live.query_as(tenant, old, &[&tenant, &before.0]).await?.is_empty())
}

async fn rest(began: Instant) {
    sleep((began.elapsed() * EASE).min(LONGEST_REST)).await;
}

async fn drop_claims(live: &Live, tenant: &str, before: Millis) -> Result<Left, StoreError> {
    live.begin_as(tenant, &[]).await?;
    let text = "DELETE FROM fd_claim WHERE tenant = $1 AND (client, tool, key_hash) IN \
                (SELECT client, tool, key_hash FROM fd_claim WHERE tenant = $1 AND at < $2 LIMIT $3)";
    let gone = live.execute(text, &[&tenant, &before.0, &PIECE_ROWS]).await;
    live.batch(if gone.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    Ok(match gone? < PIECE_ROWS as u64 {
        true => Left::Nothing,
        false => Left::More,
    })
}

/// The tenant's writers are kept out meanwhile: one that writes a row anew must find it whole or gone.
async fn drop_rows(
    live: &Live,
    tenant: &str,
    kind: &TableSpec,
    column: &str,
    before: Millis,
) -> Result<Left, StoreError> {
    live.begin_as(tenant, &[(LOCK, &[&tenant])]).await?;
    let values: Values<'_> = &[&tenant, &before.0, &PIECE_ROWS];
    let gone = match live.execute(&remove_words_before(kind, column), values).await {
        Ok(_) => live.execute(&sql::remove_rows_before(kind, column), values).await,
        Err(error) => Err(error),
    };
    live.batch(if gone.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    Ok(match gone? < PIECE_ROWS as u64 {
        true => Left::Nothing,
        false => Left::More,
    })
}
