//! The rules of consents: what one must say, which status follows which, and what else changes with it.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, Fault, Permitted};

use super::statements::{ConsentPerson, Statements, effective};
use super::timed::{timed_filters, timed_text};
use super::{
    CONSENT_INVALID, ConsentContact, ConsentRecord, ConsentRevision, ConsentStatus, distinct, is_by_email, is_by_phone,
    is_future, rejected,
};
use crate::automotive::codes::CodeSpec;
use crate::automotive::customer::Customer;
use crate::automotive::domains::{self, Domain};
use crate::automotive::lead::Lead;
use crate::automotive::resource::{Resource, TimedAnswers, WriteContext};
use crate::automotive::vocabulary::{ConsentChannel, ConsentPurpose};
use crate::record::{Entity, check_transition};

pub(super) const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("consent.invalid_transition"),
    means: "A consent with this status cannot get the status that was sent.",
    next: "Record what the person says now with `consent.create`.",
};

/// Withdrawal is always possible, and nothing undoes it: whoever agrees again gives a new consent.
const TRANSITIONS: &[(ConsentStatus, &[ConsentStatus])] = &[
    (ConsentStatus::Pending, &[ConsentStatus::Granted, ConsentStatus::Denied, ConsentStatus::Withdrawn]),
    (ConsentStatus::Granted, &[ConsentStatus::Withdrawn]),
    (ConsentStatus::Expired, &[ConsentStatus::Withdrawn]),
    (ConsentStatus::Denied, &[ConsentStatus::Withdrawn]),
    (ConsentStatus::Unknown, &[ConsentStatus::Granted, ConsentStatus::Denied, ConsentStatus::Withdrawn]),
];

impl Resource for ConsentRecord {
    const DOMAIN: &'static Domain = &domains::CONSENT;
    const TIMED: Option<TimedAnswers> = Some(TimedAnswers { filters: timed_filters, text: timed_text });
    const DERIVES: bool = true;

    async fn derive(entity: &mut Entity<ConsentRecord>, permitted: &Permitted<'_>, _: &[Step]) -> Result<(), Fault> {
        let consent = &mut entity.record;
        consent.status = effective(consent.status, consent.expires_at, permitted.now());
        Ok(())
    }

    fn on_create(entity: &mut Entity<ConsentRecord>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let consent = &mut entity.record;
        let has_address = consent.contact.as_ref().is_some_and(|contact| !contact.is_empty());
        if consent.status == ConsentStatus::Expired {
            let expected = "granted, denied, withdrawn or pending is expected; a consent expires by itself";
            return Err(Fault::invalid_argument("/status", "enum", expected));
        }
        if consent.customer_id.is_none() && consent.lead_id.is_none() && !has_address {
            let expected = "one of customer_id, lead_id and contact with email or phone is required";
            return Err(Fault::invalid_argument("", "anyOf", expected));
        }
        let problems = consent.problems(context.now());
        if !problems.is_empty() {
            return Err(rejected(CONSENT_INVALID, problems));
        }
        consent.channels = distinct(&consent.channels);
        if consent.status == ConsentStatus::Granted {
            consent.granted_at.get_or_insert(context.now());
        }
        consent.add_revision(context);
        Ok(())
    }

    fn on_update(
        before: &Entity<ConsentRecord>,
        after: &mut Entity<ConsentRecord>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        let (from, to) =
            (effective(before.record.status, before.record.expires_at, context.now()), after.record.status);
        check_transition(TRANSITIONS, from, to, INVALID_TRANSITION.code).map_err(|fault| {
            let message = format!("{} Record what the person says now with consent.create.", fault.message);
            Fault { message: message.into(), ..fault }
        })?;
        let consent = &mut after.record;
        if before.record.status != consent.status {
            if consent.status == ConsentStatus::Granted {
                consent.granted_at = Some(context.now());
                let problems = consent.problems(context.now());
                if !problems.is_empty() {
                    return Err(rejected(CONSENT_INVALID, problems));
                }
            }
            consent.add_revision(context);
        }
        Ok(())
    }

    /// Takes the addresses of whom it is about, so that it is found by them, and keeps the lead's own summary in step.
    async fn cascade(
        before: Option<&Entity<ConsentRecord>>,
        after: &mut Entity<ConsentRecord>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let consent = &mut after.record;
        if before.is_some_and(|before| before.record.status == consent.status) {
            return Ok(());
        }
        let mut lead = match (&consent.lead_id, before) {
            (Some(id), None) => Some(context.load_required(id).await?),
            (Some(id), Some(_)) => context.load(id).await?,
            (None, _) => None,
        };
        if before.is_none() {
            consent.complete(lead.as_ref(), context).await?;
        }
        if consent.status == ConsentStatus::Granted {
            consent.check_new_grant(context).await?;
        }
        if let Some(lead) = lead.take_if(|lead| consent.is_summed_up_in(&lead.record, &after.id)) {
            let Entity { mut record, .. } = lead.clone();
            record.consent.status = consent.status;
            record.consent.granted_at = consent.granted_at.unwrap_or(record.consent.granted_at);
            context.update(Entity { record, ..lead });
        }
        Ok(())
    }
}

impl ConsentRecord {
    /// What is wrong with it as a whole.
    fn problems(&self, now: Millis) -> Vec<Problem> {
        let is_refusal = matches!(self.status, ConsentStatus::Denied | ConsentStatus::Withdrawn);
        let mut problems = Vec::new();
        if self.channels.is_empty() {
            problems.push(Problem::new("/channels", "minItems", "at least one channel is required"));
        }
        if self.purpose.is_none() && !is_refusal {
            problems.push(Problem::new("/purpose", "required", "consent is given for a purpose; name it"));
        }
        match self.granted_at {
            Some(_) if self.status != ConsentStatus::Granted => {
                problems.push(Problem::new("/granted_at", "const", "granted_at is allowed only with status granted"));
            }
            Some(at) if is_future(at, now) => {
                problems.push(Problem::new("/granted_at", "maximum", "granted_at must not lie in the future"));
            }
            Some(_) | None => {}
        }
        match self.expires_at {
            Some(_) if is_refusal => {
                problems.push(Problem::new("/expires_at", "const", "a refusal does not expire; leave expires_at out"));
            }
            Some(at) if at <= now => {
                problems.push(Problem::new("/expires_at", "minimum", "the consent must not have expired"));
            }
            Some(_) | None => {}
        }
        problems
    }

    fn add_revision(&mut self, context: &WriteContext<'_>) {
        self.decided_at = context.now();
        let by = context.permitted().caller().client.as_str();
        self.revisions.push(ConsentRevision { at: context.now(), by: by.into(), status: self.status });
    }

    async fn complete(&mut self, lead: Option<&Entity<Lead>>, context: &mut WriteContext<'_>) -> Result<(), Fault> {
        if self.customer_id.is_none() {
            self.customer_id = lead.and_then(|lead| lead.record.customer_id.clone());
        }
        let customer: Option<Entity<Customer>> = match &self.customer_id {
            Some(id) => Some(context.load_required(id).await?),
            None => None,
        };
        let of_lead = lead.map(|lead| &lead.record.contact);
        let known = of_lead.or(customer.as_ref().map(|customer| &customer.record.primary_contact));
        if let (None, Some(known)) = (&self.contact, known) {
            self.contact = Some(ConsentContact::of(known)).filter(|contact| !contact.is_empty());
        }
        Ok(())
    }

    /// A consent needs the addresses of its channels, and must not be older than a refusal.
    async fn check_new_grant(&self, context: &WriteContext<'_>) -> Result<(), Fault> {
        let (email, phone) = match &self.contact {
            Some(contact) => (contact.email.as_ref(), contact.phone.as_ref()),
            None => (None, None),
        };
        let has = |is_channel: fn(ConsentChannel) -> bool| self.channels.iter().any(|channel| is_channel(*channel));
        let mut problems = Vec::new();
        if has(is_by_email) && email.is_none() {
            problems.push(Problem::new("/contact/email", "required", "consent to email needs an e-mail address"));
        }
        if has(is_by_phone) && phone.is_none() {
            let expected = "consent to sms, voice_call or autodialed_call needs a telephone number";
            problems.push(Problem::new("/contact/phone", "required", expected));
        }
        if !problems.is_empty() {
            return Err(rejected(CONSENT_INVALID, problems));
        }
        let person = ConsentPerson { customer_id: self.customer_id.as_deref(), email, phone };
        let statements = Statements::load(context.permitted(), &person).await?;
        let granted_at = self.granted_at.unwrap_or(context.now());
        let purpose = self.purpose.unwrap_or(ConsentPurpose::Unknown);
        statements.check_not_withdrawn(&self.channels, purpose, granted_at, "/granted_at")
    }

    /// Whether the lead's summary is about this consent, or all of it is refused by it.
    fn is_summed_up_in(&self, lead: &Lead, id: &str) -> bool {
        let refuses_all = self.status == ConsentStatus::Withdrawn
            && self.purpose.is_none_or(|purpose| purpose == ConsentPurpose::LeadFollowUp)
            && lead.consent.channels.iter().all(|channel| self.channels.contains(channel));
        let is_its_own = lead.consent_id.as_deref() == Some(id);
        (refuses_all || is_its_own) && lead.consent.status != self.status
    }
}
