//! Figures about a dealership's own business: how many leads, how fast they were answered, how the stock turns. They are
//! computed from its records at the time of the call (docs/decisions/0128-signals-are-counted.md), contain no personal
//! data and show no group that is too small (`suppression`).

mod measure;
mod period;
mod schema;
pub mod suppression;
mod tools;

pub use tools::{GET, LIST, NOT_FOUND, templates, tools};

use crate::Vocabulary;
use crate::automotive::lead::Channel;
use crate::automotive::vehicle::{BodyStyle, VehicleCondition};
use crate::record::Vocabulary as _;

/// What is configured about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalSettings {
    /// The smallest number of records that a figure may be from.
    pub min_group: usize,
}

impl Default for SignalSettings {
    fn default() -> SignalSettings {
        SignalSettings { min_group: 5 }
    }
}

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(closed)]
pub enum SignalMetric { LeadVolume, LeadResponseTime, AppointmentShowRate, InventoryTurn, DaysSupply, PricePosition }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(closed)]
pub enum PeriodKind { Day, Week, Month }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(closed)]
pub enum Dimension { Source, Condition, BodyStyle }

#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(closed)]
pub enum SignalUnit { Count, Minutes, BasisPoints, HundredthsPerYear, Days }

/// In the order of lists.
pub const METRICS: [SignalMetric; 6] = [
    SignalMetric::LeadVolume,
    SignalMetric::LeadResponseTime,
    SignalMetric::AppointmentShowRate,
    SignalMetric::InventoryTurn,
    SignalMetric::DaysSupply,
    SignalMetric::PricePosition,
];

impl SignalMetric {
    pub fn unit(self) -> SignalUnit {
        match self {
            SignalMetric::LeadVolume => SignalUnit::Count,
            SignalMetric::LeadResponseTime => SignalUnit::Minutes,
            SignalMetric::AppointmentShowRate | SignalMetric::PricePosition => SignalUnit::BasisPoints,
            SignalMetric::InventoryTurn => SignalUnit::HundredthsPerYear,
            SignalMetric::DaysSupply => SignalUnit::Days,
        }
    }

    /// What is counted, by which date, and what is not.
    pub fn definition(self) -> &'static str {
        match self {
            SignalMetric::LeadVolume => "leads recorded in the period, by created_at, whatever became of them",
            SignalMetric::LeadResponseTime => {
                "median minutes from a lead's received_at to the first contact or status that shows one; of leads recorded \
                 in the period, without those that nobody has answered"
            }
            SignalMetric::AppointmentShowRate => {
                "share of workshop appointments starting in the period that were kept (checked_in, in_progress, completed) \
                 of those kept or no_show; open and cancelled ones do not count"
            }
            SignalMetric::InventoryTurn => {
                "units sold in the period, by sold_at, carried to 365 days, by the average of the stock at its start and \
                 end; stock is available, pending, reserved and on_hold"
            }
            SignalMetric::DaysSupply => {
                "days that the stock at the end of the period lasts at the rate of sales within it; no value if nothing was \
                 sold"
            }
            SignalMetric::PricePosition => {
                "median asking price of the group's available units by that of all available ones, in the currency of the \
                 newest; now, so only in the current period"
            }
        }
    }

    /// What it can be broken down by.
    pub fn dimensions(self) -> &'static [Dimension] {
        match self {
            SignalMetric::LeadVolume | SignalMetric::LeadResponseTime | SignalMetric::AppointmentShowRate => {
                &[Dimension::Source]
            }
            SignalMetric::InventoryTurn | SignalMetric::DaysSupply | SignalMetric::PricePosition => {
                &[Dimension::Condition, Dimension::BodyStyle]
            }
        }
    }

    /// Whether it is a figure for all records together, too.
    fn has_total(self) -> bool {
        self != SignalMetric::PricePosition
    }
}

impl Dimension {
    /// Where records have its word.
    fn column(self) -> &'static str {
        match self {
            Dimension::Source => "channel",
            Dimension::Condition => "condition",
            Dimension::BodyStyle => "body_style",
        }
    }

    pub fn words(self) -> &'static [&'static str] {
        match self {
            Dimension::Source => Channel::WORDS,
            Dimension::Condition => VehicleCondition::WORDS,
            Dimension::BodyStyle => BodyStyle::WORDS,
        }
    }
}
