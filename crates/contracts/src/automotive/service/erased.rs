//! What is left of appointments and repair orders when their customer is erased: the workshop's day and its books.

use super::appointment::Appointment;
use super::job_line::JobLine;
use super::repair_order::RepairOrder;
use crate::automotive::erasure::PersonRecord;
use crate::record::{Email, List, Phone};

impl PersonRecord for Appointment {
    fn email(&self) -> Option<&Email> {
        self.contact.as_ref()?.email.as_ref()
    }

    fn phone(&self) -> Option<&Phone> {
        self.contact.as_ref()?.phone.as_ref()
    }

    fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// Its place in the workshop's day stays. The customer's own vehicle and the number elsewhere point to them.
    fn erase(&mut self) {
        let Appointment {
            appointment_id: _,
            status: _,
            appointment_number,
            vehicle_id: _,
            vin,
            vehicle,
            customer_id: _,
            workshop_id: _,
            start: _,
            end: _,
            local_start: _,
            time_zone: _,
            service_codes: _,
            advisor_id: _,
            transport: _,
            mileage,
            channel: _,
            moved_up_at: _,
            cancelled_at: _,
            repair_order_id: _,
            contact,
            concerns,
            notes,
            cancel_reason,
        } = self;
        *appointment_number = None;
        *vin = None;
        *vehicle = None;
        *mileage = None;
        *contact = None;
        *concerns = List::default();
        *notes = None;
        *cancel_reason = None;
    }
}

impl PersonRecord for RepairOrder {
    fn email(&self) -> Option<&Email> {
        None
    }

    fn phone(&self) -> Option<&Phone> {
        None
    }

    fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// The workshop's number, the work and what it cost stay: they are its books.
    fn erase(&mut self) {
        let RepairOrder {
            ro_number: _,
            status: _,
            appointment_id: _,
            customer_id: _,
            vehicle_id: _,
            vin,
            advisor_id: _,
            tag_number: _,
            mileage_in,
            mileage_out,
            opened_at: _,
            promised_at: _,
            closed_at: _,
            jobs,
            charges: _,
            total: _,
            notes,
            pickup_code,
        } = self;
        *vin = None;
        *mileage_in = None;
        *mileage_out = None;
        jobs.iter_mut().for_each(erase_line);
        *notes = None;
        *pickup_code = None;
    }
}

fn erase_line(line: &mut JobLine) {
    let JobLine {
        line: _,
        op_code: _,
        complaint,
        cause,
        correction,
        pay_type: _,
        status: _,
        labor_hours_hundredths: _,
        technician_id: _,
        labor_total: _,
        parts_total: _,
    } = line;
    *complaint = None;
    *cause = None;
    *correction = None;
}
