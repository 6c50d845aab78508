//! What a lender has decided about a credit application. Decisions come in by import from the platform that lenders use;
//! each moves its application, and the deal of that.

use frontdesk_engine::Fault;
use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::table::Cell;

use super::application::{ApplicationDecision, ApplicationStatus, CreditApplication};
use super::{DUPLICATE, INVALID_TRANSITION, financing};
use crate::automotive::codes::CodeSpec;
use crate::automotive::customer::Customer;
use crate::automotive::deal::Deal;
use crate::automotive::domains::{self, Domain};
use crate::automotive::resource::{Resource, ResourceApi, ResourceParts, WriteContext, missing_reference};
use crate::automotive::values::{Money, is_plain_id};
use crate::record::filter::{at_least, equals};
use crate::record::{Entity, FilterArgument, Integer, List, Ref, Stored as _, Text, Timestamp};
use crate::{Record, Vocabulary};

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum CreditDecision {
    Approved, ConditionallyApproved, Countered, Declined, Incomplete, Withdrawn, Pending, Unknown,
}

#[derive(Debug, Clone, PartialEq, Record)]
#[table("lender_decision", prefix = "lnd", not_found = "fni.not_found", noun = "lender decision")]
pub struct LenderDecision {
    /// The lender platform's own number.
    #[field(create, unique)]
    pub decision_number: Text<64>,
    /// The number of the application it is about.
    #[field(create)]
    pub application_number: Text<40>,
    /// The application it is about.
    #[field(indexed)]
    #[default("".into())]
    pub credit_application_id: Ref<CreditApplication>,
    /// The customer who applied.
    #[field(indexed)]
    pub customer_id: Option<Ref<Customer>>,
    /// The deal it was for when it was decided.
    #[field(indexed)]
    pub deal_id: Option<Ref<Deal>>,
    /// The lender.
    #[field(create, update)]
    pub lender_name: Text<120>,
    /// What was decided.
    #[field(create, update, known, indexed, receipt)]
    pub decision: CreditDecision,
    /// When it was decided.
    #[field(create, update, column)]
    #[default(|new| new.now)]
    pub decided_at: Timestamp,
    /// Until when it holds.
    #[field(create, update)]
    pub expires_at: Option<Timestamp>,
    /// Whether the applicant must be told in writing why they did not get what they asked for.
    #[field(create, update)]
    #[argument("Whether the applicant must get an adverse action notice; true for declined and countered if absent.")]
    pub adverse_action_required: Option<bool>,
    /// By when they must have been told: 30 days after the application was submitted.
    pub adverse_action_due_at: Option<Timestamp>,
    /// When they were told.
    #[field(create, update)]
    pub adverse_action_sent_at: Option<Timestamp>,
    /// How much the lender would lend; left out in lists, as all terms are.
    #[field(create, update, sealed)]
    pub amount: Option<Money>,
    /// Yearly rate in basis points: 599 is 5.99 percent.
    #[field(create, update, sealed)]
    pub apr_basis_points: Option<Integer<0, 9_999>>,
    /// How many monthly payments.
    #[field(create, update, sealed)]
    pub term_months: Option<Integer<1, 120>>,
    /// The monthly payment.
    #[field(create, update, sealed)]
    pub monthly_payment: Option<Money>,
    /// The lender's class of risk.
    #[field(create, update, sealed)]
    pub credit_tier: Option<Text<20>>,
    /// The lender's programme.
    #[field(create, update, sealed)]
    pub program: Option<Text<60>>,
    /// What the lender still wants to see.
    #[field(create, update, sealed)]
    pub conditions: Option<List<Text<300>, 20>>,
    /// Why it was not approved as asked for.
    #[field(create, update, sealed)]
    pub reasons: Option<List<Text<300>, 10>>,
}

/// Regulation B gives a creditor so long after a complete application.
const NOTICE_SECONDS: i64 = 30 * 24 * 60 * 60;

impl Resource for LenderDecision {
    const DOMAIN: &'static Domain = &domains::FNI;
    const DUPLICATE: CodeSpec = DUPLICATE;
    const MAX_LOGIN_AGE: Option<u32> = Some(domains::MAX_LOGIN_AGE);

    fn on_create(entity: &mut Entity<LenderDecision>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let decision = &mut entity.record;
        let numbers =
            [("/decision_number", &*decision.decision_number), ("/application_number", &*decision.application_number)];
        let is_wrong = |(_, number): &(&str, &str)| !is_plain_id(number);
        let expected = "only letters A to Z, digits, _ and - are allowed";
        let wrong = numbers.into_iter().filter(is_wrong);
        let problems: Vec<Problem> = wrong.map(|(pointer, _)| Problem::new(pointer, "pattern", expected)).collect();
        if !problems.is_empty() {
            return Err(Fault::invalid(problems));
        }
        decision.settle(None, context);
        Ok(())
    }

    fn on_update(
        before: &Entity<LenderDecision>,
        after: &mut Entity<LenderDecision>,
        context: &WriteContext<'_>,
    ) -> Result<(), Fault> {
        after.record.settle(Some(&before.record), context);
        Ok(())
    }

    /// The application takes note of it, and its deal follows.
    async fn cascade(
        before: Option<&Entity<LenderDecision>>,
        after: &mut Entity<LenderDecision>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        let application = match before {
            Some(_) => match context.load(&after.record.credit_application_id).await? {
                Some(application) => application,
                None => return Ok(()),
            },
            None => find_application(&after.record.application_number, context).await?,
        };
        if application.record.status == ApplicationStatus::Draft {
            return Err(Fault::domain(
                INVALID_TRANSITION.code,
                "The application is a draft, so no lender can have decided about it. Submit it first.",
            ));
        }
        let decision = &mut after.record;
        decision.credit_application_id = application.id.as_str().into();
        decision.customer_id = Some(application.record.customer_id.clone());
        if before.is_none() {
            decision.deal_id.clone_from(&application.record.deal_id);
        }
        let submitted_at = application.record.submitted_at.filter(|_| decision.adverse_action_required == Some(true));
        decision.adverse_action_due_at = submitted_at.map(|at| at.plus_seconds(NOTICE_SECONDS));
        let mut noted = application.clone();
        noted.record.note(&after.id, after.record.decision)?;
        if noted.record == application.record {
            return Ok(());
        }
        if noted.record.status.is_open() {
            noted.record.follow_decisions();
            financing::follow(Some(&application), &noted, context).await?;
        }
        context.update(noted);
        Ok(())
    }
}

async fn find_application(number: &str, context: &mut WriteContext<'_>) -> Result<Entity<CreditApplication>, Fault> {
    let (permitted, table) = (context.permitted(), CreditApplication::table());
    let found = permitted.find(table, "application_number", Cell::Text(number.to_owned())).await?;
    match found {
        Some(row) => context.load_required(&Ref::from(row.id.as_str())).await,
        None => Err(missing_reference::<CreditApplication>(permitted, number).await?),
    }
}

impl LenderDecision {
    /// What is not said follows from the decision. What was said before stays while the decision does: a feed sends only
    /// what has changed.
    fn settle(&mut self, before: Option<&LenderDecision>, context: &WriteContext<'_>) {
        let is_new = before.is_none_or(|before| before.decision != self.decision);
        let is_said = context.is_named("adverse_action_required");
        if self.adverse_action_required.is_none() || (is_new && !is_said) {
            let is_adverse = matches!(self.decision, CreditDecision::Declined | CreditDecision::Countered);
            self.adverse_action_required = Some(is_adverse);
        }
    }
}

impl CreditApplication {
    /// One line for each decision, with what it says now.
    fn note(&mut self, id: &str, decision: CreditDecision) -> Result<(), Fault> {
        if let Some(line) = self.decisions.iter_mut().find(|line| *line.lender_decision_id == *id) {
            line.decision = decision;
            return Ok(());
        }
        if self.decisions.len() >= MAX_DECISIONS {
            let expected = "an application has at most 50 decisions";
            return Err(Fault::invalid_argument("/application_number", "maxItems", expected));
        }
        self.decisions.push(ApplicationDecision { lender_decision_id: id.into(), decision });
        Ok(())
    }
}

/// As many as the field may have.
const MAX_DECISIONS: usize = 50;

const LISTED_BY: &[FilterArgument] = &[
    equals("credit_application_id", "Only decisions about this application."),
    equals("customer_id", "Only decisions about this customer."),
    equals("deal_id", "Only decisions for this deal."),
    equals("decision", "Only these decisions."),
    equals("decision_number", "The one with this number."),
    at_least("decided_since", "decided_at", "Only those decided at or after this."),
];

pub fn resource() -> ResourceParts {
    ResourceApi::<LenderDecision>::new("lender_decisions", "The decision's id, as lists give it; not its number.")
        .list(
            "fni.list_lender_decisions",
            "List lender decisions",
            "Lists what lenders decided about credit applications, newest first, without terms. Needs a login within the last \
             5 minutes.",
            LISTED_BY,
            ("Lender decisions", "Decisions of lenders, newest first, without terms; needs a recent login."),
        )
        .get(
            "fni.get_lender_decision",
            "Get a lender decision",
            "Reads one decision by its id: rate, terms, conditions, reasons. Needs a login within the last 5 minutes.",
            ("Lender decision", "One decision of a lender by its id; needs a recent login."),
        )
        .parts()
}
