//! The audit chains on PostgreSQL: reading a head, and the changes that append a link.

use frontdesk_engine::seal::SealKey;
use tokio_postgres::{Error, Row};

use super::live::Live;
use super::values::Bound;
use crate::audit::{Head, link};

pub(crate) const HEAD: &str =
    "SELECT seq, hash, kept_after_seq, kept_after_hash, seal FROM fd_audit_head WHERE chain = $1";
const LAST: &str = "SELECT seq, hash FROM fd_audit WHERE chain = $1 ORDER BY seq DESC LIMIT 1";
pub(crate) const KEEP_HEAD: &str = "INSERT INTO fd_audit_head (chain, seq, hash, kept_after_seq, kept_after_hash, seal) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, \
     hash = excluded.hash, kept_after_seq = excluded.kept_after_seq, \
     kept_after_hash = excluded.kept_after_hash, seal = excluded.seal";

/// The head from what `HEAD` answered. A chain that has links but no head has been tampered with; it is
/// written on behind them.
pub(crate) async fn head(live: &Live, key: &SealKey, chain: &str, rows: &[Row]) -> Result<Head, Error> {
    if let Some(row) = rows.first() {
        return read_head(key, chain, row);
    }
    match live.query(LAST, &[&chain]).await?.first() {
        Some(row) => Ok(Head::lost(row.try_get(0)?, row.try_get(1)?)),
        None => Ok(Head::new()),
    }
}

pub(crate) fn read_head(key: &SealKey, chain: &str, row: &Row) -> Result<Head, Error> {
    let mut head = Head {
        seq: row.try_get(0)?,
        hash: row.try_get(1)?,
        kept_after_seq: row.try_get(2)?,
        kept_after_hash: row.try_get(3)?,
        intact: false,
    };
    head.intact = row.try_get::<_, Vec<u8>>(4)? == head.seal(key, chain);
    Ok(head)
}

/// Moves the head on by one link; the values of `ADD_LINKS`.
pub(crate) fn append(key: &SealKey, chain: &str, head: &mut Head, at: i64, records: &str) -> Vec<Bound> {
    let seq = head.seq + 1;
    let hash = link(key, chain, seq, &head.hash, at, records).to_vec();
    head.seq = seq;
    head.hash.clone_from(&hash);
    let chain = Bound::text(chain);
    Bound::row(vec![chain, Bound::Integer(seq), Bound::Integer(at), Bound::text(records), Bound::Bytes(hash)])
}

/// The values of `KEEP_HEAD`.
pub(crate) fn kept(key: &SealKey, chain: &str, head: &Head) -> Vec<Bound> {
    let seal = match head.intact {
        true => head.seal(key, chain).to_vec(),
        false => Vec::new(),
    };
    vec![
        Bound::text(chain),
        Bound::Integer(head.seq),
        Bound::Bytes(head.hash.clone()),
        Bound::Integer(head.kept_after_seq),
        Bound::Bytes(head.kept_after_hash.clone()),
        Bound::Bytes(seal),
    ]
}
