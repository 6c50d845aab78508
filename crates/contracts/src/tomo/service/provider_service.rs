//! What a provider does: how long it takes and what it costs. It comes in by import.

use super::provider::OfferStatus;
use crate::Record;
use crate::record::{Integer, Text};
use crate::tomo::booking::Rupees;

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_provider_service", prefix = "psv", not_found = "NOT_FOUND", noun = "provider service")]
pub struct ProviderService {
    /// The business's own short name for this line, such as BLR-1-GENERAL.
    #[field(create, unique)]
    pub code: Text<80>,
    /// The code of the provider.
    #[field(create, update, indexed)]
    pub provider_code: Text<40>,
    /// What is done: a code of the intent, such as GENERAL_SERVICE.
    #[field(create, update, indexed)]
    pub service_code: Text<40>,
    /// What it is, in the customer's words.
    #[field(create, update)]
    pub name: Text<120>,
    /// How long it takes.
    #[field(create, update)]
    pub duration_minutes: Integer<1, 1440>,
    /// What it costs, in whole rupees.
    #[field(create, update)]
    pub price_inr: Rupees,
    /// Whether it can be booked.
    #[field(create, update, known, indexed)]
    #[default(OfferStatus::Offered)]
    pub status: OfferStatus,
}
