//! A customer of the dealership, with their latest lead and sale. Their identity is personal data.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::{Code, Fault, Permitted};

use super::codes::CodeSpec;
use super::consent::{
    self, CONSENT_INVALID, CONSENT_REQUIRED, CONSENT_WITHDRAWN, ConsentInput, ConsentPerson, ConsentSource,
    ConsentSubject, DoNotContact, Statements,
};
use super::domains::{self, Domain};
use super::erasure::PersonRecord;
use super::lead::{Lead, LeadStatus};
use super::resource::{Resource, ResourceApi, ResourceParts, WriteContext};
use super::values::{Contact, MAX_SAFE_INTEGER, Money, Reachability, is_plain_id};
use crate::record::filter::{equals, personal_words};
use crate::record::{Email, Entity, FilterArgument, List, Phone, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum CustomerKind { Individual, Business, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PreferredContact { Email, Phone, Sms, Mail, Any, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PreferredContactTime { Morning, Afternoon, Evening, Day, NoPreference, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table("customer", prefix = "cus", not_found = "customers.not_found")]
pub struct Customer {
    /// A person or a business.
    #[field(create, update)]
    #[default(CustomerKind::Individual)]
    pub kind: CustomerKind,
    /// Their number in the dealer management system.
    #[field(create, update, unique)]
    #[argument("Their number in the dealer management system: letters A to Z, digits, _ and -.")]
    pub dms_customer_number: Option<Text<40>>,
    /// How they like to be contacted.
    #[field(create, update, known)]
    pub preferred_contact: Option<PreferredContact>,
    /// When they like to be contacted.
    #[field(create, update, known)]
    pub preferred_contact_time: Option<PreferredContactTime>,
    /// The language they speak, as a BCP 47 tag such as es-US.
    #[field(create, update)]
    pub language: Option<Text<35>>,
    /// Channels and purposes that they have withdrawn or refused consent to; only where one customer is read.
    pub do_not_contact: Option<List<DoNotContact, 6>>,
    /// Where they live; no street.
    #[field(create, update)]
    pub location: Option<Location>,
    /// What they have spent here so far. A delivered deal adds to it, a reversed one takes it away again.
    #[field(create, update)]
    pub lifetime_value: Option<Money>,
    /// Their newest lead.
    pub latest_lead: Option<LatestLead>,
    /// Their newest purchase.
    pub latest_sale: Option<LatestSale>,
    /// What they are looking for.
    #[field(create, update)]
    pub vehicle_of_interest: Option<CustomerInterest>,
    /// Who it is; masked in lists.
    #[field(create, update, columns)]
    pub primary_contact: Contact,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Location {
    /// City.
    pub city: Text<120>,
    /// State or region.
    pub region: Text<120>,
    /// ISO 3166-1 code, such as US.
    pub country: Text<2>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct LatestLead {
    /// The lead's id.
    pub id: Ref<Lead>,
    /// How far it has come.
    pub status: LeadStatus,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct LatestSale {
    /// The sale's id.
    pub id: Text<64>,
    /// When it was closed.
    pub closed_at: Timestamp,
}

/// A customer's interest has no model year.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct CustomerInterest {
    /// Make.
    pub make: Text<60>,
    /// Model.
    pub model: Text<60>,
}

impl Resource for Customer {
    /// The specification gives customers no domain of their own.
    const DOMAIN: &'static Domain = &domains::LEADS;
    const DUPLICATE: CodeSpec = DUPLICATE;
    const DERIVES: bool = true;
    const NOT_STORED: &'static [&'static str] = &["do_not_contact"];

    /// The addresses stay readable after a withdrawal: staff must recognise the person. What must not be done with them
    /// is said beside them.
    async fn derive(entity: &mut Entity<Customer>, permitted: &Permitted<'_>, planned: &[Step]) -> Result<(), Fault> {
        let person = ConsentPerson::new(Some(&entity.id), &entity.record.primary_contact);
        let statements = Statements::load(permitted, &person).await?.with_planned(planned, &person)?;
        entity.record.do_not_contact = statements.do_not_contact(permitted.now());
        Ok(())
    }

    fn on_create(entity: &mut Entity<Customer>, context: &WriteContext<'_>) -> Result<(), Fault> {
        entity.record.check()?;
        let contact = &entity.record.primary_contact;
        let stated: Option<ConsentInput> = context.argument("consent")?;
        if stated.is_some() || contact.email.is_some() || contact.phone.is_some() {
            consent::accept(stated.as_ref(), contact, context.now())?;
        }
        Ok(())
    }

    fn on_update(_: &Entity<Customer>, after: &mut Entity<Customer>, _: &WriteContext<'_>) -> Result<(), Fault> {
        after.record.check()
    }

    /// Consent sent with a new customer is recorded. A new address needs consent that has been recorded before.
    async fn cascade(
        before: Option<&Entity<Customer>>,
        after: &mut Entity<Customer>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let contact = &after.record.primary_contact;
        let Some(before) = before else {
            if let Some(input) = context.argument::<ConsentInput>("consent")? {
                let accepted = consent::accept(Some(&input), contact, context.now())?;
                let subject = ConsentSubject {
                    customer_id: Some(after.id.as_str().into()),
                    lead_id: None,
                    contact,
                    source: ConsentSource::AiAgent,
                };
                consent::record_accepted(&accepted, input, subject, context).await?;
            }
            return Ok(());
        };
        let known = &before.record.primary_contact;
        let email = contact.email.as_ref().filter(|email| known.email.as_ref() != Some(*email));
        let phone = contact.phone.as_ref().filter(|phone| known.phone.as_ref() != Some(*phone));
        if email.is_none() && phone.is_none() {
            return Ok(());
        }
        let person = ConsentPerson { customer_id: Some(&after.id), email, phone };
        let statements = Statements::load(context.permitted(), &person).await?;
        consent::check_new_addresses(&statements, &person, context.now())
    }
}

impl Customer {
    /// Adds what a purchase came to, or takes it away again. Amounts in another currency cannot be added up.
    pub(super) fn add_spent(&mut self, amount: i64, currency: &str) {
        let so_far = match &self.lifetime_value {
            Some(value) if *value.currency == *currency => value.amount.get(),
            None if amount > 0 => 0,
            Some(_) | None => return,
        };
        let sum = so_far.saturating_add(amount).clamp(0, MAX_SAFE_INTEGER);
        self.lifetime_value = Some(Money::new(sum, currency));
    }

    /// Keeps the status of their newest lead in step; whether this lead is it.
    pub(super) fn follow_lead(&mut self, id: &str, status: LeadStatus) -> bool {
        match &mut self.latest_lead {
            Some(latest) if *latest.id == *id => {
                latest.status = status;
                true
            }
            Some(_) | None => false,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        let mut problems = self.primary_contact.problems("/primary_contact", Reachability::Optional);
        if self.dms_customer_number.as_ref().is_some_and(|number| !is_plain_id(number)) {
            let expected = "only letters A to Z, digits, _ and - are allowed";
            problems.push(Problem::new("/dms_customer_number", "pattern", expected));
        }
        if self.language.as_ref().is_some_and(|language| !is_language_tag(language)) {
            problems.push(Problem::new("/language", "pattern", "a BCP 47 tag such as en or es-US is expected"));
        }
        if problems.is_empty() { Ok(()) } else { Err(Fault::invalid(problems)) }
    }
}

/// The form of a tag: a language of two or three letters, then parts of at most eight letters and digits.
fn is_language_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_language =
        |part: &str| (2..=3).contains(&part.len()) && part.chars().all(|letter| letter.is_ascii_alphabetic());
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.chars().all(|sign| sign.is_ascii_alphanumeric());
    parts.next().is_some_and(is_language) && parts.all(is_part)
}

const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("customers.duplicate"),
    means: "The dealership has a customer with this number of the dealer management system already.",
    next: "Find them with `customers.search` and change that record.",
};

impl PersonRecord for Customer {
    fn email(&self) -> Option<&Email> {
        self.primary_contact.email.as_ref()
    }

    fn phone(&self) -> Option<&Phone> {
        self.primary_contact.phone.as_ref()
    }

    fn customer_id(&self) -> Option<&str> {
        None
    }

    /// Place, language and interest are no contact data, but together they point to somebody; so does their number.
    fn erase(&mut self) {
        let Customer {
            kind: _,
            dms_customer_number,
            preferred_contact,
            preferred_contact_time,
            language,
            do_not_contact,
            location,
            lifetime_value: _,
            latest_lead: _,
            latest_sale: _,
            vehicle_of_interest,
            primary_contact,
        } = self;
        *dms_customer_number = None;
        *preferred_contact = None;
        *preferred_contact_time = None;
        *language = None;
        *do_not_contact = None;
        *location = None;
        *vehicle_of_interest = None;
        *primary_contact = Contact::erased();
    }
}

const LISTED_BY: &[FilterArgument] = &[
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
    personal_words("name", "Whole words of the name, all of which must occur."),
];

const SEARCHED_BY: &[FilterArgument] = &[
    personal_words("name", "Whole words of the name, all of which must occur."),
    equals("email", "Whole e-mail address; case does not matter."),
    equals("phone", "Whole number in E.164 form."),
    equals("dms_customer_number", "Whole number in the dealer management system."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<Customer>::new("customers", "The customer's id, as lists give it.")
        .list(
            "customers.list",
            "List customers",
            "Lists the dealership's customers, newest first, page by page, contact data masked. Finds \
                    somebody by whole e-mail address, telephone number or words of their name.",
            LISTED_BY,
            ("Customers", "Customers of the dealership, newest first, contact data masked."),
        )
        .search(
            "customers.search",
            "Search customers",
            "Finds customers by whole words of their name, whole e-mail address, telephone number or number in the dealer \
                    management system; newest first, page by page, contact data masked. Look here before \
                    customers.create. Parts of words find nothing, because names are stored encrypted.",
            SEARCHED_BY,
            &[],
        )
        .get(
            "customers.get",
            "Get a customer",
            "Reads one customer by their id, with contact data.",
            ("Customer", "One customer by their id, with contact data."),
        )
        .create(
            "customers.create",
            "Add a customer",
            "Adds a customer. An e-mail address or a telephone number needs the person's consent to be contacted. Nobody \
                    is looked for: search first. Without amcp:leads:read the answer is a receipt.",
            vec![consent::argument()],
            &[CONSENT_REQUIRED, CONSENT_INVALID, CONSENT_WITHDRAWN],
        )
        .update(
            "customers.update",
            "Update a customer",
            "Changes what is named. primary_contact is replaced whole. Before a new \
                    e-mail address or number, record the person's consent for it with consent.create. Without \
                    amcp:leads:read the answer is a receipt.",
            &[CONSENT_REQUIRED],
        )
        .parts()
}
