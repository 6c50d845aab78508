//! The schema, which only ever moves forward. Nodes that start together take turns at one locked row.

use std::cmp::Ordering;
use std::collections::HashSet;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::seal::SealKey;
use tokio_postgres::error::SqlState;

use super::live::Live;
use super::texts::{BEGIN, FIXED};
use super::walls;
use crate::StoreError;
use crate::ddl;
use crate::error::Data;

const FIRST: &str = "CREATE TABLE IF NOT EXISTS fd_schema (one SMALLINT PRIMARY KEY CHECK (one = 1), \
                     version BIGINT NOT NULL, key_check BYTEA); \
                     INSERT INTO fd_schema (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING";

pub(crate) async fn migrate(live: &Live, kinds: &[&'static TableSpec]) -> Result<(), StoreError> {
    make_the_row(live).await?;
    live.batch(BEGIN).await?;
    match forward(live, kinds).await {
        Ok(()) => Ok(live.batch("COMMIT").await?),
        Err(error) => {
            // The error is what matters; closing the connection rolls back as well.
            let _ = live.batch("ROLLBACK").await;
            Err(error)
        }
    }
}

/// Whether everything is there as this version makes it, for this master key. Nothing is changed.
pub(crate) async fn check(live: &Live, master: &SealKey) -> Result<(), StoreError> {
    let there = live.query("SELECT 1 WHERE to_regclass('fd_schema') IS NOT NULL", &[]).await?;
    if there.is_empty() {
        return Err(StoreError::NotSetUp);
    }
    let rows = live.query("SELECT version, key_check FROM fd_schema", &[]).await?;
    let row = rows.first().ok_or(StoreError::NotSetUp)?;
    let (found, known) = (row.try_get::<_, i64>(0)?, ddl::MIGRATIONS.len() as i64);
    match (found.cmp(&known), row.try_get::<_, Option<Vec<u8>>>(1)?) {
        (Ordering::Greater, _) => Err(StoreError::NewerSchema { data: Data::Server, found, known }),
        (Ordering::Less, _) | (Ordering::Equal, None) => Err(StoreError::NotSetUp),
        (Ordering::Equal, Some(kept)) if kept == key_check(master) => Ok(()),
        (Ordering::Equal, Some(_)) => Err(StoreError::WrongKey),
    }
}

fn key_check(master: &SealKey) -> Vec<u8> {
    master.derive("key check").digest(&[b"frontdesk"]).to_vec()
}

/// Whether this is the master key that everything here is sealed with. The first node to come says which.
pub(crate) async fn check_key(live: &Live, master: &SealKey) -> Result<(), StoreError> {
    let check = key_check(master);
    live.execute("UPDATE fd_schema SET key_check = $1 WHERE key_check IS NULL", &[&check]).await?;
    let rows = live.query("SELECT 1 FROM fd_schema WHERE key_check = $1", &[&check]).await?;
    rows.first().map(|_| ()).ok_or(StoreError::WrongKey)
}

/// Two nodes may meet here; the one that comes second finds the table made.
async fn make_the_row(live: &Live) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        let there = live.query("SELECT to_regclass('fd_schema') IS NOT NULL", &[]).await?;
        let there = there.first().map(|row| row.try_get::<_, bool>(0)).transpose()?;
        if there == Some(true) && !live.query("SELECT 1 FROM fd_schema", &[]).await?.is_empty() {
            return Ok(());
        }
        match live.batch(FIRST).await {
            Ok(()) => return Ok(()),
            Err(error) if tries < 10 && is_a_race(&error) => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_a_race(error: &tokio_postgres::Error) -> bool {
    // A table is a type as well; which of the two is found there first is chance.
    let races = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
    races.iter().any(|code| error.code() == Some(code))
}

async fn forward(live: &Live, kinds: &[&'static TableSpec]) -> Result<(), StoreError> {
    let rows = live.query("SELECT version FROM fd_schema WHERE one = 1 FOR UPDATE", &[]).await?;
    let found: i64 = rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    let known = ddl::MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::NewerSchema { data: Data::Server, found, known });
    }
    for text in ddl::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        live.batch(&ddl::for_postgres(text)).await?;
    }
    if found == 0 {
        for text in walls::CORE.iter().flat_map(|wall| wall.build()) {
            live.batch(&text).await?;
        }
    }
    if found < known {
        live.execute("UPDATE fd_schema SET version = $1", &[&known]).await?;
    }
    let names = "SELECT CAST(relname AS TEXT) FROM pg_class WHERE relnamespace = to_regnamespace(current_schema())";
    let mut present = HashSet::new();
    for row in live.query(names, &[]).await? {
        present.insert(row.try_get::<_, String>(0)?);
    }
    for kind in kinds {
        grow(live, kind, &present).await?;
    }
    Ok(())
}

/// Makes a kind's table and its wall, or adds the columns and indexes its declaration has gained. What is
/// there is left alone: even a look at whether an index exists would wait for everybody who writes.
async fn grow(live: &Live, kind: &'static TableSpec, present: &HashSet<String>) -> Result<(), StoreError> {
    let is_new = !present.contains(kind.name);
    if !is_new {
        let text = "SELECT CAST(attname AS TEXT) FROM pg_attribute \
                    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped";
        let mut columns: Vec<String> = Vec::new();
        for row in live.query(text, &[&kind.name]).await? {
            columns.push(row.try_get(0)?);
        }
        let fixed: Vec<&str> = FIXED.split(", ").collect();
        let declared = |name: &str| fixed.contains(&name) || kind.columns.iter().any(|column| column.name == name);
        if let Some(unknown) = columns.iter().find(|name| !declared(name)) {
            return Err(StoreError::UnknownColumn {
                data: Data::Server,
                table: kind.name.to_owned(),
                column: unknown.clone(),
            });
        }
        for column in kind.columns.iter().filter(|column| !columns.iter().any(|name| name == column.name)) {
            live.batch(&ddl::for_postgres(&ddl::add_column(kind, column))).await?;
        }
    }
    for text in ddl::create_on_postgres(kind) {
        let name = text.split(" EXISTS ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        if !present.contains(name) {
            live.batch(&text).await?;
        }
    }
    if is_new {
        for text in walls::of(kind).iter().flat_map(walls::Wall::build) {
            live.batch(&text).await?;
        }
    }
    Ok(())
}
