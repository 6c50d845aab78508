//! The chains that must exist: every chain is entered when it is begun, and stays entered when it has ended. Each entry has
//! a keyed hash, and the summary has the sum of all, so that an entry can be neither changed nor removed unseen.

use frontdesk_engine::seal::SealKey;

use super::summary::AuditSummary;
use super::{ChainHead, GENESIS_HASH};
use crate::StoreError;
use crate::sql::session::{SqlReader, SqlRow, SqlSession, StoredValue};

/// A row of `fd_audit_roster`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RosterEntry {
    pub(crate) chain: String,
    /// How often a chain of this name was begun.
    pub(crate) begun: i64,
    pub(crate) state: ChainState,
    /// From which link on every written row is named.
    pub(crate) rows_since: i64,
    /// The last link when it was last entered into the summary, and the count of that summary; 0 if it was not yet.
    pub(crate) sealed_seq: i64,
    pub(crate) sealed_hash: Vec<u8>,
    pub(crate) sealed_count: i64,
    /// Whether the row's seal was valid when it was read.
    pub(crate) intact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChainState {
    Open,
    /// By the erasure of its tenant.
    Ended,
}

pub(crate) const ROSTER_COLUMNS: &str = "chain, begun, ended, rows_since, sealed_seq, sealed_hash, sealed_count, seal";

impl RosterEntry {
    pub(crate) fn new(chain: &str, rows_since: i64) -> RosterEntry {
        RosterEntry {
            chain: chain.to_owned(),
            begun: 1,
            state: ChainState::Open,
            rows_since,
            sealed_seq: 0,
            sealed_hash: GENESIS_HASH.to_vec(),
            sealed_count: 0,
            intact: true,
        }
    }

    pub(crate) async fn find<S: SqlReader>(
        session: &S,
        key: &SealKey,
        chain: &str,
    ) -> Result<Option<RosterEntry>, StoreError> {
        let text = format!("SELECT {ROSTER_COLUMNS} FROM fd_audit_roster WHERE chain = $1");
        let rows = session.query(&text, &[chain.into()]).await?;
        rows.first().map(|row| RosterEntry::read(row, key)).transpose()
    }

    /// A row of `ROSTER_COLUMNS`.
    pub(crate) fn read(row: &SqlRow, key: &SealKey) -> Result<RosterEntry, StoreError> {
        let mut entry = RosterEntry {
            chain: row.text(0)?.to_owned(),
            begun: row.integer(1)?,
            state: if row.integer(2)? == 0 { ChainState::Open } else { ChainState::Ended },
            rows_since: row.integer(3)?,
            sealed_seq: row.integer(4)?,
            sealed_hash: row.bytes(5)?.to_vec(),
            sealed_count: row.integer(6)?,
            intact: false,
        };
        entry.intact = row.bytes(7)? == entry.digest(key, b"roster");
        Ok(entry)
    }

    pub(crate) async fn store<S: SqlSession>(&self, session: &S, key: &SealKey) -> Result<(), StoreError> {
        let text = format!(
            "INSERT INTO fd_audit_roster ({ROSTER_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT (chain) DO UPDATE SET begun = excluded.begun, ended = excluded.ended, \
             rows_since = excluded.rows_since, sealed_seq = excluded.sealed_seq, sealed_hash = excluded.sealed_hash, \
             sealed_count = excluded.sealed_count, seal = excluded.seal"
        );
        let params: [StoredValue; 8] = [
            self.chain.as_str().into(),
            self.begun.into(),
            self.ended().into(),
            self.rows_since.into(),
            self.sealed_seq.into(),
            self.sealed_hash.as_slice().into(),
            self.sealed_count.into(),
            self.digest(key, b"roster").as_slice().into(),
        ];
        session.execute(&text, &params).await?;
        Ok(())
    }

    /// What the entry adds to the sum. Never stored, so that nobody can look for other entries with the same sum.
    pub(crate) fn weight(&self, key: &SealKey) -> [u8; 32] {
        self.digest(key, b"roster sum")
    }

    fn digest(&self, key: &SealKey, purpose: &[u8]) -> [u8; 32] {
        let numbers = [self.begun, self.ended(), self.rows_since, self.sealed_seq, self.sealed_count];
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        key.digest(&[purpose, self.chain.as_bytes(), &numbers, &self.sealed_hash])
    }

    fn ended(&self) -> i64 {
        match self.state {
            ChainState::Open => 0,
            ChainState::Ended => 1,
        }
    }

    /// Whether it is part of the summary's sum.
    pub(crate) fn is_sealed(&self) -> bool {
        self.sealed_count > 0
    }

    /// Whether a chain with this head has what was sealed; `sealed_link` is the hash of its link with that number, if the
    /// link is still there.
    pub(crate) fn is_continued_by(&self, head: &ChainHead, sealed_link: Option<&[u8]>) -> bool {
        if self.sealed_seq == 0 {
            return true;
        }
        if head.seq < self.sealed_seq {
            return false;
        }
        match sealed_link {
            Some(hash) => hash == self.sealed_hash,
            None if head.kept_after_seq == self.sealed_seq => head.kept_after_hash == self.sealed_hash,
            None => head.kept_after_seq > self.sealed_seq,
        }
    }
}

/// Enters a chain in the transaction that writes its first link. An entry that is there already and open means that the
/// chain was deleted: it stays as it is, and the verification reports it.
pub(crate) async fn begin_chain<S: SqlSession>(
    session: &S,
    key: &SealKey,
    chain: &str,
    rows_since: i64,
) -> Result<(), StoreError> {
    match RosterEntry::find(session, key, chain).await? {
        None => RosterEntry::new(chain, rows_since).store(session, key).await,
        Some(entry) if entry.intact && entry.state == ChainState::Ended => {
            // The summary is locked before the entry, as sealing does: two nodes never wait for each other.
            let Some(mut summary) = AuditSummary::find_locked(session, key).await?.filter(|summary| summary.intact)
            else {
                return Ok(());
            };
            summary.remove(key, &entry);
            summary.count += 1;
            summary.store(session, key).await?;
            RosterEntry { begun: entry.begun + 1, ..RosterEntry::new(chain, rows_since) }.store(session, key).await
        }
        Some(_) => Ok(()),
    }
}

/// Marks the chain of an erased tenant as ended, unless something is wrong with it: then its entry stays as evidence.
pub(crate) async fn end_chain<S: SqlSession>(
    session: &S,
    key: &SealKey,
    chain: &str,
    head: &ChainHead,
) -> Result<(), StoreError> {
    let summary = AuditSummary::find_locked(session, key).await?.filter(|summary| summary.intact);
    let entry = RosterEntry::find(session, key, chain).await?;
    let (Some(mut summary), Some(mut entry)) = (summary, entry) else {
        return Ok(());
    };
    let is_sound = entry.intact && head.intact && entry.state == ChainState::Open && entry.is_continued_by(head, None);
    if !is_sound {
        return Ok(());
    }
    if entry.is_sealed() {
        summary.remove(key, &entry);
    }
    summary.count += 1;
    entry.state = ChainState::Ended;
    entry.sealed_seq = head.seq;
    entry.sealed_hash.clone_from(&head.hash);
    entry.sealed_count = summary.count;
    summary.add(key, &entry);
    summary.store(session, key).await?;
    entry.store(session, key).await
}
