//! The rules of credit applications: which status follows which, what one needs to be submitted, and what its deal shows.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::table::Cell;
use jiff::civil::Date;

use super::application::{ApplicationStatus, CreditApplication, OPEN_DEAL as OPEN_DEAL_COLUMN};
use super::{DUPLICATE, INCOMPLETE, INVALID_TRANSITION, SUBMITTED, financing};
use crate::automotive::codes::CodeSpec;
use crate::automotive::consent::{
    CHANNELS, CONSENT_INVALID, CONSENT_REQUIRED, ConsentPerson, ConsentRecord, ConsentStatus, Statements,
};
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, WriteContext};
use crate::automotive::values::{Reachability, is_plain_id};
use crate::automotive::vocabulary::ConsentPurpose;
use crate::record::{Day, Entity, PartialKey, Timestamp, check_transition};

/// A deal has one open application, so that its financing status is that of one.
pub(super) const OPEN_DEAL: PartialKey<CreditApplication> =
    PartialKey { field: "deal_id", column: OPEN_DEAL_COLUMN, cell: CreditApplication::open_deal };

/// Only decisions of lenders lead to `decisioned`, and they are no calls of this tool.
const TRANSITIONS: &[(ApplicationStatus, &[ApplicationStatus])] = {
    use ApplicationStatus::{Decisioned, Draft, Expired, InReview, Submitted, Unknown, Withdrawn};
    &[
        (Draft, &[Submitted, Withdrawn]),
        (Submitted, &[InReview, Withdrawn, Expired]),
        (InReview, &[Withdrawn, Expired]),
        (Decisioned, &[Withdrawn, Expired]),
        (Unknown, &[Withdrawn, Expired]),
    ]
};

/// What may still be said about an application that was submitted.
const NOT_FROZEN: &[&str] = &["status", "deal_id", "lead_id"];

impl ApplicationStatus {
    pub(super) fn is_open(self) -> bool {
        match self {
            ApplicationStatus::Draft
            | ApplicationStatus::Submitted
            | ApplicationStatus::InReview
            | ApplicationStatus::Decisioned => true,
            ApplicationStatus::Withdrawn | ApplicationStatus::Expired | ApplicationStatus::Unknown => false,
        }
    }
}

impl Resource for CreditApplication {
    const DOMAIN: &'static Domain = &domains::FNI;
    const DUPLICATE: CodeSpec = DUPLICATE;
    const MAX_LOGIN_AGE: Option<u32> = Some(domains::MAX_LOGIN_AGE);

    /// A deal has several applications over time, so a row is not the one that happens to be open.
    fn is_matched_by(field: &str) -> bool {
        field != "deal_id"
    }

    fn on_create(entity: &mut Entity<CreditApplication>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let end = entity.id.get(entity.id.len().saturating_sub(10)..).unwrap_or(&entity.id);
        let number = format!("A-{}", end.to_ascii_uppercase());
        let application = &mut entity.record;
        if application.application_number.is_empty() {
            application.application_number = number.as_str().into();
        }
        application.settle(context.now())
    }

    fn on_update(
        before: &Entity<CreditApplication>,
        after: &mut Entity<CreditApplication>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        let (from, to) = (before.record.status, after.record.status);
        check_transition(TRANSITIONS, from, to, INVALID_TRANSITION.code)?;
        let is_frozen = |field: &str| !NOT_FROZEN.contains(&field) && context.is_named(field);
        let fields = <CreditApplication as crate::record::Record>::FIELDS;
        let changes_content = fields.iter().any(|field| field.update && is_frozen(field.name));
        let moves = context.is_named("deal_id") && before.record.deal_id != after.record.deal_id && !from.is_open();
        if (from != ApplicationStatus::Draft && changes_content) || moves {
            return Err(Fault::domain(
                SUBMITTED.code,
                "An application that was submitted stays as it is. Withdraw it, and make a new one.",
            ));
        }
        let application = &mut after.record;
        application.settle(context.now())?;
        if from != to && to == ApplicationStatus::Submitted {
            application.check_complete()?;
            application.submitted_at = Some(context.now());
        }
        Ok(())
    }

    /// Consent must hold at the moment of submission. The deal follows.
    async fn cascade(
        before: Option<&Entity<CreditApplication>>,
        after: &mut Entity<CreditApplication>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let was_submitted = before.is_some_and(|before| before.record.status != ApplicationStatus::Draft);
        if after.record.status == ApplicationStatus::Submitted && !was_submitted {
            check_consent(&after.record, context).await?;
        }
        financing::follow(before, after, context).await
    }
}

impl CreditApplication {
    fn open_deal(&self) -> Cell {
        match &self.deal_id {
            Some(deal) if self.status.is_open() => Cell::Text(deal.to_string()),
            Some(_) | None => Cell::Null,
        }
    }

    /// Checks what is there, and notes what secret numbers are recognised by.
    fn settle(&mut self, now: Timestamp) -> Result<(), Fault> {
        let mut problems = self.applicant.problems("/applicant", Reachability::Optional);
        // Lists show it unmasked, so it must not be able to hold a name or a secret number.
        if !is_plain_id(&self.application_number) {
            let expected = "only letters A to Z, digits, _ and - are allowed";
            problems.push(Problem::new("/application_number", "pattern", expected));
        }
        let number = &self.application_number;
        let is_of_account = self.bank_account_number.as_ref().is_some_and(|account| account.is_same(number));
        if is_of_account || self.ssn.as_ref().is_some_and(|ssn| ssn.is_same(number)) {
            let expected = "a number of its own is expected, not the one of the person or the account";
            problems.push(Problem::new("/application_number", "not", expected));
        }
        if self.birth_date.is_some_and(|day| !is_day_of_birth(day, now)) {
            problems.push(Problem::new("/birth_date", "maximum", "a day of birth since 1900 is expected"));
        }
        if !problems.is_empty() {
            return Err(Fault::invalid(problems));
        }
        self.ssn_last4 = self.ssn.as_ref().and_then(super::secret_number::SocialSecurityNumber::last4);
        let account = self.bank_account_number.as_ref();
        self.bank_account_last4 = account.and_then(super::secret_number::BankAccountNumber::last4);
        Ok(())
    }

    fn check_complete(&self) -> Result<(), Fault> {
        let is_american = self.residence.as_ref().is_none_or(|residence| residence.country.eq_ignore_ascii_case("US"));
        let needed = [
            ("/permissible_purpose", self.permissible_purpose.is_some()),
            ("/residence", self.residence.is_some()),
            ("/employment", self.employment.is_some()),
            ("/birth_date", self.birth_date.is_some()),
            ("/ssn", self.ssn.is_some() || !is_american),
        ];
        let missing = needed.into_iter().filter(|(_, is_there)| !is_there);
        let problems: Vec<Problem> =
            missing.map(|(pointer, _)| Problem::new(pointer, "required", "it is required to submit")).collect();
        if problems.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = problems.iter().map(|problem| problem.pointer.trim_start_matches('/')).collect();
        let message = format!("To submit the application, send {} as well.", names.join(", "));
        Err(Fault { problems, ..Fault::domain(INCOMPLETE.code, message) })
    }
}

fn is_day_of_birth(Day(day): Day, now: Timestamp) -> bool {
    let today = jiff::Timestamp::from_millisecond(now.0).map(|now| now.to_zoned(jiff::tz::TimeZone::UTC).date());
    day >= Date::constant(1900, 1, 1) && today.is_ok_and(|today| day < today)
}

/// The person must have agreed that their credit is looked at, and still agree.
async fn check_consent(application: &CreditApplication, context: &mut WriteContext<'_>) -> Result<(), Fault> {
    let problem = |keyword, expected: &str| vec![Problem::new("/consent_id", keyword, expected)];
    let Some(id) = &application.consent_id else {
        return Err(Fault {
            problems: problem("required", "a consent with purpose credit_inquiry is required"),
            ..Fault::domain(
                CONSENT_REQUIRED.code,
                "The customer must agree that their credit is looked at. Record that with consent.create and purpose \
                 credit_inquiry, and send its id as consent_id.",
            )
        });
    };
    let consent: Entity<ConsentRecord> = context.load_required(id).await?;
    let ConsentRecord { status, purpose, customer_id, expires_at, granted_at, .. } = &consent.record;
    let is_theirs = customer_id.as_ref() == Some(&application.customer_id);
    let holds = *status == ConsentStatus::Granted && expires_at.is_none_or(|end| end > context.now());
    if !is_theirs || !holds || *purpose != Some(ConsentPurpose::CreditInquiry) {
        return Err(Fault {
            problems: problem("const", "a granted consent of this customer with purpose credit_inquiry is expected"),
            ..Fault::domain(
                CONSENT_INVALID.code,
                "The consent is not this customer's, is for another purpose, or does not hold any more. Ask them, and record \
                 their answer with consent.create.",
            )
        });
    }
    // A later refusal can be a record of its own.
    let person = ConsentPerson::new(Some(&application.customer_id), &application.applicant);
    let statements = Statements::load(context.permitted(), &person).await?;
    let granted_at = granted_at.unwrap_or(consent.created_at);
    // A refusal counts however it was said: looking at somebody's credit is no message over a channel.
    statements.check_not_withdrawn(&CHANNELS, ConsentPurpose::CreditInquiry, granted_at, "/consent_id")?;
    // A withdrawal at the same moment wins.
    context.require_unchanged(&consent);
    Ok(())
}
