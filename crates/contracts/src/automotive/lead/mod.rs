//! A lead: a person's interest, its owner and its status. Who the person is and what anybody wrote is personal data.

mod duplicates;
mod rules;
pub(super) mod stock_link;

use super::consent::{
    self, CONSENT_INVALID, CONSENT_REQUIRED, CONSENT_WITHDRAWN, Consent, ConsentRecord, DoNotContact,
};
use super::customer::Customer;
use super::erasure::PersonRecord;
use super::resource::{ResourceApi, ResourceParts};
use super::values::{Contact, Distance, Money, VehicleInterest};
use super::vehicle::Vehicle;
use crate::record::filter::{at_least, equals, personal_words, range};
use crate::record::{Email, FilterArgument, Integer, List, Phone, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};
use rules::{INVALID_TRANSITION, LOST_REASON_REQUIRED};

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
    #[field(create, update)]
    #[argument("What they want.")]
    pub interest: Interest,
    /// Where it came from; only the channel where masked.
    #[field(create, columns)]
    #[argument("Where it comes from; channel ai_agent if absent.")]
    #[default(LeadSource { channel: Channel::AiAgent, provider: None, external_id: None })]
    pub source: LeadSource,
    /// The employee who looks after it; only the id where masked.
    #[field(create, update, columns)]
    #[argument("The employee who looks after it from now on.")]
    pub owner: Option<LeadOwner>,
    /// The customer, where known.
    #[field(create, update, indexed)]
    #[argument("The customer, if already known here. A lead that has one keeps it.")]
    pub customer_id: Option<Ref<Customer>>,
    /// The lead with which the same person, by e-mail address or number, came before within 30 days.
    #[field(indexed)]
    pub duplicate_of: Option<Ref<Lead>>,
    /// The vehicle in play, where it is in stock.
    #[field(create, update, indexed)]
    #[argument("The vehicle meant, by its id here.")]
    pub vehicle_id: Option<Ref<Vehicle>>,
    /// What kind of vehicle is wanted; left out where masked.
    #[field(create, update, sealed)]
    #[argument("The kind of vehicle meant.")]
    pub vehicle_of_interest: Option<VehicleInterest>,
    /// The vehicle the person wants to trade in; left out where masked.
    #[field(create, update, sealed)]
    #[argument("The vehicle they want to trade in.")]
    pub trade_in: Option<TradeIn>,
    /// How soon.
    #[field(create, update)]
    pub timeframe: Option<Timeframe>,
    /// What the person agreed to with this lead.
    #[default(|new| Consent::pending(new.now))]
    pub consent: Consent,
    /// The record of that consent.
    pub consent_id: Option<Ref<ConsentRecord>>,
    /// Channels and purposes that the person has withdrawn or refused consent to; only where one lead is read.
    pub do_not_contact: Option<List<DoNotContact, 6>>,
    /// When it came in.
    #[field(column)]
    #[default(|new| new.now)]
    pub received_at: Timestamp,
    /// When somebody last spoke with the person.
    #[field(update)]
    pub last_contact_at: Option<Timestamp>,
    /// Minutes from received_at until somebody first answered: the first contact that was recorded, or status that shows one.
    #[field(column)]
    pub response_minutes: Option<Integer<0, 100_000_000>>,
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

/// What the person drives now. All of it together points to somebody.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct TradeIn {
    /// VIN.
    pub vin: Option<Text<17>>,
    /// Model year.
    pub year: Option<Integer<1900, 2100>>,
    /// Make.
    pub make: Option<Text<60>>,
    /// Model.
    pub model: Option<Text<60>>,
    /// Odometer reading.
    pub mileage: Option<Distance>,
    /// As the person describes it.
    #[field(known)]
    pub condition: Option<TradeInCondition>,
    /// What is still owed on it.
    pub payoff: Option<Money>,
}

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum TradeInCondition { Excellent, Good, Fair, Poor, Unknown }

impl PersonRecord for Lead {
    fn email(&self) -> Option<&Email> {
        self.contact.email.as_ref()
    }

    fn phone(&self) -> Option<&Phone> {
        self.contact.phone.as_ref()
    }

    fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// The employee who looks after it and the dates stay: they are not about the person.
    fn erase(&mut self) {
        let Lead {
            status: _,
            interest: _,
            source: LeadSource { channel: _, provider, external_id },
            owner: _,
            customer_id: _,
            duplicate_of: _,
            vehicle_id: _,
            vehicle_of_interest,
            trade_in,
            timeframe: _,
            consent: _,
            consent_id: _,
            do_not_contact,
            received_at: _,
            last_contact_at: _,
            response_minutes: _,
            lost_reason: _,
            contact,
            comments,
            consent_text,
        } = self;
        *provider = None;
        *external_id = None;
        *vehicle_of_interest = None;
        *trade_in = None;
        *do_not_contact = None;
        *contact = Contact::erased();
        *comments = None;
        *consent_text = None;
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

const SEARCHED_BY: &[FilterArgument] = &[
    personal_words("name", "Whole words of the name, all of which must occur."),
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
    equals("status", "Only leads with this status."),
    equals("channel", "Only leads that came this way."),
    equals("owner_id", "Only leads this employee looks after."),
    equals("customer_id", "Only leads of this customer."),
    equals("vehicle_id", "Only leads about this vehicle."),
    range(
        "received_at",
        ("received_since", "Came in at or after this."),
        ("received_until", "Came in at or before this."),
    ),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<Lead>::new("leads", "The lead's id, as lists give it.")
        .list(
            "leads.list",
            "List leads",
            "Lists the dealership's leads, newest first, page by page, contact data masked.",
            LISTED_BY,
            ("Leads", "Leads of the dealership, newest first, contact data masked."),
        )
        .search(
            "leads.search",
            "Search leads",
            "Finds leads by the person's name, e-mail address or number, by status, channel, owner, customer, vehicle and \
                    when they came in; newest first, page by page, contact data masked. Names are found by whole words \
                    only, because they are stored encrypted.",
            SEARCHED_BY,
            &[],
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
                    or a telephone number. The new lead has status new. If the same person came within 30 days, \
                    duplicate_of names that lead: look at it, and set status duplicate if this one adds nothing. Without \
                    amcp:leads:read the answer is a receipt.",
            [consent::argument()].into_iter().chain(stock_link::arguments()).collect(),
            &[CONSENT_REQUIRED, CONSENT_INVALID, CONSENT_WITHDRAWN],
        )
        .update(
            "leads.update",
            "Update a lead",
            "Changes what is named, such as status, owner, vehicle, comments or the reason why a lead was lost. A \
                    finished lead opens again only if you name an open status. Consent \
                    is changed with consent.update. Without amcp:leads:read the answer is a receipt.",
            &[LOST_REASON_REQUIRED, INVALID_TRANSITION],
        )
        .parts()
}
