//! What the business's own system says about a booking by itself. It has stages of its own, which are taken as they are;
//! only what the booking comes to in the end is checked.

use frontdesk_engine::model::plan::Step;
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::answer::{MAX_STAGE, STATUSES};
use super::booked::{BackendAnswers, End, MissingNet};
use crate::record::{Entity, FieldType as _};
use crate::tomo::booking::{Booking, BookingStatus, Rupees};
use crate::tomo::codes::BOOKING_CLOSED;
use crate::tomo::lifecycle::Advance;

/// Moves a booking of the business's own system to another stage. `details` may have `status`, `net_inr` and
/// `refund_inr`; a stage that is itself the word of a status needs no `status`.
pub async fn advance(
    permitted: &Permitted<'_>,
    booking: &mut Entity<Booking>,
    to: &Advance,
) -> Result<Vec<Step>, Fault> {
    let _ = permitted;
    check_stage(&to.stage)?;
    let details = Details::read(to)?;
    let record = &mut booking.record;
    if record.stage.as_deref() == Some(to.stage.as_str()) && details.status.is_none_or(|status| status == record.status)
    {
        return Ok(Vec::new());
    }
    if record.status.is_final() {
        return Err(Fault::domain(BOOKING_CLOSED, "This booking has ended."));
    }
    record.stage = Some(to.stage.as_str().into());
    if let Some(refund) = details.refund_inr {
        record.refund_inr = Some(Rupees::clamped(refund));
    }
    if let Some(status) = details.status.filter(|status| status.is_final()) {
        let end = End { status, at: to.at, net_inr: details.net_inr };
        end.apply(record).map_err(|MissingNet| wrong("net_inr", "required", "what the business earns is required"))?;
        if let Some(backend) = &mut record.backend {
            let mut answers = BackendAnswers::of(backend);
            answers.set_status(status);
            // After an erasure there is nothing to keep.
            backend.answers = backend.answers.as_ref().and_then(|_| answers.text());
        }
    }
    Ok(Vec::new())
}

fn check_stage(stage: &str) -> Result<(), Fault> {
    let is_word = (1..=MAX_STAGE).contains(&stage.len())
        && stage.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if is_word {
        Ok(())
    } else {
        Err(Fault::invalid_argument("/stage", "pattern", "1 to 40 lower-case letters, digits and _ are expected"))
    }
}

struct Details {
    status: Option<BookingStatus>,
    net_inr: Option<i64>,
    refund_inr: Option<i64>,
}

impl Details {
    fn read(to: &Advance) -> Result<Details, Fault> {
        let mut details = Details { status: word(&to.stage), net_inr: None, refund_inr: None };
        for (name, value) in &to.details {
            match name.as_str() {
                "status" => {
                    let status = value.as_str().and_then(word);
                    let expected = format!("one of these is expected: {}", STATUSES.join(", "));
                    details.status = Some(status.ok_or_else(|| wrong("status", "enum", &expected))?);
                }
                "net_inr" => details.net_inr = Some(rupees("net_inr", value)?),
                "refund_inr" => details.refund_inr = Some(rupees("refund_inr", value)?),
                _ => return Err(Fault::invalid_argument("/details", "additionalProperties", KNOWN)),
            }
        }
        Ok(details)
    }
}

const KNOWN: &str = "only status, net_inr and refund_inr are known";

fn word(text: &str) -> Option<BookingStatus> {
    STATUSES.contains(&text).then(|| BookingStatus::from_word(text))
}

fn rupees(name: &str, value: &Value) -> Result<i64, Fault> {
    let mut value = value.clone();
    let amount = Rupees::input().accepts(&mut value).then(|| value.as_i64()).flatten();
    amount.ok_or_else(|| wrong(name, "type", "whole rupees are expected"))
}

fn wrong(name: &str, keyword: &'static str, expected: &str) -> Fault {
    Fault::invalid_argument(&format!("/details/{name}"), keyword, expected)
}
