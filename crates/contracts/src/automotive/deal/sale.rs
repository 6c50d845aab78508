//! What follows from a sale beside the vehicle: the customer's newest purchase, what they have spent, and the lead that it
//! came from.

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;

use super::{Deal, DealStatus};
use crate::automotive::customer::{Customer, LatestSale};
use crate::automotive::lead::{Lead, LeadStatus};
use crate::automotive::resource::WriteContext;
use crate::record::{Entity, Vocabulary as _};

/// Nobody has bought more cars here.
const MAX_SALES: usize = 200;

/// The car was delivered: it is the customer's newest purchase, and its lead is sold.
pub(super) async fn record(deal: &Entity<Deal>, context: &mut WriteContext<'_>) -> Result<(), Fault> {
    let mut customer = context.load(&deal.record.customer_id).await?;
    if let Some(Entity { record: customer, .. }) = &mut customer {
        customer.latest_sale = Some(LatestSale { id: deal.id.as_str().into(), closed_at: context.now() });
        customer.add_spent(deal.record.spent(), &deal.record.selling_price.currency);
    }
    let lead = load_lead(deal, context).await?;
    follow(lead, LeadStatus::Sold, customer, context).await
}

/// The sale was reversed: the one before it is the customer's newest again, and somebody has to see to the lead.
pub(super) async fn forget(deal: &Entity<Deal>, context: &mut WriteContext<'_>) -> Result<(), Fault> {
    let mut customer = context.load(&deal.record.customer_id).await?;
    if let Some(Entity { id, record: customer, .. }) = &mut customer {
        customer.add_spent(-deal.record.spent(), &deal.record.selling_price.currency);
        if customer.latest_sale.as_ref().is_some_and(|sale| *sale.id == *deal.id) {
            let others = other_sales(deal, "customer_id", id, context).await?;
            let newest = others.into_iter().filter_map(|deal| Some((deal.record.closed_at?, deal.id))).max();
            customer.latest_sale = newest.map(|(closed_at, id)| LatestSale { id: id.as_str().into(), closed_at });
        }
    }
    let mut lead = load_lead(deal, context).await?;
    if let Some(Entity { id, record, .. }) = &lead {
        let is_sold_otherwise = !other_sales(deal, "lead_id", id, context).await?.is_empty();
        if record.status != LeadStatus::Sold || is_sold_otherwise {
            lead = None;
        }
    }
    follow(lead, LeadStatus::Working, customer, context).await
}

async fn load_lead(deal: &Entity<Deal>, context: &mut WriteContext<'_>) -> Result<Option<Entity<Lead>>, Fault> {
    match &deal.record.lead_id {
        Some(id) => context.load(id).await,
        None => Ok(None),
    }
}

/// Gives the lead its status, if that may follow, also in the record of its customer. The buyer changes in any case, and
/// each row once.
async fn follow(
    lead: Option<Entity<Lead>>,
    status: LeadStatus,
    mut buyer: Option<Entity<Customer>>,
    context: &mut WriteContext<'_>,
) -> Result<(), Fault> {
    if let Some(mut lead) = lead {
        if lead.record.status.can_become(status) {
            lead.record.status = status;
            lead.record.note_response(context.now());
            match &lead.record.customer_id {
                Some(id) if buyer.as_ref().is_some_and(|buyer| buyer.id == **id) => {
                    let _ = buyer.as_mut().is_some_and(|buyer| buyer.record.follow_lead(&lead.id, status));
                }
                Some(id) => {
                    if let Some(mut other) = context.load(id).await?
                        && other.record.follow_lead(&lead.id, status)
                    {
                        context.update(other);
                    }
                }
                None => {}
            }
            context.update(lead);
        } else {
            // Whoever reverses another sale of this lead at the same time must see this one.
            context.require_unchanged(&lead);
        }
    }
    if let Some(buyer) = buyer {
        context.update(buyer);
    }
    Ok(())
}

/// The other sales with this value.
async fn other_sales(
    deal: &Entity<Deal>,
    column: &'static str,
    value: &str,
    context: &WriteContext<'_>,
) -> Result<Vec<Entity<Deal>>, Fault> {
    let sold = [DealStatus::Delivered, DealStatus::Funded, DealStatus::Posted];
    let words = sold.iter().map(|status| Cell::Text(status.as_str().to_owned())).collect();
    let filters = vec![Filter::Equals(column, Cell::Text(value.to_owned())), Filter::AnyOf("status", words)];
    let mut sales = context.list::<Deal>(filters, MAX_SALES).await?;
    sales.retain(|sale| sale.id != deal.id);
    Ok(sales)
}

impl Deal {
    /// What the customer pays for the car, in money or with a trade.
    pub(in crate::automotive) fn spent(&self) -> i64 {
        let totals = self.totals.as_ref();
        totals.map_or(0, |totals| totals.total_price.amount.get().saturating_sub(totals.incentives.amount.get()).max(0))
    }
}
