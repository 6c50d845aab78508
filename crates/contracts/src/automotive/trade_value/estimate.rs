//! The value of a car from the prices of comparable ones: no rate of depreciation is assumed. Cars of nearly the same
//! age and mileage are sought, more and more widely, and the condition decides where in their prices the value lies.

use super::TradeCondition;
use crate::automotive::deal::arithmetic::rate_of;
use crate::automotive::fee::Fee;

/// The car to be valued; its mileage in millimetres.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    pub year: i64,
    pub mileage: i64,
}

/// A car of the same make and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparable {
    pub year: i64,
    pub mileage: i64,
    pub price: i64,
    pub currency: String,
    pub is_sold: bool,
}

/// How much a comparable car may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparableWindow {
    pub years: i64,
    pub mileage_percent: i64,
}

pub const MIN_COMPARABLES: usize = 3;

/// From near to far; the first with enough cars is used.
pub const WINDOWS: [ComparableWindow; 3] = [
    ComparableWindow { years: 1, mileage_percent: 25 },
    ComparableWindow { years: 2, mileage_percent: 40 },
    ComparableWindow { years: 3, mileage_percent: 60 },
];

/// Cars with less mileage than this are compared as if they had it: a quarter of nothing is nothing. 10,000 km.
const MIN_MILEAGE: i64 = 10_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    pub low: i64,
    pub value: i64,
    pub high: i64,
    pub comparables: i64,
    pub sold: i64,
    pub window: ComparableWindow,
}

/// None if even the widest window has too few cars.
pub fn estimate(subject: Subject, condition: TradeCondition, all: &[Comparable]) -> Option<Estimate> {
    WINDOWS.iter().find_map(|window| {
        let near: Vec<&Comparable> = all.iter().filter(|one| is_near(subject, *window, one)).collect();
        let mut prices: Vec<i64> = near.iter().map(|one| one.price).collect();
        prices.sort_unstable();
        let [low, value, high] = percentiles(condition).map(|percent| percentile(&prices, percent));
        (prices.len() >= MIN_COMPARABLES).then(|| Estimate {
            low,
            value,
            high,
            comparables: i64::try_from(near.len()).unwrap_or(i64::MAX),
            sold: i64::try_from(near.iter().filter(|one| one.is_sold).count()).unwrap_or(i64::MAX),
            window: *window,
        })
    })
}

/// How many cars are within a window.
pub fn count(subject: Subject, window: ComparableWindow, all: &[Comparable]) -> usize {
    all.iter().filter(|one| is_near(subject, window, one)).count()
}

fn is_near(subject: Subject, window: ComparableWindow, one: &Comparable) -> bool {
    let allowed = i128::from(subject.mileage.max(MIN_MILEAGE)) * i128::from(window.mileage_percent) / 100;
    let apart = i128::from(subject.mileage.abs_diff(one.mileage));
    subject.year.abs_diff(one.year) <= window.years.unsigned_abs() && apart <= allowed
}

/// Where low, value and high lie among the sorted prices.
fn percentiles(condition: TradeCondition) -> [i64; 3] {
    match condition {
        TradeCondition::Excellent => [50, 75, 100],
        TradeCondition::Good => [25, 50, 75],
        TradeCondition::Fair => [10, 25, 50],
        TradeCondition::Poor | TradeCondition::Unknown => [0, 10, 25],
    }
}

/// Between two prices the part in proportion, rounded down.
fn percentile(sorted: &[i64], percent: i64) -> i64 {
    let last = i64::try_from(sorted.len().saturating_sub(1)).unwrap_or_default();
    let place = last * percent;
    let at = |index: i64| usize::try_from(index).ok().and_then(|index| sorted.get(index)).copied().unwrap_or_default();
    let (lower, upper) = (at(place / 100), at((place / 100 + 1).min(last)));
    lower + (upper - lower) * (place % 100) / 100
}

/// The currency of most of the cars; of several such the first by its letters.
pub fn usual_currency(all: &[Comparable]) -> Option<String> {
    let count = |currency: &str| all.iter().filter(|one| one.currency == currency).count();
    let best = all
        .iter()
        .map(|one| one.currency.as_str())
        .max_by_key(|currency| (count(currency), std::cmp::Reverse(*currency)));
    best.map(str::to_owned)
}

/// An amount less the deductions of the dealership's table, each of them from the amount itself, and never below zero.
pub fn less_deductions(amount: i64, currency: &str, deductions: &[Fee]) -> i64 {
    let parts = deductions.iter().map(|fee| match (&fee.amount, fee.rate_basis_points) {
        (Some(fixed), _) if *fixed.currency == *currency => i128::from(fixed.amount.get()),
        (None, Some(rate)) => rate_of(i128::from(amount), rate.get()),
        (Some(_), _) | (None, None) => 0,
    });
    let left = i128::from(amount) - parts.sum::<i128>();
    i64::try_from(left.max(0)).unwrap_or_default()
}

/// Whether a deduction applies to values in this currency.
pub fn has_deduction(currency: &str, deductions: &[Fee]) -> bool {
    deductions.iter().any(|fee| fee.amount.as_ref().is_none_or(|fixed| *fixed.currency == *currency))
}
