//! One sealed summary of all chains: how often it was sealed, and the sum of the keyed hashes of all entries of the
//! roster. Sealing takes time for the chains that have grown only, and no writer of a tenant waits for it.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::SealKey;

use super::roster::{ROSTER_COLUMNS, RosterEntry};
use super::{AuditClass, ChainHead, roster};
use crate::StoreError;
use crate::sql::session::{SqlReader, SqlRow, SqlSession, StoredValue};

/// The row of `fd_audit_summary`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditSummary {
    /// Grows with every sealing.
    pub(crate) count: i64,
    /// How often a backup was restored.
    pub(crate) restores: i64,
    /// How many entries are in the sum.
    pub(crate) chains: i64,
    sum: [u8; 32],
    pub(crate) at: i64,
    /// Whether the row's seal was valid when it was read.
    pub(crate) intact: bool,
}

const GET_SUMMARY: &str = "SELECT count, restores, chains, sum, at, seal FROM fd_audit_summary WHERE one = 1";

/// Chains whose last link is not in the summary.
pub(crate) const GROWN_CHAINS: &str = "SELECT head.chain FROM fd_audit_head AS head JOIN fd_audit_roster AS own \
    ON own.chain = head.chain WHERE own.ended = 0 AND own.sealed_seq <> head.seq ORDER BY head.chain";

impl AuditSummary {
    pub(crate) async fn find<S: SqlReader>(session: &S, key: &SealKey) -> Result<Option<AuditSummary>, StoreError> {
        let rows = session.query(GET_SUMMARY, &[]).await?;
        rows.first().map(|row| AuditSummary::read(row, key)).transpose()
    }

    /// No other node seals until the transaction ends.
    pub(crate) async fn find_locked<S: SqlSession>(
        session: &S,
        key: &SealKey,
    ) -> Result<Option<AuditSummary>, StoreError> {
        let rows = session.query(&format!("{GET_SUMMARY}{}", S::FOR_UPDATE), &[]).await?;
        rows.first().map(|row| AuditSummary::read(row, key)).transpose()
    }

    fn read(row: &SqlRow, key: &SealKey) -> Result<AuditSummary, StoreError> {
        let mut summary = AuditSummary {
            count: row.integer(0)?,
            restores: row.integer(1)?,
            chains: row.integer(2)?,
            sum: row.bytes(3)?.try_into().unwrap_or_default(),
            at: row.integer(4)?,
            intact: false,
        };
        summary.intact = row.bytes(5)? == summary.seal(key);
        Ok(summary)
    }

    pub(crate) async fn store<S: SqlSession>(&self, session: &S, key: &SealKey) -> Result<(), StoreError> {
        let text = "INSERT INTO fd_audit_summary (one, count, restores, chains, sum, at, seal) \
                    VALUES (1, $1, $2, $3, $4, $5, $6) ON CONFLICT (one) DO UPDATE SET count = excluded.count, \
                    restores = excluded.restores, chains = excluded.chains, sum = excluded.sum, at = excluded.at, \
                    seal = excluded.seal";
        let params: [StoredValue; 6] = [
            self.count.into(),
            self.restores.into(),
            self.chains.into(),
            self.sum.as_slice().into(),
            self.at.into(),
            self.seal(key).as_slice().into(),
        ];
        session.execute(text, &params).await?;
        Ok(())
    }

    fn seal(&self, key: &SealKey) -> [u8; 32] {
        let numbers: Vec<u8> =
            [self.count, self.restores, self.chains, self.at].iter().flat_map(|number| number.to_be_bytes()).collect();
        key.digest(&[b"summary", &numbers, &self.sum])
    }

    pub(crate) fn add(&mut self, key: &SealKey, entry: &RosterEntry) {
        self.sum = sum_of(&self.sum, &entry.weight(key));
        self.chains += 1;
    }

    pub(crate) fn remove(&mut self, key: &SealKey, entry: &RosterEntry) {
        self.sum = sum_of(&self.sum, &negative(&entry.weight(key)));
        self.chains -= 1;
    }

    /// Whether these are the entries that it was made of.
    pub(crate) fn covers<'a>(&self, key: &SealKey, entries: impl Iterator<Item = &'a RosterEntry>) -> bool {
        let mut own = AuditSummary { chains: 0, sum: [0; 32], ..self.clone() };
        entries.filter(|entry| entry.is_sealed()).for_each(|entry| own.add(key, entry));
        own == *self
    }
}

/// Addition modulo 2^256: the sum does not depend on the order, and an entry can be taken out again.
fn sum_of(one: &[u8; 32], other: &[u8; 32]) -> [u8; 32] {
    let mut sum = [0; 32];
    let mut carry = 0_u16;
    for ((digit, one), other) in sum.iter_mut().zip(one).zip(other) {
        let total = u16::from(*one) + u16::from(*other) + carry;
        *digit = (total & 0xff) as u8;
        carry = total >> 8;
    }
    sum
}

fn negative(number: &[u8; 32]) -> [u8; 32] {
    let mut one = [0; 32];
    if let Some(first) = one.first_mut() {
        *first = 1;
    }
    sum_of(&number.map(|digit| !digit), &one)
}

/// The first summary, of the chains that an earlier release has left. Which rows their links have written is unknown.
pub(crate) async fn create<S: SqlSession>(session: &S, key: &SealKey, at: Millis) -> Result<(), StoreError> {
    let mut summary = AuditSummary { count: 1, restores: 0, chains: 0, sum: [0; 32], at: at.0, intact: true };
    for row in session.query("SELECT chain, seq, hash FROM fd_audit_head ORDER BY chain", &[]).await? {
        let seq = row.integer(1)?;
        let entry = RosterEntry {
            sealed_seq: seq,
            sealed_hash: row.bytes(2)?.to_vec(),
            sealed_count: 1,
            ..RosterEntry::new(row.text(0)?, seq)
        };
        summary.add(key, &entry);
        entry.store(session, key).await?;
    }
    summary.store(session, key).await
}

/// Enters the last links of these chains, within the open transaction. A chain that does not continue what was sealed is
/// left out, so that its entry keeps showing what is missing.
pub(crate) async fn seal_chains<S: SqlSession>(
    session: &S,
    key: &SealKey,
    chains: &[String],
    at: Millis,
) -> Result<(), StoreError> {
    let Some(mut summary) = AuditSummary::find_locked(session, key).await?.filter(|summary| summary.intact) else {
        return Ok(());
    };
    let count = summary.count + 1;
    for chain in chains {
        let (Some(mut entry), Some(head)) =
            (RosterEntry::find(session, key, chain).await?, ChainHead::find(session, key, chain).await?)
        else {
            continue;
        };
        let link = sealed_link(session, &entry).await?;
        let is_sound = entry.intact && head.intact && entry.is_continued_by(&head, link.as_deref());
        if !is_sound || entry.sealed_seq == head.seq {
            continue;
        }
        if entry.is_sealed() {
            summary.remove(key, &entry);
        }
        entry.sealed_seq = head.seq;
        entry.sealed_hash = head.hash;
        entry.sealed_count = count;
        summary.add(key, &entry);
        summary.count = count;
        summary.at = at.0;
        entry.store(session, key).await?;
    }
    if summary.count == count {
        summary.store(session, key).await?;
    }
    Ok(())
}

/// The hash of the link that was sealed, if it is still there.
pub(crate) async fn sealed_link<S: SqlReader>(session: &S, entry: &RosterEntry) -> Result<Option<Vec<u8>>, StoreError> {
    let params = [entry.chain.as_str().into(), entry.sealed_seq.into()];
    let rows = session.query("SELECT hash FROM fd_audit WHERE chain = $1 AND seq = $2", &params).await?;
    rows.first().map(|row| row.bytes(0).map(<[u8]>::to_vec)).transpose()
}

/// Counts a restored backup. Nothing if the summary is missing or was changed.
pub(crate) async fn count_restore<S: SqlSession>(session: &S, key: &SealKey, at: Millis) -> Result<u64, StoreError> {
    let Some(mut summary) = AuditSummary::find_locked(session, key).await?.filter(|summary| summary.intact) else {
        return Ok(0);
    };
    summary.count += 1;
    summary.restores += 1;
    summary.at = at.0;
    summary.store(session, key).await?;
    Ok(1)
}

/// Every entry of the roster, by chain.
pub(crate) async fn roster_entries<S: SqlReader>(
    session: &S,
    key: &SealKey,
    sealed_after: i64,
) -> Result<Vec<RosterEntry>, StoreError> {
    let text = format!("SELECT {ROSTER_COLUMNS} FROM fd_audit_roster WHERE sealed_count > $1 ORDER BY chain");
    session.query(&text, &[sealed_after.into()]).await?.iter().map(|row| RosterEntry::read(row, key)).collect()
}

/// Appends a record of the store's own to the chain of administration, within the open transaction.
pub(crate) async fn append_record<S: SqlSession>(
    session: &S,
    key: &SealKey,
    node: &str,
    at: Millis,
    record: &str,
) -> Result<(), StoreError> {
    let chain = AuditClass::Administration.chain(node);
    let found = ChainHead::find_locked(session, key, &chain).await?;
    if found.is_none() {
        roster::begin_chain(session, key, &chain, 0).await?;
    }
    let mut head = ChainHead::or_last_link(found, session, &chain).await?;
    head.append(key, &chain, at.0, record);
    let params: [StoredValue; 5] =
        [chain.as_str().into(), head.seq.into(), at.0.into(), record.into(), head.hash.as_slice().into()];
    session
        .execute("INSERT INTO fd_audit (chain, seq, at, records, hash) VALUES ($1, $2, $3, $4, $5)", &params)
        .await?;
    head.store(session, key, &chain).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_forgets_what_was_taken_out() {
        let key = SealKey::from_bytes([7; 32]);
        let empty = AuditSummary { count: 1, restores: 0, chains: 0, sum: [0; 32], at: 0, intact: true };
        let entry = |chain: &str| RosterEntry { sealed_count: 1, ..RosterEntry::new(chain, 0) };
        let (one, other) = (entry("tenant:north"), entry("tenant:south"));
        let mut summary = empty.clone();
        summary.add(&key, &one);
        summary.add(&key, &other);
        assert!(summary.covers(&key, [&other, &one].into_iter()));
        assert!(!summary.covers(&key, [&one].into_iter()));
        assert!(!summary.covers(&key, [&one, &RosterEntry { sealed_seq: 1, ..other.clone() }].into_iter()));
        summary.remove(&key, &one);
        summary.remove(&key, &other);
        assert_eq!(summary, empty);
        assert!(empty.covers(&key, [].into_iter()));
    }
}
