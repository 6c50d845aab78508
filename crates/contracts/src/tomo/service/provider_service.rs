//! What a provider does: how long it takes and what it costs. It comes in by import.

use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::provider::{Provider, ProviderStatus, WITHDRAWAL, offer_again};
use crate::Record;
use crate::record::import::{Imported, Withdrawal};
use crate::record::{Entity, Integer, Text};
use crate::tomo::booking::Rupees;
use crate::tomo::managed::{Managed, find_by_code};

#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_provider_service", prefix = "psv", not_found = "NOT_FOUND", noun = "provider service")]
pub struct ProviderService {
    /// The business's own short name for this line, such as BLR-1-GENERAL.
    #[field(create, unique)]
    pub offer_code: Text<80>,
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
    #[default(ProviderStatus::Offered)]
    pub status: ProviderStatus,
}

impl Imported for ProviderService {
    const WITHDRAWAL: Option<Withdrawal> = Some(WITHDRAWAL);

    fn on_listed(record: &ProviderService, arguments: &mut Map<String, Value>) {
        offer_again(record.status, arguments);
    }
}

impl Managed for ProviderService {
    async fn check(&mut self, permitted: &Permitted<'_>) -> Result<(), Fault> {
        let known: Option<Entity<Provider>> = find_by_code(permitted, "provider_code", &self.provider_code).await?;
        let unknown = || {
            Fault::invalid_argument("/provider_code", "enum", "there is no provider with this code; import it first")
        };
        known.map(drop).ok_or_else(unknown)
    }
}
