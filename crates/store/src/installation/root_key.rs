//! The root key. Whatever is derived from "the master key" elsewhere in this crate is derived from it: it is random, made
//! with the database, and stored wrapped with the master key of the data folder. A new master key therefore wraps one key
//! again, and no other row changes. While the master key is rotated, the old and the new one open the database.

use std::path::Path;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use rusqlite::Connection;

use crate::StoreError;
use crate::postgres::connection::PgConnection;
use crate::postgres::sql_texts::{BEGIN, COMMIT};
use crate::sql::ddl;
use crate::sql::session::{SqlReader, SqlSession, run_ready};
use crate::sqlite::open;
use crate::transfer::DataLocation;

const CREATE_TABLE: &str = include_str!("../migrations/0007_keys.sql");
/// What the key that wraps the root is derived for, and what it is wrapped for.
const PURPOSE: &str = "root key";
/// Of PostgreSQL's advisory locks: nodes that start together make one root.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7206127439811)";
const COUNT: &str = "SELECT count(*) FROM fd_root_key";

/// The root key of a database, which is made if the database is new. A database that was set up before there was one has
/// its first master key as its root.
pub async fn open_root_key(
    location: &DataLocation,
    master: &SealKey,
    random: &dyn Random,
) -> Result<SealKey, StoreError> {
    match location {
        DataLocation::Sqlite(path) => open_in_file(path, master, random).map_err(|error| error.of_file(path)),
        DataLocation::Postgres(address) => {
            let connection = PgConnection::connect(&address.without_statement_timeout()).await?;
            connection.batch_execute(BEGIN).await?;
            connection.batch_execute(LOCK).await?;
            let text = "SELECT 1 WHERE to_regclass('fd_tenant') IS NOT NULL";
            let is_new = SqlReader::query(&connection, text, &[]).await?.is_empty();
            connection.batch_execute(&ddl::for_postgres(CREATE_TABLE)).await?;
            let root = find_or_create(&connection, master, random, is_new.into()).await?;
            connection.batch_execute(COMMIT).await?;
            Ok(root)
        }
    }
}

/// The same for a database that exists; nothing is written.
pub async fn read_root_key(location: &DataLocation, master: &SealKey) -> Result<SealKey, StoreError> {
    match location {
        DataLocation::Sqlite(path) => read_in_file(path, master).map_err(|error| error.of_file(path)),
        DataLocation::Postgres(address) => {
            let connection = PgConnection::connect(&address.with_statement_timeout()).await?;
            let text = "SELECT 1 WHERE to_regclass('fd_root_key') IS NOT NULL";
            let has_table = !SqlReader::query(&connection, text, &[]).await?.is_empty();
            if has_table { find(&connection, master).await } else { Ok(master.clone()) }
        }
    }
}

/// Lets another master key open the database as well. Nothing if it does already.
pub async fn add_master_key(
    location: &DataLocation,
    root: &SealKey,
    new: &SealKey,
    random: &dyn Random,
) -> Result<(), StoreError> {
    match location {
        DataLocation::Sqlite(path) => run_ready(insert(&open::writer(path)?, root, new, random)),
        DataLocation::Postgres(address) => {
            insert(&PgConnection::connect(&address.with_statement_timeout()).await?, root, new, random).await
        }
    }
}

/// From now on only this master key opens the database. Returns how many others did.
pub async fn retire_other_master_keys(location: &DataLocation, master: &SealKey) -> Result<u64, StoreError> {
    match location {
        DataLocation::Sqlite(path) => run_ready(retire(&open::writer(path)?, master)),
        DataLocation::Postgres(address) => {
            retire(&PgConnection::connect(&address.with_statement_timeout()).await?, master).await
        }
    }
}

fn open_in_file(path: &Path, master: &SealKey, random: &dyn Random) -> Result<SealKey, StoreError> {
    let connection = open::writer(path)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let is_new = !has_table(&connection, "fd_tenant")?;
    connection.execute_batch(CREATE_TABLE)?;
    let root = run_ready(find_or_create(&connection, master, random, is_new.into()))?;
    connection.execute_batch("COMMIT")?;
    Ok(root)
}

fn read_in_file(path: &Path, master: &SealKey) -> Result<SealKey, StoreError> {
    let connection = open::reader(path)?;
    if has_table(&connection, "fd_root_key")? { run_ready(find(&connection, master)) } else { Ok(master.clone()) }
}

/// How many master keys open the database.
pub async fn count_master_keys(location: &DataLocation) -> Result<i64, StoreError> {
    let rows = match location {
        DataLocation::Sqlite(path) => run_ready(SqlReader::query(&open::reader(path)?, COUNT, &[]))?,
        DataLocation::Postgres(address) => {
            SqlReader::query(&PgConnection::connect(&address.with_statement_timeout()).await?, COUNT, &[]).await?
        }
    };
    rows.first().map_or(Ok(0), |row| row.integer(0))
}

/// Whether the database has been set up already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatabaseAge {
    New,
    Existing,
}

impl From<bool> for DatabaseAge {
    fn from(is_new: bool) -> DatabaseAge {
        if is_new { DatabaseAge::New } else { DatabaseAge::Existing }
    }
}

async fn find_or_create<S: SqlSession>(
    session: &S,
    master: &SealKey,
    random: &dyn Random,
    age: DatabaseAge,
) -> Result<SealKey, StoreError> {
    let rows = session.query(COUNT, &[]).await?;
    if rows.first().map_or(Ok(0), |row| row.integer(0))? > 0 {
        return find(session, master).await;
    }
    let root = match age {
        DatabaseAge::New => SealKey::random(random),
        DatabaseAge::Existing => master.clone(),
    };
    insert(session, &root, master, random).await?;
    Ok(root)
}

async fn find<S: SqlReader>(session: &S, master: &SealKey) -> Result<SealKey, StoreError> {
    let text = "SELECT sealed_root FROM fd_root_key WHERE master_key = $1";
    let rows = session.query(text, &[id(master).as_slice().into()]).await?;
    let sealed = rows.first().ok_or(StoreError::WrongKey)?.bytes(0)?;
    master.derive(PURPOSE).open(&[PURPOSE], sealed).and_then(SealKey::from_vec).ok_or(StoreError::WrongKey)
}

async fn insert<S: SqlSession>(
    session: &S,
    root: &SealKey,
    master: &SealKey,
    random: &dyn Random,
) -> Result<(), StoreError> {
    let sealed = master.derive(PURPOSE).seal(random, &[PURPOSE], root.expose()).ok_or(StoreError::WrongKey)?;
    let text = "INSERT INTO fd_root_key (master_key, sealed_root) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    session.execute(text, &[id(master).as_slice().into(), sealed.as_slice().into()]).await?;
    Ok(())
}

async fn retire<S: SqlSession>(session: &S, master: &SealKey) -> Result<u64, StoreError> {
    // It must open the database itself, or nothing would.
    find(session, master).await?;
    session.execute("DELETE FROM fd_root_key WHERE master_key <> $1", &[id(master).as_slice().into()]).await
}

fn has_table(connection: &Connection, name: &str) -> Result<bool, StoreError> {
    let text = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let count: i64 = connection.query_row(text, [name], |row| row.get(0))?;
    Ok(count > 0)
}

fn id(master: &SealKey) -> [u8; 32] {
    master.derive("id of the master key").digest(&[b"frontdesk"])
}
