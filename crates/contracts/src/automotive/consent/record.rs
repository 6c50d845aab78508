//! A consent as a record: what a person said about being contacted, when, and how it can be shown. Only its status
//! changes, and every change is kept.

use super::rules::INVALID_TRANSITION;
use super::{CONSENT_INVALID, CONSENT_WITHDRAWN, ConsentStatus, check};
use crate::automotive::customer::Customer;
use crate::automotive::erasure::PersonRecord;
use crate::automotive::lead::Lead;
use crate::automotive::resource::{ResourceApi, ResourceParts};
use crate::automotive::values::Contact;
use crate::automotive::vocabulary::{ConsentChannel, ConsentPurpose};
use crate::record::filter::equals;
use crate::record::{Email, FilterArgument, List, Phone, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};

/// As in article 6 of the GDPR.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum LegalBasis { Consent, Contract, LegalObligation, VitalInterests, PublicTask, LegitimateInterests, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentRegime { Tcpa, CanSpam, Gdpr, Ccpa, Glba, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentSource { WebForm, InStore, Phone, SmsKeyword, EmailLink, AiAgent, Import, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("consent", prefix = "cns", not_found = "consent.not_found")]
pub struct ConsentRecord {
    /// What holds now; expired once expires_at has passed.
    #[field(create, update, known, indexed, receipt)]
    #[argument("What the person said: granted, denied, withdrawn, or pending while they have not answered.")]
    pub status: ConsentStatus,
    /// How the person may be contacted, or not.
    #[field(create, known)]
    #[argument("The channels it is about.")]
    pub channels: List<ConsentChannel, 10>,
    /// What for; absent in a refusal of everything.
    #[field(create, known, indexed)]
    #[argument("What they may be contacted for; leave it out only if they refuse everything.")]
    pub purpose: Option<ConsentPurpose>,
    /// Why contacting them is lawful.
    #[field(create)]
    #[argument("Why contacting them is lawful; consent if absent.")]
    #[default(LegalBasis::Consent)]
    pub legal_basis: LegalBasis,
    /// The law it was asked for under.
    #[field(create)]
    pub regime: Option<ConsentRegime>,
    /// Where the person said it.
    #[field(create)]
    #[argument("Where the person said it; ai_agent if absent.")]
    #[default(ConsentSource::AiAgent)]
    pub source: ConsentSource,
    /// The customer who said it.
    #[field(create, indexed)]
    #[argument("The customer who said it.")]
    pub customer_id: Option<Ref<Customer>>,
    /// The lead with which they said it.
    #[field(create, indexed)]
    #[argument("The lead of the person who said it.")]
    pub lead_id: Option<Ref<Lead>>,
    /// When it was given.
    #[field(create)]
    #[argument("When they agreed, only with status granted; now if absent.")]
    pub granted_at: Option<Timestamp>,
    /// When it ends.
    #[field(create, column)]
    #[argument("When it ends, if it does.")]
    pub expires_at: Option<Timestamp>,
    /// Since when the status holds here.
    #[field(sorted)]
    #[default(|new| new.now)]
    pub decided_at: Timestamp,
    /// Every status it has had, oldest first.
    #[default(List::default())]
    pub revisions: List<ConsentRevision, 10>,
    /// The addresses it is about; masked in lists.
    #[field(create, columns)]
    #[argument("The addresses it is about; those of the lead or the customer if absent.")]
    pub contact: Option<ConsentContact>,
    /// How it can be shown that they said it; left out where masked.
    #[field(create, sealed)]
    #[argument("How it can be shown that they said it.")]
    pub evidence: Option<ConsentEvidence>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct ConsentRevision {
    /// When it was recorded.
    pub at: Timestamp,
    /// The client that recorded it.
    pub by: Text<200>,
    /// The status since then.
    pub status: ConsentStatus,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct ConsentContact {
    /// E-mail address, or what is left of it where masked.
    #[field(indexed)]
    #[argument("E-mail address.")]
    pub email: Option<Email>,
    /// Number in E.164 form, or what is left of it where masked.
    #[field(indexed)]
    #[argument("Number in E.164 form.")]
    pub phone: Option<Phone>,
}

impl ConsentContact {
    pub fn of(contact: &Contact) -> ConsentContact {
        ConsentContact { email: contact.email.clone(), phone: contact.phone.clone() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.email.is_none() && self.phone.is_none()
    }
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct ConsentEvidence {
    /// The words they agreed to, or said.
    pub text: Option<Text<4000>>,
    /// Where they were asked.
    pub url: Option<Text<2000>>,
    /// When it was captured.
    pub captured_at: Option<Timestamp>,
    /// The address of their device.
    pub ip: Option<Text<45>>,
}

impl PersonRecord for ConsentRecord {
    fn email(&self) -> Option<&Email> {
        self.contact.as_ref()?.email.as_ref()
    }

    fn phone(&self) -> Option<&Phone> {
        self.contact.as_ref()?.phone.as_ref()
    }

    fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// That somebody agreed or refused, and when, stays; who and in which words does not.
    fn erase(&mut self) {
        let ConsentRecord {
            status: _,
            channels: _,
            purpose: _,
            legal_basis: _,
            regime: _,
            source: _,
            customer_id: _,
            lead_id: _,
            granted_at: _,
            expires_at: _,
            decided_at: _,
            revisions: _,
            contact,
            evidence,
        } = self;
        *contact = None;
        *evidence = None;
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only consents with this status now."),
    equals("purpose", "Only consents for this purpose."),
    equals("customer_id", "Only consents of this customer."),
    equals("lead_id", "Only consents of this lead."),
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<ConsentRecord>::new("consents", "The consent's id, as lists give it.")
        .list(
            "consent.list",
            "List consents",
            "Lists what people said about being contacted, newest first, page by page, addresses masked. To know whether \
                    somebody may be contacted, call consent.check instead.",
            LISTED_BY,
            ("Consents", "Consents and refusals, newest first, addresses masked."),
        )
        .get(
            "consent.get",
            "Get a consent",
            "Reads one consent by its id, with addresses, evidence and every status it has had.",
            ("Consent", "One consent by its id, with addresses and evidence."),
        )
        .create(
            "consent.create",
            "Record a consent",
            "Records what somebody said about being contacted: agreed, refused or withdrew. Name them by customer_id, \
                    lead_id or contact. A withdrawal counts at once, for all their leads. leads.create and \
                    customers.create record the consent sent with them; do not repeat it here. Without \
                    amcp:consent:read the answer is a receipt.",
            Vec::new(),
            &[CONSENT_INVALID, CONSENT_WITHDRAWN],
        )
        .update(
            "consent.update",
            "Change a consent's status",
            "Sets the status: withdrawn at any time, granted or denied while it is pending. Nothing else of a consent \
                    changes; to withdraw only some of its channels, record that with consent.create. Without \
                    amcp:consent:read the answer is a receipt.",
            &[INVALID_TRANSITION, CONSENT_INVALID, CONSENT_WITHDRAWN],
        )
        .tool(check::tool(), &[])
        .parts()
}
