//! What a declaration has gained since the rows of its table were last indexed, as `fd_index` remembers it.

use frontdesk_engine::model::table::{ColumnSpec, ColumnType, TableSpec};
use serde::{Deserialize, Serialize};

use super::{IndexSession, IndexWork, TermWork};
use crate::StoreError;
use crate::sql::ddl;
use crate::sql::registry_rows::TENANT_NAMES;
use crate::sql::session::SqlRow;

/// How a declared table was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TableState {
    New,
    /// With these columns, before those that it lacked were added.
    Existing {
        columns: Vec<String>,
    },
}

pub(crate) struct TablePlan {
    /// Columns that have no values yet, so their indexes come later.
    pub(crate) unfilled: Vec<&'static str>,
    pub(crate) work: Option<IndexWork>,
}

/// What rows are indexed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct IndexedFor {
    /// Each with its type, because another type has other values.
    columns: Vec<String>,
    searched: Vec<String>,
}

impl IndexedFor {
    fn declared(table: &TableSpec) -> IndexedFor {
        IndexedFor {
            columns: table.columns.iter().map(|column| signature(table, column)).collect(),
            searched: table.searched.iter().map(|&field| field.to_owned()).collect(),
        }
    }

    fn read(text: &str) -> Result<IndexedFor, StoreError> {
        serde_json::from_str(text).map_err(|_| StoreError::UnexpectedValue { column: 0 })
    }

    fn write(&self) -> String {
        // Strings always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn signature(table: &TableSpec, column: &ColumnSpec) -> String {
    let column_type = match column.column_type {
        ColumnType::Text => "text",
        ColumnType::Integer => "integer",
        ColumnType::Digest => "digest",
    };
    let required = if ddl::is_required(table, column) { " required" } else { "" };
    format!("{} {column_type}{required}", column.name)
}

/// Whether rows are found by the column, so that existing ones must have a value.
pub(crate) fn is_looked_up_by(table: &TableSpec, column: &ColumnSpec) -> bool {
    let lists = [table.unique, table.sorted, table.filtered];
    column.column_type == ColumnType::Digest || lists.iter().any(|names| names.contains(&column.name))
}

/// A row of `fd_index`.
struct StoredIndex {
    indexed: IndexedFor,
    target: Option<String>,
}

/// Compares the declaration with what the rows are indexed for, and stores what is to be done. In the transaction of the
/// migration, after the columns were added. A table of a release without `fd_index` counts as indexed for the columns it
/// has and for the searched fields that are declared now.
pub(crate) async fn plan<S: IndexSession>(
    session: &S,
    table: &'static TableSpec,
    found: &TableState,
) -> Result<TablePlan, StoreError> {
    let declared = IndexedFor::declared(table);
    let text = "SELECT indexed, target FROM fd_index WHERE table_name = $1";
    let rows = session.query(text, &[table.name.into()]).await?;
    let stored = match (rows.first(), found) {
        (Some(row), TableState::Existing { .. }) => read_stored(row)?,
        (Some(_), TableState::New) | (None, _) => first_seen(session, table, found, &declared).await?,
    };
    let missing: Vec<&ColumnSpec> =
        table.columns.iter().filter(|column| !stored.indexed.columns.contains(&signature(table, column))).collect();
    let target = declared.write();
    // A run for other fields that did not finish has indexed some of the rows for them.
    let other_run = stored.target.as_deref().filter(|other| **other != target).map(IndexedFor::read).transpose()?;
    let is_mixed = other_run.is_some_and(|other| other.searched != declared.searched);
    let terms =
        if stored.indexed.searched == declared.searched && !is_mixed { TermWork::Keep } else { TermWork::Replace };
    if missing.is_empty() && terms == TermWork::Keep {
        mark_indexed(session, table, &declared).await?;
        return Ok(TablePlan { unfilled: Vec::new(), work: None });
    }
    let unfilled = missing.iter().map(|column| column.name).collect();
    match table.index {
        Some(index) => {
            if stored.target.as_ref() != Some(&target) {
                let text = "UPDATE fd_index SET target = $2, at_tenant = '', at_id = NULL WHERE table_name = $1";
                session.execute(text, &[table.name.into(), target.as_str().into()]).await?;
            }
            Ok(TablePlan { unfilled, work: Some(IndexWork { table, index, columns: missing, terms, target }) })
        }
        None if !has_rows(session, table).await? => {
            mark_indexed(session, table, &declared).await?;
            Ok(TablePlan { unfilled: Vec::new(), work: None })
        }
        None => {
            let columns = missing.iter().filter(|column| is_looked_up_by(table, column)).map(|column| column.name);
            let fields = table.searched.iter().filter(|field| !stored.indexed.searched.iter().any(|one| one == *field));
            let gained: Vec<&str> = columns.chain(fields.copied()).collect();
            if gained.is_empty() {
                Ok(TablePlan { unfilled, work: None })
            } else {
                Err(StoreError::NoIndexFunction { table: table.name, gained: gained.join(", ") })
            }
        }
    }
}

fn read_stored(row: &SqlRow) -> Result<StoredIndex, StoreError> {
    Ok(StoredIndex { indexed: IndexedFor::read(row.text(0)?)?, target: row.optional_text(1)?.map(str::to_owned) })
}

async fn first_seen<S: IndexSession>(
    session: &S,
    table: &TableSpec,
    found: &TableState,
    declared: &IndexedFor,
) -> Result<StoredIndex, StoreError> {
    let is_present = |column: &ColumnSpec| match found {
        TableState::New => true,
        TableState::Existing { columns } => columns.iter().any(|name| name == column.name),
    };
    let present = table.columns.iter().filter(|column| is_present(column));
    let indexed = IndexedFor {
        columns: present.map(|column| signature(table, column)).collect(),
        searched: declared.searched.clone(),
    };
    let text = "INSERT INTO fd_index (table_name, indexed, at_tenant) VALUES ($1, $2, '') \
                ON CONFLICT (table_name) DO UPDATE SET indexed = excluded.indexed, target = NULL, at_tenant = '', \
                at_id = NULL";
    session.execute(text, &[table.name.into(), indexed.write().into()]).await?;
    Ok(StoredIndex { indexed, target: None })
}

/// Writes nothing if it is stored already: every start comes here.
async fn mark_indexed<S: IndexSession>(
    session: &S,
    table: &TableSpec,
    declared: &IndexedFor,
) -> Result<(), StoreError> {
    let text = "UPDATE fd_index SET indexed = $2, target = NULL, at_tenant = '', at_id = NULL \
                WHERE table_name = $1 AND (indexed <> $2 OR target IS NOT NULL)";
    session.execute(text, &[table.name.into(), declared.write().into()]).await?;
    Ok(())
}

/// Tenant by tenant, because row-level security allows no other query.
async fn has_rows<S: IndexSession>(session: &S, table: &TableSpec) -> Result<bool, StoreError> {
    let text = format!("SELECT id FROM {} WHERE tenant = $1 LIMIT 1", table.name);
    for row in session.query(TENANT_NAMES, &[]).await? {
        let tenant = row.text(0)?;
        session.set_tenant(tenant).await?;
        if !session.query(&text, &[tenant.into()]).await?.is_empty() {
            return Ok(true);
        }
    }
    session.set_tenant("").await?;
    Ok(false)
}
