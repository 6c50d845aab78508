//! What demo customers write, and why demo leads are lost.

use super::seed::Seed;

pub(super) fn comment(seed: &mut Seed, interest: &str) -> &'static str {
    match interest {
        "buy" => seed.pick(&[
            "Is this one still available? I can come by on Saturday morning.",
            "What would the out-the-door price be with winter tires?",
            "Looking for something with heated seats and room for two car seats.",
            "I have financing from my credit union, please send your best price.",
            "Does it have a clean history report and both keys?",
            "Would you hold it until Friday with a deposit?",
            "I drive about 60 miles a day and need something economical.",
        ]),
        "lease" => seed.pick(&[
            "My lease ends in two months, what could you offer on a new one?",
            "Please quote 36 months with 12,000 miles a year and little down.",
        ]),
        "sell" => seed.pick(&[
            "I would like to sell my current car and do not need another.",
            "What would you pay for a one-owner sedan with 48,000 miles?",
        ]),
        "trade_in" => seed.pick(&[
            "I want to trade in my SUV, there are two years left on the loan.",
            "How much for my truck against this one? It has a new transmission.",
        ]),
        "test_drive" => seed.pick(&[
            "Could I drive it on the highway before deciding?",
            "My partner and I would both like to try it, any evening this week.",
        ]),
        "service" => seed.pick(&[
            "I need brakes done and would look at newer cars while I wait.",
            "There is a recall letter on my table, when can I come in?",
        ]),
        _ => "Called and left a number, no further message.",
    }
}

pub(super) fn lost_reason(seed: &mut Seed) -> &'static str {
    seed.pick(&[
        "Bought from another dealer",
        "Financing was declined",
        "Price out of reach",
        "Decided to keep the current car",
        "No answer after six attempts",
    ])
}

pub(super) fn timeframe(seed: &mut Seed) -> &'static str {
    seed.pick(&["this week", "within 2 weeks", "within 30 days", "1 to 3 months", "just looking"])
}
