//! The operator's word that the clock is right, so that retention may delete again.

use super::audit_record::retention_record;
use super::requests::{AdminService, explain};

impl AdminService {
    pub(super) async fn resume_retention(&self) -> Result<(), String> {
        let app = self.app()?;
        let Some(reason) = app.retention.reason() else {
            return Err("retention is not paused".to_owned());
        };
        // Before anything is deleted: what the log does not have must not happen.
        self.store.record_administration(retention_record(self.clock.now(), &reason)).await.map_err(explain)?;
        app.retention.resume(self.clock.as_ref()).map_err(|error| format!("the pause could not be ended: {error}"))?;
        tracing::info!(reason, "retention resumed");
        Ok(())
    }
}
