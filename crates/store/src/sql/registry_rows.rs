//! Rows that decide who has access. Each carries a version and a MAC over its table, its columns and its version, with a
//! key that is derived from the master key: a row that somebody without the key has inserted or changed in the database
//! is refused. Every statement about these tables is made here, and `xtask tidy` finds those that are not.

mod names;
mod tables;
mod upgrade;

use frontdesk_engine::seal::SealKey;

use crate::StoreError;
use crate::sql::session::{SqlReader, SqlRow, SqlSession, StoredValue};

pub use names::LOCK_TENANT;
pub(crate) use names::{
    COUNT_LOGIN_RECORDS, LOCK_TOKENS, TENANT_NAMES, TENANT_OR_CHAIN, UNCOUNTED_TENANTS, next_tenant, tenant_exists,
    tenants_with_rows_before,
};
pub(crate) use tables::{AUTHENTICATED, CLIENTS, LOGIN_RECORDS, TENANTS, TOKENS};
pub use upgrade::UnauthenticatedRows;
pub(crate) use upgrade::{SCHEMA_WITH_MACS, authenticate_all, require_allowed};

/// What the key is derived from the master key for.
const PURPOSE: &str = "registry rows";

/// A table whose rows are authenticated. Its columns `version` and `mac` are not listed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RegistryTable {
    pub(crate) name: &'static str,
    /// A nullable column can be added at the end later: rows in which it is NULL keep their MAC.
    pub(crate) columns: &'static [&'static str],
    /// How many of the first columns are the primary key.
    pub(crate) key: usize,
}

/// The key of the MACs.
#[derive(Clone)]
pub(crate) struct RegistryKey(SealKey);

/// A row whose MAC was right. There is no other way to get one.
#[derive(Debug, Clone)]
pub(crate) struct RegistryRow {
    table: &'static RegistryTable,
    /// In the order of the table's columns.
    values: SqlRow,
    version: i64,
}

/// What was read: the rows, and those that were refused.
#[derive(Debug, Default)]
pub(crate) struct VerifiedRows {
    pub(crate) rows: Vec<RegistryRow>,
    /// As they were read, with their version and their MAC. Nothing in them can be relied on.
    pub(crate) refused: Vec<SqlRow>,
}

/// A column and its value.
pub(crate) type Assignment = (&'static str, StoredValue);

impl RegistryKey {
    pub(crate) fn new(master: &SealKey) -> RegistryKey {
        RegistryKey(master.derive(PURPOSE))
    }

    /// A NULL is left out, so that a column that is added later does not change the MACs of rows without a value in it.
    fn mac(&self, table: &RegistryTable, values: &[StoredValue], version: i64) -> [u8; 32] {
        let mut parts: Vec<Vec<u8>> = vec![table.name.into(), version.to_be_bytes().into()];
        for (column, value) in table.columns.iter().zip(values) {
            let tagged = match value {
                StoredValue::Null => continue,
                StoredValue::Integer(number) => [&[1], number.to_be_bytes().as_slice()].concat(),
                StoredValue::Text(text) => [&[2], text.as_bytes()].concat(),
                StoredValue::Bytes(bytes) => [&[3], bytes.as_slice()].concat(),
            };
            parts.extend([column.as_bytes().to_vec(), tagged]);
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        self.0.digest(&parts)
    }
}

impl RegistryTable {
    /// All columns of the rows that `rest` selects, for `verify`. `rest` begins with `WHERE` or `ORDER BY`.
    pub(crate) fn select(&self, rest: &str) -> String {
        format!("SELECT {}, version, mac FROM {} {rest}", self.columns.join(", "), self.name)
    }

    /// Sorts out the rows of `select` whose MAC is missing or wrong, and reports them.
    pub(crate) fn verify(&'static self, key: &RegistryKey, found: Vec<SqlRow>) -> VerifiedRows {
        let mut verified = VerifiedRows::default();
        for row in found {
            match self.verify_row(key, &row) {
                Some(row) => verified.rows.push(row),
                None => verified.refused.push(row),
            }
        }
        if !verified.refused.is_empty() {
            tracing::error!(
                table = self.name,
                rows = verified.refused.len(),
                "rows refused: they were changed without the master key"
            );
        }
        verified
    }

    fn verify_row(&'static self, key: &RegistryKey, row: &SqlRow) -> Option<RegistryRow> {
        let width = self.columns.len();
        let version = row.integer(width).ok()?;
        let stored = row.bytes(width + 1).ok()?;
        let values = row.0.get(..width)?;
        let differing =
            key.mac(self, values, version).iter().zip(stored).fold(0, |all, (one, other)| all | one ^ other);
        (stored.len() == 32 && differing == 0).then(|| RegistryRow {
            table: self,
            values: SqlRow(values.to_vec()),
            version,
        })
    }

    /// The rows whose MAC is right.
    pub(crate) async fn find<R: SqlReader>(
        &'static self,
        reader: &R,
        key: &RegistryKey,
        rest: &str,
        params: &[StoredValue],
    ) -> Result<Vec<RegistryRow>, StoreError> {
        Ok(self.verify(key, reader.query(&self.select(rest), params).await?).rows)
    }

    /// Adds a row with version 1, unless one with its key exists. Columns that are not named are NULL.
    pub(crate) async fn insert<S: SqlSession>(
        &'static self,
        session: &S,
        key: &RegistryKey,
        assignments: Vec<Assignment>,
    ) -> Result<u64, StoreError> {
        let (text, params) = self.insertion(key, assignments)?;
        session.execute(&text, &params).await
    }

    /// The statement of `insert` and its values.
    pub(crate) fn insertion(
        &'static self,
        key: &RegistryKey,
        assignments: Vec<Assignment>,
    ) -> Result<(String, Vec<StoredValue>), StoreError> {
        let mut values = vec![StoredValue::Null; self.columns.len()];
        self.assign(&mut values, assignments)?;
        let mac = key.mac(self, &values, 1);
        values.extend([1.into(), mac.as_slice().into()]);
        let numbers: Vec<String> = (1..=values.len()).map(|number| format!("${number}")).collect();
        let text = format!(
            "INSERT INTO {} ({}, version, mac) VALUES ({}) ON CONFLICT DO NOTHING",
            self.name,
            self.columns.join(", "),
            numbers.join(", ")
        );
        Ok((text, values))
    }

    /// Changes a row that was read in the same transaction, and counts its version up. 0 if it was changed meanwhile.
    pub(crate) async fn update<S: SqlSession>(
        &'static self,
        session: &S,
        key: &RegistryKey,
        row: RegistryRow,
        assignments: Vec<Assignment>,
    ) -> Result<u64, StoreError> {
        let version = row.version() + 1;
        self.rewrite(session, key, row, assignments, version).await
    }

    /// The same row under another key, for the rotation of keys: its version stays, because nothing about it changes for
    /// those who have access. `assignments` are the columns that depend on the key themselves.
    pub(crate) async fn rekey<S: SqlSession>(
        &'static self,
        session: &S,
        new_key: &RegistryKey,
        row: RegistryRow,
        assignments: Vec<Assignment>,
    ) -> Result<u64, StoreError> {
        let version = row.version;
        self.rewrite(session, new_key, row, assignments, version).await
    }

    async fn rewrite<S: SqlSession>(
        &'static self,
        session: &S,
        key: &RegistryKey,
        row: RegistryRow,
        assignments: Vec<Assignment>,
        version: i64,
    ) -> Result<u64, StoreError> {
        let RegistryRow { values: SqlRow(mut values), version: expected, .. } = row;
        self.assign(&mut values, assignments)?;
        let mac = key.mac(self, &values, version);
        values.extend([version.into(), mac.as_slice().into(), expected.into()]);
        let columns = self.columns.iter().chain(&["version", "mac"]);
        let mut set = Vec::new();
        let mut conditions = Vec::new();
        for (number, column) in (1..).zip(columns) {
            let list = if number > self.key { &mut set } else { &mut conditions };
            list.push(format!("{column} = ${number}"));
        }
        conditions.push(format!("version = ${}", values.len()));
        let text = format!("UPDATE {} SET {} WHERE {}", self.name, set.join(", "), conditions.join(" AND "));
        session.execute(&text, &values).await
    }

    /// Also deletes rows that are refused.
    pub(crate) async fn delete<S: SqlSession>(
        &self,
        session: &S,
        condition: &str,
        params: &[StoredValue],
    ) -> Result<u64, StoreError> {
        session.execute(&format!("DELETE FROM {} WHERE {condition}", self.name), params).await
    }

    /// The same, but rows that another node has locked are left to it.
    pub(crate) async fn delete_unlocked<S: SqlSession>(
        &self,
        session: &S,
        condition: &str,
        params: &[StoredValue],
    ) -> Result<u64, StoreError> {
        let key = self.columns.get(..self.key).unwrap_or_default().join(", ");
        let unlocked = format!("SELECT {key} FROM {} WHERE {condition}{}", self.name, S::SKIP_LOCKED);
        self.delete(session, &format!("({key}) IN ({unlocked})"), params).await
    }

    fn assign(&self, values: &mut [StoredValue], assignments: Vec<Assignment>) -> Result<(), StoreError> {
        for (column, value) in assignments {
            let position = self.position(column)?;
            *values.get_mut(position).ok_or(StoreError::UnexpectedValue { column: position })? = value;
        }
        Ok(())
    }

    fn position(&self, column: &str) -> Result<usize, StoreError> {
        let position = self.columns.iter().position(|one| *one == column);
        position.ok_or(StoreError::UnexpectedValue { column: self.columns.len() })
    }
}

impl RegistryRow {
    /// How often the row was changed, beginning with 1.
    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    pub(crate) fn text(&self, column: &str) -> Result<&str, StoreError> {
        self.values.text(self.table.position(column)?)
    }

    pub(crate) fn optional_text(&self, column: &str) -> Result<Option<&str>, StoreError> {
        self.values.optional_text(self.table.position(column)?)
    }

    pub(crate) fn integer(&self, column: &str) -> Result<i64, StoreError> {
        self.values.integer(self.table.position(column)?)
    }

    pub(crate) fn optional_integer(&self, column: &str) -> Result<Option<i64>, StoreError> {
        self.values.optional_integer(self.table.position(column)?)
    }

    pub(crate) fn bytes(&self, column: &str) -> Result<&[u8], StoreError> {
        self.values.bytes(self.table.position(column)?)
    }

    pub(crate) fn value(&self, column: &str) -> Result<&StoredValue, StoreError> {
        let column = self.table.position(column)?;
        self.values.0.get(column).ok_or(StoreError::UnexpectedValue { column })
    }
}

#[cfg(test)]
mod tests;
