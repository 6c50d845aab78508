//! Reading a site, written once for all databases: opening, rendering, deadlines, retries and changes of the schema.
//! A driver only connects, lists columns and runs a query.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Name, Select, SiteDb, SiteRow};

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
    pub(super) pool: ConnectionPool<D::Connection>,
}

impl<D: SiteDriver> SiteReader<D> {
    pub(super) async fn open(driver: D, settings: &SiteDbSettings) -> Result<SiteReader<D>, SiteDbError> {
        let (schema, connection) = introspect(&driver, &settings.prefix, settings.deadline).await?;
        let pool = ConnectionPool::new(settings.connections);
        pool.put(connection);
        let schema = RwLock::new(Arc::new(schema));
        Ok(SiteReader { driver, prefix: settings.prefix.clone(), deadline: settings.deadline, schema, pool })
    }

    fn schema(&self) -> Arc<SiteSchema> {
        Arc::clone(&self.schema.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn rows(&self, select: &Select) -> Result<Vec<SiteRow>, Fault> {
        let permit = self.pool.acquire().await?;
        match self.attempt(select, &permit).await {
            Err(ReadError::SchemaChanged(_)) => {
                self.pool.clear();
                let introspected = introspect(&self.driver, &self.prefix, self.deadline).await;
                let (schema, connection) = introspected.map_err(|error| Fault::unavailable(error.to_string()))?;
                self.pool.put(connection);
                *self.schema.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(schema);
                Ok(self.attempt(select, &permit).await?)
            }
            result => Ok(result?),
        }
    }

    async fn attempt(&self, select: &Select, permit: &QueryPermit) -> Result<Vec<SiteRow>, ReadError> {
        let query = self.render(select)?;
        let result = tokio::time::timeout(self.deadline + GRACE, self.query(&query, permit)).await;
        result.unwrap_or_else(|_| Err(ReadError::timed_out()))
    }

    async fn query(&self, query: &SiteQuery, permit: &QueryPermit) -> Result<Vec<SiteRow>, ReadError> {
        if let Some(connection) = self.pool.take() {
            match self.query_on(connection, query, permit).await {
                // The server may have been restarted, and then the other idle connections are closed too.
                Err(ReadError::ConnectionLost(_)) => self.pool.clear(),
                result => return result,
            }
        }
        self.query_on(self.driver.connect().await?, query, permit).await
    }

    /// Only a connection that has returned its whole answer is used again.
    async fn query_on(
        &self,
        connection: D::Connection,
        query: &SiteQuery,
        permit: &QueryPermit,
    ) -> Result<Vec<SiteRow>, ReadError> {
        let (rows, connection) = self.driver.query(connection, query, permit).await?;
        self.pool.put(connection);
        Ok(rows)
    }
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
        Box::pin(self.rows(select))
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
