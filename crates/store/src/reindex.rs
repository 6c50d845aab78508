//! Indexing existing rows again when a declaration has gained a column or a searched field. Only the new columns and the
//! search terms are written: a row keeps its version, its timestamps and its text. It is done in chunks, each in a
//! transaction that also stores how far it is, so that writers never wait long and a killed process continues.

mod macs;
mod plan;

use std::sync::Arc;

use frontdesk_engine::model::table::{ColumnSpec, IndexFn, RowIndex, SearchTerm, StoredRow, TableSpec};
use frontdesk_engine::ports::Disclosure;

use crate::StoreError;
use crate::keyring::{Keyring, TenantKeys};
use crate::sql::registry_rows::{self, TENANTS};
use crate::sql::session::{SqlRow, SqlSession, StoredValue};
use crate::sql::{self, QueryParam, SealedRow, ddl};

pub(crate) use macs::authenticate_rows;
pub(crate) use plan::{TableState, is_looked_up_by, plan};

/// Rows per transaction.
const CHUNK_ROWS: usize = 256;
/// Progress is logged after about this many rows.
const LOG_ROWS: usize = 10_000;

/// What the rows of one table have to be indexed for.
pub(crate) struct IndexWork {
    pub(crate) table: &'static TableSpec,
    pub(crate) index: IndexFn,
    /// The others are left alone: a number that is adjusted in place is only in its column.
    pub(crate) columns: Vec<&'static ColumnSpec>,
    pub(crate) terms: TermWork,
    /// What is stored in `fd_index` while this runs, and as `indexed` when it has finished.
    pub(crate) target: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermWork {
    Keep,
    Replace,
}

/// What is written for one row.
pub(crate) struct IndexedRow {
    pub(crate) id: String,
    pub(crate) version: i64,
    /// In the order of the work's columns.
    pub(crate) cells: Vec<StoredValue>,
    /// Sorted, without duplicates; `None` if the stored ones are kept.
    pub(crate) terms: Option<Vec<String>>,
}

/// What the two databases do differently.
pub(crate) trait IndexSession: SqlSession {
    /// Begins a transaction in which no other writer changes this tenant's rows.
    fn begin(&self, tenant: &str) -> impl Future<Output = Result<(), StoreError>>;

    /// In an open transaction, selects whose rows the next statements see.
    fn set_tenant(&self, tenant: &str) -> impl Future<Output = Result<(), StoreError>>;

    /// Commits what succeeded and rolls back what failed.
    fn end<T>(&self, outcome: Result<T, StoreError>) -> impl Future<Output = Result<T, StoreError>>;

    fn write(
        &self,
        work: &IndexWork,
        tenant: &str,
        rows: Vec<IndexedRow>,
    ) -> impl Future<Output = Result<(), StoreError>>;

    /// Runs a statement without parameters. `None` if it would create a unique index over equal values.
    fn create_index(&self, text: &str) -> impl Future<Output = Result<Option<()>, StoreError>>;
}

/// How far a run is: every tenant up to this one, or this one up to `id`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    tenant: String,
    id: Option<String>,
}

/// Indexes what has to be, on this database. Nodes that start together share the work: each chunk locks the position, so
/// that one of them does it.
pub(crate) async fn run<S: IndexSession>(session: &S, keyring: &Keyring, all: &[IndexWork]) -> Result<(), StoreError> {
    for work in all {
        let columns: Vec<&str> = work.columns.iter().map(|column| column.name).collect();
        tracing::info!(table = work.table.name, columns = columns.join(" "), "table reindex started");
        let rows = run_table(session, keyring, work).await?;
        finish(session, keyring, work).await?;
        tracing::info!(table = work.table.name, rows, "table reindex finished");
    }
    Ok(())
}

/// Indexes all rows of a tenant in the transaction that is open, for an import.
pub(crate) async fn run_tenant<S: IndexSession>(
    session: &S,
    keys: &TenantKeys,
    work: &IndexWork,
    tenant: &str,
) -> Result<(), StoreError> {
    let mut chunk = index_chunk(session, keys, work, tenant, "").await?;
    while let Some(last) = chunk.last {
        chunk = index_chunk(session, keys, work, tenant, &last).await?;
    }
    Ok(())
}

async fn run_table<S: IndexSession>(session: &S, keyring: &Keyring, work: &IndexWork) -> Result<usize, StoreError> {
    let (mut rows, mut logged) = (0, 0);
    // None once another node has finished.
    while let Some(position) = read_position(session, work, "").await? {
        let (tenant, after) = match &position.id {
            Some(id) => (position.tenant.clone(), id.as_str()),
            None => match next_tenant(session, keyring, &position.tenant).await? {
                Some(tenant) => (tenant, ""),
                None => break,
            },
        };
        let keys = tenant_keys(session, keyring, &tenant).await?;
        session.begin(&tenant).await?;
        let outcome = move_on(session, &keys, work, &position, &tenant, after).await;
        rows += session.end(outcome).await?;
        if rows >= logged + LOG_ROWS {
            logged = rows;
            tracing::info!(table = work.table.name, rows, "table reindex continues");
        }
    }
    Ok(rows)
}

/// One chunk and the new position, unless another node was faster.
async fn move_on<S: IndexSession>(
    session: &S,
    keys: &TenantKeys,
    work: &IndexWork,
    position: &Position,
    tenant: &str,
    after: &str,
) -> Result<usize, StoreError> {
    if read_position(session, work, S::FOR_UPDATE).await?.as_ref() != Some(position) {
        return Ok(0);
    }
    let chunk = index_chunk(session, keys, work, tenant, after).await?;
    let text = "UPDATE fd_index SET at_tenant = $2, at_id = $3 WHERE table_name = $1";
    session.execute(text, &[work.table.name.into(), tenant.into(), chunk.last.into()]).await?;
    Ok(chunk.rows)
}

struct Chunk {
    rows: usize,
    /// The last id, `None` if the tenant has no further rows.
    last: Option<String>,
}

async fn index_chunk<S: IndexSession>(
    session: &S,
    keys: &TenantKeys,
    work: &IndexWork,
    tenant: &str,
    after: &str,
) -> Result<Chunk, StoreError> {
    let limit = i64::try_from(CHUNK_ROWS).unwrap_or(i64::MAX);
    let found = session.query(&sql::rows_after(work.table), &[tenant.into(), after.into(), limit.into()]).await?;
    let rows = found.iter().map(|row| index_row(keys, work, tenant, row)).collect::<Result<Vec<_>, _>>()?;
    let last = rows.last().filter(|_| rows.len() == CHUNK_ROWS).map(|row| row.id.clone());
    let count = rows.len();
    session.write(work, tenant, rows).await?;
    Ok(Chunk { rows: count, last })
}

fn index_row(keys: &TenantKeys, work: &IndexWork, tenant: &str, row: &SqlRow) -> Result<IndexedRow, StoreError> {
    let row = sealed_row(row)?.disclose(Some(keys), tenant, work.table, Disclosure::ToChange)?;
    let RowIndex { cells, search_terms } = (work.index)(&row).map_err(|fault| StoreError::RowNotIndexed {
        table: work.table.name,
        tenant: tenant.to_owned(),
        id: row.id.clone(),
        why: fault.cause.unwrap_or_else(|| fault.message.into_owned()),
    })?;
    let value = |column: &&ColumnSpec| stored(sql::column_value(work.table, column, &cells, keys));
    let terms = |terms: &[SearchTerm]| {
        let mut terms: Vec<String> =
            terms.iter().filter_map(|term| text_of(QueryParam::of_term(term, work.table, Some(keys)))).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    };
    Ok(IndexedRow {
        cells: work.columns.iter().map(value).collect(),
        terms: match work.terms {
            TermWork::Keep => None,
            TermWork::Replace => Some(terms(&search_terms)),
        },
        version: row.version,
        id: row.id,
    })
}

/// A row of `sql::rows_after`.
fn sealed_row(row: &SqlRow) -> Result<SealedRow, StoreError> {
    let found = StoredRow {
        id: row.text(0)?.to_owned(),
        version: row.integer(1)?,
        created_at: row.integer(2)?,
        body: row.text(3)?.to_owned(),
        masked: row.optional_text(4)?.map(str::to_owned),
        personal: None,
        secret: None,
    };
    let bytes = |column| Ok::<_, StoreError>(row.optional_bytes(column)?.map(<[u8]>::to_vec));
    Ok(SealedRow { found, sealed: bytes(5)?, sealed_secret: bytes(6)?, updated_at: row.integer(7)?, mac: bytes(8)? })
}

/// As it is; what PostgreSQL cannot store is replaced where it is written.
pub(crate) fn stored(value: QueryParam<'_>) -> StoredValue {
    match value {
        QueryParam::Null => StoredValue::Null,
        QueryParam::Text(text) => StoredValue::Text(text.to_owned()),
        QueryParam::Integer(number) => StoredValue::Integer(number),
        QueryParam::Digest(text) => StoredValue::Text(text),
    }
}

fn text_of(value: QueryParam<'_>) -> Option<String> {
    match stored(value) {
        StoredValue::Text(text) => Some(text),
        StoredValue::Null | StoredValue::Integer(_) | StoredValue::Bytes(_) => None,
    }
}

/// `None` if the work is no longer to be done.
async fn read_position<S: SqlSession>(
    session: &S,
    work: &IndexWork,
    lock: &str,
) -> Result<Option<Position>, StoreError> {
    let text = format!("SELECT at_tenant, at_id FROM fd_index WHERE table_name = $1 AND target = $2{lock}");
    let rows = session.query(&text, &[work.table.name.into(), work.target.as_str().into()]).await?;
    let read =
        |row: &SqlRow| Ok(Position { tenant: row.text(0)?.to_owned(), id: row.optional_text(1)?.map(str::to_owned) });
    rows.first().map(read).transpose()
}

/// Those that are being erased need no index.
async fn next_tenant<S: SqlSession>(session: &S, keyring: &Keyring, after: &str) -> Result<Option<String>, StoreError> {
    let found = registry_rows::next_tenant(session, keyring.registry(), after).await?;
    found.map(|row| row.text("tenant").map(str::to_owned)).transpose()
}

/// Also of a tenant that another node has registered since the start.
async fn tenant_keys<S: SqlSession>(
    session: &S,
    keyring: &Keyring,
    tenant: &str,
) -> Result<Arc<TenantKeys>, StoreError> {
    if let Some(keys) = keyring.keys(tenant) {
        return Ok(keys);
    }
    let rows = TENANTS.find(session, keyring.registry(), "WHERE tenant = $1", &[tenant.into()]).await?;
    keyring.unwrap(tenant, rows.first().ok_or(StoreError::UnknownTenant)?.bytes("sealed_key")?)
}

/// Creates the indexes of the new columns, now that they are filled.
async fn finish<S: IndexSession>(session: &S, keyring: &Keyring, work: &IndexWork) -> Result<(), StoreError> {
    session.begin("").await?;
    let outcome = finish_in_tx(session, keyring, work).await;
    session.end(outcome).await
}

async fn finish_in_tx<S: IndexSession>(session: &S, keyring: &Keyring, work: &IndexWork) -> Result<(), StoreError> {
    if read_position(session, work, S::FOR_UPDATE).await?.is_none() {
        return Ok(());
    }
    for column in work.columns.iter().filter(|column| work.table.unique.contains(&column.name)) {
        check_unique(session, keyring, work.table, column.name).await?;
    }
    for text in ddl::indexes(work.table, &[]) {
        if session.create_index(&text).await?.is_none() {
            let is_new = |column: &&&ColumnSpec| text.contains(&format!("_one_{} ", column.name));
            let column = work.columns.iter().find(is_new).map_or("of a unique index", |column| column.name);
            return Err(StoreError::NotUnique { table: work.table.name, column, rows: None });
        }
    }
    let text = "UPDATE fd_index SET indexed = $2, target = NULL, at_tenant = '', at_id = NULL WHERE table_name = $1";
    session.execute(text, &[work.table.name.into(), work.target.as_str().into()]).await?;
    Ok(())
}

/// Says which rows have the same value, which a failed index does not.
async fn check_unique<S: IndexSession>(
    session: &S,
    keyring: &Keyring,
    table: &'static TableSpec,
    column: &'static str,
) -> Result<(), StoreError> {
    let name = table.name;
    let text = format!(
        "SELECT min(id), max(id) FROM {name} WHERE tenant = $1 AND {column} IS NOT NULL \
         GROUP BY {column} HAVING count(*) > 1 LIMIT 1"
    );
    let mut tenant = String::new();
    while let Some(next) = next_tenant(session, keyring, &tenant).await? {
        tenant = next;
        session.set_tenant(&tenant).await?;
        if let Some(row) = session.query(&text, &[tenant.as_str().into()]).await?.first() {
            let rows = Some([tenant, row.text(0)?.to_owned(), row.text(1)?.to_owned()]);
            return Err(StoreError::NotUnique { table: name, column, rows });
        }
    }
    session.set_tenant("").await
}
