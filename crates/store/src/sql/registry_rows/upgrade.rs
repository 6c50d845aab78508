//! The upgrade of a database of a release that had no MACs. It trusts every row it finds, so it happens once: the key
//! file remembers it, and whoever can only write to the database cannot have it happen again.

use super::{AUTHENTICATED, RegistryRow, TENANTS};
use crate::StoreError;
use crate::keyring::Keyring;
use crate::sql::session::{SqlRow, SqlSession};

/// The first schema with MACs.
pub(crate) const SCHEMA_WITH_MACS: i64 = 5;

/// What is done with a database whose rows have no MACs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnauthenticatedRows {
    /// Its rows are trusted and get MACs.
    Adopt,
    /// It is not opened: its rows had MACs the last time.
    Refuse,
}

/// To be called before migrations are applied to a database with this schema version.
pub(crate) fn require_allowed(found: i64, rows: UnauthenticatedRows) -> Result<(), StoreError> {
    // A new database has no rows.
    let has_none = (1..SCHEMA_WITH_MACS).contains(&found);
    if has_none && rows == UnauthenticatedRows::Refuse { Err(StoreError::MacsRemoved) } else { Ok(()) }
}

/// Gives every row of the authenticated tables its MAC, in the transaction of the migration that has added the column.
/// Fails with another master key than that of the database: MACs of the wrong key would lock everybody out.
pub(crate) async fn authenticate_all<S: SqlSession>(session: &S, keyring: &Keyring) -> Result<(), StoreError> {
    let key = keyring.registry();
    for row in session.query(&TENANTS.select("WHERE mac IS NULL"), &[]).await? {
        if !keyring.opens(row.text(0)?, row.bytes(2)?) {
            return Err(StoreError::WrongKey);
        }
    }
    for table in AUTHENTICATED {
        let found = session.query(&table.select("WHERE mac IS NULL"), &[]).await?;
        let rows = found.len();
        for SqlRow(mut values) in found {
            let version = SqlRow(values.clone()).integer(table.columns.len())?;
            values.truncate(table.columns.len());
            table.rekey(session, key, RegistryRow { table, values: SqlRow(values), version }, Vec::new()).await?;
        }
        tracing::info!(table = table.name, rows, "rows authenticated");
    }
    Ok(())
}
