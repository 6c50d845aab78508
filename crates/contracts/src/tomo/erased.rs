//! What is left of a booking when its customer is erased: what was booked, and what it cost.

use super::TENANT;
use super::booking::{Booking, BookingCustomer};
use crate::automotive::erasure::PersonRecord;
use crate::record::{Email, Phone};

impl PersonRecord for Booking {
    const TENANT_MEMBER: &'static str = TENANT;

    fn email(&self) -> Option<&Email> {
        self.customer.as_ref()?.email.as_ref()
    }

    fn phone(&self) -> Option<&Phone> {
        self.customer.as_ref().map(|BookingCustomer { phone, .. }| phone)
    }

    fn customer_id(&self) -> Option<&str> {
        None
    }

    /// The nights and places that it takes stay taken. TOMO's number of the request is needed to report to it.
    fn erase(&mut self) {
        let Booking {
            status: _,
            stage: _,
            mode: _,
            intent: _,
            intent_version: _,
            partner_id: _,
            request_id: _,
            item_id: _,
            total_inr: _,
            previous_total_inr: _,
            refund_inr: _,
            refund_percent: _,
            starts_at: _,
            cancelled_at: _,
            ended_at: _,
            net_inr: _,
            stay: _,
            car: _,
            slot: _,
            ride,
            order,
            backend,
            customer,
        } = self;
        *customer = None;
        if let Some(ride) = ride {
            ride.erase_rider();
        }
        if let Some(order) = order {
            order.erase();
        }
        // What its system has answered may say who it is for; that system is asked to erase by itself.
        if let Some(backend) = backend {
            backend.answers = None;
        }
    }
}
