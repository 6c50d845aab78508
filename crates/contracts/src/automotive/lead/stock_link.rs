//! Finds the vehicle in stock that a sender names by its numbers, because it does not know ids.

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::schema::{Field, Schema, optional};

use crate::automotive::resource::WriteContext;
use crate::automotive::vehicle::{Vehicle, VehicleStatus};
use crate::automotive::vin::Vin;
use crate::record::{Cell, Entity, Ref, Text};

/// Arguments of `leads.create`, kept with the lead like other fields of vendors.
pub(in crate::automotive) const VIN: &str = "x_frontdesk_vin";
pub(in crate::automotive) const STOCK_NUMBER: &str = "x_frontdesk_stock_number";

pub(super) fn arguments() -> [Field; 2] {
    [
        optional(
            VIN,
            Schema::text(17),
            "VIN of the vehicle meant, if its id is not known. vehicle_id is set if exactly one unit in stock has it.",
        ),
        optional(STOCK_NUMBER, Schema::text(40), "The same by stock number; a VIN that is sent too must fit."),
    ]
}

/// The one unit that these numbers mean. A stock number is not believed against the VIN.
pub(super) async fn vehicle_in_stock(context: &WriteContext<'_>) -> Result<Option<Ref<Vehicle>>, Fault> {
    let vin: Option<Text<17>> = context.argument(VIN)?;
    let vin = vin.and_then(|vin| Vin::parse(&vin).ok());
    let stock_number: Option<Text<40>> = context.argument(STOCK_NUMBER)?;
    let vin_filter = vin.as_ref().map(|vin| Filter::Equals("vin", Cell::Text(vin.as_str().to_owned())));
    let number_filter = stock_number.map(|number| Filter::Equals("stock_number", Cell::Text(number.trim().to_owned())));
    let mut found: Option<String> = None;
    for filter in vin_filter.into_iter().chain(number_filter) {
        let units: Vec<Entity<Vehicle>> = context.list(vec![filter], MAX_UNITS).await?;
        let is_meant = |unit: &Entity<Vehicle>| vin.as_ref().is_none_or(|vin| *unit.record.vin == *vin.as_str());
        for unit in units.into_iter().filter(is_in_stock) {
            if !is_meant(&unit) || found.as_ref().is_some_and(|found| *found != unit.id) {
                return Ok(None);
            }
            found = Some(unit.id);
        }
    }
    Ok(found.as_deref().map(Ref::from))
}

/// A car that was sold and came back several times has as many units.
const MAX_UNITS: usize = 20;

fn is_in_stock(unit: &Entity<Vehicle>) -> bool {
    match unit.record.status {
        VehicleStatus::Sold | VehicleStatus::Wholesale | VehicleStatus::Unavailable => false,
        VehicleStatus::Available
        | VehicleStatus::InTransit
        | VehicleStatus::OnOrder
        | VehicleStatus::Pending
        | VehicleStatus::Reserved
        | VehicleStatus::OnHold
        | VehicleStatus::Unknown => true,
    }
}
