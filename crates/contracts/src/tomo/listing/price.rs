//! What stays cost and what is paid back, in whole rupees.
//!
//! - The price of a night is that of the rate that covers it, or the room's base price. Where two rates cover a night, the
//!   one that begins later counts, and of two that begin together the one whose code comes later.
//! - Tax is taken of the whole stay and rounded half up to a whole rupee, once.
//! - A refund is a percentage of the total, rounded half up.
//! - A changed stay keeps the price of the room nights that it already had, as their share of the total; room nights that
//!   are new cost what they cost now, with tax.

use super::RefundTier;
use super::hotel::{RoomKind, RoomRate};
use crate::record::Day;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) subtotal_inr: i64,
    pub(super) tax_inr: i64,
}

impl Quote {
    pub(super) fn total_inr(self) -> i64 {
        self.subtotal_inr.saturating_add(self.tax_inr)
    }
}

/// The rate that counts for a night.
pub(super) fn rate_of<'a>(room: &RoomKind, rates: &'a [RoomRate], night: Day) -> Option<&'a RoomRate> {
    let covering = rates
        .iter()
        .filter(|rate| *rate.room_code == *room.room_code && rate.from_night <= night && night <= rate.until_night);
    covering.max_by_key(|rate| (rate.from_night, rate.rate_code.to_string()))
}

/// How many rooms can be sold for a night, those that are booked included.
pub(super) fn units_of(room: &RoomKind, rates: &[RoomRate], night: Day) -> i64 {
    let closed = rate_of(room, rates, night).map_or(0, |rate| rate.units_closed.get());
    room.units.get().saturating_sub(closed).max(0)
}

pub(super) fn quote(room: &RoomKind, rates: &[RoomRate], nights: &[Day], rooms: i64) -> Quote {
    let price = |night: &Day| rate_of(room, rates, *night).map_or(room.base_price_inr, |rate| rate.price_inr).get();
    let sum = nights.iter().map(price).fold(0_i64, i64::saturating_add);
    let subtotal_inr = sum.saturating_mul(rooms);
    Quote { subtotal_inr, tax_inr: share(subtotal_inr, room.tax_percent.get(), 100) }
}

/// `amount * part / whole`, rounded half up. Amounts are not negative.
pub(in crate::tomo) fn share(amount: i64, part: i64, whole: i64) -> i64 {
    let (amount, part, whole) = (i128::from(amount), i128::from(part), i128::from(whole.max(1)));
    i64::try_from((amount * part * 2 + whole) / (whole * 2)).unwrap_or(i64::MAX)
}

/// The percentage that is paid back this many milliseconds before it begins. The tiers are in order, most hours first.
pub(super) fn refund_percent(tiers: &[RefundTier], left_millis: i64) -> i64 {
    let counts = |tier: &&RefundTier| left_millis >= tier.hours_before.get().saturating_mul(3_600_000);
    tiers.iter().find(counts).map_or(0, |tier| tier.refund_percent.get())
}

#[cfg(test)]
mod tests {
    use super::{refund_percent, share};
    use crate::record::Integer;
    use crate::tomo::listing::RefundTier;

    #[test]
    fn amounts_are_rounded_half_up_to_whole_rupees() {
        assert_eq!(share(4_999, 12, 100), 600, "599.88");
        assert_eq!(share(1_050, 5, 100), 53, "52.5");
        assert_eq!(share(1_049, 5, 100), 52, "52.45");
        assert_eq!(share(9_000_000_000_000, 100, 100), 9_000_000_000_000);
        assert_eq!(share(1_000, 2, 3), 667);
    }

    #[test]
    fn the_tier_with_the_most_hours_that_are_left_counts() {
        let tier = |hours, percent| RefundTier {
            hours_before: Integer::clamped(hours),
            refund_percent: Integer::clamped(percent),
        };
        let tiers = [tier(48, 100), tier(24, 50)];
        let hour = 3_600_000;
        assert_eq!(refund_percent(&tiers, 48 * hour), 100);
        assert_eq!(refund_percent(&tiers, 48 * hour - 1), 50);
        assert_eq!(refund_percent(&tiers, 24 * hour), 50);
        assert_eq!(refund_percent(&tiers, 24 * hour - 1), 0);
        assert_eq!(refund_percent(&[], 1_000 * hour), 0);
    }
}
