//! What all calls share: the ports, the keys and budgets, and the contracts at their addresses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::dispatch::{DispatchConfig, TaskQueue};
use crate::import::ImportQueue;
use crate::limits::inflight::Inflight;
use crate::limits::rate::{Budget, Rates};
use crate::limits::tally::Tally;
use crate::limits::tenant_changes::TenantChanges;
use crate::limits::tenant_locks::TenantLocks;
use crate::model::caller::TenantId;
use crate::model::contract::Contract;
use crate::model::mount_policy::MountPolicy;
use crate::model::route::RouteTable;
use crate::model::timestamp::{Millis, MonotonicMillis};
use crate::model::trace::Trace;
use crate::pipeline::record::service_level::ServiceLevel;
use crate::pipeline::resolve::catalogue::Catalogue;
use crate::ports::http_client::HttpClient;
use crate::ports::site_db::SiteDb;
use crate::ports::{Clock, Identity, Observer, Random, Store};
use crate::seal::SealKey;

/// Everything that calls share.
pub struct Desk {
    pub store: Arc<dyn Store>,
    pub identity: Arc<dyn Identity>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub observer: Arc<dyn Observer>,
    pub keys: Keys,
    pub rates: Rates,
    pub inflight: Inflight,
    pub tally: Arc<Tally>,
    /// Plans that conflict are made again one at a time per tenant.
    pub tenant_locks: TenantLocks,
    /// Dispatched messages that wait to be run.
    pub task_queue: TaskQueue,
    /// Imports that were accepted here and wait to be run.
    pub import_queue: ImportQueue,
    /// Who waits for changes.
    pub changes: TenantChanges,
    /// How this server calls others.
    pub http_client: Arc<dyn HttpClient>,
    pub settings: DeskSettings,
}

pub struct Keys {
    pub cursor: SealKey,
}

#[derive(Debug, Clone, Copy)]
pub struct DeskSettings {
    /// A page stops before it grows past this.
    pub page_bytes: usize,
    /// No answer of a read tool is larger, unless the mount's policy has its own limit; a batch accepts no further call
    /// once its answers are.
    pub reply_bytes: usize,
    /// Each client's budget of calls.
    pub calls: Budget,
    /// How long after its arrival a request must be identified and its calls run. Reading the body and recording have
    /// limits of their own.
    pub deadline: Duration,
}

/// One contract at one address.
pub struct Mount {
    pub contract: Contract,
    /// The address as a protected resource: what a token must have been issued for.
    pub resource: String,
    /// Where that resource's metadata are published; empty where they are not.
    pub metadata_url: String,
    /// The foreign database that this mount reads.
    pub site_db: Option<Arc<dyn SiteDb>>,
    /// What is checked before a message is understood.
    pub policy: Option<MountPolicy>,
    /// Checks credentials here, if not the desk's own identity.
    pub identity: Option<Arc<dyn Identity>>,
    /// The only tenant that it serves, if it is for one.
    pub tenant: Option<TenantId>,
    /// Whether and how it takes dispatched messages.
    pub dispatch: Option<DispatchConfig>,
    /// The path below which its routes are, and the routes.
    pub prefix: Option<String>,
    pub routes: RouteTable,
    /// Closes the tools for a while, without taking the mount away.
    pub maintenance: MaintenanceSwitch,
    /// How fast its tools are.
    pub service_level: ServiceLevel,
    /// How long and how often it lets callers watch something.
    pub streaming: Streaming,
    pub(crate) catalogue: Catalogue,
}

/// Whether a mount is closed for maintenance. Clones share the switch.
#[derive(Debug, Clone, Default)]
pub struct MaintenanceSwitch(Arc<AtomicBool>);

impl MaintenanceSwitch {
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn turn_on(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn turn_off(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// How a caller who listens is kept up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streaming {
    /// How long a stream stays open at most. Zero means that it is complete at once.
    pub time: Duration,
    /// A look is taken at least so often, because what happens elsewhere wakes nobody here.
    pub longest_pause: Duration,
    /// And never more often than this.
    pub shortest_pause: Duration,
    /// After such a silence a comment is sent.
    pub heartbeat: Duration,
}

impl Default for Streaming {
    fn default() -> Streaming {
        Streaming {
            time: Duration::ZERO,
            longest_pause: Duration::from_secs(2),
            shortest_pause: Duration::from_millis(250),
            heartbeat: Duration::from_secs(15),
        }
    }
}

impl Mount {
    pub fn new(contract: Contract, resource: String, metadata_url: String) -> Mount {
        let service_level = ServiceLevel::new(&contract.latency_targets);
        let (catalogue, routes) = (Catalogue::default(), RouteTable::new(&contract.tools));
        Mount {
            contract,
            resource,
            metadata_url,
            site_db: None,
            policy: None,
            identity: None,
            tenant: None,
            dispatch: None,
            prefix: None,
            routes,
            maintenance: MaintenanceSwitch::default(),
            service_level,
            streaming: Streaming::default(),
            catalogue,
        }
    }

    pub fn with_site_db(self, site_db: Arc<dyn SiteDb>) -> Mount {
        Mount { site_db: Some(site_db), ..self }
    }

    /// Its tools with routes can be called below this path, too.
    pub fn with_prefix(self, prefix: String) -> Mount {
        Mount { prefix: Some(prefix), ..self }
    }

    pub fn with_policy(self, policy: MountPolicy) -> Mount {
        Mount { policy: Some(policy), ..self }
    }

    pub fn with_dispatch(self, config: DispatchConfig) -> Mount {
        Mount { dispatch: Some(config), ..self }
    }

    /// It serves this tenant alone.
    /// The tenant of the site that is read here: every call is about it.
    pub(crate) fn site_tenant(&self) -> Option<&TenantId> {
        self.dispatch.as_ref().map(|dispatch| &dispatch.tenant)
    }

    pub fn with_tenant(self, tenant: TenantId) -> Mount {
        Mount { tenant: Some(tenant), ..self }
    }

    pub fn serves(&self, tenant: &TenantId) -> bool {
        self.tenant.as_ref().is_none_or(|only| only == tenant)
    }

    /// Closed while this switch is on.
    pub fn with_maintenance(self, maintenance: MaintenanceSwitch) -> Mount {
        Mount { maintenance, ..self }
    }

    /// Its calls are measured here, together with those under an earlier configuration.
    pub fn with_service_level(self, service_level: ServiceLevel) -> Mount {
        Mount { service_level, ..self }
    }

    /// Callers who listen may watch something for so long.
    pub fn with_streaming(self, streaming: Streaming) -> Mount {
        Mount { streaming, ..self }
    }

    /// The name of the server; several mounts may belong to one server.
    pub(crate) fn server(&self) -> &str {
        self.dispatch.as_ref().map_or(&self.resource, |config| &config.server)
    }

    /// This identity is asked about every credential, also a missing one.
    pub fn with_identity(self, identity: Arc<dyn Identity>) -> Mount {
        Mount { identity: Some(identity), ..self }
    }
}

impl Desk {
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// For rate budgets and caches, which no set clock may lengthen or end.
    pub fn monotonic(&self) -> MonotonicMillis {
        self.clock.monotonic()
    }

    /// A trace that begins here: 48 bits of time and 80 random bits, so that traces sort by age too.
    pub fn new_trace(&self) -> Trace {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let bits = self.time_ordered_bits().to_be_bytes();
        let mut id = [b'0'; 32];
        for (digits, byte) in id.chunks_exact_mut(2).zip(bits) {
            for (digit, half) in digits.iter_mut().zip([byte >> 4, byte & 15]) {
                *digit = DIGITS.get(usize::from(half)).copied().unwrap_or(b'0');
            }
        }
        Trace::new(std::str::from_utf8(&id).unwrap_or_default())
    }

    /// The prefix, then 48 bits of time and 80 random bits in an alphabet that sorts like its values.
    pub fn new_id(&self, prefix: &str) -> String {
        new_id(prefix, self.now(), self.random.as_ref())
    }

    /// A random UUID (version 4).
    pub(crate) fn new_uuid(&self) -> String {
        let mut random = [0; 16];
        self.random.fill(&mut random);
        let bits = u128::from_be_bytes(random) & !(0xf << 76) & !(0x3 << 62) | (4 << 76) | (2 << 62);
        let hex = format!("{bits:032x}");
        let cut = |from, until| hex.get(from..until).unwrap_or_default();
        [cut(0, 8), cut(8, 12), cut(12, 16), cut(16, 20), cut(20, 32)].join("-")
    }

    fn time_ordered_bits(&self) -> u128 {
        time_ordered_bits(self.now(), self.random.as_ref())
    }
}

/// An id in the same form, for callers that have no desk yet.
pub fn new_id(prefix: &str, now: Millis, random: &dyn Random) -> String {
    id_of_bits(prefix, time_ordered_bits(now, random))
}

fn id_of_bits(prefix: &str, bits: u128) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut id = String::with_capacity(prefix.len() + 27);
    id.push_str(prefix);
    id.push('_');
    for position in (0..26).rev() {
        let letter = LETTERS.get((bits >> (position * 5)) as usize & 31).copied().unwrap_or(b'0');
        id.push(char::from(letter));
    }
    id
}

/// An id in the same form that is always the same for the same hash.
pub fn id_of_hash(prefix: &str, hash: &[u8; 32]) -> String {
    let bits = hash.iter().take(16).fold(0u128, |all, byte| (all << 8) | u128::from(*byte));
    id_of_bits(prefix, bits)
}

/// 48 bits of time above 80 random ones.
fn time_ordered_bits(now: Millis, random: &dyn Random) -> u128 {
    let mut noise = [0; 10];
    random.fill(&mut noise);
    let noise = noise.iter().fold(0u128, |all, byte| (all << 8) | u128::from(*byte));
    ((now.0 as u128 & 0xffff_ffff_ffff) << 80) | noise
}
