//! The workshop: when it works and what it can do, appointments with their waitlist, and repair orders.

pub mod advisor;
pub mod appointment;
pub mod availability;
mod booking;
mod erased;
pub mod job_line;
mod lookup;
pub mod repair_order;
pub mod service_code;
pub mod workshop;
pub mod workshop_day;

use frontdesk_engine::Code;

use super::codes::CodeSpec;
use super::resource::ResourceParts;

pub const SLOT_UNAVAILABLE: CodeSpec = CodeSpec {
    code: Code("service.slot_unavailable"),
    means: "The work cannot start then: the workshop is closed, the time is no slot, the work would not end before closing \
            time, the advisor does not work, or the slot is full and a place on the waitlist is not wanted.",
    next: "Find a time with `service.check_availability`.",
};

pub const INVALID_SERVICE_CODE: CodeSpec = CodeSpec {
    code: Code("service.invalid_service_code"),
    means: "A service code does not exist, is no longer offered, or needs a kind of bay that the workshop does not have.",
    next: "Find codes with `service.list_service_codes`; `details.errors` names those that are wrong.",
};

pub const INVALID_TRANSITION: CodeSpec = CodeSpec {
    code: Code("service.invalid_transition"),
    means: "The status cannot follow the one before, or does not allow this change.",
    next: "Read the record, and choose a status that the message names.",
};

pub const DUPLICATE: CodeSpec = CodeSpec {
    code: Code("service.duplicate"),
    means: "Another record of the workshop has this number or code, or the appointment has a repair order already.",
    next: "Find that record and change it.",
};

/// In the order of `tools/list`.
pub fn resources() -> Vec<ResourceParts> {
    vec![
        appointment::resource(),
        repair_order::resource(),
        service_code::resource(),
        advisor::resource(),
        workshop::resource(),
    ]
}
