//! What is left of a deal when its buyer is erased: all its figures, but nothing that finds the car they traded in.

use super::{Deal, DealTrade};
use crate::automotive::erasure::PersonRecord;
use crate::record::{Email, Phone};

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
    fn erase(&mut self) {
        let Deal {
            deal_number: _,
            status: _,
            deal_type: _,
            customer_id: _,
            co_buyer_id: _,
            vehicle_id: _,
            lead_id: _,
            salesperson_id: _,
            selling_price: _,
            fees: _,
            taxes: _,
            incentives: _,
            trades,
            down_payment: _,
            amount_financed: _,
            term_months: _,
            apr_basis_points: _,
            money_factor: _,
            residual: _,
            monthly_payment: _,
            payments: _,
            totals: _,
            financing_status: _,
            quote_expires_at: _,
            closed_at: _,
            cancel_reason: _,
        } = self;
        trades.iter_mut().for_each(erase_trade);
    }
}

/// Without the link, the valuation is about a car and about nobody.
fn erase_trade(trade: &mut DealTrade) {
    let DealTrade { make: _, model: _, year: _, vin, mileage, allowance: _, payoff: _, trade_value_id } = trade;
    *vin = None;
    *mileage = None;
    *trade_value_id = None;
}
