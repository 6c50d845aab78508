//! Keeps deliveries going on a node: reads events as soon as something changes, sends what is due, and looks from time to
//! time for what other nodes and earlier processes have left. Each endpoint is served by a task of its own, so that one that
//! does not answer holds up nobody else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval};

use super::attempt::{attempt, parallel};
use super::notice::DeliveryNotice;
use super::record_store::DeliveryStore;
use super::rules::{DeliveryEndpoint, DeliveryRules, Readiness};
use super::{TenantRows, advance};
use crate::desk::Mount;
use crate::import::ImportHost;
use crate::model::caller::TenantId;
use crate::model::timestamp::Millis;

/// How often all tenants are looked at: for retries that are due, and for what other nodes have left.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How often the operator is told that nothing can be sent.
const HELD_INTERVAL: i64 = 15 * 60 * 1000;

/// Delivers for as long as it is polled. `current` gives the server under the present configuration, and each attempt uses
/// it as it is then. What is being sent when this future is dropped is sent again when its lease has ended.
pub async fn run_deliveries<P: ImportHost>(current: impl Fn() -> Arc<P> + Send + Sync + 'static) {
    let current: Current<P> = Arc::new(current);
    let changes = current().desk().changes.clone();
    let mut polls = interval(POLL_INTERVAL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut worker = Worker { current, tasks: JoinSet::new(), running: HashMap::new(), seen: HashMap::new() };
    loop {
        tokio::select! {
            tenants = changes.next_tenants() => {
                for tenant in tenants {
                    worker.look(&tenant);
                }
            }
            // A store that is unavailable is asked again the next time.
            _ = polls.tick() => {
                let host = (worker.current)();
                for tenant in deliver_to(&*host).await {
                    worker.look(&tenant);
                }
            }
            Some(ended) = worker.tasks.join_next_with_id(), if !worker.tasks.is_empty() => worker.ended(ended),
        }
    }
}

type Current<P> = Arc<dyn Fn() -> Arc<P> + Send + Sync>;

/// The tenants that a mount with deliveries may serve.
async fn deliver_to<P: ImportHost>(host: &P) -> Vec<TenantId> {
    let mounts: Vec<&Mount> = with_deliveries(host).map(|(mount, _)| mount).collect();
    if mounts.is_empty() {
        return Vec::new();
    }
    let tenants = host.tenants().await.unwrap_or_default();
    tenants.into_iter().filter(|tenant| mounts.iter().any(|mount| mount.serves(tenant))).collect()
}

fn with_deliveries<P: ImportHost>(host: &P) -> impl Iterator<Item = (&Mount, &dyn DeliveryRules)> {
    host.mounts().into_iter().filter_map(|mount| Some((mount, mount.contract.dialect.deliveries()?)))
}

/// Who reads the events of which tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Reader {
    contract: &'static str,
    consumer: String,
    tenant: TenantId,
}

impl Reader {
    /// Its mount under the present configuration, if there still is one.
    fn find<'h, P: ImportHost>(&self, host: &'h P) -> Option<(&'h Mount, &'h dyn DeliveryRules)> {
        with_deliveries(host).find(|(mount, rules)| {
            mount.contract.id == self.contract && rules.consumer() == self.consumer && mount.serves(&self.tenant)
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Work {
    Read(Reader),
    Send(Reader, String),
}

/// A task that runs, and whether it has to run again.
struct Running {
    wake: Arc<Notify>,
    again: Again,
    task: AbortHandle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    No,
    Yes,
}

struct Worker<P> {
    current: Current<P>,
    tasks: JoinSet<Ended>,
    running: HashMap<Work, Running>,
    /// The last event that each reader has seen, and when the operator was last told that nothing can be sent.
    seen: HashMap<Reader, Seen>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    seq: i64,
    told_at: Option<i64>,
}

/// What a task has come to.
enum Ended {
    Read(Reader, Seen, Vec<DeliveryEndpoint>),
    Sent(Reader, DeliveryEndpoint),
}

impl<P: ImportHost> Worker<P> {
    /// Something may have happened in a tenant.
    fn look(&mut self, tenant: &TenantId) {
        let host = (self.current)();
        let readers: Vec<Reader> = with_deliveries(&*host)
            .filter(|(mount, _)| mount.serves(tenant))
            .map(|(mount, rules)| Reader {
                contract: mount.contract.id,
                consumer: rules.consumer().to_owned(),
                tenant: tenant.clone(),
            })
            .collect();
        for reader in readers {
            self.read(reader);
        }
    }

    fn read(&mut self, reader: Reader) {
        let work = Work::Read(reader.clone());
        if self.is_running(&work) {
            return;
        }
        let seen = self.seen.get(&reader).copied().unwrap_or_default();
        let current = Arc::clone(&self.current);
        let task = self.tasks.spawn(async move { read(&*current(), reader, seen).await });
        self.running.insert(work, Running { wake: Arc::default(), again: Again::No, task });
    }

    fn send(&mut self, reader: &Reader, endpoint: DeliveryEndpoint) {
        let work = Work::Send(reader.clone(), endpoint.name.clone());
        if self.is_running(&work) {
            return;
        }
        let (current, reader, wake) = (Arc::clone(&self.current), reader.clone(), Arc::new(Notify::new()));
        let woken = Arc::clone(&wake);
        let task = self.tasks.spawn(async move {
            send(current, &reader, &endpoint, &woken).await;
            Ended::Sent(reader, endpoint)
        });
        self.running.insert(work, Running { wake, again: Again::No, task });
    }

    /// Wakes the task if it runs, and lets it run again if it should be just about to end.
    fn is_running(&mut self, work: &Work) -> bool {
        let Some(running) = self.running.get_mut(work) else { return false };
        running.again = Again::Yes;
        running.wake.notify_one();
        true
    }

    fn ended(&mut self, ended: Result<(tokio::task::Id, Ended), tokio::task::JoinError>) {
        let ended = match ended {
            Ok((_, ended)) => ended,
            Err(error) => {
                // A task that panicked is begun again when somebody looks.
                let id = error.id();
                self.running.retain(|_, running| running.task.id() != id);
                return;
            }
        };
        match ended {
            Ended::Read(reader, seen, endpoints) => {
                self.seen.insert(reader.clone(), seen);
                for endpoint in endpoints {
                    self.send(&reader, endpoint);
                }
                if self.finish(&Work::Read(reader.clone())) == Again::Yes {
                    self.read(reader);
                }
            }
            Ended::Sent(reader, endpoint) => {
                if self.finish(&Work::Send(reader.clone(), endpoint.name.clone())) == Again::Yes {
                    self.send(&reader, endpoint);
                }
            }
        }
    }

    fn finish(&mut self, work: &Work) -> Again {
        self.running.remove(work).map_or(Again::No, |running| running.again)
    }
}

/// Reads new events, and says where something may be due.
async fn read<P: ImportHost>(host: &P, reader: Reader, seen: Seen) -> Ended {
    let Some((mount, rules)) = reader.find(host) else { return Ended::Read(reader, seen, Vec::new()) };
    let (desk, tenant) = (host.desk(), reader.tenant.clone());
    // A store that fails is asked again; until then what was seen counts.
    let seq = advance(desk, mount, &tenant, seen.seq).await.unwrap_or(seen.seq);
    let mut seen = Seen { seq, ..seen };
    let endpoints = rules.endpoints(&TenantRows::new(desk, &tenant)).await.unwrap_or_default();
    let store = DeliveryStore { desk, mount, tenant: &tenant };
    let mut oldest: Option<i64> = None;
    for endpoint in &endpoints {
        let of_endpoint = store.oldest_open(&endpoint.name).await.unwrap_or_default();
        oldest = oldest.into_iter().chain(of_endpoint).min();
    }
    let (contract, consumer) = (reader.contract, reader.consumer.as_str());
    let backlog = DeliveryNotice::Backlog { contract, tenant: &tenant, consumer, oldest: oldest.map(Millis) };
    desk.observer.on_delivery(&backlog);
    match rules.readiness() {
        Readiness::Ready => Ended::Read(reader, seen, endpoints),
        Readiness::Held(reason) => {
            let now = desk.now().0;
            if oldest.is_some() && seen.told_at.is_none_or(|at| now.saturating_sub(at) >= HELD_INTERVAL) {
                desk.observer.on_delivery(&DeliveryNotice::Held { contract, tenant: &tenant, consumer, reason });
                seen.told_at = Some(now);
            }
            Ended::Read(reader, seen, Vec::new())
        }
    }
}

/// Sends what is due at an endpoint until nothing is.
async fn send<P: ImportHost>(current: Current<P>, reader: &Reader, endpoint: &DeliveryEndpoint, wake: &Notify) {
    let limit = parallel(endpoint.order);
    let mut sending: JoinSet<Sent> = JoinSet::new();
    let mut ids: HashMap<tokio::task::Id, String> = HashMap::new();
    // Not sent now, because another node has it or the store failed: left to the next time.
    let mut left: HashSet<String> = HashSet::new();
    loop {
        // More than can be sent, because those that are being sent may not have their lease yet.
        for id in due(&*current(), reader, endpoint, limit * 2 + left.len()).await {
            if ids.len() < limit && !left.contains(&id) && !ids.values().any(|other| *other == id) {
                let task = sending.spawn(send_one(Arc::clone(&current), reader.clone(), id.clone()));
                ids.insert(task.id(), id);
            }
        }
        if sending.is_empty() {
            return;
        }
        tokio::select! {
            Some(ended) = sending.join_next_with_id() => {
                let (task, sent) = match ended {
                    Ok((task, sent)) => (task, sent),
                    Err(panicked) => (panicked.id(), Sent::No),
                };
                match (ids.remove(&task), sent) {
                    (Some(id), Sent::No) => left.extend([id]),
                    (Some(_) | None, Sent::Yes | Sent::No) => {}
                }
            }
            () = wake.notified() => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Yes,
    No,
}

async fn due<P: ImportHost>(host: &P, reader: &Reader, endpoint: &DeliveryEndpoint, limit: usize) -> Vec<String> {
    let Some((mount, _)) = reader.find(host) else { return Vec::new() };
    let store = DeliveryStore { desk: host.desk(), mount, tenant: &reader.tenant };
    store.due(&endpoint.name, endpoint.order, limit).await.unwrap_or_default()
}

async fn send_one<P: ImportHost>(current: Current<P>, reader: Reader, id: String) -> Sent {
    let host = current();
    let Some((mount, rules)) = reader.find(&*host) else { return Sent::No };
    let store = DeliveryStore { desk: host.desk(), mount, tenant: &reader.tenant };
    match attempt(store, rules, &id).await {
        Ok(Some(_)) => Sent::Yes,
        // A fault is one of the store; the lease ends by itself.
        Ok(None) | Err(_) => Sent::No,
    }
}
