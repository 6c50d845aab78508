//! A site on PostgreSQL. Sessions are read-only.

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use frontdesk_engine::ports::site_db::{SiteCell, SiteRow};
use frontdesk_engine::{Fault, FaultKind};
use futures_util::TryStreamExt as _;
use futures_util::future::try_join;
use tokio::task::AbortHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Error, NoTls, Row, Socket, Statement};

use super::dialect::SqlDialect;
use super::error::ReadError;
use super::pool::QueryPermit;
use super::reader::SiteDriver;
use super::render::{SiteQuery, SqlParam};
use super::rows::{RowCollector, text_cell};
use super::schema::{Charset, ColumnInfo, PROBE_TABLE, SiteColumn, SqlType};
use crate::StoreError;
use crate::postgres::address::{Address, ConnectConfig, Encryption};
use crate::postgres::tls::PgTlsConnector;

const CACHED_STATEMENTS: usize = 64;

/// The server would otherwise refuse to send what is no UTF-8.
const RAW_BYTES: &str = "SET client_encoding = 'SQL_ASCII'";

const SESSION: &str = "SET default_transaction_read_only = on; SET standard_conforming_strings = on";

/// The columns that this role may read: those under the prefix, and those of tables by which a site is recognized.
const COLUMNS: &str = "SELECT c.relname::text, a.attname::text, t.typname::text, a.attnotnull, a.atttypmod \
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
     WHERE n.nspname = ANY(current_schemas(false)) AND c.relkind IN ('r', 'v', 'm', 'p', 'f') \
     AND (left(c.relname::text, length($1::text)) = $1 OR right(c.relname::text, length($2::text)) = $2) \
     AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT') \
     AND pg_catalog.pg_table_is_visible(c.oid)";

pub(super) struct PostgresDriver(ConnectConfig);

impl PostgresDriver {
    pub(super) fn new(address: &Address, deadline: Duration) -> PostgresDriver {
        PostgresDriver(address.with_timeout(u32::try_from(deadline.as_millis()).unwrap_or(u32::MAX).max(1)))
    }
}

pub(super) struct PostgresSession {
    pub(super) client: Client,
    driver: AbortHandle,
    statements: HashMap<String, Statement>,
    /// None if the server is too old to have `plan_cache_mode`.
    plan_cache: Option<PlanCache>,
    /// Whether the database has the encoding SQL_ASCII: its texts are any bytes.
    has_raw_bytes: bool,
}

/// PostgreSQL's `plan_cache_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanCache {
    /// After some executions the server may use one plan for all parameters.
    Auto,
    /// The server plans for the parameters each time.
    Custom,
}

impl PlanCache {
    /// The initial mode; version 12 is the first to have one.
    pub(super) fn of_server(version: Option<&str>) -> Option<PlanCache> {
        let major = version.and_then(|version| version.split(|letter: char| !letter.is_ascii_digit()).next())?;
        major.parse().is_ok_and(|major: u32| major >= 12).then_some(PlanCache::Auto)
    }

    /// A generic plan is good for a single row, which is found by its id, and bad for a list with filters and offset.
    fn for_query(query: &SiteQuery) -> PlanCache {
        if query.max_rows > 1 { PlanCache::Custom } else { PlanCache::Auto }
    }

    fn statement(self) -> &'static str {
        match self {
            PlanCache::Auto => "SET plan_cache_mode = auto",
            PlanCache::Custom => "SET plan_cache_mode = force_custom_plan",
        }
    }
}

impl SiteDriver for PostgresDriver {
    type Connection = PostgresSession;

    const DIALECT: SqlDialect = SqlDialect::Postgres;

    async fn connect(&self) -> Result<PostgresSession, ReadError> {
        let session = match &self.0.encryption {
            Encryption::Verified { authority: Some(ca_file) } => {
                let connector = PgTlsConnector::trusting(ca_file)
                    .map_err(|error| ReadError::LoginRejected(StoreError::Untrusted(error.0).to_string()))?;
                connect(&self.0, connector).await
            }
            Encryption::None | Encryption::Verified { authority: None } => connect(&self.0, NoTls).await,
        };
        let session = session.map_err(connect_error)?;
        session.client.batch_execute(SESSION).await.map_err(read_error)?;
        if session.has_raw_bytes {
            session.client.batch_execute(RAW_BYTES).await.map_err(read_error)?;
        }
        Ok(session)
    }

    async fn introspect(
        &self,
        session: PostgresSession,
        prefix: &str,
    ) -> Result<(Vec<ColumnInfo>, PostgresSession), ReadError> {
        let rows = session.client.query(COLUMNS, &[&prefix, &PROBE_TABLE]).await.map_err(read_error)?;
        let columns: Result<Vec<ColumnInfo>, Error> = rows.iter().map(column_info).collect();
        Ok((columns.map_err(decode_error)?, session))
    }

    async fn query(
        &self,
        mut session: PostgresSession,
        query: &SiteQuery,
        _permit: &QueryPermit,
    ) -> Result<(Vec<SiteRow>, PostgresSession), ReadError> {
        let statement = session.prepare(&query.sql).await?;
        let set_plan_cache = session.plan_cache_change(PlanCache::for_query(query));
        let mut collector = RowCollector::new(query);
        let mut abort = AbortOnDrop(Some(session.driver.clone()));
        let set = async {
            match set_plan_cache {
                Some(sql) => session.client.batch_execute(sql).await,
                None => Ok(()),
            }
        };
        // Both are sent at once, in this order.
        let rows = session.client.query_raw(&statement, query.params.iter().map(param));
        let ((), rows) = try_join(set, rows).await.map_err(read_error)?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(read_error)? {
            collector.push((0..query.columns).map(|column| cell(&row, column)))?;
        }
        abort.0 = None;
        Ok((collector.finish(), session))
    }
}

async fn connect<T: MakeTlsConnect<Socket>>(config: &ConnectConfig, tls: T) -> Result<PostgresSession, Error>
where
    T::Stream: Send + 'static,
{
    let (client, connection) = config.config.connect(tls).await?;
    let plan_cache = PlanCache::of_server(connection.parameter("server_version"));
    let has_raw_bytes = connection.parameter("server_encoding") == Some("SQL_ASCII");
    let driver = tokio::spawn(async move { drop(connection.await) }).abort_handle();
    Ok(PostgresSession { client, driver, statements: HashMap::new(), plan_cache, has_raw_bytes })
}

impl PostgresSession {
    async fn prepare(&mut self, sql: &str) -> Result<Statement, ReadError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(read_error)?;
        if self.statements.len() >= CACHED_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// The statement that sets this mode, unless the session has it.
    fn plan_cache_change(&mut self, wanted: PlanCache) -> Option<&'static str> {
        let current = self.plan_cache.as_mut()?;
        let is_changed = std::mem::replace(current, wanted) != wanted;
        is_changed.then(|| wanted.statement())
    }
}

/// Closes the connection when a query is abandoned: otherwise the driver would read the rest of the answer.
struct AbortOnDrop(Option<AbortHandle>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(driver) = &self.0 {
            driver.abort();
        }
    }
}

fn column_info(row: &Row) -> Result<ColumnInfo, Error> {
    let type_name: String = row.try_get(2)?;
    let has_length = row.try_get::<_, i32>(4)? >= 0;
    let (sql_type, is_unbounded) = match type_name.as_str() {
        "int2" | "int4" | "int8" => (SqlType::Integer, false),
        "bool" => (SqlType::Boolean, false),
        "text" | "varchar" | "bpchar" => (SqlType::Text, !has_length),
        _ => (SqlType::Other, true),
    };
    let column = SiteColumn { sql_type, is_not_null: row.try_get(3)?, is_unbounded, charset: Charset::Utf8 };
    Ok(ColumnInfo { table: row.try_get(0)?, name: row.try_get(1)?, column })
}

fn param(param: &SqlParam) -> &(dyn ToSql + Sync) {
    match param {
        SqlParam::Integer(number) => number,
        SqlParam::Text(text) => text,
        SqlParam::SortKey(key) => key,
    }
}

fn cell(row: &Row, column: usize) -> Result<SiteCell, ReadError> {
    let is_integer = row.columns().get(column).is_some_and(|column| *column.type_() == Type::INT8);
    let cell = if is_integer {
        row.try_get::<_, Option<i64>>(column).map_err(decode_error)?.map(SiteCell::Integer)
    } else {
        row.try_get::<_, Option<LossyText>>(column).map_err(decode_error)?.map(|LossyText(cell)| cell)
    };
    Ok(cell.unwrap_or(SiteCell::Null))
}

/// A database with the encoding SQL_ASCII returns whatever bytes it was given.
struct LossyText(SiteCell);

impl<'a> FromSql<'a> for LossyText {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<LossyText, Box<dyn std::error::Error + Sync + Send>> {
        Ok(LossyText(text_cell(raw.to_vec())))
    }

    fn accepts(sql_type: &Type) -> bool {
        <String as FromSql>::accepts(sql_type)
    }
}

fn decode_error(error: Error) -> ReadError {
    ReadError::Rejected(error.to_string())
}

/// A rejection by the server is final; a server that does not answer may do so later.
fn connect_error(error: Error) -> ReadError {
    let code = error.code().map(|code| code.code().to_owned());
    let is_down = code.as_deref().is_none_or(|code| is_connection_error(code) || code.starts_with("53"));
    let is_login = code.as_deref().is_some_and(|code| code.starts_with("28"));
    let error = StoreError::from_connect(error);
    let StoreError::Unreachable(reason) = &error else {
        return ReadError::LoginRejected(error.to_string());
    };
    if is_down {
        return ReadError::ConnectionLost(reason.clone());
    }
    let advice = if is_login { "Check its user and password" } else { "Check its address" };
    ReadError::LoginRejected(format!("{reason}. {advice}"))
}

fn read_error(error: Error) -> ReadError {
    let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
    let is_lost = error.is_closed() || error.as_db_error().is_none() || is_connection_error(&code);
    let is_transient = ["40", "53", "55"].iter().any(|class| code.starts_with(class));
    let reason = StoreError::Postgres(error).to_string();
    match code.as_str() {
        // Cancelled at its deadline.
        "57014" => ReadError::Unavailable(reason),
        // No such column or table, or a statement that was prepared before they changed.
        "42703" | "42P01" | "0A000" => ReadError::SchemaChanged(reason),
        "22P05" => Fault::new(
            FaultKind::InvalidArgument,
            "A text has a character that the site's database cannot store, so nothing there has it. Leave it out.",
        )
        .into(),
        _ if is_transient => ReadError::Unavailable(reason),
        _ if is_lost => ReadError::ConnectionLost(reason),
        _ => ReadError::Rejected(reason),
    }
}

/// The server was shut down, or the connection was cut.
fn is_connection_error(code: &str) -> bool {
    code.starts_with("08") || code.starts_with("57P")
}
