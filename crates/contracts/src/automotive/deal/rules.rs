//! The rules of a deal: which status follows which, what its vehicle and its customer become with it, and when its
//! figures are computed.

use frontdesk_engine::Fault;
use frontdesk_engine::model::table::Cell;

use super::figures::Terms;
use super::{
    CancelReason, DUPLICATE, Deal, DealStatus, DealType, FinancingStatus, INVALID_TRANSITION, QUOTE_EXPIRED,
    TERMS_FROZEN, sale,
};
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains::{self, Domain};
use crate::automotive::fee::{self, Fee};
use crate::automotive::fni::application::{ApplicationStatus, CreditApplication, OPEN_DEAL};
use crate::automotive::resource::{Resource, WriteContext};
use crate::automotive::values::is_plain_id;
use crate::automotive::vehicle::{self, Vehicle};
use crate::record::{Entity, Stored as _, check_transition};

#[rustfmt::skip]
const TRANSITIONS: &[(DealStatus, &[DealStatus])] = {
    use DealStatus::{Abandoned, Accepted, Delivered, Desking, Funded, PendingFinance, Posted, Quote, Reversed, Unknown};
    &[
        (Quote, &[Desking, PendingFinance, Accepted, Abandoned]),
        (Desking, &[Quote, PendingFinance, Accepted, Abandoned]),
        (PendingFinance, &[Desking, Accepted, Abandoned]),
        (Accepted, &[Desking, Delivered, Abandoned]),
        (Delivered, &[Funded, Posted, Reversed]),
        (Funded, &[Posted, Reversed]),
        (Posted, &[Reversed]),
        (Unknown, &[Quote, Desking, PendingFinance, Abandoned]),
    ]
};

/// Fields that a customer has agreed to when a deal is accepted.
const TERMS: &[&str] = &[
    "deal_type",
    "vehicle_id",
    "co_buyer_id",
    "selling_price",
    "incentives",
    "trades",
    "down_payment",
    "term_months",
    "apr_basis_points",
    "money_factor",
    "residual",
    "quote_expires_at",
];

/// What a status means for the vehicle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    Reserves,
    Sold,
    Cancelled,
}

impl DealStatus {
    fn stage(self) -> Stage {
        match self {
            DealStatus::Quote | DealStatus::Desking | DealStatus::PendingFinance | DealStatus::Unknown => Stage::Open,
            DealStatus::Accepted => Stage::Reserves,
            DealStatus::Delivered | DealStatus::Funded | DealStatus::Posted => Stage::Sold,
            DealStatus::Abandoned | DealStatus::Reversed => Stage::Cancelled,
        }
    }
}

impl Resource for Deal {
    const DOMAIN: &'static Domain = &domains::DEALS;
    const DUPLICATE: CodeSpec = DUPLICATE;

    fn on_create(entity: &mut Entity<Deal>, _: &WriteContext<'_>) -> Result<(), Fault> {
        let number = match entity.id.get(entity.id.len().saturating_sub(10)..) {
            Some(end) => format!("D-{}", end.to_ascii_uppercase()),
            None => entity.id.clone(),
        };
        let deal = &mut entity.record;
        if deal.deal_number.is_empty() {
            deal.deal_number = number.as_str().into();
        }
        deal.financing_status = first_financing(deal.deal_type);
        check_salesperson(deal)
    }

    fn on_update(before: &Entity<Deal>, after: &mut Entity<Deal>, context: &WriteContext<'_>) -> Result<(), Fault> {
        let (from, to) = (before.record.status, after.record.status);
        if from != to && to.stage() == Stage::Cancelled && context.is_named("status") {
            let expected = "a deal is called off with deals.cancel_deal, which also says why";
            return Err(Fault::invalid_argument("/status", "const", expected));
        }
        check_transition(TRANSITIONS, from, to, INVALID_TRANSITION.code)?;
        let is_frozen = from.stage() != Stage::Open && to.stage() != Stage::Open;
        if is_frozen && TERMS.iter().any(|term| context.is_named(term)) {
            return Err(Fault::domain(
                TERMS_FROZEN.code,
                "The terms of an accepted deal cannot change. Set status desking first, which releases the vehicle, or \
                 cancel the deal with deals.cancel_deal.",
            ));
        }
        let has_expired = after.record.quote_expires_at.is_some_and(|until| until < context.now());
        if from.stage() == Stage::Open && to == DealStatus::Accepted && has_expired {
            return Err(Fault::domain(
                QUOTE_EXPIRED.code,
                "These figures were offered until quote_expires_at, which is over. Ask the dealership, and send a new \
                 quote_expires_at.",
            ));
        }
        check_salesperson(&after.record)
    }

    /// The vehicle and the customer change in the same plan, each under its version: of two deals about one vehicle the
    /// second sees what the first has done.
    async fn cascade(
        before: Option<&Entity<Deal>>,
        after: &mut Entity<Deal>,
        context: &mut WriteContext<'_>,
    ) -> Result<(), Fault> {
        settle_financing(before, after, context).await?;
        let from = before.map_or(Stage::Open, |before| before.record.status.stage());
        let to = after.record.status.stage();
        if let Some(before) = before.filter(|_| holds(from) && !holds(to)) {
            release(before, context).await?;
            if from == Stage::Sold {
                sale::forget(before, context).await?;
            }
        }
        match (from, to) {
            (Stage::Open | Stage::Reserves, Stage::Open) | (Stage::Open, Stage::Reserves) => {
                compute(before, after, context).await?;
            }
            (Stage::Reserves, Stage::Sold) => deliver(after, context).await?,
            (_, Stage::Cancelled | Stage::Reserves | Stage::Sold | Stage::Open) => {}
        }
        Ok(())
    }
}

/// Where the financing of a new deal stands.
fn first_financing(deal_type: DealType) -> FinancingStatus {
    match deal_type {
        DealType::Cash | DealType::Fleet | DealType::Wholesale => FinancingStatus::NotRequired,
        DealType::RetailFinance | DealType::Lease | DealType::Balloon | DealType::Unknown => {
            FinancingStatus::NotSubmitted
        }
    }
}

/// What lenders decide is not for others to say, neither by name nor by another type of deal.
async fn settle_financing(
    before: Option<&Entity<Deal>>,
    after: &mut Entity<Deal>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let Some(before) = before else { return Ok(()) };
    let is_named = context.is_named("financing_status");
    let first = first_financing(after.record.deal_type);
    let to = if is_named {
        after.record.financing_status
    } else if first != first_financing(before.record.deal_type) {
        first
    } else {
        return Ok(());
    };
    if to == before.record.financing_status || (is_named && to == FinancingStatus::Funded) {
        return Ok(());
    }
    let deal = Cell::Text(after.id.clone());
    let found = context.permitted().find(CreditApplication::table(), OPEN_DEAL, deal).await?;
    let application = match found {
        Some(row) => context.load::<CreditApplication>(&row.id.as_str().into()).await?,
        None => None,
    };
    let has_lender = |application: &Entity<CreditApplication>| application.record.status != ApplicationStatus::Draft;
    let is_with_lender = application.as_ref().is_some_and(has_lender);
    if is_with_lender && is_named {
        let expected = "it follows the deal's credit application; only funded can be set";
        return Err(Fault::invalid_argument("/financing_status", "const", expected));
    }
    if !is_with_lender {
        after.record.financing_status = to;
    }
    Ok(())
}

fn holds(stage: Stage) -> bool {
    matches!(stage, Stage::Reserves | Stage::Sold)
}

/// Computes the figures of an open deal, and reserves its vehicle if it is accepted with them.
async fn compute(
    before: Option<&Entity<Deal>>,
    after: &mut Entity<Deal>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    let deal = &mut after.record;
    let mut vehicle: Entity<Vehicle> = context.load_required(&deal.vehicle_id).await?;
    let is_accepted = deal.status.stage() == Stage::Reserves;
    // The plan that releases the vehicle of a reopened deal has not been carried out yet.
    let is_own = vehicle.record.is_held_by(&after.id);
    let is_new = before.is_none_or(|before| before.record.vehicle_id != deal.vehicle_id);
    if (is_new || is_accepted) && !is_own {
        vehicle.record.check_for_sale()?;
    }
    if before.is_none() && !context.is_named("selling_price") {
        deal.selling_price = vehicle.record.price.clone();
    }
    for trade in deal.trades.iter() {
        if let Some(id) = &trade.trade_value_id {
            context.load_required(id).await?;
        }
    }
    let table = fee::active(context.list(fee::active_lines(), fee::MAX_LINES).await?)?;
    *deal = deal.clone().with_figures(&table)?;
    if is_accepted {
        vehicle.record.reserve(&after.id);
        context.update(vehicle);
    }
    Ok(())
}

/// The car is the customer's.
async fn deliver(after: &mut Entity<Deal>, context: &mut WriteContext<'_>) -> Result<(), Fault> {
    after.record.closed_at = Some(context.now());
    let mut vehicle: Entity<Vehicle> = context.load_required(&after.record.vehicle_id).await?;
    if !vehicle.record.is_held_by(&after.id) {
        return Err(Fault::internal("an accepted deal does not hold its vehicle"));
    }
    vehicle.record.sell(context.now());
    context.update(vehicle);
    sale::record(after, context).await
}

async fn release(before: &Entity<Deal>, context: &mut WriteContext<'_>) -> Result<(), Fault> {
    let Some(mut vehicle) = context.load(&before.record.vehicle_id).await? else {
        return Ok(());
    };
    if vehicle.record.is_held_by(&before.id) {
        vehicle.record.release();
        let taken = Fault::domain(
            vehicle::DUPLICATE.code,
            "The car of this deal is in stock again as another unit, so it cannot come back twice. Give that unit status \
             sold or wholesale with inventory.update, then cancel again.",
        );
        context.update_or(vehicle, taken);
    }
    Ok(())
}

pub(super) fn cancel(entity: &mut Entity<Deal>, context: &WriteContext<'_>) -> Result<(), Fault> {
    let deal = &mut entity.record;
    deal.status = match deal.status.stage() {
        Stage::Open | Stage::Reserves => DealStatus::Abandoned,
        Stage::Sold => DealStatus::Reversed,
        Stage::Cancelled => {
            return Err(Fault::domain(
                INVALID_TRANSITION.code,
                "The deal is cancelled already. Make a new one with deals.create.",
            ));
        }
    };
    deal.cancel_reason = context.argument::<CancelReason>("reason")?;
    Ok(())
}

/// Lists show the id unmasked, so it must not be able to hold a name, an e-mail address or free text.
fn check_salesperson(deal: &Deal) -> Result<(), Fault> {
    match &deal.salesperson_id {
        Some(id) if !is_plain_id(id) => Err(Fault::invalid_argument(
            "/salesperson_id",
            "pattern",
            "only letters A to Z, digits, _ and - are allowed",
        )),
        Some(_) | None => Ok(()),
    }
}

impl Deal {
    /// Takes over how far its financing has come; `None` if nobody has applied for it. Says whether that is new. A deal that
    /// is funded or cancelled stays as it is.
    pub(in crate::automotive) fn follow_financing(&mut self, status: Option<FinancingStatus>) -> bool {
        let status = status.unwrap_or_else(|| first_financing(self.deal_type));
        let is_over = self.financing_status == FinancingStatus::Funded || self.status.stage() == Stage::Cancelled;
        let is_new = !is_over && self.financing_status != status;
        if is_new {
            self.financing_status = status;
        }
        is_new
    }

    /// The deal with what its terms come to.
    pub(in crate::automotive) fn with_figures(self, table: &[Fee]) -> Result<Deal, Fault> {
        let figures = self.terms().figures(table)?;
        Ok(Deal {
            fees: figures.fees,
            taxes: figures.taxes,
            totals: Some(figures.totals),
            amount_financed: figures.amount_financed,
            monthly_payment: figures.monthly_payment,
            payments: figures.payments,
            ..self
        })
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            deal_type: self.deal_type,
            selling_price: &self.selling_price,
            incentives: &self.incentives,
            trades: &self.trades,
            down_payment: self.down_payment.as_ref(),
            term_months: self.term_months.map(|months| months.get()),
            apr_basis_points: self.apr_basis_points.map(|rate| rate.get()),
            money_factor: self.money_factor.map(|factor| factor.get()),
            residual: self.residual.as_ref(),
        }
    }
}
