//! Putting the parts together: from a configuration and a data folder to a desk that can serve.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts as contracts;
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
use crate::observe::Log;
use crate::ports::{SystemClock, SystemRandom};

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
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
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
    pub vaults: Vaults,
    pub desk: Desk,
    pub mounts: Vec<(String, Mount)>,
    pub identity: Arc<EmbeddedServer>,
    pub log: Arc<Log>,
    pub config: Config,
}

impl House {
    pub fn open(vaults: Vaults, config: Config) -> House {
        let log = Arc::new(Log::new(config.log.format));
        let tally = Arc::new(Tally::default());
        let mounts: Vec<(String, Mount)> = config
            .mounts
            .iter()
            .filter_map(|mount| {
                let contract = contracts::by_id(&mount.contract)?;
                let resource = config.public_url.at(&mount.path);
                let metadata = config.public_url.at(&format!("/.well-known/oauth-protected-resource{}", mount.path));
                Some((mount.path.clone(), Mount::new(contract, resource, metadata)))
            })
            .collect();
        let resources = mounts.iter().map(|(path, mount)| ProtectedResource {
            path: path.clone(),
            url: mount.resource.clone(),
            scopes: mount.contract.scopes.clone(),
            least: mount.contract.least.clone(),
            name: mount.contract.hello.title.to_owned(),
        });
        let identity = Arc::new(EmbeddedServer::new(
            Parts {
                registry: Arc::clone(&vaults.store) as Arc<dyn Registry>,
                clock: Arc::clone(&vaults.clock),
                random: Arc::clone(&vaults.random),
                observer: Arc::clone(&log) as _,
                store: Arc::clone(&vaults.store) as Arc<dyn Store>,
                tally: Arc::clone(&tally),
            },
            frontdesk_identity::Settings {
                issuer: config.public_url.to_string(),
                lifetime_seconds: u32::try_from(config.token.lifetime.as_secs()).unwrap_or(300),
                cache: config.token.cache,
                token_requests_per_minute: config.limits.token_requests_per_minute,
            },
            resources.collect(),
        ));
        let desk = Desk {
            store: Arc::clone(&vaults.store) as Arc<dyn Store>,
            identity: Arc::clone(&identity) as _,
            clock: Arc::clone(&vaults.clock),
            random: Arc::clone(&vaults.random),
            observer: Arc::clone(&log) as _,
            keys: Keys { cursor: vaults.master.derive("cursor"), meaning: vaults.master.derive("meaning") },
            rates: Rates::default(),
            inflight: Default::default(),
            tally: Arc::clone(&tally),
            turns: Default::default(),
            settings: Settings {
                page_bytes: config.limits.page_bytes,
                reply_bytes: config.limits.page_bytes.saturating_mul(REPLY_FACTOR).max(LEAST_REPLY),
                calls: Budget { per_minute: config.limits.calls_per_minute, burst: config.limits.burst },
                deadline: config.deadlines.call,
            },
        };
        House { vaults, desk, mounts, identity, log, config }
    }
}
