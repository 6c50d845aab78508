//! The audit chains: how a link's hash is computed, how a chain is verified, and the row that stores its head.

pub(crate) mod anchor;
pub(crate) mod buffer;
pub(crate) mod reader;
mod report;
pub(crate) mod roster;
pub(crate) mod row_versions;
pub(crate) mod summary;

use frontdesk_engine::seal::SealKey;
use serde_json::Value;

use crate::StoreError;
use crate::sql::session::{SqlReader, SqlRow, SqlSession, StoredValue};

pub use anchor::{AnchorFinding, AnchorReport, AnchorStart, anchor_key};
pub use report::{AuditFinding, AuditReport, ChainReport, RowDifference};
pub use row_versions::{ComparedTable, RowCounts, RowRemoval};

/// The hash before the first link.
pub(crate) const GENESIS_HASH: [u8; 32] = [0; 32];

/// What the key of the audit chains is derived for.
pub(crate) const KEY_PURPOSE: &str = "audit chain";

/// What the records of a chain are about. Each class has chains of its own, so that it can be stored for a time of its
/// own: a chain can be trimmed at its beginning only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditClass {
    /// What was written, on the chain of the tenant.
    Writes,
    /// Reads, refusals and new tokens, on a chain of the node.
    Reads,
    /// Changes of tenants and clients, revocations, exports and erasures, on another chain of the node. Releases
    /// without it have them among the reads.
    Administration,
}

impl AuditClass {
    pub const ALL: [AuditClass; 3] = [AuditClass::Writes, AuditClass::Reads, AuditClass::Administration];

    fn prefix(self) -> &'static str {
        match self {
            AuditClass::Writes => "tenant:",
            AuditClass::Reads => "node:",
            AuditClass::Administration => "admin:",
        }
    }

    /// The chain of a tenant or of a node.
    pub(crate) fn chain(self, owner: &str) -> String {
        format!("{}{owner}", self.prefix())
    }

    /// What `LIKE` finds the chains of the class with.
    pub(crate) fn pattern(self) -> String {
        format!("{}%", self.prefix())
    }
}

pub(crate) fn tenant_chain(tenant: &str) -> String {
    AuditClass::Writes.chain(tenant)
}

/// A link's hash covers its chain, its number, its instant, its records and all links before it. It is keyed, so that
/// write access to the database is not enough to forge a chain.
pub(crate) fn link_hash(key: &SealKey, chain: &str, seq: i64, before: &[u8], at: i64, records: &str) -> [u8; 32] {
    key.digest(&[chain.as_bytes(), &seq.to_be_bytes(), before, &at.to_be_bytes(), records.as_bytes()])
}

/// Which records to export.
#[derive(Debug, Clone, Default)]
pub struct AuditSelection {
    /// Milliseconds since 1970; links written before are left out.
    pub since: i64,
    /// Only what concerns this tenant: the chain of its writes, and its records on the nodes' chains.
    pub tenant: Option<String>,
}

/// Which records of one chain are selected.
pub(crate) enum ChainSelection<'a> {
    All,
    /// The chains of a node have records of all tenants.
    OfTenant(&'a str),
}

impl<'a> ChainSelection<'a> {
    pub(crate) fn of(chain: &str, tenant: Option<&'a str>) -> Option<ChainSelection<'a>> {
        match tenant {
            None => Some(ChainSelection::All),
            Some(tenant) if chain == tenant_chain(tenant) => Some(ChainSelection::All),
            Some(tenant) => {
                (!chain.starts_with(AuditClass::Writes.prefix())).then_some(ChainSelection::OfTenant(tenant))
            }
        }
    }

    pub(crate) fn has(&self, record: &str) -> bool {
        match self {
            ChainSelection::All => true,
            ChainSelection::OfTenant(tenant) => serde_json::from_str::<Value>(record)
                .is_ok_and(|record| record.get("tenant").and_then(Value::as_str) == Some(*tenant)),
        }
    }
}

/// A link as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditLink {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) records: String,
    pub(crate) hash: Vec<u8>,
}

/// Both ends of a chain, as its row in `fd_audit_head` stores them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainHead {
    pub(crate) seq: i64,
    pub(crate) hash: Vec<u8>,
    pub(crate) kept_after_seq: i64,
    pub(crate) kept_after_hash: Vec<u8>,
    /// Whether the row's seal was valid when it was read. Once invalid it stays so: appending to a chain must not
    /// hide that it was tampered with.
    pub(crate) intact: bool,
}

pub(crate) const GET_HEAD: &str =
    "SELECT seq, hash, kept_after_seq, kept_after_hash, seal FROM fd_audit_head WHERE chain = $1";
/// The parameters are `ChainHead::params`.
pub(crate) const UPSERT_HEAD: &str = "INSERT INTO fd_audit_head (chain, seq, hash, kept_after_seq, kept_after_hash, seal) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, \
     hash = excluded.hash, kept_after_seq = excluded.kept_after_seq, \
     kept_after_hash = excluded.kept_after_hash, seal = excluded.seal";
const GET_LAST_LINK: &str = "SELECT seq, hash FROM fd_audit WHERE chain = $1 ORDER BY seq DESC LIMIT 1";

impl ChainHead {
    /// Of a chain that has no link yet.
    pub(crate) fn new() -> ChainHead {
        ChainHead { intact: true, ..ChainHead::missing(0, GENESIS_HASH.to_vec()) }
    }

    /// Of a chain whose head row was removed.
    pub(crate) fn missing(seq: i64, hash: Vec<u8>) -> ChainHead {
        ChainHead { seq, hash, kept_after_seq: 0, kept_after_hash: GENESIS_HASH.to_vec(), intact: false }
    }

    pub(crate) async fn find<S: SqlReader>(
        session: &S,
        key: &SealKey,
        chain: &str,
    ) -> Result<Option<ChainHead>, StoreError> {
        let rows = session.query(GET_HEAD, &[chain.into()]).await?;
        rows.first().map(|row| ChainHead::read(row, key, chain)).transpose()
    }

    /// As `find`, and no other node can append to or trim the chain until the transaction ends.
    pub(crate) async fn find_locked<S: SqlSession>(
        session: &S,
        key: &SealKey,
        chain: &str,
    ) -> Result<Option<ChainHead>, StoreError> {
        let rows = session.query(&format!("{GET_HEAD}{}", S::FOR_UPDATE), &[chain.into()]).await?;
        rows.first().map(|row| ChainHead::read(row, key, chain)).transpose()
    }

    /// To append to: the one that was found, or one that continues behind the last link. A chain that has links but
    /// no head was tampered with.
    pub(crate) async fn or_last_link<S: SqlReader>(
        found: Option<ChainHead>,
        session: &S,
        chain: &str,
    ) -> Result<ChainHead, StoreError> {
        if let Some(head) = found {
            return Ok(head);
        }
        match session.query(GET_LAST_LINK, &[chain.into()]).await?.first() {
            Some(row) => Ok(ChainHead::missing(row.integer(0)?, row.bytes(1)?.to_vec())),
            None => Ok(ChainHead::new()),
        }
    }

    /// A row of `GET_HEAD`.
    pub(crate) fn read(row: &SqlRow, key: &SealKey, chain: &str) -> Result<ChainHead, StoreError> {
        let mut head = ChainHead {
            seq: row.integer(0)?,
            hash: row.bytes(1)?.to_vec(),
            kept_after_seq: row.integer(2)?,
            kept_after_hash: row.bytes(3)?.to_vec(),
            intact: false,
        };
        head.intact = row.bytes(4)? == head.seal(key, chain);
        Ok(head)
    }

    /// Moves on by one link.
    pub(crate) fn append(&mut self, key: &SealKey, chain: &str, at: i64, records: &str) {
        self.hash = link_hash(key, chain, self.seq + 1, &self.hash, at, records).to_vec();
        self.seq += 1;
    }

    pub(crate) async fn store<S: SqlSession>(&self, session: &S, key: &SealKey, chain: &str) -> Result<(), StoreError> {
        session.execute(UPSERT_HEAD, &self.params(key, chain)).await?;
        Ok(())
    }

    pub(crate) fn params(&self, key: &SealKey, chain: &str) -> [StoredValue; 6] {
        let seal = if self.intact { self.seal(key, chain).to_vec() } else { Vec::new() };
        [
            chain.into(),
            self.seq.into(),
            self.hash.as_slice().into(),
            self.kept_after_seq.into(),
            self.kept_after_hash.as_slice().into(),
            StoredValue::Bytes(seal),
        ]
    }

    /// A keyed hash over the row. Without it links could be removed at either end and the head changed to match.
    pub(crate) fn seal(&self, key: &SealKey, chain: &str) -> [u8; 32] {
        let (seq, kept_after) = (self.seq.to_be_bytes(), self.kept_after_seq.to_be_bytes());
        key.digest(&[b"head", chain.as_bytes(), &seq, &self.hash, &kept_after, &self.kept_after_hash])
    }
}

/// Verifies a chain link by link, from the first that retention has left to its head.
pub(crate) struct ChainVerifier<'a> {
    key: &'a SealKey,
    head: ChainHead,
    report: ChainReport,
    seq: i64,
    hash: Vec<u8>,
}

impl<'a> ChainVerifier<'a> {
    pub(crate) fn new(key: &'a SealKey, chain: &str, head: ChainHead) -> ChainVerifier<'a> {
        ChainVerifier {
            key,
            report: ChainReport { chain: chain.to_owned(), links: 0, records: 0, broken: None },
            seq: head.kept_after_seq,
            hash: head.kept_after_hash.clone(),
            head,
        }
    }

    pub(crate) fn check_link(&mut self, link: &AuditLink) {
        if self.report.broken.is_some() {
            return;
        }
        let expected = link_hash(self.key, &self.report.chain, link.seq, &self.hash, link.at, &link.records);
        if link.seq != self.seq + 1 {
            self.report.broken = Some((self.seq + 1, "a link is missing"));
        } else if link.hash != expected {
            self.report.broken = Some((link.seq, "the link is not what was written"));
        }
        self.seq = link.seq;
        self.hash.clone_from(&link.hash);
        self.report.links += 1;
        self.report.records += link.records.lines().count() as u64;
    }

    /// The last link that was checked, if all of them are valid.
    pub(crate) fn verified_up_to(&self) -> Option<(i64, &[u8])> {
        self.report.broken.is_none().then_some((self.seq, self.hash.as_slice()))
    }

    pub(crate) fn finish(mut self) -> ChainReport {
        if self.report.broken.is_none() && !self.head.intact {
            self.report.broken = Some((self.head.seq, "the head is not what was written"));
        }
        if self.report.broken.is_none() && (self.seq != self.head.seq || self.hash != self.head.hash) {
            self.report.broken = Some((self.seq + 1, "the end of the chain is missing"));
        }
        self.report
    }
}
