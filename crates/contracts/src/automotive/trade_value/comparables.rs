//! Finds the comparable cars of a dealership: used ones of the same make and model, at the price they were sold for or
//! are offered for.

use std::collections::HashMap;

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::{Cell, search_terms};

use super::TradeValue;
use super::estimate::{Comparable, WINDOWS};
use crate::automotive::deal::{Deal, DealStatus};
use crate::automotive::fee::{self, Fee, FeeKind};
use crate::automotive::resource::WriteContext;
use crate::automotive::values::Money;
use crate::automotive::vehicle::{Vehicle, VehicleCondition, VehicleStatus};
use crate::record::{Entity, Vocabulary as _};

/// More than enough, and still one read.
const MAX_COMPARABLES: usize = 200;

pub(super) async fn find(trade: &TradeValue, context: &WriteContext<'_>) -> Result<Vec<Comparable>, Fault> {
    let widest = WINDOWS.iter().map(|window| window.years).max().unwrap_or_default();
    let filters = vec![
        Filter::Equals("make_key", Cell::Text(search_terms(&trade.make).join(" "))),
        Filter::Equals("model_key", Cell::Text(search_terms(&trade.model).join(" "))),
        Filter::AtLeast("year", trade.year.get().saturating_sub(widest)),
        Filter::AtMost("year", trade.year.get().saturating_add(widest)),
    ];
    let cars: Vec<Entity<Vehicle>> = context.list(filters, MAX_COMPARABLES).await?;
    let cars: Vec<Entity<Vehicle>> = cars.into_iter().filter(|car| is_comparable(trade, &car.record)).collect();
    let sold = sold_prices(&cars, context).await?;
    let comparable = |car: &Entity<Vehicle>| {
        let price = sold.get(&car.id).unwrap_or(&car.record.price);
        Comparable {
            year: car.record.year.get(),
            mileage: car.record.mileage.millimetres(),
            price: price.amount.get(),
            currency: price.currency.to_string(),
            is_sold: car.record.status == VehicleStatus::Sold,
        }
    };
    Ok(cars.iter().map(comparable).collect())
}

/// A used car that is or was on offer. The car itself, if it was here before, says nothing about its value today.
fn is_comparable(trade: &TradeValue, car: &Vehicle) -> bool {
    let is_used = match car.condition {
        VehicleCondition::Used | VehicleCondition::CertifiedPreOwned | VehicleCondition::Demo => true,
        VehicleCondition::New | VehicleCondition::Unknown => false,
    };
    let is_offered = match car.status {
        VehicleStatus::Available
        | VehicleStatus::InTransit
        | VehicleStatus::OnOrder
        | VehicleStatus::Pending
        | VehicleStatus::Reserved
        | VehicleStatus::OnHold
        | VehicleStatus::Sold => true,
        VehicleStatus::Wholesale | VehicleStatus::Unavailable | VehicleStatus::Unknown => false,
    };
    is_used && is_offered && trade.vin.as_ref().is_none_or(|vin| *vin != car.vin)
}

/// What the sold ones went for, by the id of the vehicle.
async fn sold_prices(cars: &[Entity<Vehicle>], context: &WriteContext<'_>) -> Result<HashMap<String, Money>, Fault> {
    let sold = cars.iter().filter(|car| car.record.status == VehicleStatus::Sold);
    let ids: Vec<Cell> = sold.map(|car| Cell::Text(car.id.clone())).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let delivered = [DealStatus::Delivered, DealStatus::Funded, DealStatus::Posted];
    let words = delivered.iter().map(|status| Cell::Text(status.as_str().to_owned())).collect();
    let filters = vec![Filter::AnyOf("vehicle_id", ids), Filter::AnyOf("status", words)];
    let deals: Vec<Entity<Deal>> = context.list(filters, MAX_COMPARABLES).await?;
    Ok(deals.into_iter().map(|deal| (deal.record.vehicle_id.to_string(), deal.record.selling_price)).collect())
}

/// What the dealership deducts from the value of a trade.
pub(super) async fn deductions(context: &WriteContext<'_>) -> Result<Vec<Fee>, Fault> {
    let lines = fee::active(context.list(fee::active_lines(), fee::MAX_LINES).await?)?;
    Ok(lines.into_iter().filter(|fee| fee.kind == FeeKind::TradeDeduction).collect())
}
