//! A site on PostgreSQL. Every session is read-only, and one that fails or is late is thrown away.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::archive::{Archive, Cell, Name, Record, Select};
use frontdesk_engine::tool::Future;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, NoTls, Row};

use super::ArchiveSettings;
use super::dialect::Dialect;
use super::error::{ArchiveError, Failure};
use super::pool::{Allowance, Pool};
use super::render::{Bound, Statement, render};
use super::schema::{Column, Described, Holds, Schema};
use crate::StoreError;
use crate::postgres::address::{Address, Dial, Encryption};
use crate::postgres::flight::fly_enclosed;
use crate::postgres::texts::{BEGIN_READ, COMMIT};
use crate::postgres::tls::Connector;

/// The server ends a statement at its deadline; so much later we stop waiting for it to say so.
const GRACE: Duration = Duration::from_millis(500);
const STATEMENTS: usize = 64;
/// So many rows are taken at a time.
const AT_ONCE: i32 = 64;

pub(crate) struct PostgresArchive {
    dial: Dial,
    schema: Schema,
    deadline: Duration,
    pub(super) pool: Pool<Session>,
}

pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<String, tokio_postgres::Statement>,
    turn: Mutex<()>,
}

/// Names and types of all columns that this role may read.
const DESCRIBE: &str = "SELECT c.relname::text, a.attname::text, t.typname::text, a.attnotnull \
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
     WHERE n.nspname = ANY(current_schemas(false)) AND c.relkind IN ('r', 'v', 'm', 'p', 'f') \
     AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT') \
     AND pg_catalog.pg_table_is_visible(c.oid)";

impl PostgresArchive {
    pub(crate) async fn open(address: Address, settings: &ArchiveSettings) -> Result<PostgresArchive, ArchiveError> {
        let milliseconds = u32::try_from(settings.deadline.as_millis()).unwrap_or(u32::MAX).max(1);
        let mut dial = address.with_limit(milliseconds);
        let given = dial.config.get_options().unwrap_or_default().to_owned();
        // Every transaction says so itself as well.
        dial.config.options(format!("{given} -c default_transaction_read_only=on -c standard_conforming_strings=on"));
        let session = connect(&dial).await?;
        let rows = session.client.query(DESCRIBE, &[]).await;
        let rows = rows.map_err(|error| ArchiveError::Unreachable(StoreError::Postgres(error).to_string()))?;
        let described: Result<Vec<Described>, Error> = rows.iter().map(described).collect();
        let described = described.map_err(|error| ArchiveError::Unreachable(error.to_string()))?;
        let prefix = settings.prefix.clone();
        let schema = Schema::of(described, &prefix).map_err(|found| ArchiveError::NoSite { prefix, found })?;
        let pool = Pool::new(settings.connections);
        pool.put_back(session);
        Ok(PostgresArchive { dial, schema, deadline: settings.deadline, pool })
    }

    pub(super) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        render(Dialect::Postgres, &self.schema, select)
    }

    async fn rows(&self, select: &Select) -> Result<Vec<Record>, Fault> {
        let statement = self.statement(select)?;
        let _turn = self.pool.turn().await?;
        let late = || Failure::Unavailable("the site's database took too long".to_owned());
        let work = tokio::time::timeout(self.deadline + GRACE, self.read(&statement, select));
        Ok(work.await.unwrap_or_else(|_| Err(late()))?)
    }

    async fn read(&self, statement: &Statement, select: &Select) -> Result<Vec<Record>, Failure> {
        if let Some(session) = self.pool.take() {
            match self.read_on(session, statement, select).await {
                // The server may have been restarted since.
                Err(Failure::Gone(_)) => self.pool.forget(),
                done => return done,
            }
        }
        let session = connect(&self.dial).await.map_err(|error| Failure::Gone(error.to_string()))?;
        self.read_on(session, statement, select).await
    }

    /// The session comes back only after a whole answer.
    async fn read_on(
        &self,
        mut session: Session,
        statement: &Statement,
        select: &Select,
    ) -> Result<Vec<Record>, Failure> {
        let records = session.rows(statement, select).await?;
        self.pool.put_back(session);
        Ok(records)
    }
}

impl Session {
    async fn rows(&mut self, statement: &Statement, select: &Select) -> Result<Vec<Record>, Failure> {
        let prepared = match self.statements.get(&statement.text) {
            Some(prepared) => prepared.clone(),
            None => {
                let prepared = self.client.prepare(&statement.text).await.map_err(failure)?;
                if self.statements.len() >= STATEMENTS {
                    self.statements.clear();
                }
                self.statements.insert(statement.text.clone(), prepared.clone());
                prepared
            }
        };
        let values: Vec<&(dyn ToSql + Sync)> = statement.values.iter().map(value).collect();
        let taken = Taken { allowance: Allowance(select.bytes), columns: statement.columns, records: Vec::new() };
        match select.limit <= AT_ONCE.unsigned_abs().into() {
            true => self.in_one_flight(&prepared, &values, taken).await,
            false => self.by_pieces(&prepared, &values, taken).await,
        }
    }

    /// So few rows that there is nothing to gain from pieces: the transaction is sent whole, and waited for once.
    async fn in_one_flight(
        &self,
        prepared: &tokio_postgres::Statement,
        values: &[&(dyn ToSql + Sync)],
        mut taken: Taken,
    ) -> Result<Vec<Record>, Failure> {
        let client = &self.client;
        let (open, close) = (client.batch_execute(BEGIN_READ), client.batch_execute(COMMIT));
        let question = client.query(prepared, values);
        let rows = fly_enclosed(&self.turn, open, std::future::ready(()), question, close).await.map_err(failure)?;
        taken.take(&rows)?;
        Ok(taken.records)
    }

    /// A few rows at a time, so that little more of them waits here than an answer may hold.
    async fn by_pieces(
        &mut self,
        prepared: &tokio_postgres::Statement,
        values: &[&(dyn ToSql + Sync)],
        mut taken: Taken,
    ) -> Result<Vec<Record>, Failure> {
        let transaction = self.client.build_transaction().read_only(true).start().await.map_err(failure)?;
        let portal = transaction.bind(prepared, values).await.map_err(failure)?;
        loop {
            let rows = transaction.query_portal(&portal, AT_ONCE).await.map_err(failure)?;
            taken.take(&rows)?;
            if rows.len() < usize::try_from(AT_ONCE).unwrap_or_default() {
                break;
            }
        }
        transaction.commit().await.map_err(failure)?;
        Ok(taken.records)
    }
}

/// What has been read of an answer.
struct Taken {
    allowance: Allowance,
    columns: usize,
    records: Vec<Record>,
}

impl Taken {
    fn take(&mut self, rows: &[Row]) -> Result<(), Failure> {
        for row in rows {
            let cells = (0..self.columns).map(|column| self.allowance.spend(cell(row, column)?));
            self.records.push(cells.collect::<Result<Record, Failure>>()?);
        }
        Ok(())
    }
}

impl Archive for PostgresArchive {
    fn has_table(&self, table: Name) -> bool {
        self.schema.table(table).is_some()
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<Record>, Fault>> {
        Box::pin(self.rows(select))
    }
}

pub(super) async fn connect(dial: &Dial) -> Result<Session, ArchiveError> {
    let client = match &dial.encryption {
        Encryption::Verified { authority: Some(authority) } => {
            let connector = Connector::trusting(authority)
                .map_err(|why| ArchiveError::Unreachable(StoreError::Untrusted(why.0).to_string()))?;
            let connected = dial.config.connect(connector).await;
            let (client, connection) = connected.map_err(unreached)?;
            tokio::spawn(async move { drop(connection.await) });
            client
        }
        Encryption::None | Encryption::Verified { authority: None } => {
            let connected = dial.config.connect(NoTls).await;
            let (client, connection) = connected.map_err(unreached)?;
            tokio::spawn(async move { drop(connection.await) });
            client
        }
    };
    Ok(Session { client, statements: HashMap::new(), turn: Mutex::default() })
}

/// A refusal of the server's own is final; where nobody answers, somebody may later.
fn unreached(error: Error) -> ArchiveError {
    let is_down = error.code().is_none_or(|code| is_about_the_server(code.code()) || code.code().starts_with("53"));
    let error = StoreError::unreachable(error);
    match is_down && matches!(error, StoreError::Unreachable(_)) {
        true => ArchiveError::Down(error.to_string()),
        false => ArchiveError::Unreachable(error.to_string()),
    }
}

fn described(row: &Row) -> Result<Described, Error> {
    let kind: String = row.try_get(2)?;
    let is = Column { holds: holds(&kind), is_filled: row.try_get(3)? };
    Ok(Described { table: row.try_get(0)?, column: row.try_get(1)?, is })
}

fn holds(kind: &str) -> Holds {
    match kind {
        "int2" | "int4" | "int8" => Holds::Whole,
        "bool" => Holds::Truth,
        "text" | "varchar" | "bpchar" => Holds::Text,
        _ => Holds::Other,
    }
}

fn value(bound: &Bound) -> &(dyn ToSql + Sync) {
    match bound {
        Bound::Integer(number) => number,
        Bound::Text(text) => text,
        Bound::Key(key) => key,
    }
}

fn cell(row: &Row, column: usize) -> Result<Cell, Failure> {
    let wrong = |error: Error| Failure::Refused(error.to_string());
    let is_whole = row.columns().get(column).is_some_and(|column| *column.type_() == Type::INT8);
    let cell = if is_whole {
        row.try_get::<_, Option<i64>>(column).map_err(wrong)?.map(Cell::Integer)
    } else {
        row.try_get::<_, Option<String>>(column).map_err(wrong)?.map(Cell::Text)
    };
    Ok(cell.unwrap_or(Cell::Missing))
}

fn failure(error: Error) -> Failure {
    let is_gone =
        error.is_closed() || error.as_db_error().is_none_or(|refusal| is_about_the_server(refusal.code().code()));
    let is_late = error.code().is_some_and(|code| code.code() == "57014");
    let passes = error.code().is_some_and(|code| ["40", "53", "55"].iter().any(|class| code.code().starts_with(class)));
    let why = StoreError::Postgres(error).to_string();
    if is_late || passes {
        Failure::Unavailable(why)
    } else if is_gone {
        Failure::Gone(why)
    } else {
        Failure::Refused(why)
    }
}

/// It was shut down, or the connection was cut.
fn is_about_the_server(code: &str) -> bool {
    code.starts_with("08") || code.starts_with("57P")
}
