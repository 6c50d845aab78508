//! What the operator does with deliveries: looks at them, sends dead letters again, and tries an endpoint.

use serde_json::Value;

use super::DeliveryStatus;
use super::record_store::DeliveryStore;
use super::rules::{DeliveryVerdict, Readiness};
use crate::desk::{Desk, Mount};
use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::page::Projection;

/// The public object of a delivery.
pub type ListedDelivery = Value;

/// The newest deliveries of a tenant, of one status or of all.
pub async fn list(
    desk: &Desk,
    mount: &Mount,
    tenant: &TenantId,
    status: Option<DeliveryStatus>,
    limit: usize,
) -> Result<Vec<ListedDelivery>, Fault> {
    let Some(rules) = mount.contract.dialect.deliveries() else { return Ok(Vec::new()) };
    let store = DeliveryStore { desk, mount, tenant };
    let mut listed = Vec::new();
    for endpoint in rules.endpoints(&store.rows()).await? {
        let page = store.listed(&endpoint.name, status, Projection::Rows, limit).await?;
        listed.extend(page.rows.iter().filter_map(|row| serde_json::from_str(row).ok()));
    }
    Ok(listed)
}

/// What became of a wish to send a delivery again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// It is due now.
    Due,
    /// It has arrived, so it is not sent again.
    Delivered,
    Unknown,
}

/// Makes a delivery that has not arrived due now, with all its attempts before it.
pub async fn replay(desk: &Desk, mount: &Mount, tenant: &TenantId, id: &str) -> Result<Replayed, Fault> {
    let store = DeliveryStore { desk, mount, tenant };
    let Some(mut record) = store.get(id).await? else { return Ok(Replayed::Unknown) };
    match record.state.status {
        DeliveryStatus::Delivered => return Ok(Replayed::Delivered),
        DeliveryStatus::Pending | DeliveryStatus::Alarmed | DeliveryStatus::Dead => {}
    }
    record.state.status = DeliveryStatus::Pending;
    record.state.tries = 0;
    record.state.due_at = desk.now().0;
    record.state.finished_at = None;
    match store.change(record, "replayed").await? {
        Some(_) => {
            desk.changes.note(tenant);
            Ok(Replayed::Due)
        }
        None => Err(Fault::unavailable("the delivery is being sent")),
    }
}

/// Replays all dead letters of a tenant. Returns how many there were.
pub async fn replay_all(desk: &Desk, mount: &Mount, tenant: &TenantId) -> Result<usize, Fault> {
    const CHUNK: usize = 256;
    let Some(rules) = mount.contract.dialect.deliveries() else { return Ok(0) };
    let store = DeliveryStore { desk, mount, tenant };
    let mut count = 0;
    for endpoint in rules.endpoints(&store.rows()).await? {
        loop {
            let dead = store.listed(&endpoint.name, Some(DeliveryStatus::Dead), Projection::Ids, CHUNK).await?.rows;
            for id in &dead {
                if replay(desk, mount, tenant, id).await? == Replayed::Due {
                    count += 1;
                }
            }
            if dead.len() < CHUNK {
                break;
            }
        }
    }
    Ok(count)
}

/// What an endpoint said to a delivery that was only to try it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedDelivery {
    pub subject: String,
    /// A status of HTTP, or why there is none.
    pub result: String,
    pub verdict: DeliveryVerdict,
}

/// Sends one sample, signed like any delivery, and stores nothing.
pub async fn test_endpoint(desk: &Desk, mount: &Mount, tenant: &TenantId) -> Result<TestedDelivery, TestProblem> {
    let rules = mount.contract.dialect.deliveries().ok_or(TestProblem::Nothing)?;
    if let Readiness::Held(reason) = rules.readiness() {
        return Err(TestProblem::Held(reason));
    }
    let store = DeliveryStore { desk, mount, tenant };
    let sample = rules.sample(&desk.new_id("test"), desk.now()).ok_or(TestProblem::Nothing)?;
    let mut last = None;
    for variant in 0.. {
        let request = rules.request(&sample, desk.now(), variant, &store.rows()).await.map_err(TestProblem::Fault)?;
        let Some(request) = request else { break };
        let answer = desk.http_client.post(request).await;
        let verdict = rules.judge(answer.as_ref().map_err(|error| *error));
        let result = match answer {
            Ok(response) => response.status.to_string(),
            Err(error) => error.as_str().to_owned(),
        };
        last = Some(TestedDelivery { subject: sample.subject.clone(), result, verdict });
        if verdict != DeliveryVerdict::Refused {
            break;
        }
    }
    last.ok_or(TestProblem::Nothing)
}

/// Why an endpoint could not be tried.
#[derive(Debug)]
pub enum TestProblem {
    Nothing,
    Held(&'static str),
    Fault(Fault),
}
