//! Closing mounts for maintenance while the server runs, and opening them again. The configuration can close a mount as
//! well; a request never opens what it has closed.

use frontdesk_engine::Fault;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::contract::{CredentialPresence, ReplyContext, RequestTarget};
use serde::{Deserialize, Serialize};

use super::audit_record::maintenance_record;
use super::requests::{AdminService, explain};
use crate::app::App;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintenanceAction {
    On,
    Off,
    Status,
}

/// A mount as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceView {
    pub path: String,
    pub contract: String,
    pub state: MaintenanceState,
    /// What a call of a tool gets while the mount is closed.
    pub status: u16,
    pub code: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintenanceState {
    Open,
    /// By a request.
    Closed,
    /// By the configuration, which decides when it opens.
    ClosedByConfiguration,
}

impl AdminService {
    /// Without a path: every mount.
    pub(super) async fn maintenance(
        &self,
        action: MaintenanceAction,
        path: Option<&str>,
    ) -> Result<Vec<MaintenanceView>, String> {
        let app = self.app()?;
        let chosen: Vec<&(String, Mount)> =
            app.mounts.iter().filter(|(mounted, _)| path.is_none_or(|path| path == mounted)).collect();
        if chosen.is_empty() {
            let paths: Vec<&str> = app.mounts.iter().map(|(path, _)| path.as_str()).collect();
            return Err(format!(
                "nothing is mounted at `{}`; there are: {}",
                path.unwrap_or_default(),
                paths.join(", ")
            ));
        }
        if action != MaintenanceAction::Status {
            let paths: Vec<&str> = chosen.iter().map(|(path, _)| path.as_str()).collect();
            let record = maintenance_record(self.clock.now(), action, &paths);
            // Before anything is closed or opened: what the log does not have must not happen.
            self.store.record_administration(record).await.map_err(explain)?;
            for (path, _) in &chosen {
                let switch = app.maintenance.of(path);
                match action {
                    MaintenanceAction::On => switch.turn_on(),
                    MaintenanceAction::Off => switch.turn_off(),
                    MaintenanceAction::Status => {}
                }
            }
            let state = if action == MaintenanceAction::On { "on" } else { "off" };
            tracing::info!(mounts = paths.join(", "), state, "maintenance switched");
        }
        Ok(chosen.into_iter().map(|(path, mount)| view(&app, path, mount)).collect())
    }
}

fn view(app: &App, path: &str, mount: &Mount) -> MaintenanceView {
    let state = if app.maintenance.of(path).is_on() {
        MaintenanceState::Closed
    } else if mount.maintenance.is_on() {
        MaintenanceState::ClosedByConfiguration
    } else {
        MaintenanceState::Open
    };
    let tool = mount.contract.tools.first().map_or("", |tool| tool.spec.name);
    let context = ReplyContext {
        era: None,
        header_version: None,
        id: None,
        target: RequestTarget::Tool(tool),
        metadata_url: "",
        ordinary_scopes: &mount.contract.ordinary_scopes,
        granted_scopes: None,
        credential: CredentialPresence::Present,
        trace_id: "",
    };
    let answer = mount.contract.dialect.failure(&Fault::maintenance(), &context);
    MaintenanceView {
        path: path.to_owned(),
        contract: mount.contract.id.to_owned(),
        state,
        status: answer.status,
        code: answer.code.unwrap_or_default().to_owned(),
    }
}
