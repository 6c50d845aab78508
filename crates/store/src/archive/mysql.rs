//! A site on MariaDB or MySQL. Every session is read-only, and one that fails or is late is thrown away.

use std::io::ErrorKind;
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::archive::{Archive, Cell, Name, Record, Select};
use frontdesk_engine::tool::Future;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, Params, Value};

use super::ArchiveSettings;
use super::dialect::Dialect;
use super::error::{ArchiveError, Failure};
use super::pool::{Allowance, Pool};
use super::render::{Bound, Statement, render};
use super::schema::{Column, Described, Holds, Schema};

/// The server ends a statement at its deadline; so much later we stop waiting for it to say so.
const GRACE: Duration = Duration::from_millis(500);
const CONNECT: Duration = Duration::from_secs(3);

pub(crate) struct MysqlArchive {
    options: Opts,
    schema: Schema,
    deadline: Duration,
    /// How the site compares its texts.
    collation: Option<String>,
    pub(super) pool: Pool<Conn>,
}

/// Names and types of all columns that this user may read.
const DESCRIBE: &str = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLLATION_NAME \
                        FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()";

impl MysqlArchive {
    pub(crate) async fn open(options: Opts, settings: &ArchiveSettings) -> Result<MysqlArchive, ArchiveError> {
        let unreachable = |failure: Failure| match failure {
            Failure::Gone(why) | Failure::Unavailable(why) => ArchiveError::Down(why),
            Failure::Refused(why) => ArchiveError::Unreachable(why),
            Failure::TooLarge => ArchiveError::Unreachable("too large".to_owned()),
        };
        let looked = async {
            let mut connection = connect(&options, settings.deadline, None).await?;
            type Line = (String, String, String, String, Option<String>);
            let lines: Vec<Line> = connection.query(DESCRIBE).await.map_err(failure)?;
            Ok(lines)
        };
        let lines = tokio::time::timeout(CONNECT + settings.deadline + GRACE, looked)
            .await
            .unwrap_or_else(|_| Err(Failure::Unavailable("it does not answer".to_owned())))
            .map_err(unreachable)?;
        let landmark = format!("{}site_content", settings.prefix);
        // Texts that are made by casts are compared as the site's own are.
        let collation = lines
            .iter()
            .find(|(table, column, ..)| *table == landmark && column == "pagetitle")
            .and_then(|(.., collation)| collation.clone())
            .filter(|collation| collation.starts_with("utf8mb4_") && is_word(collation));
        let described = lines.into_iter().map(|(table, column, holds_what, nullable, _)| Described {
            table,
            column,
            is: Column { holds: holds(&holds_what), is_filled: nullable == "NO" },
        });
        let prefix = settings.prefix.clone();
        let schema =
            Schema::of(described.collect(), &prefix).map_err(|found| ArchiveError::NoSite { prefix, found })?;
        let pool = Pool::new(settings.connections);
        Ok(MysqlArchive { options, schema, deadline: settings.deadline, collation, pool })
    }

    pub(super) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        render(Dialect::Mysql, &self.schema, select)
    }

    async fn rows(&self, select: &Select) -> Result<Vec<Record>, Fault> {
        let statement = self.statement(select)?;
        let _turn = self.pool.turn().await?;
        let late = || Failure::Unavailable("the site's database took too long".to_owned());
        let work = tokio::time::timeout(self.deadline + GRACE, self.read(&statement, select.bytes));
        Ok(work.await.unwrap_or_else(|_| Err(late()))?)
    }

    async fn read(&self, statement: &Statement, bytes: usize) -> Result<Vec<Record>, Failure> {
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
    async fn read_on(&self, mut connection: Conn, statement: &Statement, bytes: usize) -> Result<Vec<Record>, Failure> {
        let values = statement.values.iter().map(value).collect();
        let mut rows = connection.exec_iter(&statement.text, Params::Positional(values)).await.map_err(failure)?;
        let mut allowance = Allowance(bytes);
        let mut records = Vec::new();
        while let Some(row) = rows.next().await.map_err(failure)? {
            let values = row.unwrap_raw().into_iter().map(|value| value.unwrap_or(Value::NULL)).take(statement.columns);
            records.push(values.map(|value| allowance.spend(cell(value)?)).collect::<Result<Record, Failure>>()?);
        }
        drop(rows);
        self.pool.put_back(connection);
        Ok(records)
    }
}

impl Archive for MysqlArchive {
    fn has_table(&self, table: Name) -> bool {
        self.schema.table(table).is_some()
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<Record>, Fault>> {
        Box::pin(self.rows(select))
    }
}

pub(super) async fn connect(options: &Opts, deadline: Duration, collation: Option<&str>) -> Result<Conn, Failure> {
    let connecting = tokio::time::timeout(CONNECT, Conn::new(options.clone()));
    let mut connection =
        connecting.await.unwrap_or_else(|_| Err(DriverError::ConnectionClosed.into())).map_err(failure)?;
    // Every statement is a transaction of its own, and this makes each of them read-only.
    connection.query_drop("SET SESSION TRANSACTION READ ONLY").await.map_err(failure)?;
    // Patterns are written with backslashes that mean themselves.
    connection.query_drop("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'").await.map_err(failure)?;
    let version: Option<String> = connection.query_first("SELECT VERSION()").await.map_err(failure)?;
    let milliseconds = deadline.as_millis().max(1);
    let limit = match version.is_some_and(|version| version.contains("MariaDB")) {
        true => format!("SET SESSION max_statement_time = {}.{:03}", milliseconds / 1000, milliseconds % 1000),
        false => format!("SET SESSION max_execution_time = {milliseconds}"),
    };
    connection.query_drop(limit).await.map_err(failure)?;
    if let Some(collation) = collation {
        connection.query_drop(format!("SET NAMES utf8mb4 COLLATE {collation}")).await.map_err(failure)?;
    }
    Ok(connection)
}

fn value(bound: &Bound) -> Value {
    match bound {
        Bound::Integer(number) => Value::Int(*number),
        Bound::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        Bound::Key(key) => Value::Bytes(key.clone()),
    }
}

fn cell(value: Value) -> Result<Cell, Failure> {
    Ok(match value {
        Value::NULL => Cell::Missing,
        Value::Int(number) => Cell::Integer(number),
        Value::UInt(number) => Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
        Value::Bytes(bytes) => Cell::Text(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Value::Float(_) | Value::Double(_) | Value::Date(..) | Value::Time(..) => {
            return Err(Failure::Refused("the site's database answered with a value of another type".to_owned()));
        }
    })
}

fn holds(data_type: &str) -> Holds {
    match data_type {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" => Holds::Whole,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set" => Holds::Text,
        _ => Holds::Other,
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
            1044 | 1045 | 1049 | 1130 | 1142 | 1143 | 1698 => {
                Failure::Refused(format!("{} (error {})", refusal.message, refusal.code))
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
