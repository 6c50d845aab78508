//! For whom something is booked, from the arguments of a call.

use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use crate::tomo::booking::BookingCustomer;

/// The person that this argument has.
pub(super) fn read(permitted: &Permitted<'_>, argument: &str) -> Result<BookingCustomer, Fault> {
    let person = permitted.input().object(argument);
    let text = |name: &str| person.and_then(|person| person.get(name)).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    if search_terms(name).is_empty() {
        let pointer = format!("/{argument}/name");
        return Err(Fault::invalid_argument(&pointer, "pattern", "at least one letter is expected"));
    }
    let phone = text("phone").unwrap_or_default();
    Ok(BookingCustomer { name: name.into(), phone: phone.into(), email: text("email").map(Into::into) })
}
