//! What the operator asks about deliveries: a list, sending dead letters again, and a test of an endpoint. What is sent
//! never leaves the server this way.

use frontdesk_engine::TenantId;
use frontdesk_engine::delivery::{
    DeliveryStatus, DeliveryVerdict, Replayed, TestProblem, TestedDelivery, list, replay, replay_all, test_endpoint,
};
use frontdesk_engine::desk::Mount;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::audit_record::delivery_record;
use super::requests::{AdminService, explain};
use crate::app::App;

/// The mounts that a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryTask {
    /// The contract's name.
    pub contract: String,
    /// The path of one mount; without it all of the contract.
    pub mount: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryAction {
    /// The newest, of one status or of all.
    List {
        status: Option<DeliveryStatus>,
        limit: usize,
    },
    /// One that has not arrived, or all dead letters.
    Replay {
        id: Option<String>,
    },
    Test,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryReply {
    Listed(Vec<DeliveryView>),
    /// So many are due now.
    Replayed(u64),
    Tested(Vec<TestView>),
}

/// The public object of a delivery, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryView {
    pub mount: String,
    pub tenant: String,
    pub delivery: Value,
}

/// What an endpoint said to a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestView {
    pub mount: String,
    /// A status of HTTP, or why there is none.
    pub result: String,
    pub accepted: bool,
}

impl AdminService {
    pub(super) async fn deliveries(&self, task: DeliveryTask, action: DeliveryAction) -> Result<DeliveryReply, String> {
        let app = self.app()?;
        let chosen = chosen(&app, &task)?;
        match action {
            DeliveryAction::List { status, limit } => {
                let mut listed = Vec::new();
                for (path, mount) in chosen {
                    for tenant in tenants(&app, mount).await? {
                        let found = list(&app.desk, mount, &tenant, status, limit).await.map_err(explain)?;
                        listed.extend(found.into_iter().map(|delivery| DeliveryView {
                            mount: path.to_owned(),
                            tenant: tenant.as_str().to_owned(),
                            delivery,
                        }));
                    }
                }
                Ok(DeliveryReply::Listed(listed))
            }
            DeliveryAction::Replay { id } => self.replay(&app, chosen, id).await,
            DeliveryAction::Test => {
                let mut tested = Vec::new();
                for (path, mount) in chosen {
                    for tenant in tenants(&app, mount).await? {
                        let view = test_endpoint(&app.desk, mount, &tenant).await;
                        tested.push(test_view(path, view)?);
                    }
                }
                Ok(DeliveryReply::Tested(tested))
            }
        }
    }

    async fn replay(
        &self,
        app: &App,
        chosen: Vec<(&str, &Mount)>,
        id: Option<String>,
    ) -> Result<DeliveryReply, String> {
        let record = delivery_record(self.clock.now(), id.as_deref());
        self.store.record_administration(record).await.map_err(explain)?;
        let (mut due, mut delivered) = (0, 0);
        for (_, mount) in chosen {
            for tenant in tenants(app, mount).await? {
                let Some(id) = &id else {
                    due += replay_all(&app.desk, mount, &tenant).await.map_err(explain)? as u64;
                    continue;
                };
                match replay(&app.desk, mount, &tenant, id).await.map_err(explain)? {
                    Replayed::Due => return Ok(DeliveryReply::Replayed(1)),
                    Replayed::Delivered => delivered += 1,
                    Replayed::Unknown => {}
                }
            }
        }
        match id {
            Some(id) if delivered > 0 => Err(format!("{id} has arrived, so it is not sent again")),
            Some(id) => Err(format!("there is no delivery `{id}`; `list` shows them")),
            None => Ok(DeliveryReply::Replayed(due)),
        }
    }
}

fn chosen<'a>(app: &'a App, task: &DeliveryTask) -> Result<Vec<(&'a str, &'a Mount)>, String> {
    let delivers = |mount: &Mount| mount.contract.id == task.contract && mount.contract.dialect.deliveries().is_some();
    let mounts: Vec<(&str, &Mount)> = app
        .mounts
        .iter()
        .filter(|(path, mount)| delivers(mount) && task.mount.as_ref().is_none_or(|chosen| chosen == path))
        .map(|(path, mount)| (path.as_str(), mount))
        .collect();
    if mounts.is_empty() {
        return Err(match &task.mount {
            Some(path) => format!("nothing of {} is mounted at `{path}`", task.contract),
            None => format!("the configuration mounts nothing of {}; name its file with --config", task.contract),
        });
    }
    Ok(mounts)
}

async fn tenants(app: &App, mount: &Mount) -> Result<Vec<TenantId>, String> {
    if let Some(tenant) = &mount.tenant {
        return Ok(vec![tenant.clone()]);
    }
    let tenants = app.backend.store.tenants().await.map_err(explain)?;
    Ok(tenants.into_iter().map(|tenant| tenant.id).collect())
}

fn test_view(path: &str, tested: Result<TestedDelivery, TestProblem>) -> Result<TestView, String> {
    match tested {
        Ok(TestedDelivery { result, verdict, .. }) => {
            Ok(TestView { mount: path.to_owned(), result, accepted: verdict == DeliveryVerdict::Delivered })
        }
        Err(TestProblem::Held(reason)) => Err(format!("{path}: {reason}")),
        Err(TestProblem::Nothing) => Err(format!("{path} has nothing to try")),
        Err(TestProblem::Fault(fault)) => Err(explain(fault)),
    }
}
