//! Changing a lead. Only what was named changes: a finished lead stays finished unless an open status
//! is named, and a reason for losing it stays only as long as it is lost.

use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::{Fault, FaultKind, Permitted};
use serde::Deserialize;

use super::{changed_customer, consent, known_customer, read_arguments};
use crate::automotive::codes;
use crate::automotive::lead::{self, Lead, Owner};
use crate::automotive::shapes::maybe_instant;
use crate::automotive::vocabulary::{LeadStatus, LostReason, Term};

#[derive(Debug, Deserialize)]
struct Arguments {
    id: String,
    #[serde(default)]
    status: Option<Term<LeadStatus>>,
    #[serde(default)]
    owner: Option<Owner>,
    #[serde(default)]
    comments: Option<String>,
    #[serde(with = "maybe_instant", default)]
    last_contact_at: Option<Millis>,
    #[serde(default)]
    lost_reason: Option<Term<LostReason>>,
    #[serde(default)]
    expected_version: Option<i64>,
}

pub(super) fn plan<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let asked: Arguments = read_arguments(permitted)?;
        let now = permitted.now();
        asked.makes_sense(now)?;
        let found = permitted.get_to_change(&lead::KIND, &asked.id).await?.ok_or_else(Fault::not_found)?;
        let stale = match asked.expected_version {
            Some(expected) if expected != found.version => return Err(moved_on()),
            Some(_) => OnConflict::Fail(moved_on()),
            None => OnConflict::Retry,
        };
        let mut lead = Lead::from_found(&found)?;
        asked.apply(&mut lead)?;
        lead.receipt.updated_at = now;
        lead.receipt.version = found.version.saturating_add(1);
        let (row, outcome) = lead.row_and_answer()?;
        let mut plan = Plan {
            steps: vec![Step::Update { table: &lead::KIND, row, expect_version: found.version, on_conflict: stale }],
            events: vec![Event { kind: lead::KIND.name, id: lead.receipt.id.clone(), change: Change::Updated }],
            outcome,
        };
        tell_customer(permitted, &lead, &mut plan).await?;
        Ok(plan)
    })
}

impl Arguments {
    fn makes_sense(&self, now: Millis) -> Result<(), Fault> {
        let changes = self.status.is_some()
            || self.owner.is_some()
            || self.comments.is_some()
            || self.last_contact_at.is_some()
            || self.lost_reason.is_some();
        if !changes {
            return Err(Fault::invalid_argument(
                "",
                "minProperties",
                "at least one of status, owner, comments, last_contact_at, lost_reason is required",
            ));
        }
        if self.last_contact_at.is_some_and(|at| consent::is_future(at, now)) {
            return Err(Fault::invalid_argument("/last_contact_at", "maximum", "it must not lie in the future"));
        }
        // The id stands open in lists, so it must have no room for a name, an address or a sentence.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if self.owner.as_ref().is_some_and(|owner| !owner.id.chars().all(plain)) {
            return Err(Fault::invalid_argument(
                "/owner/id",
                "pattern",
                "only letters A to Z, digits, _ and - are allowed",
            ));
        }
        Ok(())
    }

    fn apply(self, lead: &mut Lead) -> Result<(), Fault> {
        let open = &mut lead.open;
        if let Some(status) = self.status {
            lead.receipt.status = status;
        }
        match (lead.receipt.status == Term::of("lost"), self.lost_reason) {
            (true, Some(reason)) => open.lost_reason = Some(reason),
            (true, None) if open.lost_reason.is_none() => {
                return Err(Fault::domain(
                    codes::LOST_REASON_REQUIRED,
                    "A lead is lost for a reason: send lost_reason with status lost.",
                ));
            }
            (true, None) => {}
            (false, Some(_)) => {
                return Err(Fault::invalid_argument(
                    "/lost_reason",
                    "const",
                    "only a lost lead has one: send it with status lost",
                ));
            }
            (false, None) => open.lost_reason = None,
        }
        if let Some(at) = self.last_contact_at {
            open.last_contact_at = Some(at);
        }
        if let Some(owner) = self.owner {
            lead.personal.owner = Some(owner);
        }
        if let Some(comments) = self.comments {
            lead.personal.comments = Some(comments);
        }
        Ok(())
    }
}

/// A customer shows the status of their latest lead, so it must not stay behind.
async fn tell_customer(permitted: &Permitted<'_>, lead: &Lead, plan: &mut Plan) -> Result<(), Fault> {
    let Some(id) = &lead.open.customer_id else {
        return Ok(());
    };
    let Some((mut customer, version)) = known_customer(permitted, id).await? else {
        return Ok(());
    };
    let Some(latest) = &mut customer.open.latest_lead else {
        return Ok(());
    };
    if latest.id != lead.receipt.id || latest.status == lead.receipt.status {
        return Ok(());
    }
    latest.status = lead.receipt.status;
    let (step, event) = changed_customer(permitted, customer, version)?;
    plan.steps.push(step);
    plan.events.push(event);
    Ok(())
}

fn moved_on() -> Fault {
    Fault::new(
        FaultKind::VersionConflict,
        "The lead has changed since the version you named. Read it again and decide anew.",
    )
}
