//! How a vehicle moves through the stock: which status follows which, what a deal does to it, and its prices so far.

use frontdesk_engine::model::table::Cell;
use frontdesk_engine::{Code, Fault};

use super::{PricePoint, Vehicle, VehicleHold, VehicleStatus, VinCheck};
use crate::automotive::codes::CodeSpec;
use crate::automotive::vin::Vin;
use crate::record::{Entity, PartialKey, Timestamp, check_transition};

/// Two units with one VIN cannot both be in stock.
pub(super) const LIVE_VIN: PartialKey<Vehicle> =
    PartialKey { field: "vin", column: "live_vin", cell: Vehicle::live_vin };

pub(super) const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("inventory.invalid_transition"),
    means: "The vehicle's status cannot follow the one it has.",
    next: "Choose one that the message names; a sold vehicle that came back goes `on_hold` first.",
};

pub(super) const HELD_BY_DEAL: CodeSpec = CodeSpec {
    code: Code("inventory.held_by_deal"),
    means: "A deal reserves the vehicle or has sold it, and decides its status.",
    next: "Change that deal with `deals.update`, or cancel it with `deals.cancel_deal`; `held_by` has its id.",
};

pub const VEHICLE_UNAVAILABLE: CodeSpec = CodeSpec {
    code: Code("inventory.vehicle_unavailable"),
    means: "The vehicle cannot be sold: it is sold, withdrawn, on hold, or another deal has it.",
    next: "Offer another one; `inventory.search` with status `available` finds it.",
};

/// `sold` may be set by hand, because some dealerships keep their deals elsewhere. A sold unit comes back by way of
/// `on_hold` only, so that no slip offers it again.
#[rustfmt::skip]
const TRANSITIONS: &[(VehicleStatus, &[VehicleStatus])] = {
    use VehicleStatus::{Available, InTransit, OnHold, OnOrder, Pending, Reserved, Sold, Unavailable, Unknown, Wholesale};
    &[
        (Available, &[InTransit, OnOrder, Pending, Reserved, OnHold, Sold, Wholesale, Unavailable]),
        (InTransit, &[Available, OnOrder, Pending, Reserved, OnHold, Sold, Wholesale, Unavailable]),
        (OnOrder, &[Available, InTransit, Pending, Reserved, OnHold, Sold, Wholesale, Unavailable]),
        (Pending, &[Available, InTransit, OnOrder, Reserved, OnHold, Sold, Wholesale, Unavailable]),
        (Reserved, &[Available, InTransit, OnOrder, Pending, OnHold, Sold, Wholesale, Unavailable]),
        (OnHold, &[Available, InTransit, OnOrder, Pending, Reserved, Sold, Wholesale, Unavailable]),
        (Sold, &[OnHold]),
        (Wholesale, &[OnHold]),
        (Unavailable, &[Available, InTransit, OnOrder, OnHold, Sold, Wholesale]),
        (Unknown, &[Available, InTransit, OnOrder, Pending, Reserved, OnHold, Sold, Wholesale, Unavailable]),
    ]
};

pub(super) fn check_status(before: &Vehicle, after: &Vehicle) -> Result<(), Fault> {
    if before.status != after.status && before.held_by.is_some() {
        return Err(Fault::domain(
            HELD_BY_DEAL.code,
            "A deal has this vehicle and decides its status. Change the deal that held_by names, or cancel it with \
             deals.cancel_deal.",
        ));
    }
    check_transition(TRANSITIONS, before.status, after.status, INVALID_TRANSITION.code)
}

impl VinCheck {
    /// A number without a valid check digit exists only outside North America.
    pub(in crate::automotive) fn of(vin: &Vin) -> VinCheck {
        if vin.has_valid_check_digit() { VinCheck::Verified } else { VinCheck::NotVerified }
    }
}

impl Vehicle {
    /// The VIN while the unit is the dealership's own.
    fn live_vin(&self) -> Cell {
        match self.status {
            VehicleStatus::Sold | VehicleStatus::Wholesale => Cell::Null,
            VehicleStatus::Available
            | VehicleStatus::InTransit
            | VehicleStatus::OnOrder
            | VehicleStatus::Pending
            | VehicleStatus::Reserved
            | VehicleStatus::OnHold
            | VehicleStatus::Unavailable
            | VehicleStatus::Unknown => Cell::Text(self.vin.to_string()),
        }
    }

    /// A deal can be made about it.
    pub(in crate::automotive) fn check_for_sale(&self) -> Result<(), Fault> {
        let reason = match self.status {
            VehicleStatus::Sold | VehicleStatus::Wholesale => "This vehicle is sold.",
            VehicleStatus::Available
            | VehicleStatus::InTransit
            | VehicleStatus::OnOrder
            | VehicleStatus::Pending
            | VehicleStatus::Reserved
                if self.held_by.is_none() =>
            {
                return Ok(());
            }
            VehicleStatus::Available
            | VehicleStatus::InTransit
            | VehicleStatus::OnOrder
            | VehicleStatus::Pending
            | VehicleStatus::Reserved => "Another deal has this vehicle.",
            VehicleStatus::OnHold => "This vehicle is on hold.",
            VehicleStatus::Unavailable | VehicleStatus::Unknown => "This vehicle is not for sale.",
        };
        let next = "Find another one with inventory.search and status available.";
        Err(Fault::domain(VEHICLE_UNAVAILABLE.code, format!("{reason} {next}")))
    }

    /// An accepted deal keeps it for its customer.
    pub(in crate::automotive) fn reserve(&mut self, deal: &str) {
        self.held_by = Some(VehicleHold { deal_id: deal.into(), status_before: self.status });
        self.status = VehicleStatus::Reserved;
    }

    pub(in crate::automotive) fn sell(&mut self, now: Timestamp) {
        let before = self.status;
        self.status = VehicleStatus::Sold;
        self.note_sale(before, now);
    }

    /// A unit that comes back was not sold.
    pub(super) fn note_sale(&mut self, before: VehicleStatus, now: Timestamp) {
        match (before == VehicleStatus::Sold, self.status == VehicleStatus::Sold) {
            (false, true) => self.sold_at = Some(now),
            (true, false) => self.sold_at = None,
            (true, true) | (false, false) => {}
        }
    }

    /// The deal that had it is off. A car that was delivered has to be looked at before it is offered again.
    pub(in crate::automotive) fn release(&mut self) {
        let Some(hold) = self.held_by.take() else { return };
        self.status = if self.status == VehicleStatus::Sold { VehicleStatus::OnHold } else { hold.status_before };
        self.sold_at = None;
    }

    pub(in crate::automotive) fn is_held_by(&self, deal: &str) -> bool {
        self.held_by.as_ref().is_some_and(|hold| &*hold.deal_id == deal)
    }

    /// Notes the current price as asked from `at` on.
    pub(in crate::automotive) fn note_price(&mut self, at: Timestamp) {
        self.price_history.push(PricePoint { at, price: self.price.clone() });
        let excess = self.price_history.len().saturating_sub(MAX_PRICES);
        self.price_history.drain(..excess);
    }

    /// A unit that is older than its history has had the price before at least since its last change.
    pub(super) fn note_change_of_price(&mut self, before: &Entity<Vehicle>, at: Timestamp) {
        if self.price_history.is_empty() {
            self.price_history.push(PricePoint { at: before.updated_at, price: before.record.price.clone() });
        }
        self.note_price(at);
    }
}

/// As many as the field may have.
const MAX_PRICES: usize = 20;
