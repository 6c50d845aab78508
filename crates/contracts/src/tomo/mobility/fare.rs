//! What a ride costs, in whole rupees. Nothing here knows a record or a call.
//!
//! - The way is the great circle times the road factor, in whole metres; the time is that way at the table's speed, in
//!   minutes that have begun.
//! - The fare is the base fare, each kilometre beyond those that it includes, and each minute; at least the minimum fare.
//!   The surge multiplies that, and the result is rounded half up to a whole rupee, once.
//! - Tax is taken of that fare and rounded half up.

use super::fare_table::FareTerms;
use crate::record::FixedDecimal;
use crate::tomo::listing::place::Point;

/// By how much a surge multiplies a fare.
pub type SurgeMultiplier = FixedDecimal<2, 1, 5>;

/// Nobody is driven less far.
pub(super) const MIN_METRES: i64 = 100;

/// How far and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) metres: i64,
    pub(super) minutes: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FareQuote {
    pub(super) subtotal_inr: i64,
    pub(super) tax_inr: i64,
}

impl FareQuote {
    pub(super) fn total_inr(self) -> i64 {
        self.subtotal_inr.saturating_add(self.tax_inr)
    }
}

impl FareTerms {
    /// The way by road.
    pub(super) fn way(&self, from: Point, to: Point) -> Way {
        let straight = from.metres_to(to);
        let metres = half_up(i128::from(straight) * i128::from(self.road_factor.get()), 100);
        Way { metres, minutes: self.minutes_for(metres) }
    }

    /// How long so many metres of road take; a minute at least.
    fn minutes_for(&self, metres: i64) -> i64 {
        let metres_an_hour = self.speed_kmh.get().saturating_mul(1_000).max(1);
        let minutes = metres.max(0).saturating_mul(60).saturating_add(metres_an_hour - 1) / metres_an_hour;
        minutes.max(1)
    }

    pub(super) fn reaches(&self, way: Way) -> bool {
        way.metres <= self.max_km.get().saturating_mul(1_000)
    }

    pub(super) fn quote(&self, way: Way, surge: SurgeMultiplier) -> FareQuote {
        let included_metres = self.included_km.get().saturating_mul(100);
        let further = i128::from(way.metres.saturating_sub(included_metres).max(0));
        // In thousandths of a paisa, so that nothing is rounded before the end.
        let metered = i128::from(self.base_fare_inr.get()) * 100_000
            + further * i128::from(self.per_km_inr.get())
            + i128::from(way.minutes) * i128::from(self.per_minute_inr.get()) * 1_000;
        let fare = metered.max(i128::from(self.minimum_fare_inr.get()) * 100_000);
        let subtotal_inr = half_up(fare * i128::from(surge.get()), 100 * 100_000);
        let tax_inr = half_up(i128::from(subtotal_inr) * i128::from(self.tax_percent.get()), 100);
        FareQuote { subtotal_inr, tax_inr }
    }

    /// A total that was agreed on otherwise, with the tax that is in it.
    pub(super) fn split(&self, total_inr: i64) -> FareQuote {
        let subtotal_inr = half_up(i128::from(total_inr) * 100, 100 + i128::from(self.tax_percent.get()));
        FareQuote { subtotal_inr, tax_inr: total_inr.saturating_sub(subtotal_inr) }
    }
}

/// A quotient of numbers that are not negative, rounded half up.
fn half_up(number: i128, by: i128) -> i64 {
    i64::try_from((number * 2 + by) / (by * 2)).unwrap_or(i64::MAX)
}
