//! The schema, which is only ever migrated forward. Nodes that start together take turns by locking one row.

use std::cmp::Ordering;
use std::collections::HashSet;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::seal::SealKey;
use tokio_postgres::error::SqlState;

use super::connection::PgConnection;
use super::rls::{self, RlsPolicy};
use super::sql_texts::{BEGIN, COMMIT, FIXED_COLUMNS};
use crate::StoreError;
use crate::error::DatabaseKind;
use crate::installation::{self, SetupKeys};
use crate::keyring::Keyring;
use crate::reindex::{self, IndexWork, TableState};
use crate::sql::ddl;
use crate::sql::registry_rows::{SCHEMA_WITH_MACS, UnauthenticatedRows, authenticate_all, require_allowed};

const CREATE_VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS fd_schema (one SMALLINT PRIMARY KEY CHECK (one = 1), \
                     version BIGINT NOT NULL, key_check BYTEA); \
                     INSERT INTO fd_schema (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING";

/// The first schema with audit chains of administration.
const SCHEMA_WITH_ADMINISTRATION: i64 = 3;

/// Returns what has to be indexed again afterwards.
pub(crate) async fn migrate(
    connection: &PgConnection,
    tables: &[&'static TableSpec],
    keys: &SetupKeys,
    keyring: &Keyring,
    rows: UnauthenticatedRows,
) -> Result<Vec<IndexWork>, StoreError> {
    create_version_row(connection).await?;
    connection.batch_execute(BEGIN).await?;
    match apply_migrations(connection, tables, keys, keyring, rows).await {
        Ok(work) => {
            connection.batch_execute(COMMIT).await?;
            Ok(work)
        }
        Err(error) => {
            // If this fails, closing the connection rolls back as well.
            let _ = connection.batch_execute("ROLLBACK").await;
            Err(error)
        }
    }
}

/// Checks that this version has set up the database with this master key. Changes nothing.
pub(crate) async fn check(connection: &PgConnection, master: &SealKey) -> Result<(), StoreError> {
    if connection.query("SELECT 1 WHERE to_regclass('fd_schema') IS NOT NULL", &[]).await?.is_empty() {
        return Err(StoreError::NotInitialized);
    }
    let rows = connection.query("SELECT version, key_check FROM fd_schema", &[]).await?;
    let row = rows.first().ok_or(StoreError::NotInitialized)?;
    let (found, known) = (row.try_get::<_, i64>(0)?, ddl::MIGRATIONS.len() as i64);
    match (found.cmp(&known), row.try_get::<_, Option<Vec<u8>>>(1)?) {
        (Ordering::Greater, _) => Err(StoreError::NewerSchema { database: DatabaseKind::Postgres, found, known }),
        (Ordering::Less, _) | (Ordering::Equal, None) => Err(StoreError::NotInitialized),
        (Ordering::Equal, Some(stored)) if stored == key_check(master) => Ok(()),
        (Ordering::Equal, Some(_)) => Err(StoreError::WrongKey),
    }
}

/// Fails if a table of ours has a trigger or a rule, or is a view: it would change what statements do, and no MAC of a row
/// would notice.
pub(crate) async fn check_objects(connection: &PgConnection, tables: &[&'static TableSpec]) -> Result<(), StoreError> {
    let text = "SELECT 'trigger ' || t.tgname, CAST(c.relname AS TEXT) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
                WHERE NOT t.tgisinternal AND c.relnamespace = to_regnamespace(current_schema()) \
                UNION ALL SELECT 'rule ' || r.rulename, CAST(c.relname AS TEXT) FROM pg_rewrite r JOIN pg_class c \
                ON c.oid = r.ev_class WHERE c.relnamespace = to_regnamespace(current_schema()) \
                UNION ALL SELECT 'table ' || relname, CAST(relname AS TEXT) FROM pg_class WHERE relkind IN ('v', 'm', 'f') \
                AND relnamespace = to_regnamespace(current_schema()) ORDER BY 1";
    for row in connection.query(text, &[]).await? {
        let (what, table): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let is_own = |own: &TableSpec| own.name == table || format!("{}_word", own.name) == table;
        if table.starts_with("fd_") || tables.iter().any(|own| is_own(own)) {
            return Err(StoreError::UnexpectedSchema { what: format!("{what} of table {table}") });
        }
    }
    Ok(())
}

fn key_check(master: &SealKey) -> Vec<u8> {
    master.derive("key check").digest(&[b"frontdesk"]).to_vec()
}

/// Checks that this is the master key of the database, which is that of the first node that started with it.
async fn check_key(connection: &PgConnection, master: &SealKey) -> Result<(), StoreError> {
    let check = key_check(master);
    connection.execute("UPDATE fd_schema SET key_check = $1 WHERE key_check IS NULL", &[&check]).await?;
    let rows = connection.query("SELECT 1 FROM fd_schema WHERE key_check = $1", &[&check]).await?;
    rows.first().map(|_| ()).ok_or(StoreError::WrongKey)
}

/// Two nodes may create the table at the same time; the second one then finds it.
async fn create_version_row(connection: &PgConnection) -> Result<(), StoreError> {
    let mut attempts = 0;
    loop {
        let exists = connection.query("SELECT 1 WHERE to_regclass('fd_schema') IS NOT NULL", &[]).await?;
        if !exists.is_empty() && !connection.query("SELECT 1 FROM fd_schema", &[]).await?.is_empty() {
            return Ok(());
        }
        match connection.batch_execute(CREATE_VERSION_TABLE).await {
            Ok(()) => return Ok(()),
            Err(error) if attempts < 10 && is_creation_race(&error) => attempts += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_creation_race(error: &tokio_postgres::Error) -> bool {
    // A table is also a type, so either of the two may be reported as a duplicate.
    let races = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
    races.iter().any(|code| error.code() == Some(code))
}

async fn apply_migrations(
    connection: &PgConnection,
    tables: &[&'static TableSpec],
    keys: &SetupKeys,
    keyring: &Keyring,
    rows: UnauthenticatedRows,
) -> Result<Vec<IndexWork>, StoreError> {
    let versions = connection.query("SELECT version FROM fd_schema WHERE one = 1 FOR UPDATE", &[]).await?;
    let found: i64 = versions.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    let known = ddl::MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::NewerSchema { database: DatabaseKind::Postgres, found, known });
    }
    require_allowed(found, rows)?;
    for text in ddl::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        connection.batch_execute(&ddl::for_postgres(text)).await?;
    }
    if found == 0 {
        for text in rls::core_policies().flat_map(|policy| policy.statements()) {
            connection.batch_execute(&text).await?;
        }
    } else if found < SCHEMA_WITH_ADMINISTRATION {
        for text in rls::policies_for_administration() {
            connection.batch_execute(&text).await?;
        }
    }
    if found < SCHEMA_WITH_MACS {
        authenticate_all(connection, keyring).await?;
    }
    set_up_installation(connection, keys, found).await?;
    if found < known {
        connection.execute("UPDATE fd_schema SET version = $1", &[&known]).await?;
    }
    let names = "SELECT CAST(relname AS TEXT) FROM pg_class WHERE relnamespace = to_regnamespace(current_schema())";
    let mut present = HashSet::new();
    for row in connection.query(names, &[]).await? {
        present.insert(row.try_get::<_, String>(0)?);
    }
    let mut work = Vec::new();
    for table in tables {
        work.extend(update_table(connection, table, &present).await?);
    }
    Ok(work)
}

/// In the transaction that creates the table, so that deleting its row later is not the same as a new database, and
/// nodes that start together get one key. The master key is tried first: a wrong one must leave nothing behind.
async fn set_up_installation(connection: &PgConnection, keys: &SetupKeys, found: i64) -> Result<(), StoreError> {
    check_key(connection, &keys.master).await?;
    installation::set_up(connection, keys, ddl::creates_installation(found)).await
}

/// Creates a declared table with its policies, or adds the columns and indexes that its declaration has gained. No
/// statement is sent for what exists: even `CREATE INDEX IF NOT EXISTS` would wait for running writes.
async fn update_table(
    connection: &PgConnection,
    table: &'static TableSpec,
    present: &HashSet<String>,
) -> Result<Option<IndexWork>, StoreError> {
    let mut found = TableState::New;
    if present.contains(table.name) {
        let text = "SELECT CAST(attname AS TEXT) FROM pg_attribute \
                    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped";
        let rows = connection.query(text, &[&table.name]).await?;
        let columns: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        for text in ddl::add_missing_columns(DatabaseKind::Postgres, table, FIXED_COLUMNS, &columns)? {
            connection.batch_execute(&ddl::for_postgres(&text)).await?;
        }
        for name in ddl::outdated_indexes(table).iter().filter(|name| present.contains(*name)) {
            connection.batch_execute(&format!("DROP INDEX {name}")).await?;
        }
        found = TableState::Existing { columns };
    }
    create_missing(connection, ddl::create_postgres(table), present).await?;
    if found == TableState::New {
        for text in rls::table_policies(table).iter().flat_map(RlsPolicy::statements) {
            connection.batch_execute(&text).await?;
        }
    }
    let plan = reindex::plan(connection, table, &found).await?;
    create_missing(connection, ddl::indexes(table, &plan.unfilled), present).await?;
    Ok(plan.work)
}

async fn create_missing(
    connection: &PgConnection,
    statements: Vec<String>,
    present: &HashSet<String>,
) -> Result<(), StoreError> {
    for text in statements {
        let name = text.split(" EXISTS ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        if !present.contains(name) {
            connection.batch_execute(&text).await?;
        }
    }
    Ok(())
}
