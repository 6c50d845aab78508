//! Putting the parts together: from a configuration and a data folder to a desk that can serve.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts as contracts;
use frontdesk_engine::Contract;
use frontdesk_engine::desk::{Desk, Keys, Mount, Settings};
use frontdesk_engine::ports::{Clock, Random, Store};
use frontdesk_engine::rate::{Budget, Rates};
use frontdesk_engine::registry::Registry;
use frontdesk_engine::seal::Key;
use frontdesk_engine::tally::Tally;
use frontdesk_identity::{EmbeddedServer, Parts, ProtectedResource};
use frontdesk_store::{Keeper, Options, PostgresOptions, PostgresStore, SqliteStore, StoreError};

use crate::config::{Config, Database};
use crate::folder::{self, Folder, FolderError};
use crate::observe::{Log, Meter, Witness};
use crate::ports::{SystemClock, SystemRandom};
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
    pub store: Arc<dyn Keeper>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    master: Key,
}

impl Vaults {
    pub async fn open(folder: Folder, database: &Database) -> Result<Vaults, HouseError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
        let master = folder.master_key(random.as_ref()).map_err(HouseError::Folder)?;
        let kinds = contracts::all().iter().flat_map(|contract| contract.kinds.clone()).collect();
        let opened: Result<Arc<dyn Keeper>, StoreError> = match database {
            Database::Embedded => SqliteStore::open(Options {
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
    pub mounts: Vec<(String, Mount)>,
    pub identity: Arc<EmbeddedServer>,
    pub log: Arc<Log>,
    pub meter: Arc<Meter>,
    /// Closed until a way to a collector has been prepared.
    pub traces: Arc<Traces>,
    pub config: Config,
}

impl House {
    /// With the contracts of this build, as the configuration mounts them.
    pub fn open(vaults: Vaults, config: Config) -> House {
        let contracts = configured(&config);
        House::mounting(vaults, config, contracts)
    }

    /// With these contracts at these paths; judges bring one of their own.
    pub fn mounting(vaults: Vaults, config: Config, contracts: Vec<(String, Contract)>) -> House {
        let vaults = Arc::new(vaults);
        let log = Arc::new(Log::new(config.log.format, Arc::clone(&vaults.clock)));
        let traces = Arc::new(Traces::new(Arc::clone(&vaults.random)));
        let meter = Arc::new(Meter::default());
        let tally = Arc::new(Tally::default());
        let witness =
            Arc::new(Witness { log: Arc::clone(&log), meter: Arc::clone(&meter), traces: Arc::clone(&traces) });
        let mounts = mounts(&config, contracts);
        let identity = Arc::new(EmbeddedServer::new(
            Parts {
                registry: Arc::clone(&vaults.store) as Arc<dyn Registry>,
                clock: Arc::clone(&vaults.clock),
                random: Arc::clone(&vaults.random),
                observer: Arc::clone(&witness) as _,
                store: Arc::clone(&vaults.store) as Arc<dyn Store>,
                tally: Arc::clone(&tally),
            },
            login(&config),
            resources(&mounts),
        ));
        let desk = Desk {
            store: Arc::clone(&vaults.store) as Arc<dyn Store>,
            identity: Arc::clone(&identity) as _,
            clock: Arc::clone(&vaults.clock),
            random: Arc::clone(&vaults.random),
            observer: witness,
            keys: Keys { cursor: vaults.master.derive("cursor") },
            rates: Rates::default(),
            inflight: Default::default(),
            tally,
            turns: Default::default(),
            settings: limits(&config),
        };
        House { vaults, desk, mounts, identity, log, meter, traces, config }
    }

    /// The same house under another configuration. What is counted, running or used up is shared between
    /// the two, so that calls of either see one desk.
    pub fn renewed(&self, config: Config) -> House {
        let mounts = mounts(&config, configured(&config));
        let identity = Arc::new(self.identity.renewed(login(&config), resources(&mounts)));
        let desk = Desk {
            store: Arc::clone(&self.desk.store),
            identity: Arc::clone(&identity) as _,
            clock: Arc::clone(&self.desk.clock),
            random: Arc::clone(&self.desk.random),
            observer: Arc::clone(&self.desk.observer),
            keys: Keys { cursor: self.vaults.master.derive("cursor") },
            rates: self.desk.rates.clone(),
            inflight: self.desk.inflight.clone(),
            tally: Arc::clone(&self.desk.tally),
            turns: self.desk.turns.clone(),
            settings: limits(&config),
        };
        House {
            vaults: Arc::clone(&self.vaults),
            desk,
            mounts,
            identity,
            log: Arc::clone(&self.log),
            meter: Arc::clone(&self.meter),
            traces: Arc::clone(&self.traces),
            config,
        }
    }
}

fn mounts(config: &Config, contracts: Vec<(String, Contract)>) -> Vec<(String, Mount)> {
    contracts
        .into_iter()
        .map(|(path, contract)| {
            let resource = config.public_url.at(&path);
            let metadata = config.public_url.at(&format!("/.well-known/oauth-protected-resource{path}"));
            (path, Mount::new(contract, resource, metadata))
        })
        .collect()
}

/// The contracts of this build, where the configuration mounts them.
fn configured(config: &Config) -> Vec<(String, Contract)> {
    let mounts = config.mounts.iter();
    mounts.filter_map(|mount| Some((mount.path.clone(), contracts::by_id(&mount.contract)?))).collect()
}

fn resources(mounts: &[(String, Mount)]) -> Vec<ProtectedResource> {
    let resources = mounts.iter().map(|(path, mount)| ProtectedResource {
        path: path.clone(),
        url: mount.resource.clone(),
        scopes: mount.contract.scopes.clone(),
        least: mount.contract.least.clone(),
        name: mount.contract.hello.title.to_owned(),
    });
    resources.collect()
}

fn login(config: &Config) -> frontdesk_identity::Settings {
    frontdesk_identity::Settings {
        issuer: config.public_url.to_string(),
        lifetime_seconds: u32::try_from(config.token.lifetime.as_secs()).unwrap_or(300),
        cache: config.token.cache,
        token_requests_per_minute: config.limits.token_requests_per_minute,
    }
}

fn limits(config: &Config) -> Settings {
    Settings {
        page_bytes: config.limits.page_bytes,
        reply_bytes: config.limits.page_bytes.saturating_mul(REPLY_FACTOR).max(LEAST_REPLY),
        calls: Budget { per_minute: config.limits.calls_per_minute, burst: config.limits.burst },
        deadline: config.deadlines.call,
    }
}
