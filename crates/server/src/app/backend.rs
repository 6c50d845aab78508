//! The data of a server: its folder, its database, its clock and its randomness. Enough for commands that serve nobody.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts as contracts;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::root_key::{open_root_key, read_root_key};
use frontdesk_store::transfer::DataLocation;
use frontdesk_store::{Backend, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, StoreError};

use super::audit_sealing::AnchorCounters;
use crate::config::DatabaseConfig;
use crate::data_dir::{self, DataDir, DataDirError, MasterKey};
use crate::system::{SystemClock, SystemRandom};

/// How long a commit is waited for before the caller is told that its outcome is unknown.
const COMMIT_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub enum DataBackendError {
    DataDir(DataDirError),
    Store(StoreError),
}

impl fmt::Display for DataBackendError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataBackendError::DataDir(error) => error.fmt(out),
            DataBackendError::Store(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for DataBackendError {}

pub struct DataBackend {
    pub data_dir: DataDir,
    pub store: Arc<dyn Backend>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// Where the data is.
    pub location: DataLocation,
    /// The root key of the database: every other key is derived from it.
    pub(crate) root: SealKey,
    /// When the newest audit record was made, before this process made any.
    pub newest_record: Option<Millis>,
    pub(crate) anchors: AnchorCounters,
}

impl DataBackend {
    pub async fn open(data_dir: DataDir, database: &DatabaseConfig) -> Result<DataBackend, DataBackendError> {
        let master = data_dir.master_key(&SystemRandom).map_err(DataBackendError::DataDir)?;
        DataBackend::open_with(data_dir, database, master).await
    }

    /// The same with a key that has been read already. It decides what is done with rows without MACs.
    pub async fn open_with(
        data_dir: DataDir,
        database: &DatabaseConfig,
        master: MasterKey,
    ) -> Result<DataBackend, DataBackendError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let location = data_location(data_dir.path(), database);
        let root = open_root_key(&location, &master.key, random.as_ref()).await.map_err(DataBackendError::Store)?;
        let tables = contracts::all().iter().flat_map(|contract| contract.tables.clone()).collect();
        let opened: Result<Arc<dyn Backend>, StoreError> = match database {
            DatabaseConfig::Embedded => SqliteStore::open_with(
                SqliteOptions {
                    path: data_dir::database_file(data_dir.path()),
                    master: root.clone(),
                    random: Arc::clone(&random),
                    clock: Arc::clone(&clock),
                    tables,
                    commit_wait: COMMIT_WAIT,
                },
                master.rows,
            )
            .map(|store| Arc::new(store) as _),
            DatabaseConfig::Postgres(address) => PostgresStore::open_with(
                PostgresOptions {
                    address: address.clone(),
                    master: root.clone(),
                    random: Arc::clone(&random),
                    clock: Arc::clone(&clock),
                    tables,
                    commit_wait: COMMIT_WAIT,
                },
                master.rows,
            )
            .await
            .map(|store| Arc::new(store) as _),
        };
        let store = opened.map_err(DataBackendError::Store)?;
        master.remember_macs(data_dir.key_file());
        // If it cannot be read now, retention cannot delete either.
        let newest_record = store.newest_record().await.ok().flatten();
        let anchors = AnchorCounters::default();
        Ok(DataBackend { data_dir, store, clock, random, location, root, newest_record, anchors })
    }
}

pub fn data_location(data: &Path, database: &DatabaseConfig) -> DataLocation {
    match database {
        DatabaseConfig::Embedded => DataLocation::Sqlite(data_dir::database_file(data)),
        DatabaseConfig::Postgres(address) => DataLocation::Postgres(address.clone()),
    }
}

/// The root key of data that exists; nothing is written.
pub async fn existing_root_key(
    data: &Path,
    key_file: &Path,
    database: &DatabaseConfig,
) -> Result<SealKey, DataBackendError> {
    let master = MasterKey::read(key_file).map_err(DataBackendError::DataDir)?;
    read_root_key(&data_location(data, database), &master.key).await.map_err(DataBackendError::Store)
}
