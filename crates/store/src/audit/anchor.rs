//! Anchors: signed lines that are kept outside the database. A line has the summary's count and the last link of each chain
//! that has grown since the line before it, and names the digest of that line. With them, a database that was put back
//! whole is found, too, and who verifies needs no secret.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::installation_key::{InstallationKey, InstallationPublicKey};
use frontdesk_engine::seal::{SealKey, sha256};
use serde::{Deserialize, Serialize};

use super::ChainHead;
use super::roster::{ChainState, RosterEntry};
use super::summary::{self, AuditSummary};
use crate::StoreError;
use crate::sql::session::SqlReader;

/// What the signature is for.
const PURPOSE: &str = "audit anchor";
const SIGNATURE: &str = ",\"signature\":\"";
/// More are counted only.
const MAX_FINDINGS: usize = 100;

/// Where the next line begins: behind an earlier line, or at the first chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorStart {
    count: i64,
    restores: i64,
    previous: Option<String>,
}

impl AnchorStart {
    /// Behind this line. One that is no anchor is an error: nothing is appended to a file of something else.
    pub fn after_line(line: &str) -> Result<AnchorStart, StoreError> {
        let anchor = SignedAnchor::parse(line).ok_or(StoreError::NotAnAnchor)?;
        Ok(AnchorStart { count: anchor.body.count, restores: anchor.body.restores, previous: Some(digest(line)) })
    }
}

/// A line without its signature.
#[derive(Debug, Serialize, Deserialize)]
struct AnchorBody {
    anchor: u8,
    installation: String,
    at: String,
    count: i64,
    restores: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    /// Name, how often it was begun, number and hash of its last link.
    chains: Vec<(String, i64, i64, String)>,
}

struct SignedAnchor<'a> {
    body: AnchorBody,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> SignedAnchor<'a> {
    fn parse(line: &'a str) -> Option<SignedAnchor<'a>> {
        let (signed, signature) = line.rsplit_once(SIGNATURE)?;
        let signature = URL_SAFE_NO_PAD.decode(signature.strip_suffix("\"}")?).ok()?;
        let body: AnchorBody = serde_json::from_str(&format!("{signed}}}")).ok()?;
        (body.anchor == 1).then_some(SignedAnchor { body, signed, signature })
    }
}

fn digest(line: &str) -> String {
    URL_SAFE_NO_PAD.encode(sha256(line.as_bytes()))
}

/// The next line, without a line feed. `None` if the summary is that of the line before. To be called in one snapshot.
pub(crate) async fn compose<S: SqlReader>(
    session: &S,
    audit_key: &SealKey,
    key: &InstallationKey,
    start: &AnchorStart,
    at: Millis,
) -> Result<Option<String>, StoreError> {
    let summary = AuditSummary::find(session, audit_key).await?.filter(|summary| summary.intact);
    let summary = summary.ok_or(StoreError::NoSummary)?;
    if start.previous.is_some() && (summary.count, summary.restores) == (start.count, start.restores) {
        return Ok(None);
    }
    // An older database has the chains of before the line, and all of them are named again.
    let is_later = summary.count > start.count && summary.restores == start.restores;
    let entries = summary::roster_entries(session, audit_key, if is_later { start.count } else { 0 }).await?;
    let chain = |entry: &RosterEntry| {
        (entry.chain.clone(), entry.begun, entry.sealed_seq, URL_SAFE_NO_PAD.encode(&entry.sealed_hash))
    };
    let body = AnchorBody {
        anchor: 1,
        installation: key.public_key().to_string(),
        at: at.to_rfc3339(),
        count: summary.count,
        restores: summary.restores,
        previous: start.previous.clone(),
        chains: entries.iter().map(chain).collect(),
    };
    let body = serde_json::to_string(&body).map_err(|error| StoreError::NotCommitted(error.to_string()))?;
    let signed = body.strip_suffix('}').unwrap_or(&body);
    let signature = URL_SAFE_NO_PAD.encode(key.sign(PURPOSE, signed.as_bytes()));
    Ok(Some(format!("{signed}{SIGNATURE}{signature}\"}}")))
}

/// What the comparison of a database with a file of anchors has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorReport {
    pub lines: u64,
    /// Links that are where they were when they were anchored.
    pub held: u64,
    /// Links that retention has deleted since, or that were of an erased tenant.
    pub deleted: u64,
    /// Links of before the last restored backup that the backup did not have. They are no findings.
    pub before_restore: u64,
    pub findings: Vec<AnchorFinding>,
    pub more_findings: u64,
}

/// What is not as it was anchored, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorFinding {
    pub line: u64,
    pub what: String,
}

/// Compares lines, one after the other, with the database.
pub(crate) struct AnchorVerifier<'a> {
    audit_key: &'a SealKey,
    public_key: InstallationPublicKey,
    summary: Option<AuditSummary>,
    last: Option<(String, i64, i64)>,
    report: AnchorReport,
}

/// Whether an anchored link is where it was.
enum PointState {
    Held,
    Deleted,
    Lost(String),
}

impl<'a> AnchorVerifier<'a> {
    pub(crate) async fn new<S: SqlReader>(
        session: &S,
        audit_key: &'a SealKey,
        public_key: InstallationPublicKey,
    ) -> Result<AnchorVerifier<'a>, StoreError> {
        let summary = AuditSummary::find(session, audit_key).await?.filter(|summary| summary.intact);
        Ok(AnchorVerifier { audit_key, public_key, summary, last: None, report: AnchorReport::default() })
    }

    pub(crate) async fn check_all<S: SqlReader>(
        mut self,
        session: &S,
        lines: impl Iterator<Item = io::Result<String>>,
    ) -> Result<AnchorReport, StoreError> {
        for line in lines {
            let line = line.map_err(|error| StoreError::Io { path: "the anchors".into(), error })?;
            self.report.lines += 1;
            self.check_line(session, &line).await?;
        }
        let is_empty = self.report.lines == 0;
        if is_empty {
            self.add("there is no anchor in the file".to_owned());
        }
        Ok(self.report)
    }

    async fn check_line<S: SqlReader>(&mut self, session: &S, line: &str) -> Result<(), StoreError> {
        let Some(SignedAnchor { body, signed, signature }) = SignedAnchor::parse(line) else {
            self.add("the line is not an anchor".to_owned());
            return Ok(());
        };
        if !self.public_key.verify(PURPOSE, signed.as_bytes(), &signature) {
            self.add("the signature is not that of the public key".to_owned());
            return Ok(());
        }
        self.check_order(&body);
        self.last = Some((digest(line), body.restores, body.count));
        let restores = self.summary.as_ref().map_or(0, |summary| summary.restores);
        let is_before_restore = body.restores < restores;
        match &self.summary {
            None => self.add("the database has no valid summary".to_owned()),
            Some(summary) if summary.restores < body.restores || (!is_before_restore && summary.count < body.count) => {
                let what = format!(
                    "the database is older than the anchor of {}: its summary has count {}, and the anchor {}",
                    body.at, summary.count, body.count
                );
                self.add(what);
            }
            Some(_) => {}
        }
        for (chain, begun, seq, hash) in &body.chains {
            let hash = URL_SAFE_NO_PAD.decode(hash).unwrap_or_default();
            match self.point(session, chain, *begun, *seq, &hash).await? {
                PointState::Held => self.report.held += 1,
                PointState::Deleted => self.report.deleted += 1,
                PointState::Lost(_) if is_before_restore => self.report.before_restore += 1,
                PointState::Lost(what) => self.add(format!("{what} (anchored {})", body.at)),
            }
        }
        Ok(())
    }

    /// A line names the one before it, so that none can be taken out. The first may continue an earlier file.
    fn check_order(&mut self, body: &AnchorBody) {
        let Some((digest, restores, count)) = &self.last else {
            return;
        };
        let went_back = (body.restores, body.count) < (*restores, *count) && body.restores == *restores;
        let is_next = body.previous.as_deref() == Some(digest.as_str());
        if !is_next {
            self.add("the line does not follow the one before it: lines are missing or were changed".to_owned());
        }
        if went_back {
            self.add(format!("the database was older at {} than in the line before", body.at));
        }
    }

    async fn point<S: SqlReader>(
        &self,
        session: &S,
        chain: &str,
        begun: i64,
        seq: i64,
        hash: &[u8],
    ) -> Result<PointState, StoreError> {
        let entry = RosterEntry::find(session, self.audit_key, chain).await?.filter(|entry| entry.intact);
        let Some(entry) = entry else {
            return Ok(PointState::Lost(format!("{chain}: the chain is not known any more")));
        };
        if entry.begun > begun {
            return Ok(PointState::Deleted);
        }
        if entry.state == ChainState::Ended && entry.begun == begun {
            let has_it = entry.sealed_seq >= seq;
            return Ok(if has_it { PointState::Deleted } else { lost(chain, seq) });
        }
        let head = ChainHead::find(session, self.audit_key, chain).await?.filter(|head| head.intact);
        let Some(head) = head.filter(|head| head.seq >= seq && entry.begun == begun) else {
            return Ok(lost(chain, seq));
        };
        let point = RosterEntry { sealed_seq: seq, sealed_hash: hash.to_vec(), ..entry };
        let link = summary::sealed_link(session, &point).await?;
        Ok(match link {
            _ if !point.is_continued_by(&head, link.as_deref()) => {
                PointState::Lost(format!("{chain}: link {seq} is another than the anchored one"))
            }
            Some(_) => PointState::Held,
            None => PointState::Deleted,
        })
    }

    fn add(&mut self, what: String) {
        if self.report.findings.len() < MAX_FINDINGS {
            self.report.findings.push(AnchorFinding { line: self.report.lines, what });
        } else {
            self.report.more_findings += 1;
        }
    }
}

fn lost(chain: &str, seq: i64) -> PointState {
    PointState::Lost(format!("{chain}: link {seq} is missing"))
}

/// The key that the first line names, which is trusted if no other is given.
pub fn anchor_key(line: &str) -> Option<InstallationPublicKey> {
    InstallationPublicKey::parse(&SignedAnchor::parse(line)?.body.installation)
}
