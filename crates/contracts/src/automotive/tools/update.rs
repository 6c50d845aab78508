//! Updating a lead. Only the given fields change: a closed lead stays closed unless an open status is sent, and
//! `lost_reason` is kept only while the status is lost.

use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::{Fault, FaultKind, Permitted};
use serde::Deserialize;

use super::{consent, customer_for_update, customer_update, read_arguments};
use crate::automotive::codes;
use crate::automotive::lead::{self, Lead, LeadOwner};
use crate::automotive::values::optional_instant;
use crate::automotive::vocabulary::{LeadStatus, LostReason, VocabularyTerm};

#[derive(Debug, Deserialize)]
struct Arguments {
    id: String,
    #[serde(default)]
    status: Option<VocabularyTerm<LeadStatus>>,
    #[serde(default)]
    owner: Option<LeadOwner>,
    #[serde(default)]
    comments: Option<String>,
    #[serde(with = "optional_instant", default)]
    last_contact_at: Option<Millis>,
    #[serde(default)]
    lost_reason: Option<VocabularyTerm<LostReason>>,
    #[serde(default)]
    expected_version: Option<i64>,
}

pub(super) fn plan<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let arguments: Arguments = read_arguments(permitted)?;
        let now = permitted.now();
        arguments.validate(now)?;
        let found = permitted.get_to_change(&lead::TABLE, &arguments.id).await?.ok_or_else(Fault::not_found)?;
        let on_conflict = match arguments.expected_version {
            Some(expected) if expected != found.version => return Err(version_conflict()),
            Some(_) => OnConflict::Fail(version_conflict()),
            None => OnConflict::Retry,
        };
        let mut lead = Lead::from_stored_row(&found)?;
        arguments.apply(&mut lead)?;
        lead.receipt.updated_at = now;
        lead.receipt.version = found.version.saturating_add(1);
        let (row, outcome) = lead.row_and_answer()?;
        let mut plan = Plan {
            steps: vec![Step::Update { table: &lead::TABLE, row, expect_version: found.version, on_conflict }],
            events: vec![Event { kind: lead::TABLE.name, id: lead.receipt.id.clone(), change: Change::Updated }],
            outcome,
        };
        sync_customer(permitted, &lead, &mut plan).await?;
        Ok(plan)
    })
}

impl Arguments {
    fn validate(&self, now: Millis) -> Result<(), Fault> {
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
        // Lists show the id unmasked, so it must not be able to hold a name, an e-mail address or free text.
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
        let public = &mut lead.public;
        if let Some(status) = self.status {
            lead.receipt.status = status;
        }
        match (lead.receipt.status == VocabularyTerm::of("lost"), self.lost_reason) {
            (true, Some(reason)) => public.lost_reason = Some(reason),
            (true, None) if public.lost_reason.is_none() => {
                return Err(Fault::domain(
                    codes::LOST_REASON_REQUIRED,
                    "Status lost needs a reason. Send lost_reason with it.",
                ));
            }
            (true, None) => {}
            (false, Some(_)) => {
                return Err(Fault::invalid_argument("/lost_reason", "const", "allowed only with status lost"));
            }
            (false, None) => public.lost_reason = None,
        }
        if let Some(at) = self.last_contact_at {
            public.last_contact_at = Some(at);
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

/// A customer record contains the status of their latest lead, so both are updated together.
async fn sync_customer(permitted: &Permitted<'_>, lead: &Lead, plan: &mut Plan) -> Result<(), Fault> {
    let Some(id) = &lead.public.customer_id else {
        return Ok(());
    };
    let Some((mut customer, version)) = customer_for_update(permitted, id).await? else {
        return Ok(());
    };
    let Some(latest) = &mut customer.public.latest_lead else {
        return Ok(());
    };
    if latest.id != lead.receipt.id || latest.status == lead.receipt.status {
        return Ok(());
    }
    latest.status = lead.receipt.status;
    let (step, event) = customer_update(permitted, customer, version)?;
    plan.steps.push(step);
    plan.events.push(event);
    Ok(())
}

fn version_conflict() -> Fault {
    Fault::new(
        FaultKind::VersionConflict,
        "The lead has changed since expected_version. Read it again, then repeat the update with its current version.",
    )
}
