//! A lead: a person's interest, its owner and its status. Who the person is and what anybody wrote is personal data.

use frontdesk_engine::model::schema::optional;
use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::{Code, Fault};

use super::codes::CodeSpec;
use super::consent::{self, CONSENT_INVALID, CONSENT_REQUIRED, Consent, ConsentInput};
use super::customer::{Customer, LatestLead};
use super::domains::{self, Domain};
use super::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use super::values::{Contact, VehicleInterest};
use super::vehicle::Vehicle;
use crate::record::filter::{at_least, equals};
use crate::record::{Entity, FieldType, FilterArgument, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum LeadStatus { New, Contacted, Working, AppointmentSet, Negotiating, Sold, Lost, Duplicate, Invalid, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Interest { Buy, Lease, Sell, TradeIn, TestDrive, Service, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Channel { Website, Phone, WalkIn, Chat, AiAgent, Email, Social, Referral, ThirdParty, Oem, Event, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum Timeframe { WithinWeek, WithinTwoWeeks, WithinMonth, WithinQuarter, Later, JustLooking, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum LostReason { BoughtElsewhere, Price, Financing, VehicleUnavailable, KeptCurrentVehicle, NoResponse, Other, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("lead", prefix = "led", not_found = "leads.not_found")]
pub struct Lead {
    /// How far it has come.
    #[field(update, known, indexed, receipt)]
    #[argument("The new status.")]
    #[default(LeadStatus::New)]
    pub status: LeadStatus,
    /// What the person wants.
    #[field(create)]
    #[argument("What they want.")]
    pub interest: Interest,
    /// Where it came from; only the channel where masked.
    #[field(create, columns)]
    #[argument("Where it comes from; channel ai_agent if absent.")]
    #[default(LeadSource { channel: Channel::AiAgent, provider: None, external_id: None })]
    pub source: LeadSource,
    /// The employee who looks after it; only the id where masked.
    #[field(update, columns)]
    #[argument("The employee who looks after it from now on.")]
    pub owner: Option<LeadOwner>,
    /// The customer, where known.
    #[field(create, indexed)]
    #[argument("The customer, if already known here.")]
    pub customer_id: Option<Ref<Customer>>,
    /// The vehicle in play, where it is in stock.
    #[field(create, indexed)]
    #[argument("The vehicle meant, by its id here.")]
    pub vehicle_id: Option<Ref<Vehicle>>,
    /// What kind of vehicle is wanted; left out where masked.
    #[field(create, sealed)]
    #[argument("The kind of vehicle meant.")]
    pub vehicle_of_interest: Option<VehicleInterest>,
    /// How soon.
    #[field(create)]
    pub timeframe: Option<Timeframe>,
    /// What the person agreed to.
    #[default(|new| Consent::pending(new.now))]
    pub consent: Consent,
    /// When it came in.
    #[field(column)]
    #[default(|new| new.now)]
    pub received_at: Timestamp,
    /// When somebody last spoke with the person.
    #[field(update)]
    pub last_contact_at: Option<Timestamp>,
    /// Why it was lost.
    #[field(update, known)]
    #[argument("Why it was lost; needed with status lost and only then.")]
    pub lost_reason: Option<LostReason>,
    /// Who it is; masked in lists.
    #[field(create, columns)]
    #[argument("Who it is, with an e-mail address or a number or both.")]
    pub contact: Contact,
    /// What the person wrote; left out where masked.
    #[field(create, update, sealed)]
    #[argument("What they wrote. An update replaces what was there before.")]
    pub comments: Option<Text<4000>>,
    /// The words agreed to; left out where masked.
    #[field(sealed)]
    pub consent_text: Option<Text<4000>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct LeadSource {
    /// By which way it came.
    #[field(column)]
    pub channel: Channel,
    /// Which site, agent or partner sent it.
    #[field(sealed)]
    pub provider: Option<Text<80>>,
    /// The id it has there.
    #[field(sealed)]
    pub external_id: Option<Text<80>>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct LeadOwner {
    /// The employee's id: letters A to Z, digits, _ and -.
    #[field(column = "owner_id", indexed)]
    pub id: Text<64>,
    /// The employee's name.
    #[field(sealed)]
    pub name: Text<120>,
}

const LOST_REASON_REQUIRED: CodeSpec = CodeSpec {
    code: Code("leads.lost_reason_required"),
    means: "Status lost was sent without a reason.",
    next: "Send `lost_reason`.",
};

impl Resource for Lead {
    const DOMAIN: &'static Domain = &domains::LEADS;

    /// Never searches for a customer who might be the same person: a wrong match would show one person's history to
    /// another.
    fn on_create(entity: &mut Entity<Lead>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let lead = &mut entity.record;
        check_contact(&lead.contact)?;
        let stated: Option<ConsentInput> = context.argument("consent")?;
        lead.consent = consent::accept(stated.as_ref(), &lead.contact, context.now())?;
        lead.consent_text = stated.and_then(|consent| consent.text);
        Ok(())
    }

    /// A closed lead stays closed unless an open status is named; a reason is kept only while the lead is lost.
    fn on_update(_: &Entity<Lead>, after: &mut Entity<Lead>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let lead = &mut after.record;
        if context.is_named("last_contact_at")
            && lead.last_contact_at.is_some_and(|at| consent::is_future(at, context.now()))
        {
            return Err(Fault::invalid_argument("/last_contact_at", "maximum", "it must not lie in the future"));
        }
        check_owner(lead.owner.as_ref())?;
        match (lead.status == LeadStatus::Lost, lead.lost_reason) {
            (true, Some(_)) | (false, None) => {}
            (true, None) => {
                return Err(Fault::domain(
                    LOST_REASON_REQUIRED.code,
                    "Status lost needs a reason. Send lost_reason with it.",
                ));
            }
            (false, Some(_)) if context.is_named("lost_reason") => {
                return Err(Fault::invalid_argument("/lost_reason", "const", "allowed only with status lost"));
            }
            (false, Some(_)) => lead.lost_reason = None,
        }
        Ok(())
    }

    /// A customer record contains their latest lead and its status, so both change together.
    async fn cascade(
        before: Option<&Entity<Lead>>,
        after: &mut Entity<Lead>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let Some(customer_id) = &after.record.customer_id else {
            return Ok(());
        };
        let latest = LatestLead { id: after.id.as_str().into(), status: after.record.status };
        let mut customer = match before {
            None => context.load_required(customer_id).await?,
            Some(_) => match context.load(customer_id).await? {
                Some(customer) => customer,
                None => return Ok(()),
            },
        };
        let known = customer.record.latest_lead.as_ref();
        let is_latest = before.is_none() || known.is_some_and(|known| known.id == latest.id);
        if is_latest && known != Some(&latest) {
            customer.record.latest_lead = Some(latest);
            context.update(customer);
        }
        Ok(())
    }
}

/// A lead needs a name and a way to contact the person.
fn check_contact(contact: &Contact) -> Result<(), Fault> {
    if search_terms(&contact.name).is_empty() {
        return Err(Fault::invalid_argument("/contact/name", "pattern", "at least one letter is expected"));
    }
    if contact.email.is_none() && contact.phone.is_none() {
        let expected = "an e-mail address or a telephone number is required";
        return Err(Fault::invalid_argument("/contact", "anyOf", expected));
    }
    Ok(())
}

/// Lists show the id unmasked, so it must not be able to hold a name, an e-mail address or free text.
fn check_owner(owner: Option<&LeadOwner>) -> Result<(), Fault> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    match owner {
        Some(owner) if !owner.id.chars().all(plain) => {
            Err(Fault::invalid_argument("/owner/id", "pattern", "only letters A to Z, digits, _ and - are allowed"))
        }
        Some(_) | None => Ok(()),
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only leads with this status."),
    equals("channel", "Only leads that came this way."),
    equals("owner_id", "Only leads this employee looks after."),
    equals("customer_id", "Only leads of this customer."),
    equals("vehicle_id", "Only leads about this vehicle."),
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
    at_least("received_since", "received_at", "Only leads that came in at or after this."),
];

pub fn resource() -> ResourceParts {
    // Optional in the schema, so that its absence is answered with its own code, consent.required.
    let consent = optional(
        "consent",
        ConsentInput::input(),
        "Their consent to be contacted. Without it nothing is recorded: consent.required.",
    );
    ResourceApi::<Lead>::new("leads", "The lead's id, as lists give it.")
        .list(
            "leads.list",
            "List leads",
            "Lists the dealership's leads, newest first, page by page, contact data masked.",
            LISTED_BY,
            ("Leads", "Leads of the dealership, newest first, contact data masked."),
        )
        .get(
            "leads.get",
            "Get a lead",
            "Reads one lead by its id, with contact data and comments.",
            ("Lead", "One lead by its id, with contact data."),
        )
        .create(
            "leads.create",
            "Create a lead",
            "Records somebody's interest. Needs the person's consent to be contacted and an e-mail address \
                    or a telephone number. The new lead has status new. Without amcp:leads:read the answer is a \
                    receipt.",
            vec![consent],
            &[CONSENT_REQUIRED, CONSENT_INVALID],
        )
        .update(
            "leads.update",
            "Update a lead",
            "Changes status, owner, comments, last contact or the reason why a lead was lost; null clears \
                    what need not be there. A finished lead opens again only if you name an open status. Without \
                    amcp:leads:read the answer is a receipt.",
            &[LOST_REASON_REQUIRED],
        )
        .parts()
}
