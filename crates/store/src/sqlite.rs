//! The embedded database: SQLite in WAL mode, one writer thread that commits in groups, readers that
//! never wait for it. An answer is given only after COMMIT with `synchronous=FULL`.

mod apply;
mod audits;
mod backup;
mod chains;
pub(crate) mod checkpoints;
mod hands;
pub(crate) mod open;
mod pulse;
mod readers;
mod ready;
mod registry;
mod sample;
mod store;
mod upkeep;
pub(crate) mod words;
mod writer;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;

use crate::StoreError;
use crate::audit;
use crate::sql;
use crate::vault::Vault;
use checkpoints::Checkpoints;
use readers::{Pool, Readers};
use writer::Writer;

pub use audits::AuditReader;
pub use backup::{back_up, inspect};
pub use sample::make_sample;

/// How long the writer waits when another process has locked the file. Whoever comes while it waits in vain waits
/// twice that long at most, which must be less than a commit is waited for: then both know that nothing happened.
const LOCKED_OUT: Duration = Duration::from_millis(1_500);

pub struct Options {
    /// The database file; its folder must exist.
    pub path: PathBuf,
    pub master: SealKey,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
    pub kinds: Vec<&'static TableSpec>,
    /// How long a commit is waited for.
    pub commit_wait: Duration,
}

pub struct SqliteStore {
    shared: Arc<Shared>,
    pool: Pool,
    readers: Readers,
    writer: Writer,
    commit_wait: Duration,
}

/// What readers and the writer both need.
pub(crate) struct Shared {
    vault: Vault,
    audit_key: SealKey,
    clock: Arc<dyn Clock>,
    texts: HashMap<&'static str, Texts>,
}

/// A kind's statements, made once.
pub(crate) struct Texts {
    get: String,
    insert: String,
    update: String,
    version: String,
    remove_words: String,
}

impl SqliteStore {
    pub fn open(options: Options) -> Result<SqliteStore, StoreError> {
        let connection = open::writer(&options.path)?;
        open::migrate(&connection, &options.kinds)?;
        words::bring_forward(&connection, &options.kinds)?;
        let shared = Arc::new(Shared {
            vault: Vault::new(&options.master, options.random),
            audit_key: options.master.derive(audit::KEY),
            clock: options.clock,
            texts: options.kinds.iter().map(|kind| (kind.name, Texts::of(kind))).collect(),
        });
        registry::unlock_tenants(&connection, &shared.vault)?;
        let pool = Pool::new(options.path.clone());
        let readers = Readers::start(&options.path)?;
        connection.busy_timeout(LOCKED_OUT)?;
        let checkpoints = Checkpoints::start(&connection, &options.path)?;
        let writer = Writer::start(connection, Arc::clone(&shared), checkpoints)?;
        Ok(SqliteStore { shared, pool, readers, writer, commit_wait: options.commit_wait })
    }
}

impl Shared {
    fn texts(&self, kind: &TableSpec) -> Result<&Texts, StoreError> {
        self.texts.get(kind.name).ok_or(StoreError::UnknownKind(kind.name))
    }
}

impl Texts {
    fn of(kind: &TableSpec) -> Texts {
        Texts {
            get: sql::for_sqlite(&sql::get(kind)),
            insert: sql::for_sqlite(&sql::insert(kind)),
            update: sql::for_sqlite(&sql::update(kind, sql::FIXED)),
            version: sql::for_sqlite(&sql::version(kind)),
            remove_words: words::remove_words(kind),
        }
    }
}

#[cfg(test)]
mod tests;
