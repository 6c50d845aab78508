//! What a verification has found: the state of each chain, and what is missing, older or other than it must be.

use std::fmt;

use super::row_versions::RowCounts;

/// More are counted only.
const MAX_FINDINGS: usize = 100;

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    pub chains: Vec<ChainReport>,
    /// What does not agree with the summary, the roster or the rows.
    pub findings: Vec<AuditFinding>,
    /// How many more there are.
    pub more_findings: u64,
    pub rows: RowCounts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainReport {
    pub chain: String,
    pub links: u64,
    pub records: u64,
    /// The number of the first link that is not as it was written, and why.
    pub broken: Option<(i64, &'static str)>,
}

impl AuditReport {
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty() && self.chains.iter().all(|chain| chain.broken.is_none())
    }
}

/// Something that no server has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditFinding {
    InstallationMissing,
    /// It was made again because it was gone.
    InstallationRecreated,
    SummaryMissing,
    SummaryChanged,
    /// The entries are not those that the summary was made of.
    RosterIncomplete,
    EntryChanged {
        chain: String,
    },
    /// It is in the roster, and neither its head nor a link is left.
    ChainMissing {
        chain: String,
        sealed: i64,
    },
    ChainRolledBack {
        chain: String,
        sealed: i64,
        found: i64,
    },
    /// It has another link where the sealed one was.
    ChainReplaced {
        chain: String,
        sealed: i64,
    },
    ChainUnknown {
        chain: String,
    },
    ChainNotEnded {
        chain: String,
    },
    /// A row of a tenant, a client or a token.
    RegistryRow {
        table: &'static str,
        id: String,
        difference: RowDifference,
    },
    /// Their MAC is missing or wrong.
    RowsRefused {
        table: &'static str,
        rows: usize,
    },
    Row {
        tenant: String,
        table: String,
        id: String,
        difference: RowDifference,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowDifference {
    Version { stored: i64, audited: i64 },
    Removed { stored: i64 },
    NeverWritten { stored: i64 },
    Missing,
}

impl AuditFinding {
    pub(crate) fn row(tenant: &str, table: &str, id: &str, difference: RowDifference) -> AuditFinding {
        AuditFinding::Row { tenant: tenant.to_owned(), table: table.to_owned(), id: id.to_owned(), difference }
    }
}

impl fmt::Display for AuditFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditFinding::InstallationMissing => write!(out, "the row of the installation is missing"),
            AuditFinding::InstallationRecreated => write!(
                out,
                "the row of the installation was deleted or changed; the server has made another signing key"
            ),
            AuditFinding::SummaryMissing => write!(out, "the summary of all chains is missing"),
            AuditFinding::SummaryChanged => write!(out, "the summary of all chains is not what was written"),
            AuditFinding::RosterIncomplete => {
                write!(
                    out,
                    "the list of chains is not the one that the summary was made of: entries are missing or older"
                )
            }
            AuditFinding::EntryChanged { chain } => write!(out, "{chain}: its entry is not what was written"),
            AuditFinding::ChainMissing { chain, sealed } => {
                write!(out, "{chain}: the chain is missing; it had {sealed} links")
            }
            AuditFinding::ChainRolledBack { chain, sealed, found } => {
                write!(out, "{chain}: the chain ends at link {found}, and it had {sealed} links: it was rolled back")
            }
            AuditFinding::ChainReplaced { chain, sealed } => {
                write!(
                    out,
                    "{chain}: link {sealed} is another than the sealed one: the chain was rolled back and continued"
                )
            }
            AuditFinding::ChainUnknown { chain } => write!(out, "{chain}: no server has begun this chain"),
            AuditFinding::ChainNotEnded { chain } => {
                write!(out, "{chain}: the chain is there, and it ended when its tenant was erased")
            }
            AuditFinding::Row { tenant, table, id, difference } => {
                write!(out, "{tenant}: {table} {id}: ")?;
                difference.fmt(out)
            }
            AuditFinding::RegistryRow { table, id, difference } => write!(out, "{table} {id}: {difference}"),
            AuditFinding::RowsRefused { table, rows } => {
                write!(out, "{table}: {rows} rows were changed without the master key and are refused")
            }
        }
    }
}

impl fmt::Display for RowDifference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowDifference::Version { stored, audited } => {
                write!(out, "the row has version {stored}, and the last audited write made version {audited}")
            }
            RowDifference::Removed { stored } => {
                write!(out, "the row is there with version {stored}, and the last audited write removed it")
            }
            RowDifference::NeverWritten { stored } => {
                write!(out, "the row is there with version {stored}, and no audited write made it")
            }
            RowDifference::Missing => write!(out, "the row is missing, and no audited write removed it"),
        }
    }
}

/// Findings up to a number, and the count of the others.
#[derive(Debug, Default)]
pub(crate) struct FindingList {
    pub(crate) listed: Vec<AuditFinding>,
    pub(crate) more: u64,
}

impl FindingList {
    pub(crate) fn add(&mut self, finding: AuditFinding) {
        if self.listed.len() < MAX_FINDINGS { self.listed.push(finding) } else { self.more += 1 }
    }
}
