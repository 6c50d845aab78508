//! What is left of a deal when its buyer is erased: all its figures, but nothing that finds the car they traded in.

use super::{Deal, DealTrade};
use crate::automotive::erasure::PersonRecord;
use crate::record::{Email, List, Phone};

impl PersonRecord for Deal {
    fn email(&self) -> Option<&Email> {
        None
    }

    fn phone(&self) -> Option<&Phone> {
        None
    }

    fn customer_id(&self) -> Option<&str> {
        Some(&self.customer_id)
    }

    /// The dealership's number, the terms and the figures stay: they are its books.
    fn erased(self) -> Deal {
        let Deal {
            deal_number,
            status,
            deal_type,
            customer_id,
            co_buyer_id,
            vehicle_id,
            lead_id,
            salesperson_id,
            selling_price,
            fees,
            taxes,
            incentives,
            trades,
            down_payment,
            amount_financed,
            term_months,
            apr_basis_points,
            money_factor,
            residual,
            monthly_payment,
            payments,
            totals,
            financing_status,
            quote_expires_at,
            closed_at,
            cancel_reason,
        } = self;
        Deal {
            deal_number,
            status,
            deal_type,
            customer_id,
            co_buyer_id,
            vehicle_id,
            lead_id,
            salesperson_id,
            selling_price,
            fees,
            taxes,
            incentives,
            trades: List(trades.0.into_iter().map(erased_trade).collect()),
            down_payment,
            amount_financed,
            term_months,
            apr_basis_points,
            money_factor,
            residual,
            monthly_payment,
            payments,
            totals,
            financing_status,
            quote_expires_at,
            closed_at,
            cancel_reason,
        }
    }
}

/// Without the link, the valuation is about a car and about nobody.
fn erased_trade(trade: DealTrade) -> DealTrade {
    let DealTrade { make, model, year, vin: _, mileage: _, allowance, payoff, trade_value_id: _ } = trade;
    DealTrade { make, model, year, vin: None, mileage: None, allowance, payoff, trade_value_id: None }
}
