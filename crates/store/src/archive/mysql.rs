//! A site on MariaDB or MySQL. Every session is read-only, and one that fails or is late is thrown away.

use std::future::Future as _;
use std::io::ErrorKind;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Name, Select, SiteCell, SiteDb, SiteRow};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, Params, Value};

use super::ArchiveSettings;
use super::dialect::Dialect;
use super::error::{ArchiveError, Failure};
use super::pool::{Allowance, Pool};
use super::prepared::Prepared;
use super::render::{Bound, Statement};
use super::schema::{Column, Described, Found, Holds, LANDMARK, Letters, Schema};
use super::texts;

/// The server ends a statement at its deadline; so much later we stop waiting for it to say so.
const GRACE: Duration = Duration::from_millis(500);
const CONNECT: Duration = Duration::from_secs(3);

pub(crate) struct MysqlArchive {
    options: Opts,
    prefix: String,
    found: Found,
    deadline: Duration,
    /// How the site compares its texts.
    collation: Option<String>,
    pub(super) pool: Pool<Held>,
}

/// Names and types of the columns that this user may read: those under the prefix, and those that a site is known by.
const DESCRIBE: &str = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLLATION_NAME, CHARACTER_SET_NAME \
                        FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() \
                        AND (LEFT(TABLE_NAME, CHAR_LENGTH(?)) = ? OR TABLE_NAME LIKE ?)";

type Line = (String, String, String, String, Option<String>, Option<String>);

impl MysqlArchive {
    pub(crate) async fn open(options: Opts, settings: &ArchiveSettings) -> Result<MysqlArchive, ArchiveError> {
        let (prefix, deadline) = (settings.prefix.clone(), settings.deadline);
        let lines = look(&options, &prefix, deadline).await?;
        let landmark = format!("{prefix}{LANDMARK}");
        // Texts that are made by casts are compared as the site's own are.
        let collation = lines
            .iter()
            .find(|(table, column, ..)| *table == landmark && column == "pagetitle")
            .and_then(|(.., collation, _)| collation.clone())
            .filter(|collation| collation.starts_with("utf8mb4_") && is_word(collation));
        let found = Found::new(Schema::of(lines.into_iter().map(described).collect(), &prefix)?);
        Ok(MysqlArchive { options, prefix, found, deadline, collation, pool: Pool::new(settings.connections) })
    }

    pub(super) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        texts::statement(Dialect::Mysql, &self.found.now(), select, select.bytes.saturating_add(1))
    }

    async fn rows(&self, select: &Select) -> Result<Vec<SiteRow>, Fault> {
        let _turn = self.pool.turn().await?;
        match self.ask(select).await {
            Err(Failure::Changed(_)) => {
                self.pool.forget();
                let lines = look(&self.options, &self.prefix, self.deadline).await.map_err(Failure::from)?;
                let schema = Schema::of(lines.into_iter().map(described).collect(), &self.prefix);
                self.found.replace(schema.map_err(Failure::from)?);
                Ok(self.ask(select).await?)
            }
            done => Ok(done?),
        }
    }

    async fn ask(&self, select: &Select) -> Result<Vec<SiteRow>, Failure> {
        let statement = self.statement(select)?;
        let late = || Failure::Unavailable("the site's database took too long".to_owned());
        let work = tokio::time::timeout(self.deadline + GRACE, self.read(&statement, select.bytes));
        work.await.unwrap_or_else(|_| Err(late()))
    }

    async fn read(&self, statement: &Statement, bytes: usize) -> Result<Vec<SiteRow>, Failure> {
        if let Some(connection) = self.pool.take() {
            match self.read_on(connection, statement, bytes).await {
                // The server may have been restarted since.
                Err(Failure::Gone(_)) => self.pool.forget(),
                done => return done,
            }
        }
        let connection = connect(&self.options, self.deadline, self.collation.as_deref()).await?;
        self.read_on(connection, statement, bytes).await
    }

    /// The connection comes back only after a whole answer.
    async fn read_on(&self, mut held: Held, statement: &Statement, bytes: usize) -> Result<Vec<SiteRow>, Failure> {
        let values = statement.values.iter().map(value).collect();
        let prepared = held.prepared(&statement.text).await?;
        let connection = held.connection()?;
        let mut rows = connection.exec_iter(prepared, Params::Positional(values)).await.map_err(failure)?;
        let mut allowance = Allowance(bytes);
        let mut records = Vec::new();
        while let Some(row) = rows.next().await.map_err(failure)? {
            let mut record = Vec::with_capacity(statement.columns);
            for value in row.unwrap_raw().into_iter().take(statement.columns) {
                record.push(allowance.spend(cell(value.unwrap_or(Value::NULL))?)?);
            }
            records.push(record);
        }
        drop(rows);
        self.pool.put_back(held);
        Ok(records)
    }
}

impl SiteDb for MysqlArchive {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        Box::pin(std::future::ready(Ok(self.found.now().table(table).is_some())))
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(self.rows(select))
    }
}

/// A connection that is closed at once when it is thrown away. Left to itself it would first read to its end what was
/// too much to read. It keeps its statements, because the driver would read the text of each anew every time.
pub(super) struct Held {
    connection: Option<Conn>,
    statements: Prepared<mysql_async::Statement>,
}

impl Held {
    pub(super) fn connection(&mut self) -> Result<&mut Conn, Failure> {
        self.connection.as_mut().ok_or_else(|| Failure::Gone("the connection is closed".to_owned()))
    }

    async fn prepared(&mut self, text: &Arc<str>) -> Result<mysql_async::Statement, Failure> {
        if let Some(prepared) = self.statements.find(text) {
            return Ok(prepared);
        }
        for old in self.statements.outgrown() {
            self.connection()?.close(old).await.map_err(failure)?;
        }
        let prepared = self.connection()?.prep(text.as_ref()).await.map_err(failure)?;
        self.statements.keep(text, prepared.clone());
        Ok(prepared)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Asked once, it has said goodbye if nothing is left to read; dropped after that, its socket is closed.
            let mut goodbye = std::pin::pin!(connection.disconnect());
            let _ = goodbye.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

async fn look(options: &Opts, prefix: &str, deadline: Duration) -> Result<Vec<Line>, ArchiveError> {
    let looked = async {
        let mut held = connect(options, deadline, None).await?;
        // Texts of that schema may be compared without regard to case; `Schema` is stricter.
        let values = (prefix, prefix, format!("%{LANDMARK}"));
        let lines: Vec<Line> = held.connection()?.exec(DESCRIBE, values).await.map_err(failure)?;
        Ok(lines)
    };
    let looked = tokio::time::timeout(CONNECT + deadline + GRACE, looked).await;
    looked.unwrap_or_else(|_| Err(Failure::Unavailable("it does not answer".to_owned()))).map_err(Failure::at_opening)
}

fn described((table, column, data_type, nullable, _, letters): Line) -> Described {
    let (holds, is_wide) = holds(&data_type);
    let letters = match letters.as_deref() {
        Some("utf8mb4") | None => Letters::All,
        Some(_) => Letters::Some,
    };
    Described { table, column, is: Column { holds, is_filled: nullable == "NO", is_wide, letters } }
}

pub(super) async fn connect(options: &Opts, deadline: Duration, collation: Option<&str>) -> Result<Held, Failure> {
    let connecting = tokio::time::timeout(CONNECT, Conn::new(options.clone()));
    let connected = connecting.await.unwrap_or_else(|_| Err(DriverError::ConnectionClosed.into())).map_err(failure)?;
    let mut held = Held { connection: Some(connected), statements: Prepared::default() };
    let connection = held.connection()?;
    let version: Option<String> = connection.query_first("SELECT VERSION()").await.map_err(failure)?;
    let server = Server::of(&version.unwrap_or_default())?;
    // Every statement is a transaction of its own, and this makes each of them read-only.
    connection.query_drop("SET SESSION TRANSACTION READ ONLY").await.map_err(failure)?;
    // Patterns are written with backslashes that mean themselves.
    connection.query_drop("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'").await.map_err(failure)?;
    let milliseconds = deadline.as_millis().max(1);
    let limit = match server {
        Server::MariaDb => {
            format!("SET SESSION max_statement_time = {}.{:03}", milliseconds / 1000, milliseconds % 1000)
        }
        Server::Mysql => format!("SET SESSION max_execution_time = {milliseconds}"),
    };
    connection.query_drop(limit).await.map_err(failure)?;
    if let Some(collation) = collation {
        connection.query_drop(format!("SET NAMES utf8mb4 COLLATE {collation}")).await.map_err(failure)?;
    }
    Ok(held)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    MariaDb,
    Mysql,
}

impl Server {
    /// Which of the two it is. One that lacks what the statements need is refused before the first of them fails:
    /// MariaDB has the deadline since 10.1.1, MySQL has REGEXP_SUBSTR since 8.0.4.
    pub(super) fn of(version: &str) -> Result<Server, Failure> {
        // Some call themselves 5.5.5 first, for the sake of old clients.
        let said = version.strip_prefix("5.5.5-").unwrap_or(version);
        let (server, name, oldest) = match version.contains("MariaDB") {
            true => (Server::MariaDb, "MariaDB", [10, 1, 1]),
            false => (Server::Mysql, "MySQL", [8, 0, 4]),
        };
        let mut numbers = said.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
        let found = [(); 3].map(|()| numbers.next().unwrap_or(0));
        match found >= oldest {
            true => Ok(server),
            false => {
                let [major, minor, patch] = found;
                Err(Failure::Refused(format!(
                    "its server is {name} {major}.{minor}.{patch}, which is too old. MariaDB 10.1.1 or MySQL 8.0.4 is the \
                     oldest that can be read"
                )))
            }
        }
    }
}

fn value(bound: &Bound) -> Value {
    match bound {
        Bound::Integer(number) => Value::Int(*number),
        Bound::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        Bound::Key(key) => Value::Bytes(key.clone()),
    }
}

fn cell(value: Value) -> Result<SiteCell, Failure> {
    Ok(match value {
        Value::NULL => SiteCell::Null,
        Value::Int(number) => SiteCell::Integer(number),
        Value::UInt(number) => SiteCell::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
        Value::Bytes(bytes) => SiteCell::Text(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Value::Float(_) | Value::Double(_) | Value::Date(..) | Value::Time(..) => {
            return Err(Failure::Refused("the site's database answered with a value of another type".to_owned()));
        }
    })
}

/// What a column holds, and whether that may be long.
fn holds(data_type: &str) -> (Holds, bool) {
    match data_type {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" => (Holds::Whole, false),
        "char" | "varchar" | "tinytext" | "text" | "enum" | "set" => (Holds::Text, false),
        "mediumtext" | "longtext" => (Holds::Text, true),
        "mediumblob" | "longblob" | "json" | "geometry" => (Holds::Other, true),
        _ => (Holds::Other, false),
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Texts of the server may quote values, so only those about connections and privileges are told.
fn failure(error: Error) -> Failure {
    match &error {
        Error::Server(refusal) => match refusal.code {
            // Too many connections, shutting down, killed.
            1040 | 1053 | 1203 | 1226 | 1317 | 1927 | 4031 => Failure::Gone(format!("error {}", refusal.code)),
            // Interrupted at its deadline, or at the wait for a lock.
            1205 | 1213 | 1969 | 3024 => Failure::Unavailable(format!("it took too long (error {})", refusal.code)),
            // No such column or table; a view whose tables have changed; a statement that was prepared before they did.
            1054 | 1146 | 1356 | 1615 => Failure::Changed(format!("error {}", refusal.code)),
            code @ (1044 | 1045 | 1049 | 1130 | 1142 | 1143 | 1698) => {
                let next = match code {
                    1044 | 1045 | 1698 => "Check its user and password",
                    1130 => "Let this user connect from here",
                    1142 | 1143 => "Let this user read the site's tables",
                    _ => "Check its address",
                };
                Failure::Refused(format!("{} (error {code}). {next}", refusal.message))
            }
            code => Failure::Refused(format!("the server says error {code}, state {}", refusal.state)),
        },
        // Whoever cannot prove to be the server will not prove it on another connection.
        Error::Io(IoError::Tls(_)) => Failure::Refused(error.to_string()),
        Error::Io(IoError::Io(why)) if why.kind() == ErrorKind::InvalidData => Failure::Refused(error.to_string()),
        Error::Io(IoError::Io(_)) | Error::Driver(DriverError::ConnectionClosed) => Failure::Gone(error.to_string()),
        Error::Driver(_) | Error::Other(_) | Error::Url(_) => Failure::Refused(error.to_string()),
    }
}
