//! The controlled vocabularies that several resources share, and the words of the specification itself. A vocabulary of
//! one resource stands beside it.

use crate::Vocabulary;

/// How a person may be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentChannel {
    Email,
    Sms,
    VoiceCall,
    AutodialedCall,
    Mail,
    Push,
    Unknown,
}

/// What somebody may be contacted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentPurpose {
    Marketing,
    Transactional,
    ServiceReminder,
    LeadFollowUp,
    CreditInquiry,
    DataSharing,
    Unknown,
}

/// Closed, because a distance needs a known unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(closed)]
pub enum DistanceUnit {
    Mi,
    Km,
}

/// The verbs of the published specification (A5-03).
pub const VERBS: &[&str] = &["list", "get", "create", "update", "search", "cancel", "check", "request"];
