//! What differs between the countries of the demo: money, distances, languages and the law about consent.

use crate::automotive::consent::ConsentRegime;
use crate::automotive::vocabulary::DistanceUnit;

pub(super) struct Market {
    pub(super) currency: &'static str,
    pub(super) distance: DistanceUnit,
    /// What most customers speak, and what some do.
    pub(super) languages: [&'static str; 2],
    /// The law about answering an enquiry, and about marketing; none where the vocabulary has no word for it.
    pub(super) enquiry_regime: Option<ConsentRegime>,
    pub(super) marketing_regime: Option<ConsentRegime>,
}

pub(super) const INDIA: &str = "IN";

pub(super) fn market(country: &str) -> &'static Market {
    if country == INDIA { &IN_INDIA } else { &IN_AMERICA }
}

const IN_AMERICA: Market = Market {
    currency: "USD",
    distance: DistanceUnit::Mi,
    languages: ["en-US", "es-US"],
    enquiry_regime: Some(ConsentRegime::Tcpa),
    marketing_regime: Some(ConsentRegime::CanSpam),
};

const IN_INDIA: Market = Market {
    currency: "INR",
    distance: DistanceUnit::Km,
    languages: ["en-IN", "kn-IN"],
    enquiry_regime: None,
    marketing_regime: None,
};
