//! Repeats calls whose sender has gone, so that what the other system has done becomes known here even if nobody asks
//! again. Each repetition is a call like the first, with the same key.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::record::{RelayRecord, RelayStatus};
use super::store::{RelayStep, RelayStore, RelayWrite};
use crate::desk::Mount;
use crate::import::ImportHost;
use crate::model::caller::{Caller, TenantId};
use crate::model::fault::Fault;
use crate::model::notice::Notice;
use crate::model::tool::{Run, Tool};
use crate::serve::own_call::{CallOrigin, OwnTool, call_tool};

/// How often the store is searched for calls that were abandoned.
const SEARCH_INTERVAL: Duration = Duration::from_secs(10);
/// How many calls of a tenant are repeated in one round.
const MAX_FOUND: usize = 64;
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Repeats abandoned calls for as long as it is polled. `current` gives the server under the present configuration.
pub async fn run_relays<P: ImportHost>(current: impl Fn() -> Arc<P> + Send + Sync) {
    let mut searches = interval(SEARCH_INTERVAL);
    searches.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        searches.tick().await;
        repeat_due(current().as_ref()).await;
    }
}

/// One round. A store that is unavailable is asked again in the next one.
pub async fn repeat_due<P: ImportHost>(host: &P) {
    let mounts: Vec<&Mount> = host.mounts().into_iter().filter(|mount| relays(mount).next().is_some()).collect();
    let mut contracts: Vec<&'static str> = mounts.iter().map(|mount| mount.contract.id).collect();
    contracts.sort_unstable();
    contracts.dedup();
    if contracts.is_empty() {
        return;
    }
    for tenant in host.tenants().await.unwrap_or_default() {
        for contract in &contracts {
            let mounts = mounts.iter().copied().filter(|mount| mount.contract.id == *contract).collect();
            // What is due stays due, so a fault of the store, which logs it, only puts it off.
            let _: Result<(), Fault> = Round { host, mounts, contract, tenant: &tenant }.run().await;
        }
    }
}

struct Round<'r, P> {
    host: &'r P,
    mounts: Vec<&'r Mount>,
    contract: &'static str,
    tenant: &'r TenantId,
}

impl<P: ImportHost> Round<'_, P> {
    async fn run(&self) -> Result<(), Fault> {
        for id in self.store(None).due(MAX_FOUND).await? {
            self.repeat(&id).await?;
        }
        Ok(())
    }

    async fn repeat(&self, id: &str) -> Result<(), Fault> {
        let desk = self.host.desk();
        let Some(record) = self.store(None).get(id).await? else { return Ok(()) };
        // One whose tool is no longer there waits until it is again.
        let Some((mount, tool)) = self.find(&record) else { return Ok(()) };
        if record.is_leased(desk.now()) || record.state.status != RelayStatus::Open {
            return Ok(());
        }
        let caller = Arc::new(record.caller(self.tenant));
        let store = self.store(Some(Arc::clone(&caller)));
        let next = record.repeated(desk.now());
        let step = match next.state.status {
            RelayStatus::Open => RelayStep::Repeated,
            RelayStatus::Failed => RelayStep::Failed,
        };
        if store.replace(&next, step).await? == RelayWrite::Conflict {
            return Ok(());
        }
        if step == RelayStep::Failed {
            desk.observer.on_notice(&Notice::RelayFailed { contract: self.contract, tool: tool.spec.name, id });
            return Ok(());
        }
        let origin = CallOrigin { caller, address: ADDRESS, trace: store.trace.clone(), import_id: None };
        let (mut arguments, key) = (record.state.arguments, record.state.key);
        // Where the key is an argument it may be a required one.
        let key_argument = mount.contract.dialect.key_argument();
        if let Some(key) = &key
            && tool.spec.input.fields().iter().any(|field| field.name == key_argument)
        {
            arguments.insert(key_argument.to_owned(), key.as_str().into());
        }
        // How it ended is recorded with the call; if it is still not known, the record stays.
        let tool = OwnTool::Published(tool.spec.name);
        let _: Result<_, Fault> = call_tool(desk, mount, &origin, tool, arguments, key).await;
        Ok(())
    }

    fn store(&self, caller: Option<Arc<Caller>>) -> RelayStore<'_> {
        let desk = self.host.desk();
        RelayStore {
            desk,
            contract: self.contract,
            tenant: self.tenant,
            caller,
            trace: desk.new_trace(),
            address: ADDRESS,
        }
    }

    fn find(&self, record: &RelayRecord) -> Option<(&Mount, &Tool)> {
        self.mounts.iter().find_map(|mount| {
            let found = relays(mount).find(|(tool, destination)| {
                *destination == record.state.destination && tool.spec.name == record.state.tool
            });
            found.map(|(tool, _)| (*mount, tool))
        })
    }
}

/// The relaying tools of a mount, with their destinations.
fn relays(mount: &Mount) -> impl Iterator<Item = (&Tool, &str)> {
    mount.contract.tools.iter().filter_map(|tool| match &tool.run {
        Run::Relay(relay) => Some((tool, relay.destination())),
        Run::Read(_) | Run::Write(_) | Run::Compound(_) | Run::Watch(_) => None,
    })
}
