//! How bookings for a time end: what is paid back, and what the business earns by it. Rides and orders have rules of their
//! own.

use frontdesk_engine::Fault;
use frontdesk_engine::model::timestamp::Millis;

use super::booking::{Booking, BookingStatus, Rupees};
use super::codes::BOOKING_CLOSED;
use super::lifecycle::Advance;
use crate::record::Integer;

/// The ways in which a booking ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookingEnd {
    /// It was carried out.
    Completed,
    /// The customer did not come. It counts as cancelled at the last moment.
    NoShow,
    /// The business has cancelled it. Who does that pays everything back.
    Cancelled,
    /// It could not be carried out.
    Failed,
}

/// What the terms of a booking say about amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndingTerms {
    /// What is paid back to who does not come.
    pub(super) no_show_refund_inr: i64,
    /// Percent that were added to the price as tax.
    pub(super) tax_percent: i64,
}

/// What a notification may say about amounts. Where it says nothing, the terms of the booking decide.
const REFUND: &str = "refund_inr";
const NET: &str = "net_inr";

/// Ends a booking.
pub(super) fn end(booking: &mut Booking, to: &Advance, ending: BookingEnd, terms: EndingTerms) -> Result<(), Fault> {
    let total = booking.total_inr.get();
    let known: &[&str] = match ending {
        BookingEnd::Completed => &[NET],
        BookingEnd::NoShow | BookingEnd::Cancelled => &[REFUND, NET],
        BookingEnd::Failed => &[],
    };
    let said = Amounts::read(to, known, total)?;
    let refund = match ending {
        BookingEnd::Completed => None,
        BookingEnd::NoShow => Some(said.refund.unwrap_or(terms.no_show_refund_inr)),
        BookingEnd::Cancelled => Some(said.refund.unwrap_or(total)),
        BookingEnd::Failed => Some(total),
    };
    let kept = total.saturating_sub(refund.unwrap_or(0)).max(0);
    if said.net.is_some_and(|net| net > kept) {
        let expected = "it must not be more than what is not paid back";
        return Err(Fault::invalid_argument("/details/net_inr", "maximum", expected));
    }
    booking.status = match ending {
        BookingEnd::Completed => BookingStatus::Completed,
        BookingEnd::NoShow | BookingEnd::Cancelled => BookingStatus::Cancelled,
        BookingEnd::Failed => BookingStatus::Failed,
    };
    if let Some(refund) = refund {
        booking.refund_inr = Some(Rupees::clamped(refund));
        booking.refund_percent = Some(Integer::clamped(percent_of(refund, total)));
    }
    if booking.status == BookingStatus::Cancelled {
        booking.cancelled_at = Some(to.at);
    }
    close(booking, to.at, said.net.unwrap_or_else(|| without_tax(kept, terms.tax_percent)));
    Ok(())
}

/// What all endings have in common: when it was, and what the business earns.
pub(super) fn close(booking: &mut Booking, at: Millis, net_inr: i64) {
    booking.ended_at = Some(at);
    booking.net_inr = Some(Rupees::clamped(net_inr));
}

/// The part of an amount that is no tax, rounded half up. For a price that tax was added to and rounded in this way, it is
/// exactly that price.
pub(super) fn without_tax(amount: i64, tax_percent: i64) -> i64 {
    let (amount, whole) = (i128::from(amount), i128::from(tax_percent.max(0)) + 100);
    i64::try_from((amount * 200 + whole) / (whole * 2)).unwrap_or(i64::MAX)
}

fn percent_of(part: i64, whole: i64) -> i64 {
    let (part, whole) = (i128::from(part), i128::from(whole.max(1)));
    i64::try_from((part * 200 + whole) / (whole * 2)).unwrap_or(100)
}

/// What was said in the details.
#[derive(Debug, Default)]
struct Amounts {
    refund: Option<i64>,
    net: Option<i64>,
}

impl Amounts {
    fn read(to: &Advance, known: &[&str], total: i64) -> Result<Amounts, Fault> {
        check_details(to, known)?;
        let amount = |name: &str| match to.details.get(name) {
            None => Ok(None),
            Some(value) => value.as_i64().filter(|amount| (0..=total).contains(amount)).map(Some).ok_or_else(|| {
                let expected = "whole rupees are expected, at most the total of the booking";
                Fault::invalid_argument(&format!("/details/{name}"), "maximum", expected)
            }),
        };
        Ok(Amounts { refund: amount(REFUND)?, net: amount(NET)? })
    }
}

/// Refuses details that nobody would look at. It does not repeat their names, which anybody may have chosen.
pub(super) fn check_details(to: &Advance, known: &[&str]) -> Result<(), Fault> {
    if to.details.keys().all(|name| known.contains(&name.as_str())) {
        return Ok(());
    }
    let expected = match known {
        [] => "nothing else is known of this stage".to_owned(),
        _ => format!("only these are known of this stage: {}", known.join(", ")),
    };
    Err(Fault::invalid_argument("/details", "additionalProperties", expected))
}

/// The meaning of a stage, which must be one of these words.
pub(super) fn stage_of<S: Copy>(to: &Advance, words: &[(&str, S)]) -> Result<S, Fault> {
    let found = words.iter().find(|(word, _)| *word == to.stage).map(|(_, stage)| *stage);
    found.ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Fault::invalid_argument("/stage", "enum", format!("one of these is expected: {}", words.join(", ")))
    })
}

/// A booking has come further than that.
pub(super) fn passed() -> Fault {
    Fault::domain(BOOKING_CLOSED, "This booking has passed that stage.")
}

/// A stage that cannot have come yet.
pub(super) fn too_early(expected: &'static str) -> Fault {
    Fault::invalid_argument("/at", "minimum", expected)
}

#[cfg(test)]
mod tests {
    use super::{percent_of, without_tax};

    #[test]
    fn a_price_is_found_again_in_a_total_with_its_tax() {
        for tax_percent in [0, 5, 12, 18, 28, 100] {
            for price in (1..2_000).chain([4_999, 123_457, 9_000_001]) {
                let tax = (price * tax_percent * 2 + 100) / 200;
                assert_eq!(without_tax(price + tax, tax_percent), price, "{price} and {tax_percent} %");
            }
        }
        assert_eq!([percent_of(0, 0), percent_of(5_152, 10_304), percent_of(10_304, 10_304)], [0, 50, 100]);
    }
}
