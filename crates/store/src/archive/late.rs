//! A site whose database did not answer when it was to be opened. Whoever asks makes it be tried again, one at a time;
//! until it answers, everybody is told that it is unavailable.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use frontdesk_engine::Fault;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Name, Select, SiteDb, SiteRow};
use tokio::sync::Mutex;

use super::{ArchiveSettings, open};

/// So long after a failure nobody tries again.
const PAUSE: Duration = Duration::from_millis(500);

/// An archive that is opened when somebody asks for rows.
pub fn open_later(settings: ArchiveSettings) -> Arc<dyn SiteDb> {
    Arc::new(Late { settings, opened: OnceLock::new(), failed: Mutex::new(None) })
}

struct Late {
    settings: ArchiveSettings,
    opened: OnceLock<Arc<dyn SiteDb>>,
    /// When the last attempt has failed. Held by whoever is trying.
    failed: Mutex<Option<Instant>>,
}

impl Late {
    async fn archive(&self) -> Result<&Arc<dyn SiteDb>, Fault> {
        if let Some(archive) = self.opened.get() {
            return Ok(archive);
        }
        let Ok(mut failed) = self.failed.try_lock() else {
            return Err(Fault::unavailable("the site's database is being opened"));
        };
        if failed.is_some_and(|at| at.elapsed() < PAUSE) {
            return Err(Fault::unavailable("the site's database did not answer a moment ago"));
        }
        match open(&self.settings).await {
            Ok(archive) => Ok(self.opened.get_or_init(|| archive)),
            Err(error) => {
                *failed = Some(Instant::now());
                Err(Fault::unavailable(error.to_string()))
            }
        }
    }
}

impl SiteDb for Late {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        Box::pin(async move { self.archive().await?.has_table(table).await })
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(async move { self.archive().await?.select(select).await })
    }
}
