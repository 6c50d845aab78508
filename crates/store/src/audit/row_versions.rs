//! Which rows an audited write has written: its record names table, id and version of each, and the verification compares
//! them with the rows that are there. So a row that was put back, removed or replaced behind the server's back is found.

use std::collections::{BTreeMap, HashMap, HashSet};

use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::seal::sha256;
use serde_json::Value;

use super::AuditLink;
use super::report::{AuditFinding, FindingList, RowDifference};
use crate::StoreError;
use crate::sql::registry_rows::{AUTHENTICATED, RegistryKey};
use crate::sql::session::{SqlReader, StoredValue};

/// How many rows are read at a time.
const ROWS_PER_QUERY: i64 = 1_000;

/// A table whose rows are compared.
#[derive(Debug, Clone, Copy)]
pub struct ComparedTable {
    pub table: &'static TableSpec,
    pub removal: RowRemoval,
}

/// What may remove a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowRemoval {
    /// Only an audited write.
    Audited,
    /// Also retention, which leaves no record: a missing row proves nothing.
    ByRetention,
}

/// The record with the rows that these steps write, as `"wrote":{"table":{"id":version}}`; a removed row has no version.
pub(crate) fn with_written_rows(record: &str, steps: &[Step]) -> String {
    let mut tables: BTreeMap<&str, BTreeMap<&str, Option<i64>>> = BTreeMap::new();
    for step in steps {
        let (table, id, version) = match step {
            Step::Insert { table, row, .. } | Step::Update { table, row, .. } => (table, &row.id, Some(row.version)),
            Step::Remove { table, id, .. } => (table, id, None),
            // These leave the version as it is.
            Step::Adjust { .. } | Step::Require { .. } | Step::RequireAbsent { .. } => continue,
        };
        tables.entry(table.name).or_default().insert(id, version);
    }
    with_rows(record, &tables)
}

/// A row of tenants, clients or tokens: its table, its key and its version, `None` if it was removed.
pub(crate) type RegistryVersion = (&'static str, String, Option<i64>);

/// The same for a change of tenants, clients or tokens.
pub(crate) fn with_registry_rows(record: &str, rows: &[RegistryVersion]) -> String {
    let mut tables: BTreeMap<&str, BTreeMap<&str, Option<i64>>> = BTreeMap::new();
    for (table, id, version) in rows {
        tables.entry(table).or_default().insert(id, *version);
    }
    with_rows(record, &tables)
}

fn with_rows(record: &str, tables: &BTreeMap<&str, BTreeMap<&str, Option<i64>>>) -> String {
    let wrote = serde_json::to_string(tables).ok().filter(|_| !tables.is_empty());
    match (wrote, record.strip_suffix('}')) {
        (Some(wrote), Some(open)) if open.len() > 1 => format!("{open},\"wrote\":{wrote}}}"),
        (Some(wrote), _) if record.is_empty() || record == "{}" => format!("{{\"wrote\":{wrote}}}"),
        (Some(_) | None, _) => record.to_owned(),
    }
}

/// The bytes of a key in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The last audited change of each tenant, client and revoked token, of all chains together: several nodes change them, so
/// the instant of the link says which was the last.
#[derive(Default)]
pub(crate) struct RegistryWrites(HashMap<(&'static str, String), (i64, Option<i64>)>);

impl RegistryWrites {
    fn add(&mut self, table: &str, id: &str, at: i64, version: Option<i64>) {
        if let Some(table) = AUTHENTICATED.iter().find(|own| own.name == table) {
            let last = self.0.entry((table.name, id.to_owned())).or_insert((at, version));
            // Of one chain in the order of its links, also those of one millisecond.
            if at >= last.0 {
                *last = (at, version);
            }
        }
    }

    /// A row with a lower version than was audited, or that was removed, was put back. Others prove nothing: expired tokens
    /// go without a record, and not every change of a token has one.
    pub(crate) async fn compare<S: SqlReader>(
        &self,
        session: &S,
        key: &RegistryKey,
        findings: &mut FindingList,
    ) -> Result<(), StoreError> {
        for table in AUTHENTICATED {
            let verified = table.verify(key, session.query(&table.select(""), &[]).await?);
            if !verified.refused.is_empty() {
                let (table, rows) = (table.name, verified.refused.len());
                findings.add(AuditFinding::RowsRefused { table, rows });
            }
            for row in &verified.rows {
                let id = match row.value(table.columns.first().copied().unwrap_or_default())? {
                    StoredValue::Text(text) => text.clone(),
                    StoredValue::Bytes(bytes) => hex(bytes),
                    StoredValue::Null | StoredValue::Integer(_) => continue,
                };
                let stored = row.version();
                let difference = match self.0.get(&(table.name, id.clone())) {
                    Some((_, None)) => RowDifference::Removed { stored },
                    Some((_, Some(audited))) if stored < *audited => {
                        RowDifference::Version { stored, audited: *audited }
                    }
                    Some((_, Some(_))) | None => continue,
                };
                findings.add(AuditFinding::RegistryRow { table: table.name, id, difference });
            }
        }
        Ok(())
    }
}

/// The last audited write of each row of one tenant. Takes about 50 bytes a row, however long the ids are.
pub(crate) struct LastWrites<'a> {
    tables: &'a [ComparedTable],
    rows: HashMap<u128, LastWrite>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastWrite {
    /// Its number in the list.
    table: u16,
    /// `None` if it was removed.
    version: Option<i64>,
}

/// Rows of one tenant that were compared, and those that could not be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    pub compared: u64,
    /// Their last write was before this release, or retention has deleted its record.
    pub without_record: u64,
}

impl<'a> LastWrites<'a> {
    pub(crate) fn new(tables: &'a [ComparedTable]) -> LastWrites<'a> {
        LastWrites { tables, rows: HashMap::new() }
    }

    pub(crate) fn add(&mut self, link: &AuditLink, registry: &mut RegistryWrites) {
        let tables = self.tables;
        for_each_row(link, |table, id, version| {
            if let Some(number) = tables.iter().position(|own| own.table.name == table) {
                let write = LastWrite { table: u16::try_from(number).unwrap_or(u16::MAX), version };
                self.rows.insert(row_key(table, id), write);
            } else {
                registry.add(table, id, link.at, version);
            }
        });
    }

    /// Compares them with the rows that the session sees, which are those of the tenant. `all_named` says whether every
    /// row must have been named.
    pub(crate) async fn compare<S: SqlReader>(
        &mut self,
        session: &S,
        tenant: &str,
        all_named: AllNamed,
        findings: &mut FindingList,
    ) -> Result<RowCounts, StoreError> {
        let mut counts = RowCounts::default();
        for table in self.tables.iter().map(|own| own.table.name) {
            let text = format!(
                "SELECT id, version FROM {table} WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT {ROWS_PER_QUERY}"
            );
            let mut after = String::new();
            loop {
                let rows = session.query(&text, &[tenant.into(), after.as_str().into()]).await?;
                for row in &rows {
                    let (id, version) = (row.text(0)?, row.integer(1)?);
                    let difference = match self.rows.remove(&row_key(table, id)) {
                        Some(LastWrite { version: Some(audited), .. }) if audited == version => None,
                        Some(LastWrite { version: Some(audited), .. }) => {
                            Some(RowDifference::Version { stored: version, audited })
                        }
                        Some(LastWrite { version: None, .. }) => Some(RowDifference::Removed { stored: version }),
                        None if all_named == AllNamed::Yes => Some(RowDifference::NeverWritten { stored: version }),
                        None => {
                            counts.without_record += 1;
                            continue;
                        }
                    };
                    counts.compared += 1;
                    if let Some(difference) = difference {
                        findings.add(AuditFinding::row(tenant, table, id, difference));
                    }
                }
                match rows.last() {
                    Some(row) => row.text(0)?.clone_into(&mut after),
                    None => break,
                }
            }
        }
        let is_missing = |write: &LastWrite| {
            let table = self.tables.get(usize::from(write.table));
            write.version.is_some() && table.is_some_and(|table| table.removal == RowRemoval::Audited)
        };
        self.rows.retain(|_, write| is_missing(write));
        Ok(counts)
    }

    /// Rows that should be there and are not. Their names are in the links, which are read a second time for them.
    pub(crate) fn missing(&self) -> HashSet<u128> {
        self.rows.keys().copied().collect()
    }
}

/// Adds the rows of this link that are missing.
pub(crate) fn name_missing(link: &AuditLink, tenant: &str, missing: &mut HashSet<u128>, findings: &mut FindingList) {
    for_each_row(link, |table, id, _| {
        if missing.remove(&row_key(table, id)) {
            findings.add(AuditFinding::row(tenant, table, id, RowDifference::Missing));
        }
    });
}

/// Whether every row of a tenant was written by a link that is still there and names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllNamed {
    Yes,
    No,
}

fn for_each_row(link: &AuditLink, mut take: impl FnMut(&str, &str, Option<i64>)) {
    for record in link.records.lines().filter(|record| record.contains("\"wrote\":{")) {
        let Ok(record) = serde_json::from_str::<Value>(record) else { continue };
        let tables = record.get("wrote").and_then(Value::as_object);
        for (table, rows) in tables.into_iter().flatten() {
            for (id, version) in rows.as_object().into_iter().flatten() {
                take(table, id, version.as_i64());
            }
        }
    }
}

fn row_key(table: &str, id: &str) -> u128 {
    let digest = sha256(format!("{table}\n{id}").as_bytes());
    digest.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes))
}
