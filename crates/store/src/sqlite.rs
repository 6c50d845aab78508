//! The embedded database: SQLite in WAL mode, one writer thread that commits in batches, and readers that never wait
//! for it. A commit is answered only after COMMIT with `synchronous=FULL`.

mod audit;
mod backup;
pub(crate) mod checkpoints;
mod commit_texts;
mod driver;
mod encode;
pub(crate) mod open;
mod readers;
mod reindex_session;
mod sample;
mod schema_check;
pub(crate) mod search_terms;
mod store;
mod usage;
mod write_tx;
mod writer;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;
use rusqlite::{Connection, ffi};

use crate::StoreError;
use crate::audit::{ComparedTable, KEY_PURPOSE, RowRemoval};
use crate::backend::usage::{count, is_counted, mark_counted, size_of};
use crate::backend::{SqlStore, load_tenant_keys};
use crate::installation::SetupKeys;
use crate::keyring::Keyring;
use crate::reindex;
use crate::sql;
use crate::sql::registry_rows::{UNCOUNTED_TENANTS, UnauthenticatedRows};
use crate::sql::session::{SqlReader as _, SqlSession, run_ready};
use crate::transfer::tables::{self, TransferTable};
use checkpoints::Checkpointer;
use commit_texts::CommitTexts;
use readers::{ReaderThreads, SqliteReadPool};
use schema_check::{SchemaScope, check_schema};
use search_terms::TERMS_PER_STATEMENT;
use usage::StorageCheck;
use writer::SqliteWriter;

pub use audit::AuditReader;
pub use backup::{BackupMac, BackupTrust, back_up, extract_backup};
pub use driver::SqliteStoreDriver;
pub use sample::make_sample;

/// How long the writer waits for another process that has locked the file. A job that arrives meanwhile waits at most
/// twice as long, which must be less than `commit_wait`: then its caller learns that nothing was written.
const WRITER_BUSY_TIMEOUT: Duration = Duration::from_millis(1_500);

pub struct SqliteOptions {
    /// The database file; its folder must exist.
    pub path: PathBuf,
    pub master: SealKey,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
    pub tables: Vec<&'static TableSpec>,
    /// How long to wait for a commit before its outcome is reported as unknown.
    pub commit_wait: Duration,
}

pub type SqliteStore = SqlStore<SqliteStoreDriver>;

/// What readers and the writer share.
pub(crate) struct SqliteContext {
    keyring: Keyring,
    audit_key: SealKey,
    master: SealKey,
    clock: Arc<dyn Clock>,
    tables: HashMap<&'static str, SqliteTexts>,
    commit_texts: CommitTexts,
    storage: StorageCheck,
    /// The tables with rows of tenants.
    erased_tables: Vec<TransferTable>,
    /// The tables whose rows the store compares with the audit record.
    compared_tables: Vec<ComparedTable>,
}

/// The statements of one table, generated once.
pub(crate) struct SqliteTexts {
    get: String,
    insert: String,
    update: String,
    remove: String,
    version: String,
    /// The bytes of a row.
    size: String,
    /// By the number of terms, beginning with one.
    insert_terms: Vec<String>,
    delete_terms: String,
}

impl SqliteStore {
    /// Also a database of a release without MACs, whose rows are trusted.
    pub fn open(options: SqliteOptions) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(options, UnauthenticatedRows::Adopt)
    }

    pub fn open_with(options: SqliteOptions, rows: UnauthenticatedRows) -> Result<SqliteStore, StoreError> {
        let path = options.path.clone();
        SqliteStore::open_file(options, rows).map_err(|error| error.of_file(&path))
    }

    fn open_file(options: SqliteOptions, rows: UnauthenticatedRows) -> Result<SqliteStore, StoreError> {
        let connection = open::writer(&options.path)?;
        let keyring = Keyring::new(&options.master, Arc::clone(&options.random));
        let keys = SetupKeys {
            master: options.master.clone(),
            random: Arc::clone(&options.random),
            node: audit::NODE.to_owned(),
            at: options.clock.now(),
        };
        let work = open::migrate(&connection, &options.tables, &keys, &keyring, rows)?;
        check_schema(&connection, &options.tables, SchemaScope::Migrated)?;
        let context = Arc::new(SqliteContext {
            keyring,
            audit_key: options.master.derive(KEY_PURPOSE),
            master: options.master,
            clock: options.clock,
            tables: options.tables.iter().map(|table| (table.name, SqliteTexts::of(table))).collect(),
            commit_texts: CommitTexts::default(),
            storage: StorageCheck::new(&options.path),
            erased_tables: tables::all(&options.tables),
            compared_tables: options
                .tables
                .iter()
                .map(|table| ComparedTable { table, removal: RowRemoval::Audited })
                .collect(),
        });
        run_ready(load_tenant_keys(&connection, &context.keyring))?;
        if rows == UnauthenticatedRows::Adopt {
            run_ready(reindex::authenticate_rows(&connection, &context.keyring, &options.tables))?;
        }
        run_ready(reindex::run(&connection, &context.keyring, &work))?;
        run_ready(count_tenants(&connection, &options.tables))?;
        let pool = SqliteReadPool::new(options.path.clone());
        let readers = ReaderThreads::start(&options.path)?;
        connection.busy_timeout(WRITER_BUSY_TIMEOUT)?;
        let checkpointer = Checkpointer::start(&connection, &options.path)?;
        let writer = SqliteWriter::start(connection, Arc::clone(&context), checkpointer)?;
        let driver = SqliteStoreDriver { context, pool, readers, writer, commit_wait: options.commit_wait };
        Ok(SqlStore { driver })
    }
}

/// Counts what tenants of an earlier release have stored, each in a transaction of its own, so that an interrupted run goes
/// on where it stopped.
async fn count_tenants(connection: &Connection, tables: &[&'static TableSpec]) -> Result<(), StoreError> {
    if is_counted(connection).await? {
        return Ok(());
    }
    let text = count(tables);
    for row in connection.query(UNCOUNTED_TENANTS, &[]).await? {
        SqlSession::execute(connection, &text, &[row.text(0)?.into()]).await?;
    }
    mark_counted(connection).await
}

impl SqliteContext {
    fn texts(&self, table: &TableSpec) -> Result<&SqliteTexts, StoreError> {
        self.tables.get(table.name).ok_or(StoreError::UnknownTable(table.name))
    }
}

impl SqliteTexts {
    fn of(table: &TableSpec) -> SqliteTexts {
        SqliteTexts {
            get: sql::for_sqlite(&sql::get(table)),
            insert: sql::for_sqlite(&sql::insert(table)),
            update: sql::for_sqlite(&sql::update(table, sql::FIXED_COLUMNS)),
            remove: sql::for_sqlite(&sql::remove(table)),
            version: sql::for_sqlite(&sql::version(table)),
            size: sql::for_sqlite(&size_of(table)),
            insert_terms: (1..=TERMS_PER_STATEMENT).map(|count| search_terms::insert_terms(table, count)).collect(),
            delete_terms: search_terms::delete_terms(table),
        }
    }
}

fn is_unique_violation(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY))
}

#[cfg(test)]
mod tests;
