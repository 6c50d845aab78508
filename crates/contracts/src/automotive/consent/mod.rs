//! Consent to be contacted. Contact data is recorded only with consent that covers it, and every consent is a record of
//! its own, so that it can be found, withdrawn and shown to have been given.

mod check;
mod record;
mod rules;
mod statements;
mod timed;

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::schema::{Field, optional};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, Fault};

use super::codes::CodeSpec;
use super::customer::Customer;
use super::lead::Lead;
use super::resource::WriteContext;
use super::values::Contact;
use super::vocabulary::{ConsentChannel, ConsentPurpose};
use crate::record::{FieldType, List, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};
pub use check::ConsentReason;
pub use record::{
    ConsentContact, ConsentEvidence, ConsentRecord, ConsentRegime, ConsentRevision, ConsentSource, LegalBasis, resource,
};
pub use statements::DoNotContact;
pub(super) use statements::{CHANNELS, ConsentPerson, Statements};
pub(super) use timed::expire;

/// Clock skew: a time up to this far in the future counts as now.
const TOLERANCE_SECONDS: i64 = 300;

pub(super) const CONSENT_REQUIRED: CodeSpec = CodeSpec {
    code: Code("consent.required"),
    means: "The person has not agreed to be contacted, or that their credit is looked at.",
    next: "Ask them, then send their consent.",
};
pub(super) const CONSENT_INVALID: CodeSpec = CodeSpec {
    code: Code("consent.invalid"),
    means: "The consent does not cover the contact data, is for another purpose or person, lies in the future, or has expired.",
    next: "Fix what `details.errors` names.",
};
pub(super) const CONSENT_WITHDRAWN: CodeSpec = CodeSpec {
    code: Code("consent.withdrawn"),
    means: "The person has withdrawn or refused consent since the time at which it is said to have been given.",
    next: "Ask them again, and send the new consent without `granted_at`.",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentStatus {
    Granted,
    Denied,
    Withdrawn,
    Expired,
    Pending,
    Unknown,
}

/// What the person agreed to. The words they agreed to are personal and stand apart.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct Consent {
    /// Whether it holds.
    pub status: ConsentStatus,
    /// How the person may be contacted.
    pub channels: List<ConsentChannel, 10>,
    /// When it was given.
    pub granted_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

impl Consent {
    /// A consent ends by itself.
    pub(super) fn status_at(&self, now: Millis) -> ConsentStatus {
        statements::effective(self.status, self.expires_at, now)
    }

    /// Nobody has been asked yet.
    pub fn pending(now: Millis) -> Consent {
        Consent { status: ConsentStatus::Pending, channels: List::default(), granted_at: now, expires_at: None }
    }
}

/// The argument with which a caller states consent. Optional in the schema, so that its absence is answered with its own
/// code, consent.required.
pub(super) fn argument() -> Field {
    optional(
        "consent",
        ConsentInput::input(),
        "Their consent to be contacted. Without it no contact data is recorded: consent.required.",
    )
}

/// Consent as a caller states it.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct ConsentInput {
    /// Whether the person agreed to be contacted.
    pub granted: bool,
    /// How they may be contacted. An e-mail address needs email; a number needs sms, voice_call or autodialed_call.
    #[field(known)]
    pub channels: List<ConsentChannel, 10>,
    /// What they may be contacted for; lead_follow_up if absent.
    #[field(known)]
    pub purpose: Option<ConsentPurpose>,
    /// When they agreed; now if absent.
    pub granted_at: Option<Timestamp>,
    /// When it ends, if it does.
    pub expires_at: Option<Timestamp>,
    /// The words they agreed to.
    pub text: Option<Text<4000>>,
}

/// Returns the consent if it covers this contact now.
pub(super) fn accept(input: Option<&ConsentInput>, contact: &Contact, now: Millis) -> Result<Consent, Fault> {
    let Some(input) = input else {
        let expected = "the person's consent to be contacted is required. Ask them, and send it like \
            {\"granted\":true,\"channels\":[\"email\"]}";
        return Err(rejected(CONSENT_REQUIRED, vec![Problem::new("/consent", "required", expected)]));
    };
    if !input.granted {
        let expected = "the person's consent to be contacted is required, and they have not given it";
        return Err(rejected(CONSENT_REQUIRED, vec![Problem::new("/consent/granted", "const", expected)]));
    }
    let granted_at = input.granted_at.unwrap_or(now);
    let mut problems = Vec::new();
    if is_future(granted_at, now) {
        problems.push(Problem::new("/consent/granted_at", "maximum", "it must not lie in the future"));
    }
    if input.expires_at.is_some_and(|expires_at| expires_at <= now) {
        problems.push(Problem::new("/consent/expires_at", "minimum", "the consent must not have expired"));
    }
    let covers = |is_covered: fn(ConsentChannel) -> bool| input.channels.iter().any(|channel| is_covered(*channel));
    if contact.email.is_some() && !covers(is_by_email) {
        problems.push(Problem::new("/consent/channels", "contains", "an e-mail address needs consent to email"));
    }
    if contact.phone.is_some() && !covers(is_by_phone) {
        let expected = "a telephone number needs consent to sms, voice_call or autodialed_call";
        problems.push(Problem::new("/consent/channels", "contains", expected));
    }
    if !problems.is_empty() {
        return Err(rejected(CONSENT_INVALID, problems));
    }
    let channels = distinct(&input.channels);
    Ok(Consent { status: ConsentStatus::Granted, channels, granted_at, expires_at: input.expires_at })
}

/// Whom an accepted consent is about.
pub(super) struct ConsentSubject<'a> {
    pub(super) customer_id: Option<Ref<Customer>>,
    pub(super) lead_id: Option<Ref<Lead>>,
    pub(super) contact: &'a Contact,
    pub(super) source: ConsentSource,
}

/// Adds the record of a consent that was accepted with this call, unless it has been withdrawn since it was given.
pub(super) async fn record_accepted(
    accepted: &Consent,
    input: ConsentInput,
    subject: ConsentSubject<'_>,
    context: &mut WriteContext<'_>,
) -> Result<Ref<ConsentRecord>, Fault> {
    let purpose = input.purpose.unwrap_or(ConsentPurpose::LeadFollowUp);
    let person = ConsentPerson::new(subject.customer_id.as_deref(), subject.contact);
    let statements = Statements::load(context.permitted(), &person).await?;
    statements.check_not_withdrawn(&accepted.channels, purpose, accepted.granted_at, "/consent/granted_at")?;
    let now = context.now();
    let by = context.permitted().caller().client.as_str();
    Ok(context.insert(ConsentRecord {
        status: ConsentStatus::Granted,
        channels: accepted.channels.clone(),
        purpose: Some(purpose),
        legal_basis: LegalBasis::Consent,
        regime: None,
        source: subject.source,
        customer_id: subject.customer_id,
        lead_id: subject.lead_id,
        granted_at: Some(accepted.granted_at),
        expires_at: accepted.expires_at,
        decided_at: now,
        revisions: List(vec![ConsentRevision { at: now, by: by.into(), status: ConsentStatus::Granted }]),
        contact: Some(ConsentContact::of(subject.contact)),
        evidence: input.text.map(|text| ConsentEvidence { text: Some(text), url: None, captured_at: None, ip: None }),
    }))
}

/// New addresses of somebody need consent that is on record.
pub(super) fn check_new_addresses(
    statements: &Statements,
    person: &ConsentPerson<'_>,
    now: Millis,
) -> Result<(), Fault> {
    let mut problems = Vec::new();
    if person.email.is_some() && !statements.is_granted(is_by_email, now) {
        let expected = "a new e-mail address needs the person's consent. Record it first with consent.create: customer_id, \
            contact with the new address, and channel email";
        problems.push(Problem::new("/primary_contact/email", "required", expected));
    }
    if person.phone.is_some() && !statements.is_granted(is_by_phone, now) {
        let expected = "a new telephone number needs the person's consent. Record it first with consent.create: \
            customer_id, contact with the new number, and channel sms, voice_call or autodialed_call";
        problems.push(Problem::new("/primary_contact/phone", "required", expected));
    }
    if problems.is_empty() { Ok(()) } else { Err(rejected(CONSENT_REQUIRED, problems)) }
}

pub(super) fn is_by_email(channel: ConsentChannel) -> bool {
    channel == ConsentChannel::Email
}

pub(super) fn is_by_phone(channel: ConsentChannel) -> bool {
    matches!(channel, ConsentChannel::Sms | ConsentChannel::VoiceCall | ConsentChannel::AutodialedCall)
}

/// Each channel once, in the order in which they were named.
fn distinct(named: &List<ConsentChannel, 10>) -> List<ConsentChannel, 10> {
    let mut channels: List<ConsentChannel, 10> = List::default();
    for channel in named.iter() {
        if !channels.contains(channel) {
            channels.push(*channel);
        }
    }
    channels
}

pub(super) fn is_future(at: Millis, now: Millis) -> bool {
    at > now.plus_seconds(TOLERANCE_SECONDS)
}

/// The message says everything: many clients show nothing else.
fn rejected(code: CodeSpec, problems: Vec<Problem>) -> Fault {
    let reasons: Vec<&str> = problems.iter().map(|problem| problem.expected.as_str()).collect();
    let message = format!("Nothing was recorded: {}.", reasons.join("; "));
    Fault { problems, ..Fault::domain(code.code, message) }
}
