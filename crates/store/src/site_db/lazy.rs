//! A site whose database did not answer at startup. Each query tries to open it again, one at a time; until then
//! queries fail as unavailable.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use frontdesk_engine::Fault;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Name, Select, SiteDb, SiteRow};
use tokio::sync::Mutex;

use super::{SiteDbSettings, open};

/// The pause after a failed attempt.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// A database that is opened by the first query.
pub fn open_lazily(settings: SiteDbSettings) -> Arc<dyn SiteDb> {
    Arc::new(LazySiteDb { settings, opened: OnceLock::new(), last_failure: Mutex::new(None) })
}

struct LazySiteDb {
    settings: SiteDbSettings,
    opened: OnceLock<Arc<dyn SiteDb>>,
    /// Locked during an attempt.
    last_failure: Mutex<Option<Instant>>,
}

impl LazySiteDb {
    async fn site_db(&self) -> Result<&Arc<dyn SiteDb>, Fault> {
        if let Some(site_db) = self.opened.get() {
            return Ok(site_db);
        }
        let Ok(mut last_failure) = self.last_failure.try_lock() else {
            return Err(Fault::unavailable("the site's database is being opened"));
        };
        if last_failure.is_some_and(|at| at.elapsed() < RETRY_INTERVAL) {
            return Err(Fault::unavailable("the site's database did not answer a moment ago"));
        }
        match open(&self.settings).await {
            Ok(site_db) => Ok(self.opened.get_or_init(|| site_db)),
            Err(error) => {
                *last_failure = Some(Instant::now());
                Err(Fault::unavailable(error.to_string()))
            }
        }
    }
}

impl SiteDb for LazySiteDb {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        Box::pin(async move { self.site_db().await?.has_table(table).await })
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(async move { self.site_db().await?.select(select).await })
    }

    fn select_for<'a>(&'a self, caller: &'a str, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(async move { self.site_db().await?.select_for(caller, select).await })
    }
}
