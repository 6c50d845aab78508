//! Putting the parts together: from a configuration and a data folder to a desk that can serve.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts as contracts;
use frontdesk_engine::Contract;
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::dispatch::{DeskSource, TaskQueue};
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::limits::tally::Tally;
use frontdesk_engine::ports::registry::Registry;
use frontdesk_engine::ports::{Clock, Identity, Random, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_identity::{Dependencies, EmbeddedServer};
use frontdesk_store::{Backend, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, StoreError};

use crate::addresses::Addresses;
use crate::config::{Config, Database};
use crate::folder::{self, Folder, FolderError};
use crate::mounting::{Came, Planned, addresses, local, may_reach, planned, resources};
use crate::observe::{Log, Meter, Witness};
use crate::ports::{SystemClock, SystemRandom};
use crate::sites::Sites;
use crate::traces::Traces;

/// How long a commit is waited for before the caller is told that its outcome is not known.
const COMMIT_WAIT: Duration = Duration::from_secs(5);
/// No answer is larger than a page and its envelope could be.
const REPLY_FACTOR: usize = 4;
/// However small pages are made, one whole resource must fit.
const LEAST_REPLY: usize = 1024 * 1024;

#[derive(Debug)]
pub enum HouseError {
    Folder(FolderError),
    Store(StoreError),
}

impl fmt::Display for HouseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HouseError::Folder(error) => error.fmt(out),
            HouseError::Store(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for HouseError {}

/// The data behind the desk, opened. Enough for commands that serve nobody.
pub struct Vaults {
    pub folder: Folder,
    pub store: Arc<dyn Backend>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    master: SealKey,
}

impl Vaults {
    pub async fn open(folder: Folder, database: &Database) -> Result<Vaults, HouseError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let master = folder.master_key(random.as_ref()).map_err(HouseError::Folder)?;
        let kinds = contracts::all().iter().flat_map(|contract| contract.tables.clone()).collect();
        let opened: Result<Arc<dyn Backend>, StoreError> = match database {
            Database::Embedded => SqliteStore::open(SqliteOptions {
                path: folder::database(folder.path()),
                master: master.clone(),
                random: Arc::clone(&random),
                clock: Arc::clone(&clock),
                kinds,
                commit_wait: COMMIT_WAIT,
            })
            .map(|store| Arc::new(store) as _),
            Database::Postgres(address) => PostgresStore::open(PostgresOptions {
                address: address.clone(),
                master: master.clone(),
                random: Arc::clone(&random),
                clock: Arc::clone(&clock),
                kinds,
                commit_wait: COMMIT_WAIT,
            })
            .await
            .map(|store| Arc::new(store) as _),
        };
        Ok(Vaults { folder, store: opened.map_err(HouseError::Store)?, clock, random, master })
    }
}

/// A desk that is ready to serve.
pub struct House {
    pub vaults: Arc<Vaults>,
    pub desk: Desk,
    pub mounts: Addresses,
    pub sites: Sites,
    /// The resources that only callers on this machine may reach.
    pub local: Vec<String>,
    /// The resources that tokens can be asked for.
    pub open: Vec<String>,
    pub identity: Arc<EmbeddedServer>,
    pub log: Arc<Log>,
    pub meter: Arc<Meter>,
    /// Closed until a way to a collector has been prepared.
    pub traces: Arc<Traces>,
    pub config: Config,
}

impl House {
    /// With the contracts of this build, as the configuration mounts them, and the sites that some of them read.
    pub fn open(vaults: Vaults, config: Config, sites: Sites) -> House {
        let mut missed = Vec::new();
        let planned = planned(&config, &sites, &mut |said| missed.push(said.to_owned()));
        let house = House::made(vaults, config, sites, planned);
        missed.iter().for_each(|said| house.log.say(said));
        house
    }

    /// With these contracts at these paths; judges bring one of their own.
    pub fn mounting(vaults: Vaults, config: Config, contracts: Vec<(String, Contract)>) -> House {
        let planned = contracts.into_iter().map(|(path, contract)| Planned::plain(path, contract)).collect();
        House::made(vaults, config, Sites::default(), planned)
    }

    fn made(vaults: Vaults, config: Config, sites: Sites, planned: Vec<Planned>) -> House {
        let vaults = Arc::new(vaults);
        let log = Arc::new(Log::new(config.log.format, Arc::clone(&vaults.clock)));
        let traces = Arc::new(Traces::new(Arc::clone(&vaults.random)));
        let meter = Arc::new(Meter::default());
        let tally = Arc::new(Tally::default());
        let witness =
            Arc::new(Witness { log: Arc::clone(&log), meter: Arc::clone(&meter), traces: Arc::clone(&traces) });
        let resources = resources(&planned, &config.public_url);
        let open = resources.iter().map(|resource| resource.url.clone()).collect();
        let identity = Arc::new(EmbeddedServer::new(
            Dependencies {
                registry: Arc::clone(&vaults.store) as Arc<dyn Registry>,
                clock: Arc::clone(&vaults.clock),
                random: Arc::clone(&vaults.random),
                observer: Arc::clone(&witness) as _,
                store: Arc::clone(&vaults.store) as Arc<dyn Store>,
                tally: Arc::clone(&tally),
            },
            login(&config),
            resources,
        ));
        let judge = Arc::clone(&identity) as Arc<dyn Identity>;
        let local = local(&planned, &config.public_url);
        let mounts = addresses(planned, &config.public_url, &judge);
        let desk = Desk {
            store: Arc::clone(&vaults.store) as Arc<dyn Store>,
            identity: judge,
            clock: Arc::clone(&vaults.clock),
            random: Arc::clone(&vaults.random),
            observer: witness,
            keys: Keys { cursor: vaults.master.derive("cursor") },
            rates: Rates::default(),
            inflight: Default::default(),
            tally,
            tenant_locks: Default::default(),
            task_queue: match config.database {
                Database::Embedded => TaskQueue::default().alone(vaults.clock.now()),
                Database::Postgres(_) => TaskQueue::default(),
            },
            settings: limits(&config),
        };
        House { vaults, desk, mounts, sites, local, open, identity, log, meter, traces, config }
    }

    /// Whether this peer may reach the mount at all. A listener on loopback lets nobody else in, but a reload can
    /// open a mount to everybody on a listener that was opened to the network before.
    pub(crate) fn admits(&self, mount: &Mount, peer: IpAddr, came: Came) -> bool {
        may_reach(&self.local, &mount.resource, peer, came)
    }

    pub(crate) fn gives_tokens_for(&self, mount: &Mount) -> bool {
        self.open.contains(&mount.resource)
    }

    /// The same house under another configuration. What is counted, running or used up is shared between
    /// the two, so that calls of either see one desk.
    pub fn renewed(&self, config: Config, sites: Sites) -> House {
        let planned = planned(&config, &sites, &mut |said| self.log.say(said));
        let resources = resources(&planned, &config.public_url);
        let open = resources.iter().map(|resource| resource.url.clone()).collect();
        let identity = Arc::new(self.identity.reconfigured(login(&config), resources));
        let judge = Arc::clone(&identity) as Arc<dyn Identity>;
        let local = local(&planned, &config.public_url);
        let mounts = addresses(planned, &config.public_url, &judge);
        let desk = Desk {
            store: Arc::clone(&self.desk.store),
            identity: judge,
            clock: Arc::clone(&self.desk.clock),
            random: Arc::clone(&self.desk.random),
            observer: Arc::clone(&self.desk.observer),
            keys: Keys { cursor: self.vaults.master.derive("cursor") },
            rates: self.desk.rates.clone(),
            inflight: self.desk.inflight.clone(),
            tally: Arc::clone(&self.desk.tally),
            tenant_locks: self.desk.tenant_locks.clone(),
            task_queue: self.desk.task_queue.clone(),
            settings: limits(&config),
        };
        House {
            vaults: Arc::clone(&self.vaults),
            desk,
            mounts,
            sites,
            local,
            open,
            identity,
            log: Arc::clone(&self.log),
            meter: Arc::clone(&self.meter),
            traces: Arc::clone(&self.traces),
            config,
        }
    }
}

impl DeskSource for House {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        self.mounts.iter().map(|(_, mount)| mount).collect()
    }
}

fn login(config: &Config) -> frontdesk_identity::OAuthSettings {
    frontdesk_identity::OAuthSettings {
        issuer: config.public_url.to_string(),
        lifetime_seconds: u32::try_from(config.token.lifetime.as_secs()).unwrap_or(300),
        cache_ttl: config.token.cache,
        token_requests_per_minute: config.limits.token_requests_per_minute,
    }
}

fn limits(config: &Config) -> DeskSettings {
    DeskSettings {
        page_bytes: config.limits.page_bytes,
        reply_bytes: config.limits.page_bytes.saturating_mul(REPLY_FACTOR).max(LEAST_REPLY),
        calls: Budget { per_minute: config.limits.calls_per_minute, burst: config.limits.burst },
        deadline: config.deadlines.call,
    }
}
