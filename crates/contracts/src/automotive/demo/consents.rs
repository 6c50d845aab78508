//! The demo consents: one with every lead, and one to marketing with every sale. Some were withdrawn, some have expired.

use frontdesk_engine::model::timestamp::Millis;

use super::DemoLead;
use super::market::Market;
use crate::automotive::consent::{
    Consent, ConsentContact, ConsentEvidence, ConsentRecord, ConsentRevision, ConsentSource, ConsentStatus, LegalBasis,
};
use crate::automotive::lead::{Lead, LeadStatus};
use crate::automotive::values::Contact;
use crate::automotive::vocabulary::{ConsentChannel, ConsentPurpose};
use crate::record::List;

pub(super) const WORDS: &str = "I agree to be contacted about my enquiry.";
const FOURTEEN_DAYS: i64 = 14 * 24 * 60 * 60;

/// Half of those whose lead was lost withdrew; with a sale, consent to talk about the enquiry ends after fourteen days.
pub(super) fn summary(place: usize, demo: &DemoLead) -> Consent {
    let received_at = super::rows::millis(demo.received_at);
    let is_withdrawn = demo.status == LeadStatus::Lost && place.is_multiple_of(2);
    Consent {
        status: if is_withdrawn { ConsentStatus::Withdrawn } else { ConsentStatus::Granted },
        channels: List(vec![ConsentChannel::Email, ConsentChannel::VoiceCall]),
        granted_at: received_at,
        expires_at: (demo.status == LeadStatus::Sold).then(|| received_at.plus_seconds(FOURTEEN_DAYS)),
    }
}

pub(super) fn of_lead(id: &str, lead: &Lead, market: &Market, updated_at: Millis) -> ConsentRecord {
    let Consent { status, channels, granted_at, expires_at } = lead.consent.clone();
    let (decided_at, revisions) = history(status, granted_at, updated_at);
    ConsentRecord {
        status,
        channels,
        purpose: Some(ConsentPurpose::LeadFollowUp),
        legal_basis: LegalBasis::Consent,
        regime: market.enquiry_regime,
        source: ConsentSource::WebForm,
        customer_id: lead.customer_id.clone(),
        lead_id: Some(id.into()),
        granted_at: Some(granted_at),
        expires_at,
        decided_at,
        revisions,
        contact: Some(ConsentContact::of(&lead.contact)),
        evidence: Some(ConsentEvidence {
            text: Some(WORDS.into()),
            url: Some("https://www.example.com/contact".into()),
            captured_at: Some(granted_at),
            ip: None,
        }),
    }
}

/// Every fifth buyer withdrew a day after the sale.
pub(super) fn of_buyer(
    place: usize,
    customer_id: &str,
    contact: &Contact,
    market: &Market,
    sold_at: Millis,
) -> ConsentRecord {
    const DAY: i64 = 24 * 60 * 60;
    let status = if place.is_multiple_of(5) { ConsentStatus::Withdrawn } else { ConsentStatus::Granted };
    let (decided_at, revisions) = history(status, sold_at, sold_at.plus_seconds(DAY));
    ConsentRecord {
        status,
        channels: List(vec![ConsentChannel::Email]),
        purpose: Some(ConsentPurpose::Marketing),
        legal_basis: LegalBasis::Consent,
        regime: market.marketing_regime,
        source: ConsentSource::InStore,
        customer_id: Some(customer_id.into()),
        lead_id: None,
        granted_at: Some(sold_at),
        expires_at: None,
        decided_at,
        revisions,
        contact: Some(ConsentContact::of(contact)),
        evidence: None,
    }
}

fn history(status: ConsentStatus, granted_at: Millis, withdrawn_at: Millis) -> (Millis, List<ConsentRevision, 10>) {
    let revision = |at: Millis, status: ConsentStatus| ConsentRevision { at, by: "demo".into(), status };
    let granted = revision(granted_at, ConsentStatus::Granted);
    if status == ConsentStatus::Withdrawn {
        (withdrawn_at, List(vec![granted, revision(withdrawn_at, status)]))
    } else {
        (granted_at, List(vec![granted]))
    }
}
