//! What a deal shows of its financing: one word that follows from its open application and the decisions about it. Lender,
//! rate and terms never get there.

use frontdesk_engine::Fault;

use super::application::{ApplicationStatus, CreditApplication};
use super::decision::CreditDecision;
use crate::automotive::deal::{Deal, FinancingStatus};
use crate::automotive::resource::WriteContext;
use crate::record::{Entity, Ref};

/// Brings the deals of an application up to date: the one it is for, and the one it was for before.
pub(super) async fn follow(
    before: Option<&Entity<CreditApplication>>,
    after: &Entity<CreditApplication>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let earlier = before.and_then(|before| before.record.deal_id.as_ref());
    let deal_id = after.record.deal_id.as_ref();
    // The deal of one that no lender has seen, or that is closed, says what it says for another reason.
    let was_known = before.is_some_and(|before| before.record.financing_status().is_some());
    if let Some(earlier) = earlier.filter(|earlier| was_known && Some(*earlier) != deal_id) {
        set(earlier, None, context).await?;
    }
    let Some(deal_id) = deal_id else { return Ok(()) };
    if earlier != Some(deal_id) {
        check_buyer(&after.record, deal_id, context).await?;
    }
    let status = after.record.financing_status();
    // A deal that it comes to when it is closed was never financed by it.
    let was_known = was_known && earlier == Some(deal_id);
    if was_known || status.is_some() { set(deal_id, status, context).await } else { Ok(()) }
}

/// `None`: there is no application any more.
async fn set(
    deal_id: &Ref<Deal>,
    status: Option<FinancingStatus>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let Some(mut deal) = context.load(deal_id).await? else { return Ok(()) };
    if deal.record.follow_financing(status) {
        context.update(deal);
    }
    Ok(())
}

async fn check_buyer(
    application: &CreditApplication,
    deal_id: &Ref<Deal>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let deal = context.load_required(deal_id).await?;
    let buyers = [Some(&deal.record.customer_id), deal.record.co_buyer_id.as_ref()];
    if buyers.contains(&Some(&application.customer_id)) {
        return Ok(());
    }
    Err(Fault::invalid_argument("/deal_id", "const", "a deal is expected of which the customer is buyer or co-buyer"))
}

impl CreditApplication {
    /// What its deal shows; nothing of a draft and of one that is closed.
    fn financing_status(&self) -> Option<FinancingStatus> {
        match self.status {
            ApplicationStatus::Submitted | ApplicationStatus::InReview => Some(FinancingStatus::Submitted),
            ApplicationStatus::Decisioned => Some(self.best_decision()),
            ApplicationStatus::Draft
            | ApplicationStatus::Withdrawn
            | ApplicationStatus::Expired
            | ApplicationStatus::Unknown => None,
        }
    }

    fn best_decision(&self) -> FinancingStatus {
        let has = |decision: CreditDecision| self.decisions.iter().any(|line| line.decision == decision);
        if has(CreditDecision::Approved) {
            FinancingStatus::Approved
        } else if has(CreditDecision::ConditionallyApproved) || has(CreditDecision::Countered) {
            FinancingStatus::ConditionallyApproved
        } else if has(CreditDecision::Pending) || has(CreditDecision::Incomplete) {
            FinancingStatus::Submitted
        } else {
            FinancingStatus::Declined
        }
    }

    /// The status that its decisions give an open application.
    pub(super) fn follow_decisions(&mut self) {
        let is_final = |decision: CreditDecision| match decision {
            CreditDecision::Approved
            | CreditDecision::ConditionallyApproved
            | CreditDecision::Countered
            | CreditDecision::Declined => true,
            CreditDecision::Incomplete
            | CreditDecision::Withdrawn
            | CreditDecision::Pending
            | CreditDecision::Unknown => false,
        };
        self.status = if self.decisions.iter().any(|line| is_final(line.decision)) {
            ApplicationStatus::Decisioned
        } else {
            ApplicationStatus::InReview
        };
    }
}
