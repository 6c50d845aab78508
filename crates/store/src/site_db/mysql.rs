//! A site on MariaDB or MySQL. Sessions are read-only.

use std::future::Future as _;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use frontdesk_engine::ports::site_db::{SiteCell, SiteRow};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, OptsBuilder, Params, ServerError, SslOpts, Value};

use super::address::invalid;
use super::dialect::SqlDialect;
use super::error::{ReadError, SiteDbError};
use super::pool::QueryPermit;
use super::reader::{CONNECT_TIMEOUT, SiteDriver};
use super::render::{SiteQuery, SqlParam};
use super::rows::{RowCollector, text_cell};
use super::schema::{Charset, ColumnInfo, PROBE_TABLE, SiteColumn, SqlType};

const CACHED_STATEMENTS: usize = 64;

/// The columns that this user may read: those under the prefix, and those of tables by which a site is recognized.
const COLUMNS: &str = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLLATION_NAME, CHARACTER_SET_NAME \
                       FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() \
                       AND (LEFT(TABLE_NAME, CHAR_LENGTH(?)) = ? OR TABLE_NAME LIKE ?)";

type ColumnRow = (String, String, String, String, Option<String>, Option<String>);

pub(super) struct MysqlDriver {
    options: Opts,
    deadline: Duration,
    /// How the site compares its texts; texts that are made by casts must compare in the same way.
    collation: Mutex<Option<String>>,
}

impl MysqlDriver {
    pub(super) fn new(url: &str, ca_file: Option<&Path>, deadline: Duration) -> Result<MysqlDriver, SiteDbError> {
        Ok(MysqlDriver { options: options(url, ca_file)?, deadline, collation: Mutex::default() })
    }
}

impl SiteDriver for MysqlDriver {
    type Connection = MysqlSession;

    const DIALECT: SqlDialect = SqlDialect::Mysql;

    async fn connect(&self) -> Result<MysqlSession, ReadError> {
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, Conn::new(self.options.clone())).await;
        let connected = connecting.unwrap_or_else(|_| Err(DriverError::ConnectionClosed.into())).map_err(read_error)?;
        let mut session = MysqlSession(Some(connected));
        let version: Option<String> =
            session.connection()?.query_first("SELECT VERSION()").await.map_err(read_error)?;
        // Each statement is a transaction of its own, and thereby read-only.
        session.set("SET SESSION TRANSACTION READ ONLY").await?;
        // The regular expressions in the SQL contain backslashes.
        session.set("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'").await?;
        let milliseconds = self.deadline.as_millis().max(1);
        session
            .set(&match ServerFlavor::parse(&version.unwrap_or_default())? {
                ServerFlavor::MariaDb => {
                    format!("SET SESSION max_statement_time = {}.{:03}", milliseconds / 1000, milliseconds % 1000)
                }
                ServerFlavor::Mysql => format!("SET SESSION max_execution_time = {milliseconds}"),
            })
            .await?;
        let collation = self.collation.lock().unwrap_or_else(PoisonError::into_inner).clone();
        session.set_collation(collation.as_deref()).await?;
        Ok(session)
    }

    async fn introspect(
        &self,
        mut session: MysqlSession,
        prefix: &str,
    ) -> Result<(Vec<ColumnInfo>, MysqlSession), ReadError> {
        // This comparison may ignore case; `SiteSchema` does not.
        let params = (prefix, prefix, format!("%{PROBE_TABLE}"));
        let rows: Vec<ColumnRow> = session.connection()?.exec(COLUMNS, params).await.map_err(read_error)?;
        let probe = rows.iter().find(|(table, column, ..)| {
            table.strip_prefix(prefix).is_some_and(|table| table == PROBE_TABLE) && column == "pagetitle"
        });
        let collation = probe.and_then(|(.., collation, _)| collation.clone());
        let is_identifier = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let collation = collation.filter(|name| name.starts_with("utf8mb4_") && is_identifier(name));
        session.set_collation(collation.as_deref()).await?;
        *self.collation.lock().unwrap_or_else(PoisonError::into_inner) = collation;
        Ok((rows.into_iter().map(column_info).collect(), session))
    }

    async fn query(
        &self,
        mut session: MysqlSession,
        query: &SiteQuery,
        _permit: &QueryPermit,
    ) -> Result<(Vec<SiteRow>, MysqlSession), ReadError> {
        let params = Params::Positional(query.params.iter().map(param).collect());
        let mut rows = session.connection()?.exec_iter(query.sql.as_str(), params).await.map_err(read_error)?;
        let mut collector = RowCollector::new(query);
        while let Some(row) = rows.next().await.map_err(read_error)? {
            collector.push(row.unwrap_raw().into_iter().map(|value| cell(value.unwrap_or(Value::NULL))))?;
        }
        drop(rows);
        Ok((collector.finish(), session))
    }
}

fn options(url: &str, ca_file: Option<&Path>) -> Result<Opts, SiteDbError> {
    let Ok(options) = Opts::from_url(url) else {
        return invalid("write it as mysql://user:password@host:3306/database, with % escapes in user and password");
    };
    if options.db_name().is_none_or(str::is_empty) {
        return invalid("it names no database. Write it as mysql://user:password@host:3306/database");
    }
    let host = options.ip_or_hostname();
    let is_loopback = host.trim_matches(['[', ']']).parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let is_local = options.socket().is_some() || is_loopback || host == "localhost";
    let tls = match ca_file {
        // This authority only, whatever the address says.
        Some(ca_file) => {
            Some(SslOpts::default().with_root_certs(vec![ca_file.to_owned().into()]).with_disable_built_in_roots(true))
        }
        None if is_local && options.ssl_opts().is_none() => None,
        None => {
            return invalid(
                "a server on another machine is read over TLS only. Name the PEM file of its certificate authority as \
                 `database_ca`",
            );
        }
    };
    // The driver would otherwise switch to the socket that the server names.
    let options = OptsBuilder::from_opts(options).prefer_socket(false).ssl_opts(tls);
    Ok(options.stmt_cache_size(CACHED_STATEMENTS).into())
}

/// A connection that closes its socket when it is dropped. The driver itself would first read the rest of an answer
/// that is too large.
pub(super) struct MysqlSession(Option<Conn>);

impl MysqlSession {
    pub(super) fn connection(&mut self) -> Result<&mut Conn, ReadError> {
        self.0.as_mut().ok_or_else(|| ReadError::ConnectionLost("the connection is closed".to_owned()))
    }

    async fn set(&mut self, sql: &str) -> Result<(), ReadError> {
        self.connection()?.query_drop(sql).await.map_err(read_error)
    }

    async fn set_collation(&mut self, collation: Option<&str>) -> Result<(), ReadError> {
        match collation {
            Some(collation) => self.set(&format!("SET NAMES utf8mb4 COLLATE {collation}")).await,
            None => Ok(()),
        }
    }
}

impl Drop for MysqlSession {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            // The first poll sends the quit message unless rows are left to read; the drop closes the socket.
            let mut disconnecting = std::pin::pin!(connection.disconnect());
            let _ = disconnecting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerFlavor {
    MariaDb,
    Mysql,
}

impl ServerFlavor {
    /// Rejects servers that are too old for the SQL sent: MariaDB has the statement deadline since 10.1.1, MySQL has
    /// REGEXP_SUBSTR since 8.0.4.
    pub(super) fn parse(version: &str) -> Result<ServerFlavor, ReadError> {
        // Some MariaDB servers put 5.5.5 in front for old clients.
        let numbers = version.strip_prefix("5.5.5-").unwrap_or(version);
        let (flavor, name, oldest) = if version.contains("MariaDB") {
            (ServerFlavor::MariaDb, "MariaDB", [10, 1, 1])
        } else {
            (ServerFlavor::Mysql, "MySQL", [8, 0, 4])
        };
        let mut numbers = numbers.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
        let found = [(); 3].map(|()| numbers.next().unwrap_or(0));
        if found >= oldest {
            return Ok(flavor);
        }
        let [major, minor, patch] = found;
        Err(ReadError::Rejected(format!(
            "its server is {name} {major}.{minor}.{patch}, which is too old. At least MariaDB 10.1.1 or MySQL 8.0.4 is \
             required"
        )))
    }
}

fn column_info((table, name, data_type, nullable, _, charset): ColumnRow) -> ColumnInfo {
    let (sql_type, is_unbounded) = sql_type(&data_type);
    let charset = match charset.as_deref() {
        Some("utf8mb4") | None => Charset::Utf8,
        Some(_) => Charset::Legacy,
    };
    ColumnInfo { table, name, column: SiteColumn { sql_type, is_not_null: nullable == "NO", is_unbounded, charset } }
}

/// The type of a column, and whether its values may be very long.
fn sql_type(data_type: &str) -> (SqlType, bool) {
    match data_type {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" => (SqlType::Integer, false),
        "char" | "varchar" | "tinytext" | "text" | "enum" | "set" => (SqlType::Text, false),
        "mediumtext" | "longtext" => (SqlType::Text, true),
        "mediumblob" | "longblob" | "json" | "geometry" => (SqlType::Other, true),
        _ => (SqlType::Other, false),
    }
}

fn param(param: &SqlParam) -> Value {
    match param {
        SqlParam::Integer(number) => Value::Int(*number),
        SqlParam::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        SqlParam::SortKey(key) => Value::Bytes(key.clone()),
    }
}

fn cell(value: Value) -> Result<SiteCell, ReadError> {
    Ok(match value {
        Value::NULL => SiteCell::Null,
        Value::Int(number) => SiteCell::Integer(number),
        Value::UInt(number) => SiteCell::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
        Value::Bytes(bytes) => text_cell(bytes),
        Value::Float(_) | Value::Double(_) | Value::Date(..) | Value::Time(..) => {
            return Err(ReadError::Rejected("the site's database returned a value of an unexpected type".to_owned()));
        }
    })
}

fn read_error(error: Error) -> ReadError {
    match &error {
        Error::Server(error) => server_error(error),
        // A server with a wrong certificate has it on the next connection too.
        Error::Io(IoError::Tls(_)) => ReadError::Rejected(error.to_string()),
        Error::Io(IoError::Io(cause)) if cause.kind() == ErrorKind::InvalidData => {
            ReadError::Rejected(error.to_string())
        }
        Error::Io(IoError::Io(_)) | Error::Driver(DriverError::ConnectionClosed) => {
            ReadError::ConnectionLost(error.to_string())
        }
        Error::Driver(_) | Error::Other(_) | Error::Url(_) => ReadError::Rejected(error.to_string()),
    }
}

/// Messages of the server may quote values, so only those about connections and privileges are passed on.
fn server_error(error: &ServerError) -> ReadError {
    let code = error.code;
    let rejected = |advice: &str| ReadError::Rejected(format!("{} (error {code}). {advice}", error.message));
    match code {
        // Too many connections, shutting down, killed.
        1040 | 1053 | 1203 | 1226 | 1317 | 1927 | 4031 => ReadError::ConnectionLost(format!("error {code}")),
        // Interrupted at its deadline, or while it waits for a lock.
        1205 | 1213 | 1969 | 3024 => ReadError::Unavailable(format!("it took too long (error {code})")),
        // No such column or table; a view with changed tables; a statement that was prepared before a change.
        1054 | 1146 | 1356 | 1615 => ReadError::SchemaChanged(format!("error {code}")),
        1044 | 1045 | 1698 => rejected("Check its user and password"),
        1049 => rejected("Check its address"),
        1130 => rejected("Allow this user to connect from here"),
        1142 | 1143 => rejected("Allow this user to read the site's tables"),
        _ => ReadError::Rejected(format!("the server returned error {code}, state {}", error.state)),
    }
}
