//! Comments, timeframes and lost reasons of the demo leads.

use super::rng::DemoRng;
use crate::automotive::lead::{Interest, LostReason, Timeframe};

pub(super) fn comment(rng: &mut DemoRng, interest: Interest) -> &'static str {
    match interest {
        Interest::Buy => rng.pick(&[
            "Is this one still available? I can come by on Saturday morning.",
            "What would the out-the-door price be with winter tires?",
            "Looking for something with heated seats and room for two car seats.",
            "I have financing from my credit union, please send your best price.",
            "Does it have a clean history report and both keys?",
            "Would you hold it until Friday with a deposit?",
            "I drive about 60 miles a day and need something economical.",
        ]),
        Interest::Lease => rng.pick(&[
            "My lease ends in two months, what could you offer on a new one?",
            "Please quote 36 months with 12,000 miles a year and little down.",
        ]),
        Interest::Sell => rng.pick(&[
            "I would like to sell my current car and do not need another.",
            "What would you pay for a one-owner sedan with 48,000 miles?",
        ]),
        Interest::TradeIn => rng.pick(&[
            "I want to trade in my SUV, there are two years left on the loan.",
            "How much for my truck against this one? It has a new transmission.",
        ]),
        Interest::TestDrive => rng.pick(&[
            "Could I drive it on the highway before deciding?",
            "My partner and I would both like to try it, any evening this week.",
        ]),
        Interest::Service => rng.pick(&[
            "I need brakes done and would look at newer cars while I wait.",
            "There is a recall letter on my table, when can I come in?",
        ]),
        Interest::Unknown => "Called and left a number, no further message.",
    }
}

pub(super) fn lost_reason(rng: &mut DemoRng) -> LostReason {
    let reasons = [
        LostReason::BoughtElsewhere,
        LostReason::Financing,
        LostReason::Price,
        LostReason::KeptCurrentVehicle,
        LostReason::NoResponse,
    ];
    rng.choose(&reasons).unwrap_or(LostReason::Unknown)
}

pub(super) fn timeframe(rng: &mut DemoRng) -> Timeframe {
    let timeframes = [
        Timeframe::WithinWeek,
        Timeframe::WithinTwoWeeks,
        Timeframe::WithinMonth,
        Timeframe::WithinQuarter,
        Timeframe::JustLooking,
    ];
    rng.choose(&timeframes).unwrap_or(Timeframe::Unknown)
}
