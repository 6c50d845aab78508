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
    fn erased(self) -> Appointment {
        let Appointment {
            appointment_id,
            status,
            appointment_number: _,
            vehicle_id,
            vin: _,
            vehicle: _,
            customer_id,
            workshop_id,
            start,
            end,
            local_start,
            time_zone,
            service_codes,
            advisor_id,
            transport,
            mileage: _,
            channel,
            moved_up_at,
            cancelled_at,
            repair_order_id,
            contact: _,
            concerns: _,
            notes: _,
            cancel_reason: _,
        } = self;
        Appointment {
            appointment_id,
            status,
            appointment_number: None,
            vehicle_id,
            vin: None,
            vehicle: None,
            customer_id,
            workshop_id,
            start,
            end,
            local_start,
            time_zone,
            service_codes,
            advisor_id,
            transport,
            mileage: None,
            channel,
            moved_up_at,
            cancelled_at,
            repair_order_id,
            contact: None,
            concerns: List::default(),
            notes: None,
            cancel_reason: None,
        }
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
    fn erased(self) -> RepairOrder {
        let RepairOrder {
            ro_number,
            status,
            appointment_id,
            customer_id,
            vehicle_id,
            vin: _,
            advisor_id,
            tag_number,
            mileage_in: _,
            mileage_out: _,
            opened_at,
            promised_at,
            closed_at,
            jobs,
            charges,
            total,
            notes: _,
            pickup_code: _,
        } = self;
        RepairOrder {
            ro_number,
            status,
            appointment_id,
            customer_id,
            vehicle_id,
            vin: None,
            advisor_id,
            tag_number,
            mileage_in: None,
            mileage_out: None,
            opened_at,
            promised_at,
            closed_at,
            jobs: List(jobs.0.into_iter().map(erased_line).collect()),
            charges,
            total,
            notes: None,
            pickup_code: None,
        }
    }
}

fn erased_line(line: JobLine) -> JobLine {
    let JobLine {
        line,
        op_code,
        complaint: _,
        cause: _,
        correction: _,
        pay_type,
        status,
        labor_hours_hundredths,
        technician_id,
        labor_total,
        parts_total,
    } = line;
    JobLine {
        line,
        op_code,
        complaint: None,
        cause: None,
        correction: None,
        pay_type,
        status,
        labor_hours_hundredths,
        technician_id,
        labor_total,
        parts_total,
    }
}
