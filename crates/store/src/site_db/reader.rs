//! Reading a site, written once for all databases: opening, rendering, deadlines, retries and changes of the schema.
//! A driver only connects, lists columns and runs a query.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Comparison, Expr, Literal, Name, Operand, Predicate, Select, SiteDb, SiteRow};

use super::SiteDbSettings;
use super::dialect::SqlDialect;
use super::error::{ReadError, SiteDbError};
use super::pool::{ConnectionPool, QueryPermit};
use super::render::{SiteQuery, render};
use super::schema::{ColumnInfo, SiteSchema};

pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The database ends a statement at its deadline; this much later the reader stops waiting for it.
const GRACE: Duration = Duration::from_millis(500);

/// One kind of database. A connection that is dropped is closed; so is one whose query fails or is not awaited to its
/// end.
pub(super) trait SiteDriver: Send + Sync + 'static {
    type Connection: Send + 'static;

    const DIALECT: SqlDialect;

    /// A read-only session that ends each statement at its deadline.
    fn connect(&self) -> impl std::future::Future<Output = Result<Self::Connection, ReadError>> + Send;

    /// The columns of all tables under the prefix, and of those by which a site with another prefix is recognized.
    fn introspect(
        &self,
        connection: Self::Connection,
        prefix: &str,
    ) -> impl std::future::Future<Output = Result<(Vec<ColumnInfo>, Self::Connection), ReadError>> + Send;

    /// A thread that works on after its caller has left kind the permit.
    fn query(
        &self,
        connection: Self::Connection,
        query: &SiteQuery,
        permit: &QueryPermit,
    ) -> impl std::future::Future<Output = Result<(Vec<SiteRow>, Self::Connection), ReadError>> + Send;
}

/// A site's database that shows the SQL it would send.
pub(crate) trait RenderingSiteDb: SiteDb {
    fn render(&self, select: &Select) -> Result<SiteQuery, Fault>;
}

pub(super) struct SiteReader<D: SiteDriver> {
    driver: D,
    prefix: String,
    deadline: Duration,
    schema: RwLock<Arc<SiteSchema>>,
    /// For lists, whose filters can make them slow.
    pub(super) pool: ConnectionPool<D::Connection>,
    /// For queries by key, which are fast on every site and must not wait for lists.
    lookups: ConnectionPool<D::Connection>,
}

impl<D: SiteDriver> SiteReader<D> {
    pub(super) async fn open(driver: D, settings: &SiteDbSettings) -> Result<SiteReader<D>, SiteDbError> {
        let (schema, connection) = introspect(&driver, &settings.prefix, settings.deadline).await?;
        let pool = ConnectionPool::new(settings.connections);
        pool.put(connection);
        let lookups = ConnectionPool::new(settings.connections.div_ceil(2));
        let schema = RwLock::new(Arc::new(schema));
        Ok(SiteReader { driver, prefix: settings.prefix.clone(), deadline: settings.deadline, schema, pool, lookups })
    }

    fn schema(&self) -> Arc<SiteSchema> {
        Arc::clone(&self.schema.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Look-ups have no share of a caller: they end quickly, and the calls of a caller are limited in number.
    async fn rows(&self, select: &Select, caller: Option<&str>) -> Result<Vec<SiteRow>, Fault> {
        let (pool, caller) = if is_lookup(select) { (&self.lookups, None) } else { (&self.pool, caller) };
        let permit = pool.acquire(caller).await?;
        match self.attempt(select, pool, &permit).await {
            Err(ReadError::SchemaChanged(_)) => {
                self.pool.clear();
                self.lookups.clear();
                let introspected = introspect(&self.driver, &self.prefix, self.deadline).await;
                let (schema, connection) = introspected.map_err(|error| Fault::unavailable(error.to_string()))?;
                pool.put(connection);
                *self.schema.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(schema);
                Ok(self.attempt(select, pool, &permit).await?)
            }
            result => Ok(result?),
        }
    }

    async fn attempt(
        &self,
        select: &Select,
        pool: &ConnectionPool<D::Connection>,
        permit: &QueryPermit,
    ) -> Result<Vec<SiteRow>, ReadError> {
        let query = self.render(select)?;
        let result = tokio::time::timeout(self.deadline + GRACE, self.query(&query, pool, permit)).await;
        result.unwrap_or_else(|_| Err(ReadError::timed_out()))
    }

    async fn query(
        &self,
        query: &SiteQuery,
        pool: &ConnectionPool<D::Connection>,
        permit: &QueryPermit,
    ) -> Result<Vec<SiteRow>, ReadError> {
        let idle = pool.take();
        let had_idle = idle.is_some();
        if let Some(connection) = idle {
            match self.driver.query(connection, query, permit).await {
                Err(ReadError::ConnectionLost(_)) => {}
                result => return Ok(keep(pool, result?)),
            }
        }
        if had_idle {
            // The server may have been restarted, and then the other idle connections are closed too.
            self.pool.clear();
            self.lookups.clear();
        }
        Ok(keep(pool, self.driver.query(self.driver.connect().await?, query, permit).await?))
    }
}

/// Only a connection that has returned its whole answer is used again.
fn keep<C>(pool: &ConnectionPool<C>, (rows, connection): (Vec<SiteRow>, C)) -> Vec<SiteRow> {
    pool.put(connection);
    rows
}

/// Columns with an index by which a row of a site is looked up, and few rows share a value.
const KEYS: [Name; 3] = ["id", "name", "contentid"];

/// Whether the rows are found by their keys, which takes no longer on a larger site.
fn is_lookup(select: &Select) -> bool {
    let (from, _) = select.from;
    let is_key = |expr: &Expr| matches!(expr, Expr::Column(alias, name) if *alias == from && KEYS.contains(name));
    // No index helps to find an id that is compared as a fraction or as a number that no column can hold.
    let is_found_by = |expr: &Expr, value: &Literal| match value {
        Literal::Integer(_) => true,
        Literal::Text(text) | Literal::Decimal(text) => {
            matches!(expr, Expr::Column(_, "name")) || text.trim().parse::<i64>().is_ok()
        }
    };
    select.filter.iter().any(|predicate| match predicate {
        Predicate::Compare(expr, Comparison::Equal, Operand::Literal(value)) => {
            is_key(expr) && is_found_by(expr, value)
        }
        Predicate::AnyOf(expr, _) => is_key(expr),
        Predicate::Compare(..)
        | Predicate::NoneOf(..)
        | Predicate::Like(..)
        | Predicate::IsNull(_)
        | Predicate::IsNotNull(_)
        | Predicate::Exists(_) => false,
    })
}

impl<D: SiteDriver> RenderingSiteDb for SiteReader<D> {
    fn render(&self, select: &Select) -> Result<SiteQuery, Fault> {
        render(D::DIALECT, &self.schema(), select)
    }
}

impl<D: SiteDriver> SiteDb for SiteReader<D> {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        Box::pin(std::future::ready(Ok(self.schema().table(table).is_some())))
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(self.rows(select, None))
    }

    fn select_for<'a>(&'a self, caller: &'a str, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(self.rows(select, Some(caller)))
    }
}

/// The tables of the site, on a new connection. A server that accepts connections and stays silent is not waited for.
async fn introspect<D: SiteDriver>(
    driver: &D,
    prefix: &str,
    deadline: Duration,
) -> Result<(SiteSchema, D::Connection), SiteDbError> {
    let introspected = async { driver.introspect(driver.connect().await?, prefix).await };
    let introspected = tokio::time::timeout(CONNECT_TIMEOUT + deadline + GRACE, introspected).await;
    let (columns, connection) = introspected
        .unwrap_or_else(|_| Err(ReadError::Unavailable("it does not answer".to_owned())))
        .map_err(ReadError::at_opening)?;
    Ok((SiteSchema::new(columns, prefix)?, connection))
}
