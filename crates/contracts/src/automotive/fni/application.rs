//! A credit application: who asks a lender for how much, on which grounds. The numbers that identify somebody are taken in
//! and never leave again.

use super::decision::{CreditDecision, LenderDecision};
use super::secret_number::{BankAccountNumber, SocialSecurityNumber};
use super::{INCOMPLETE, INVALID_TRANSITION, SUBMITTED, rules};
use crate::automotive::consent::{CONSENT_INVALID, CONSENT_REQUIRED, CONSENT_WITHDRAWN, ConsentRecord};
use crate::automotive::customer::Customer;
use crate::automotive::deal::Deal;
use crate::automotive::lead::Lead;
use crate::automotive::resource::{ResourceApi, ResourceParts};
use crate::automotive::values::{Contact, Money};
use crate::record::filter::{at_least, equals};
use crate::record::{Day, FilterArgument, Integer, List, Ref, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ApplicationStatus { Draft, Submitted, InReview, Decisioned, Withdrawn, Expired, Unknown }

/// Why somebody's credit may be looked at (FCRA).
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PermissiblePurpose { CreditTransaction, WrittenInstructions, AccountReview, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ResidenceType { Own, Mortgage, Rent, Family, Other, Unknown }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum EmploymentStatus { Employed, SelfEmployed, Retired, Student, Military, Unemployed, Unknown }

#[derive(Debug, Clone, PartialEq, Record)]
#[table(
    "credit_application",
    prefix = "cra",
    not_found = "fni.not_found",
    noun = "credit application",
    partial_key = rules::OPEN_DEAL
)]
pub struct CreditApplication {
    /// The number under which lenders know it.
    #[field(create, unique, receipt)]
    #[argument("The number under which lenders know it; made from the id if absent.")]
    #[default("".into())]
    pub application_number: Text<40>,
    /// How far it has come. Decisions of lenders make it decisioned.
    #[field(update, known, indexed, receipt)]
    #[argument("submitted, in_review, withdrawn or expired.")]
    #[default(ApplicationStatus::Draft)]
    pub status: ApplicationStatus,
    /// The customer who applies.
    #[field(create, indexed)]
    pub customer_id: Ref<Customer>,
    /// The deal it is for; its financing_status follows.
    #[field(create, update, indexed)]
    pub deal_id: Option<Ref<Deal>>,
    /// The lead it came from.
    #[field(create, update, indexed)]
    pub lead_id: Option<Ref<Lead>>,
    /// Why their credit may be looked at.
    #[field(create, update, known)]
    pub permissible_purpose: Option<PermissiblePurpose>,
    /// Their consent with purpose credit_inquiry.
    #[field(create, update)]
    pub consent_id: Option<Ref<ConsentRecord>>,
    /// When it was submitted.
    #[field(column)]
    pub submitted_at: Option<Timestamp>,
    /// What lenders have decided, one line each.
    #[default(List::default())]
    pub decisions: List<ApplicationDecision, 50>,
    /// Who applies; masked in lists.
    #[field(create, update, columns)]
    pub applicant: Contact,
    /// How much they want to borrow; left out where masked.
    #[field(create, update, sealed)]
    pub amount_requested: Option<Money>,
    /// Where they live; left out where masked.
    #[field(create, update, sealed)]
    pub residence: Option<Residence>,
    /// What they live on; left out where masked.
    #[field(create, update, sealed)]
    pub employment: Option<Employment>,
    /// Last four digits of ssn; left out where masked.
    #[field(sealed)]
    pub ssn_last4: Option<Text<4>>,
    /// Last four signs of bank_account_number; left out where masked.
    #[field(sealed)]
    pub bank_account_last4: Option<Text<4>>,
    /// Social security or taxpayer number; never shown again.
    #[field(create, update, write_only)]
    pub ssn: Option<SocialSecurityNumber>,
    /// Day of birth; never shown again.
    #[field(create, update, write_only)]
    pub birth_date: Option<Day>,
    /// Account for payments; never shown again.
    #[field(create, update, write_only)]
    pub bank_account_number: Option<BankAccountNumber>,
}

/// The column with the deal of an application that is open.
pub(in crate::automotive) const OPEN_DEAL: &str = "open_deal";

#[derive(Debug, Clone, PartialEq, Record)]
pub struct ApplicationDecision {
    /// The decision's id.
    pub lender_decision_id: Ref<LenderDecision>,
    /// What was decided.
    pub decision: CreditDecision,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Residence {
    /// Street and number.
    pub street: Text<200>,
    /// City.
    pub city: Text<120>,
    /// State or region.
    pub region: Text<120>,
    /// Postal code.
    pub postal_code: Text<20>,
    /// ISO 3166-1 code, such as US.
    pub country: Text<2>,
    /// How they live there.
    pub residence_type: ResidenceType,
    /// For how many months.
    pub months: Integer<0, 1200>,
    /// Rent or mortgage a month.
    pub monthly_payment: Option<Money>,
}

#[derive(Debug, Clone, PartialEq, Record)]
pub struct Employment {
    /// What they do.
    pub status: EmploymentStatus,
    /// Who employs them.
    pub employer: Option<Text<120>>,
    /// For how many months.
    pub months: Option<Integer<0, 1200>>,
    /// Income a month before taxes.
    pub gross_monthly_income: Money,
}

const LISTED_BY: &[FilterArgument] = &[
    equals("status", "Only applications with this status."),
    equals("customer_id", "Only those of this customer."),
    equals("deal_id", "Only those for this deal."),
    equals("lead_id", "Only those from this lead."),
    equals("application_number", "The one with this number."),
    at_least("submitted_since", "submitted_at", "Only those submitted at or after this."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<CreditApplication>::new(
        "credit_applications",
        "The application's id, as lists give it; not its number.",
    )
    .list(
        "fni.list_credit_applications",
        "List credit applications",
        "Lists credit applications, newest first, applicants masked. Needs a login within the last 5 minutes.",
        LISTED_BY,
        ("Credit applications", "Credit applications, newest first, applicants masked; needs a recent login."),
    )
    .get(
        "fni.get_credit_application",
        "Get a credit application",
        "Reads one credit application by its id. Needs a login within the last 5 minutes.",
        ("Credit application", "One credit application by its id; needs a recent login."),
    )
    .create(
        "fni.create_credit_application",
        "Create a credit application",
        "Records a credit application as draft; it may be incomplete. Submit it with fni.update_credit_application. Needs a \
         login within the last 5 minutes.",
        Vec::new(),
        &[],
    )
    .update(
        "fni.update_credit_application",
        "Update a credit application",
        "Changes a draft, and the status: submitted needs consent_id, permissible_purpose, residence, employment, \
         birth_date and, in the US, ssn; afterwards only the status and deal_id change. Needs a login within the last 5 \
         minutes.",
        &[INVALID_TRANSITION, SUBMITTED, INCOMPLETE, CONSENT_REQUIRED, CONSENT_INVALID, CONSENT_WITHDRAWN],
    )
    .parts()
}
