//! The rules of leads: who may be recorded, which status follows which, and what else changes with a lead.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, Fault, Permitted};

use super::duplicates::earlier_lead;
use super::stock_link::vehicle_in_stock;
use super::{Channel, Lead, LeadOwner, LeadStatus, TradeIn};
use crate::automotive::codes::CodeSpec;
use crate::automotive::consent::{self, ConsentInput, ConsentPerson, ConsentSource, ConsentSubject, Statements};
use crate::automotive::customer::LatestLead;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, TimedAnswers, WriteContext};
use crate::automotive::values::{Reachability, is_plain_id};
use crate::automotive::vin::Vin;
use crate::record::{Entity, FieldType as _, Integer, check_transition};

pub(super) const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("leads.invalid_transition"),
    means: "A lead with this status cannot get the status that was sent.",
    next: "Send one of the statuses that the message names.",
};

/// A lead that somebody works on is never new again, and a finished one has to be opened before it ends otherwise.
const TRANSITIONS: &[(LeadStatus, &[LeadStatus])] = {
    use LeadStatus::{AppointmentSet, Contacted, Duplicate, Invalid, Lost, Negotiating, New, Sold, Unknown, Working};
    &[
        (New, &[Contacted, Working, AppointmentSet, Negotiating, Sold, Lost, Duplicate, Invalid]),
        (Contacted, &[Working, AppointmentSet, Negotiating, Sold, Lost, Duplicate, Invalid]),
        (Working, &[Contacted, AppointmentSet, Negotiating, Sold, Lost, Duplicate, Invalid]),
        (AppointmentSet, &[Contacted, Working, Negotiating, Sold, Lost, Duplicate, Invalid]),
        (Negotiating, &[Contacted, Working, AppointmentSet, Sold, Lost, Duplicate, Invalid]),
        (Sold, &[Contacted, Working, AppointmentSet, Negotiating]),
        (Lost, &[Contacted, Working, AppointmentSet, Negotiating, Duplicate, Invalid]),
        (Duplicate, &[New, Contacted, Working, AppointmentSet, Negotiating, Invalid]),
        (Invalid, &[New, Contacted, Working, AppointmentSet, Negotiating, Duplicate]),
        (Unknown, &[New, Contacted, Working, AppointmentSet, Negotiating, Sold, Lost, Duplicate, Invalid]),
    ]
};

pub(super) const LOST_REASON_REQUIRED: CodeSpec = CodeSpec {
    code: Code("leads.lost_reason_required"),
    means: "Status lost was sent without a reason.",
    next: "Send `lost_reason`.",
};

impl Lead {
    /// The first answer stays what it was.
    pub(in crate::automotive) fn note_response(&mut self, now: Millis) {
        use LeadStatus::{
            AppointmentSet, Contacted, Duplicate, Invalid, Lost, Negotiating, New, Sold, Unknown, Working,
        };
        let is_answered = match self.status {
            Contacted | Working | AppointmentSet | Negotiating | Sold => true,
            New | Lost | Duplicate | Invalid | Unknown => false,
        };
        let at = self.last_contact_at.or(is_answered.then_some(now));
        if let (None, Some(at)) = (self.response_minutes, at) {
            let millis = at.0.saturating_sub(self.received_at.0).max(0);
            self.response_minutes = Some(Integer::clamped(millis / 60_000));
        }
    }
}

impl LeadStatus {
    /// Whether another status may follow.
    pub(in crate::automotive) fn can_become(self, next: LeadStatus) -> bool {
        self != next && check_transition(TRANSITIONS, self, next, INVALID_TRANSITION.code).is_ok()
    }
}

impl Resource for Lead {
    const DOMAIN: &'static Domain = &domains::LEADS;
    const TIMED: Option<TimedAnswers> = Some(TimedAnswers { filters: |filters, _| filters, text: timed_text });
    const DERIVES: bool = true;
    const NOT_STORED: &'static [&'static str] = &["do_not_contact"];

    /// The addresses stay readable after a withdrawal: staff must recognise the person. What must not be done with them
    /// is said beside them.
    async fn derive(entity: &mut Entity<Lead>, permitted: &Permitted<'_>, planned: &[Step]) -> Result<(), Fault> {
        let lead = &mut entity.record;
        let person = ConsentPerson::new(lead.customer_id.as_deref(), &lead.contact);
        let statements = Statements::load(permitted, &person).await?.with_planned(planned, &person)?;
        lead.do_not_contact = statements.do_not_contact(permitted.now());
        lead.consent.status = lead.consent.status_at(permitted.now());
        Ok(())
    }

    /// Never searches for a customer who might be the same person: a wrong match would show one person's history to
    /// another.
    fn on_create(entity: &mut Entity<Lead>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let lead = &mut entity.record;
        let mut problems = lead.contact.problems("/contact", Reachability::Required);
        problems.extend(owner_problem(lead.owner.as_ref()));
        problems.extend(lead.trade_in.as_mut().and_then(trade_in_problem));
        if !problems.is_empty() {
            return Err(Fault::invalid(problems));
        }
        let stated: Option<ConsentInput> = context.argument("consent")?;
        lead.consent = consent::accept(stated.as_ref(), &lead.contact, context.now())?;
        lead.consent_text = stated.and_then(|consent| consent.text);
        Ok(())
    }

    /// A closed lead stays closed unless an open status is named; a reason is kept only while the lead is lost.
    fn on_update(before: &Entity<Lead>, after: &mut Entity<Lead>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let lead = &mut after.record;
        let mut problems = Vec::new();
        if context.is_named("last_contact_at")
            && lead.last_contact_at.is_some_and(|at| consent::is_future(at, context.now()))
        {
            problems.push(Problem::new("/last_contact_at", "maximum", "it must not lie in the future"));
        }
        if before.record.customer_id.is_some() && before.record.customer_id != lead.customer_id {
            let expected = "the lead belongs to another customer already; record a lead of its own for this one";
            problems.push(Problem::new("/customer_id", "const", expected));
        }
        problems.extend(owner_problem(lead.owner.as_ref()));
        problems.extend(lead.trade_in.as_mut().and_then(trade_in_problem));
        if lead.status != LeadStatus::Lost && context.is_named("lost_reason") && lead.lost_reason.is_some() {
            problems.push(Problem::new("/lost_reason", "const", "allowed only with status lost"));
        }
        if !problems.is_empty() {
            return Err(Fault::invalid(problems));
        }
        check_transition(TRANSITIONS, before.record.status, lead.status, INVALID_TRANSITION.code)?;
        match (lead.status == LeadStatus::Lost, lead.lost_reason) {
            (true, Some(_)) | (false, None) => {}
            (true, None) => {
                return Err(Fault::domain(
                    LOST_REASON_REQUIRED.code,
                    "Status lost needs a reason. Send lost_reason with it.",
                ));
            }
            (false, Some(_)) => lead.lost_reason = None,
        }
        lead.note_response(context.now());
        Ok(())
    }

    /// A new lead has its consent recorded and says whether the same person came before. A customer record contains their
    /// latest lead and its status, so both change together.
    async fn cascade(
        before: Option<&Entity<Lead>>,
        after: &mut Entity<Lead>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        if before.is_none() {
            let lead = &mut after.record;
            if let Some(input) = context.argument::<ConsentInput>("consent")? {
                let subject = ConsentSubject {
                    customer_id: lead.customer_id.clone(),
                    lead_id: Some(after.id.as_str().into()),
                    contact: &lead.contact,
                    source: consent_source(lead.source.channel),
                };
                lead.consent_id = Some(consent::record_accepted(&lead.consent, input, subject, context).await?);
            }
            lead.duplicate_of = earlier_lead(&lead.contact, context).await?;
            if lead.vehicle_id.is_none() {
                lead.vehicle_id = vehicle_in_stock(context).await?;
            }
        }
        update_customer(before, after, context).await
    }
}

async fn update_customer(
    before: Option<&Entity<Lead>>,
    after: &Entity<Lead>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let Some(customer_id) = &after.record.customer_id else {
        return Ok(());
    };
    let latest = LatestLead { id: after.id.as_str().into(), status: after.record.status };
    let is_new_to_them = before.is_none_or(|before| before.record.customer_id.is_none());
    let mut customer = if is_new_to_them {
        context.load_required(customer_id).await?
    } else {
        match context.load(customer_id).await? {
            Some(customer) => customer,
            None => return Ok(()),
        }
    };
    let known = customer.record.latest_lead.as_ref();
    let is_latest = match known {
        _ if before.is_none() => true,
        Some(known) if known.id == latest.id => true,
        None => is_new_to_them,
        Some(known) if is_new_to_them => {
            let other = context.load(&known.id).await?;
            other.is_none_or(|other| other.record.received_at < after.record.received_at)
        }
        Some(_) => false,
    };
    if is_latest && known != Some(&latest) {
        customer.record.latest_lead = Some(latest);
        context.update(customer);
    }
    Ok(())
}

/// Where the person was when they agreed, as far as the channel of the lead tells.
fn consent_source(channel: Channel) -> ConsentSource {
    match channel {
        Channel::Website => ConsentSource::WebForm,
        Channel::Phone => ConsentSource::Phone,
        Channel::WalkIn | Channel::Event => ConsentSource::InStore,
        Channel::Chat | Channel::AiAgent => ConsentSource::AiAgent,
        Channel::ThirdParty | Channel::Oem => ConsentSource::Import,
        Channel::Email | Channel::Social | Channel::Referral | Channel::Unknown => ConsentSource::Unknown,
    }
}

fn timed_text(text: String, now: Millis) -> String {
    let (granted, expired) = (r#""consent":{"status":"granted""#, r#""consent":{"status":"expired""#);
    consent::expire(text, granted, expired, |row| row.get("consent")?.get("expires_at").and_then(Millis::read), now)
}

/// Lists show the id unmasked, so it must not be able to hold a name, an e-mail address or free text.
fn owner_problem(owner: Option<&LeadOwner>) -> Option<Problem> {
    let is_plain = owner.is_none_or(|owner| is_plain_id(&owner.id));
    let expected = "only letters A to Z, digits, _ and - are allowed";
    (!is_plain).then(|| Problem::new("/owner/id", "pattern", expected))
}

/// Writes a valid VIN in capitals.
fn trade_in_problem(trade_in: &mut TradeIn) -> Option<Problem> {
    match Vin::parse(trade_in.vin.as_ref()?) {
        Ok(vin) => {
            trade_in.vin = Some(vin.as_str().into());
            None
        }
        Err(error) => Some(Problem::new("/trade_in/vin", "pattern", error.to_string())),
    }
}
