//! What mounts need opened before they are served: the databases of sites and the credentials of partners.

use std::sync::Arc;

use frontdesk_engine::ports::Clock;
use frontdesk_engine::ports::http_client::{HttpClient, NoHttpClient};

use super::partners::Partners;
use super::sites::{OnDatabaseDown, SiteErrors, SiteNotice, Sites};
use crate::config::Config;
use crate::net::OutboundClient;

pub struct OpenMounts {
    pub(super) sites: Sites,
    pub(super) partners: Partners,
    pub(super) http_client: Arc<dyn HttpClient>,
}

impl Default for OpenMounts {
    /// Nothing is open, and nobody is called.
    fn default() -> OpenMounts {
        OpenMounts { sites: Sites::default(), partners: Partners::default(), http_client: Arc::new(NoHttpClient) }
    }
}

impl OpenMounts {
    /// Opens everything, and returns what is worth a log line; or says everything that is wrong, each with its key.
    pub async fn open(
        config: &Config,
        clock: &Arc<dyn Clock>,
        on_down: OnDatabaseDown,
        before: &OpenMounts,
    ) -> Result<(OpenMounts, Vec<SiteNotice>), SiteErrors> {
        let partners = Partners::open(config);
        let http_client = OutboundClient::open(&config.outbound).map_err(|error| vec![format!("outbound.ca: {error}")]);
        match (Sites::open(config, clock, on_down, &before.sites).await, partners, http_client) {
            (Ok((sites, mut notices)), Ok(partners), Ok(http_client)) => {
                let changed = |mount: &usize| {
                    partners.get(*mount).is_some_and(|now| before.partners.get(*mount).is_some_and(|then| then != now))
                };
                notices.extend((0..config.mounts.len()).filter(changed).map(SiteNotice::credentials_changed));
                Ok((OpenMounts { sites, partners, http_client: Arc::new(http_client) }, notices))
            }
            (sites, partners, http_client) => {
                let mut errors = sites.err().map(|errors| errors.0).unwrap_or_default();
                errors.extend(partners.err().unwrap_or_default());
                errors.extend(http_client.err().unwrap_or_default());
                Err(SiteErrors(errors))
            }
        }
    }
}
