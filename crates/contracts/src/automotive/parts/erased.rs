//! What is left of an order of parts when its customer is erased.

use super::order::PartOrder;
use crate::automotive::erasure::PersonRecord;
use crate::record::{Email, Phone};

impl PersonRecord for PartOrder {
    fn email(&self) -> Option<&Email> {
        None
    }

    fn phone(&self) -> Option<&Phone> {
        None
    }

    fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// The number, the lines and what they cost stay: they are the dealership's books.
    fn erase(&mut self) {
        let PartOrder {
            order_number: _,
            status: _,
            customer_id: _,
            repair_order_id: _,
            lines: _,
            total: _,
            ordered_at: _,
            eta: _,
            shipped_at: _,
            received_at: _,
            cancelled_at: _,
            notes,
            cancel_reason,
        } = self;
        *notes = None;
        *cancel_reason = None;
    }
}
