//! The audit chains: how a link's hash is made, and how a chain is checked.

use frontdesk_engine::seal::SealKey;
use serde_json::Value;

/// The hash before the first link.
pub(crate) const START: [u8; 32] = [0; 32];

const NODE: &str = "node:";

pub(crate) fn tenant_chain(tenant: &str) -> String {
    format!("tenant:{tenant}")
}

pub(crate) fn node_chain(node: &str) -> String {
    format!("{NODE}{node}")
}

pub(crate) fn is_of_a_node(chain: &str) -> bool {
    chain.starts_with(NODE)
}

/// A link's hash covers its chain, its place, its instant, its records and everything before it. It is
/// keyed, so that whoever can write to the database but has no key cannot mend a chain after changing it.
pub(crate) fn link(key: &SealKey, chain: &str, seq: i64, before: &[u8], at: i64, records: &str) -> [u8; 32] {
    key.digest(&[chain.as_bytes(), &seq.to_be_bytes(), before, &at.to_be_bytes(), records.as_bytes()])
}

/// What the key of the audit chains is derived for.
pub(crate) const KEY: &str = "audit chain";

/// Which records to hand out.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Milliseconds since 1970; links written before are left out.
    pub since: i64,
    /// Only what concerns this tenant: the chain of its writes, and its records on the nodes' chains.
    pub tenant: Option<String>,
}

/// What of a chain was asked for.
pub(crate) enum Part<'a> {
    All,
    /// A node's chain is of all tenants; each record says of which it is.
    OfTenant(&'a str),
}

impl<'a> Part<'a> {
    pub(crate) fn of(chain: &str, tenant: Option<&'a str>) -> Option<Part<'a>> {
        match tenant {
            None => Some(Part::All),
            Some(tenant) if chain == tenant_chain(tenant) => Some(Part::All),
            Some(tenant) => is_of_a_node(chain).then_some(Part::OfTenant(tenant)),
        }
    }

    pub(crate) fn has(&self, record: &str) -> bool {
        match self {
            Part::All => true,
            Part::OfTenant(tenant) => serde_json::from_str::<Value>(record)
                .is_ok_and(|record| record.get("tenant").and_then(Value::as_str) == Some(*tenant)),
        }
    }
}

/// What verifying found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub chains: Vec<ChainReport>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainReport {
    pub chain: String,
    pub links: u64,
    pub records: u64,
    /// Where the chain stops being what was written, and why.
    pub broken: Option<(i64, &'static str)>,
}

impl Report {
    pub fn holds(&self) -> bool {
        self.chains.iter().all(|chain| chain.broken.is_none())
    }
}

/// A link as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) records: String,
    pub(crate) hash: Vec<u8>,
}

/// The ends of a chain as its head row remembers them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seq: i64,
    pub(crate) hash: Vec<u8>,
    pub(crate) kept_after_seq: i64,
    pub(crate) kept_after_hash: Vec<u8>,
    /// Whether its seal was right when it was read. It never becomes right again: writing on must not
    /// hide that somebody else wrote here.
    pub(crate) intact: bool,
}

impl Head {
    /// Of a chain that has no link yet.
    pub(crate) fn new() -> Head {
        Head { intact: true, ..Head::lost(0, START.to_vec()) }
    }

    /// Of a chain whose head row is gone.
    pub(crate) fn lost(seq: i64, hash: Vec<u8>) -> Head {
        Head { seq, hash, kept_after_seq: 0, kept_after_hash: START.to_vec(), intact: false }
    }

    /// A keyed hash over the row. Without it either end of a chain could be cut and the head set to match.
    pub(crate) fn seal(&self, key: &SealKey, chain: &str) -> [u8; 32] {
        let (seq, kept_after) = (self.seq.to_be_bytes(), self.kept_after_seq.to_be_bytes());
        key.digest(&[b"head", chain.as_bytes(), &seq, &self.hash, &kept_after, &self.kept_after_hash])
    }
}

/// Walks a chain link by link, from what retention left to its head.
pub(crate) struct Walk<'a> {
    key: &'a SealKey,
    head: Head,
    report: ChainReport,
    seq: i64,
    hash: Vec<u8>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(key: &'a SealKey, chain: &str, head: Head) -> Walk<'a> {
        Walk {
            key,
            report: ChainReport { chain: chain.to_owned(), links: 0, records: 0, broken: None },
            seq: head.kept_after_seq,
            hash: head.kept_after_hash.clone(),
            head,
        }
    }

    pub(crate) fn step(&mut self, link: &Link) {
        if self.report.broken.is_some() {
            return;
        }
        let expected = self::link(self.key, &self.report.chain, link.seq, &self.hash, link.at, &link.records);
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

    /// The last link that was met, if all of them hold.
    pub(crate) fn reached(&self) -> Option<(i64, &[u8])> {
        self.report.broken.is_none().then_some((self.seq, self.hash.as_slice()))
    }

    pub(crate) fn end(mut self) -> ChainReport {
        if self.report.broken.is_none() && !self.head.intact {
            self.report.broken = Some((self.head.seq, "the head is not what was written"));
        }
        if self.report.broken.is_none() && (self.seq != self.head.seq || self.hash != self.head.hash) {
            self.report.broken = Some((self.seq + 1, "the end of the chain is missing"));
        }
        self.report
    }
}
