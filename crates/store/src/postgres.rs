//! PostgreSQL, for one or several nodes. Reads share a few pipelined connections; writes are queued and committed in
//! one transaction per tenant. Row-level security protects every tenant's rows, and a role that could bypass it is
//! refused.

pub(crate) mod address;
mod audit;
pub(crate) mod connection;
mod driver;
mod erasure_watch;
mod global_writer;
pub(crate) mod pipeline;
mod plan_statements;
mod read_pool;
mod reindex_session;
mod rls;
mod schema;
pub(crate) mod sql_texts;
mod store;
mod tenant_writer;
pub(crate) mod tls;
pub(crate) mod values;
mod writers;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;

use crate::StoreError;
use crate::audit::KEY_PURPOSE;
use crate::backend::usage::{StorageLimits, count, is_counted, mark_counted};
use crate::backend::{SqlStore, load_tenant_keys};
use crate::installation::SetupKeys;
use crate::keyring::Keyring;
use crate::reindex;
use crate::sql::registry_rows::{LOCK_TENANT, TENANT_NAMES, UnauthenticatedRows};
use crate::transfer::tables::{self, TransferTable};
use connection::{PgConnection, PgParams};
use erasure_watch::ErasureWatch;
use read_pool::ReadPool;
use sql_texts::{COMMIT, PgTexts};
use writers::Writers;

pub use address::{Address, AddressError};
pub use audit::PostgresAudit;
pub use driver::PostgresStoreDriver;

/// Connections for look-ups by key.
const LOOKUP_CONNECTIONS: usize = 2;
/// Pages have connections of their own, so that a slow search does not delay look-ups.
const PAGE_CONNECTIONS: usize = 2;

pub struct PostgresOptions {
    pub address: Address,
    pub master: SealKey,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
    pub tables: Vec<&'static TableSpec>,
    /// How long to wait for a commit before its outcome is reported as unknown.
    pub commit_wait: Duration,
}

pub type PostgresStore = SqlStore<PostgresStoreDriver>;

/// What readers and writers share.
pub(crate) struct PgContext {
    keyring: Keyring,
    audit_key: SealKey,
    clock: Arc<dyn Clock>,
    tables: HashMap<&'static str, PgTexts>,
    /// The tables with rows of tenants.
    erased_tables: Vec<TransferTable>,
    /// This node's name, random at every start, so that no two processes write to the same chain.
    node: String,
    limits: Mutex<StorageLimits>,
}

/// Checks that the server answers, that its certificate is valid and that row-level security applies to the role.
/// Changes nothing.
pub async fn check_connection(address: &Address) -> Result<(), StoreError> {
    rls::check_role(&PgConnection::connect(&address.with_statement_timeout()).await?).await
}

/// Checks that this version has set up the database with this master key, and that its row-level security is in
/// place. Changes nothing.
pub(crate) async fn check_initialized(
    connection: &PgConnection,
    master: &SealKey,
    tables: &[&'static TableSpec],
) -> Result<(), StoreError> {
    rls::check_role(connection).await?;
    schema::check(connection, master).await?;
    schema::check_objects(connection, tables).await?;
    rls::check_policies(connection, tables).await
}

impl PostgresStore {
    /// Also a database of a release without MACs, whose rows are trusted.
    pub async fn open(options: PostgresOptions) -> Result<PostgresStore, StoreError> {
        PostgresStore::open_with(options, UnauthenticatedRows::Adopt).await
    }

    pub async fn open_with(options: PostgresOptions, rows: UnauthenticatedRows) -> Result<PostgresStore, StoreError> {
        // Migrations may take longer than a statement is allowed to otherwise.
        let connection = PgConnection::connect(&options.address.without_statement_timeout()).await?;
        rls::check_role(&connection).await?;
        let keyring = Keyring::new(&options.master, options.random.clone());
        let mut name = [0; 8];
        options.random.fill(&mut name);
        let node: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let keys = SetupKeys {
            master: options.master.clone(),
            random: Arc::clone(&options.random),
            node: node.clone(),
            at: options.clock.now(),
        };
        let work = schema::migrate(&connection, &options.tables, &keys, &keyring, rows).await?;
        rls::check_policies(&connection, &options.tables).await?;
        schema::check_objects(&connection, &options.tables).await?;
        let context = Arc::new(PgContext {
            keyring,
            audit_key: options.master.derive(KEY_PURPOSE),
            clock: options.clock,
            tables: options.tables.iter().map(|table| (table.name, PgTexts::of(table))).collect(),
            erased_tables: tables::all(&options.tables),
            node,
            limits: Mutex::default(),
        });
        load_tenant_keys(&connection, &context.keyring).await?;
        if rows == UnauthenticatedRows::Adopt {
            reindex::authenticate_rows(&connection, &context.keyring, &options.tables).await?;
        }
        reindex::run(&connection, &context.keyring, &work).await?;
        count_tenants(&connection, &options.tables).await?;
        let writers = Writers::start(&options.address, Arc::clone(&context))?;
        let config = options.address.with_statement_timeout();
        let driver = PostgresStoreDriver {
            lookups: ReadPool::new(&config, LOOKUP_CONNECTIONS),
            pages: ReadPool::new(&config, PAGE_CONNECTIONS),
            context,
            address: options.address,
            writers,
            commit_wait: options.commit_wait,
            erasures: ErasureWatch::new(),
        };
        Ok(SqlStore { driver })
    }

    /// The name of this node's own audit chain.
    pub fn node(&self) -> &str {
        &self.driver.context.node
    }
}

/// Counts what tenants of an earlier release have stored, each in a transaction of its own and locked, so that an interrupted
/// run goes on where it stopped.
async fn count_tenants(connection: &PgConnection, tables: &[&'static TableSpec]) -> Result<(), StoreError> {
    if is_counted(connection).await? {
        return Ok(());
    }
    let counted = "SELECT 1 FROM fd_counter WHERE tenant = $1 AND stored_rows IS NOT NULL";
    let text = count(tables);
    for row in connection.query(TENANT_NAMES, &[]).await? {
        let tenant: String = row.try_get(0)?;
        let queries: [(&str, PgParams<'_>); 2] = [(LOCK_TENANT, &[&tenant]), (counted, &[&tenant])];
        let found = connection.begin_as_tenant(&tenant, &queries).await?;
        let outcome = match found.last() {
            Some(found) if !found.is_empty() => Ok(0),
            Some(_) | None => connection.execute(&text, &[&tenant]).await,
        };
        connection.batch_execute(if outcome.is_ok() { COMMIT } else { "ROLLBACK" }).await?;
        outcome?;
    }
    mark_counted(connection).await
}

impl PgContext {
    fn limits(&self) -> StorageLimits {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn texts(&self, table: &TableSpec) -> Result<&PgTexts, StoreError> {
        self.tables.get(table.name).ok_or(StoreError::UnknownTable(table.name))
    }
}
