//! For whom something is booked, from the arguments of a call.

use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::{Fault, Permitted};

use crate::tomo::argument::argument;
use crate::tomo::booking::BookingCustomer;

/// The person that this argument has.
pub(super) fn read(permitted: &Permitted<'_>, name: &str) -> Result<BookingCustomer, Fault> {
    let customer: BookingCustomer = argument(permitted, name)?;
    if search_terms(&customer.name).is_empty() {
        let pointer = format!("/{name}/name");
        return Err(Fault::invalid_argument(&pointer, "pattern", "at least one letter is expected"));
    }
    Ok(customer)
}
