//! Sealing the audit chains' summary every few seconds while something is written, and appending anchors to a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use frontdesk_store::WriterStats;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::App;
use super::background::every;
use crate::audit_anchor::{AnchorSource, Appended};
use crate::config::AnchorConfig;

/// What was written within this time can be removed without the summary showing it.
const SEAL_INTERVAL: Duration = Duration::from_secs(5);

/// The chains of reads are sealed at least this often, in ticks.
const TICKS_BETWEEN_READS: u64 = 12;

/// For metrics.
#[derive(Debug, Default)]
pub(crate) struct AnchorCounters {
    pub(crate) lines: AtomicU64,
    pub(crate) failures: AtomicU64,
}

pub(crate) async fn run_audit_sealing(current: Arc<ArcSwap<App>>) {
    let mut tick = every(SEAL_INTERVAL);
    let mut sealed: Option<WriterStats> = None;
    let mut anchored: Option<Instant> = None;
    for ticks in 0_u64.. {
        tick.tick().await;
        let app = current.load_full();
        let before = app.backend.store.writer_stats();
        // Records of reads alone are in no statistic.
        let is_due = sealed.as_ref() != Some(&before) || ticks % TICKS_BETWEEN_READS == 0;
        if is_due && seal(&app).await {
            // Sealing is a write itself, which needs no other.
            sealed = Some(app.backend.store.writer_stats());
        }
        if let Some(AnchorConfig { interval, .. }) = &app.config.audit.anchor
            && anchored.is_none_or(|last| last.elapsed() >= *interval)
        {
            append_anchor(&app).await;
            anchored = Some(Instant::now());
        }
    }
}

/// At the end of the server: nothing is written any more, and the summary and the anchors have all of it.
pub(crate) async fn seal_at_shutdown(app: &Arc<App>) {
    seal(app).await;
    if app.config.audit.anchor.is_some() {
        append_anchor(app).await;
    }
}

async fn seal(app: &App) -> bool {
    match app.backend.store.seal_audit().await {
        Ok(()) => true,
        Err(fault) => {
            tracing::error!(error = fault.cause.unwrap_or_default(), "audit summary not sealed");
            false
        }
    }
}

/// A file that cannot be written refuses no call: the chains themselves are complete.
async fn append_anchor(app: &Arc<App>) {
    let (app, runtime) = (Arc::clone(app), Handle::current());
    let appended = tokio::task::spawn_blocking(move || {
        let Some(AnchorConfig { file, .. }) = &app.config.audit.anchor else {
            return;
        };
        let source = AnchorSource {
            data: app.backend.data_dir.path().to_owned(),
            database: app.config.database.clone(),
            root: app.backend.root.clone(),
        };
        match source.append(file, app.desk.now(), &runtime) {
            Ok(Appended::Line) => {
                app.backend.anchors.lines.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Appended::Nothing) => {}
            Err(error) => {
                app.backend.anchors.failures.fetch_add(1, Ordering::Relaxed);
                tracing::error!(%error, "audit anchor not written");
            }
        }
    });
    let _ = appended.await;
}
