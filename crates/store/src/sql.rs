//! SQL texts for declared tables and checked queries. Names come from constants, values are always bound. The texts
//! use `$n` and stay within what the supported databases share.

pub(crate) mod ddl;
pub(crate) mod registry_rows;
pub(crate) mod session;
pub mod statements;

use std::fmt::Write;

use frontdesk_engine::model::page::{CountQuery, Direction, Filter, Page, PageKey, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, ColumnSpec, Row, SearchTerm, StoredRow, TableSpec};
use frontdesk_engine::ports::Disclosure;

use crate::StoreError;
use crate::keyring::{HashDomain, RowContent, RowPart, TenantKeys};

/// A statement and its values, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SqlStatement<'a> {
    pub(crate) text: String,
    pub(crate) values: Vec<QueryParam<'a>>,
}

/// A parameter of a query. Personal values have been hashed for the column they are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueryParam<'a> {
    Null,
    Text(&'a str),
    Integer(i64),
    Digest(String),
}

impl<'a> QueryParam<'a> {
    /// A tenant without keys has no rows, so a hash is compared with NULL.
    pub(crate) fn of(cell: &'a Cell, domain: HashDomain<'_>, keys: Option<&TenantKeys>) -> QueryParam<'a> {
        match (cell, keys) {
            (Cell::Null, _) | (Cell::Digest(_), None) => QueryParam::Null,
            (Cell::Text(text), _) => QueryParam::Text(text),
            (Cell::Integer(number), _) => QueryParam::Integer(*number),
            (Cell::Digest(text), Some(keys)) => QueryParam::Digest(keys.digest(domain, text)),
        }
    }

    pub(crate) fn of_term(term: &'a SearchTerm, table: &TableSpec, keys: Option<&TenantKeys>) -> QueryParam<'a> {
        match (term, keys) {
            (SearchTerm::Plain(term), _) => QueryParam::Text(term),
            (SearchTerm::Personal(_), None) => QueryParam::Null,
            (SearchTerm::Personal(term), Some(keys)) => {
                QueryParam::Digest(keys.digest(HashDomain::SearchTerm { table: table.name }, term))
            }
        }
    }
}

/// A row of `get` as it is stored: not verified yet, its personal and write-only parts sealed.
pub(crate) struct SealedRow {
    pub(crate) found: StoredRow,
    pub(crate) sealed: Option<Vec<u8>>,
    pub(crate) sealed_secret: Option<Vec<u8>>,
    pub(crate) updated_at: i64,
    pub(crate) mac: Option<Vec<u8>>,
}

impl SealedRow {
    /// The row if its MAC is right, with the parts that are disclosed. The only way to what it contains. A tenant without
    /// keys has no rows.
    pub(crate) fn disclose(
        self,
        keys: Option<&TenantKeys>,
        tenant: &str,
        table: &TableSpec,
        disclosure: Disclosure,
    ) -> Result<StoredRow, StoreError> {
        let keys = keys.ok_or(StoreError::UnknownTenant)?;
        self.content(tenant, table).verify(keys, self.mac.as_deref())?;
        let SealedRow { mut found, sealed, sealed_secret, .. } = self;
        let (sealed, sealed_secret) = match disclosure {
            Disclosure::Masked => (None, None),
            Disclosure::Full => (sealed, None),
            Disclosure::ToChange => (sealed, sealed_secret),
        };
        if let Some(sealed) = sealed {
            found.personal = Some(keys.open_part(RowPart::Personal, tenant, table, &found.id, &sealed)?);
        }
        if let Some(sealed) = sealed_secret {
            found.secret = Some(keys.open_part(RowPart::Secret, tenant, table, &found.id, &sealed)?);
        }
        Ok(found)
    }

    pub(crate) fn content<'a>(&'a self, tenant: &'a str, table: &TableSpec) -> RowContent<'a> {
        RowContent {
            tenant,
            table: table.name,
            id: &self.found.id,
            version: self.found.version,
            created_at: self.found.created_at,
            updated_at: self.updated_at,
            body: &self.found.body,
            masked: self.found.masked.as_deref(),
            sealed: self.sealed.as_deref(),
            sealed_secret: self.sealed_secret.as_deref(),
        }
    }
}

/// The values of the declared columns, in their order.
pub(crate) fn column_values<'a>(table: &TableSpec, row: &'a Row, keys: &TenantKeys) -> Vec<QueryParam<'a>> {
    table.columns.iter().map(|column| column_value(table, column, &row.cells, keys)).collect()
}

/// The value of one declared column. A sorted integer that is missing is 0.
pub(crate) fn column_value<'a>(
    table: &TableSpec,
    column: &ColumnSpec,
    cells: &'a [(&'static str, Cell)],
    keys: &TenantKeys,
) -> QueryParam<'a> {
    let default = if ddl::is_required(table, column) { &Cell::Integer(0) } else { &Cell::Null };
    let cell = cells.iter().find(|(name, cell)| *name == column.name && *cell != Cell::Null);
    let domain = HashDomain::Column { table: table.name, column: column.name };
    QueryParam::of(cell.map_or(default, |(_, cell)| cell), domain, Some(keys))
}

/// The columns of every table before its declared ones. The last one exists on SQLite only, see `sqlite::search_terms`.
pub(crate) const FIXED_COLUMNS: &str =
    "tenant, id, version, created_at, updated_at, body, masked, sealed, sealed_secret, mac, words";

pub const INSERT_EVENT: &str =
    "INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
pub(crate) const EVENTS_AFTER: &str =
    "SELECT seq, event, kind, id, change, at FROM fd_outbox WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3";
pub const GET_EVENT_COUNTER: &str = "SELECT event_seq FROM fd_counter WHERE tenant = $1";
/// A tenant without a row has stored nothing yet: those of earlier releases were counted.
pub const SET_EVENT_COUNTER: &str = "INSERT INTO fd_counter (tenant, event_seq, stored_rows, stored_bytes) VALUES ($1, $2, 0, 0) \
                                ON CONFLICT (tenant) DO UPDATE SET event_seq = excluded.event_seq";
/// The column `meaning` holds the sealed hash of the request.
pub const FIND_CLAIM: &str =
    "SELECT meaning, sealed_answer FROM fd_claim WHERE tenant = $1 AND client = $2 AND tool = $3 AND key_hash = $4";
pub const INSERT_CLAIM: &str = "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// The columns of a `SealedRow`.
pub(crate) const ROW_COLUMNS: &str = "id, version, created_at, body, masked, sealed, sealed_secret, updated_at, mac";

/// The columns of a row of a page, after its id and what it is sorted by: what is shown, and what the MAC covers.
const PAGE_COLUMNS: &str = "body, masked, version, created_at, updated_at, sealed, sealed_secret, mac";

pub fn get(table: &TableSpec) -> String {
    format!("SELECT {ROW_COLUMNS} FROM {} WHERE tenant = $1 AND id = $2", table.name)
}

pub(crate) fn find(table: &TableSpec, column: &str) -> String {
    format!("SELECT {ROW_COLUMNS} FROM {} WHERE tenant = $1 AND {column} = $2", table.name)
}

pub fn insert(table: &TableSpec) -> String {
    let mut text = format!("INSERT INTO {} ({FIXED_COLUMNS}", table.name);
    for column in table.columns {
        let _ = write!(text, ", {}", column.name);
    }
    text.push_str(") VALUES (");
    for number in 1..=FIXED_COLUMNS.split(", ").count() + table.columns.len() {
        let comma = if number > 1 { ", " } else { "" };
        let _ = write!(text, "{comma}${number}");
    }
    text.push(')');
    text
}

/// The parameters are those of an insert, and the expected version.
pub(crate) fn update(table: &TableSpec, fixed: &str) -> String {
    let mut text = format!("UPDATE {} SET ", table.name);
    let own = table.columns.iter().map(|column| column.name);
    let mut number = 2;
    // The first two are the primary key.
    for column in fixed.split(", ").skip(2).chain(own) {
        let comma = if number > 2 { ", " } else { "" };
        number += 1;
        let _ = write!(text, "{comma}{column} = ${number}");
    }
    let _ = write!(text, " WHERE tenant = $1 AND id = $2 AND version = ${}", number + 1);
    text
}

pub(crate) fn adjust(table: &TableSpec, column: &str) -> String {
    format!("UPDATE {} SET {column} = {column} + $3 WHERE tenant = $1 AND id = $2 AND {column} + $3 >= $4", table.name)
}

pub(crate) fn version(table: &TableSpec) -> String {
    format!("SELECT version FROM {} WHERE tenant = $1 AND id = $2", table.name)
}

/// Removes a row that has the expected version.
pub(crate) fn remove(table: &TableSpec) -> String {
    format!("DELETE FROM {} WHERE tenant = $1 AND id = $2 AND version = $3", table.name)
}

/// At most `$3` of the tenant's rows after an id, in the order of their ids.
pub(crate) fn rows_after(table: &TableSpec) -> String {
    format!("SELECT {ROW_COLUMNS} FROM {} WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3", table.name)
}

/// At most `$3` of the tenant's rows after an id that have no MAC, in the order of their ids.
pub(crate) fn rows_without_mac(table: &TableSpec) -> String {
    let name = table.name;
    format!("SELECT {ROW_COLUMNS} FROM {name} WHERE tenant = $1 AND id > $2 AND mac IS NULL ORDER BY id LIMIT $3")
}

pub(crate) fn set_mac(table: &TableSpec) -> String {
    format!("UPDATE {} SET mac = $3 WHERE tenant = $1 AND id = $2 AND mac IS NULL", table.name)
}

/// Sets columns of a row from `$3` on, whatever its version is, and leaves the version as it is.
pub(crate) fn set_columns(table: &TableSpec, columns: &[&ColumnSpec]) -> String {
    let set: Vec<String> = (3..).zip(columns).map(|(number, column)| format!("{} = ${number}", column.name)).collect();
    format!("UPDATE {} SET {} WHERE tenant = $1 AND id = $2", table.name, set.join(", "))
}

/// Deletes at most `$3` of the tenant's rows with the smallest values below `$2` in this column.
pub(crate) fn delete_rows_before(table: &TableSpec, column: &str) -> String {
    format!("DELETE FROM {} WHERE tenant = $1 AND id IN ({})", table.name, ids_before(table, column))
}

/// The ids of the rows that `delete_rows_before` deletes.
pub(crate) fn ids_before(table: &TableSpec, column: &str) -> String {
    format!("SELECT id FROM {} WHERE tenant = $1 AND {column} < $2 ORDER BY {column}, id LIMIT $3", table.name)
}

/// A page with one row more than asked for, which tells whether there is a next page.
pub(crate) fn page<'a>(tenant: &'a str, query: &'a Query, keys: Option<&TenantKeys>) -> SqlStatement<'a> {
    let table = query.table.name;
    let column = query.order.column;
    let mut statement = SqlStatement {
        text: match query.projection {
            Projection::Rows => {
                format!("SELECT id, {column}, {PAGE_COLUMNS} FROM {table} WHERE tenant = $1")
            }
            Projection::Ids => format!("SELECT id, {column} FROM {table} WHERE tenant = $1"),
        },
        values: vec![QueryParam::Text(tenant)],
    };
    for filter in &query.filters {
        statement.filter(query.table, filter, keys);
    }
    let (compare, direction) = match query.order.direction {
        Direction::Ascending => (">", "ASC"),
        Direction::Descending => ("<", "DESC"),
    };
    if let Start::After(key) = &query.window.start {
        let value = statement.bind(QueryParam::Integer(key.value));
        let id = statement.bind(QueryParam::Text(&key.id));
        let _ = write!(statement.text, " AND ({column}, id) {compare} (${value}, ${id})");
    }
    let limit =
        statement.bind(QueryParam::Integer(i64::try_from(query.window.limit).unwrap_or(i64::MAX).saturating_add(1)));
    let _ = write!(statement.text, " ORDER BY {column} {direction}, id {direction} LIMIT ${limit}");
    if let Start::Offset(rows) = query.window.start {
        let offset = statement.bind(QueryParam::Integer(i64::try_from(rows).unwrap_or(i64::MAX)));
        let _ = write!(statement.text, " OFFSET ${offset}");
    }
    statement
}

/// A number of rows, counted to the query's maximum at most.
pub(crate) fn count<'a>(tenant: &'a str, query: &'a CountQuery, keys: Option<&TenantKeys>) -> SqlStatement<'a> {
    let mut statement = SqlStatement {
        text: format!("SELECT COUNT(*) FROM (SELECT 1 FROM {} WHERE tenant = $1", query.table.name),
        values: vec![QueryParam::Text(tenant)],
    };
    for filter in &query.filters {
        statement.filter(query.table, filter, keys);
    }
    let max = statement.bind(QueryParam::Integer(i64::try_from(query.max).unwrap_or(i64::MAX)));
    let _ = write!(statement.text, " LIMIT ${max}) AS counted");
    statement
}

/// Collects the rows of a page until its window is full.
pub(crate) struct PageBuilder<'a> {
    window: &'a Window,
    page: Page,
    last: Option<PageKey>,
    bytes: usize,
}

impl<'a> PageBuilder<'a> {
    pub(crate) fn new(window: &'a Window) -> PageBuilder<'a> {
        PageBuilder { window, page: Page::default(), last: None, bytes: 0 }
    }

    /// Whether the page has as many rows as it may. Then there is a next page if another row was found.
    pub(crate) fn is_full(&mut self) -> bool {
        let is_full = self.page.rows.len() == self.window.limit;
        if is_full {
            self.page.next = self.last.take();
        }
        is_full
    }

    /// Adds a row unless the page would become too large; the first row always fits. Whether there may be more.
    pub(crate) fn push(&mut self, key: PageKey, text: String, has_masked_part: bool) -> bool {
        self.bytes += text.len();
        if self.bytes > self.window.bytes && !self.page.rows.is_empty() {
            self.page.next = self.last.take();
            return false;
        }
        if has_masked_part {
            self.page.ids.push(key.id.clone());
        }
        self.last = Some(key);
        self.page.rows.push(text);
        true
    }

    pub(crate) fn finish(self) -> Page {
        self.page
    }
}

impl<'a> SqlStatement<'a> {
    fn bind(&mut self, value: QueryParam<'a>) -> usize {
        self.values.push(value);
        self.values.len()
    }

    fn filter(&mut self, table: &TableSpec, filter: &'a Filter, keys: Option<&TenantKeys>) {
        let name = table.name;
        match filter {
            Filter::Equals(column, value) => {
                let number = self.bind(QueryParam::of(value, HashDomain::Column { table: name, column }, keys));
                let _ = write!(self.text, " AND {column} = ${number}");
            }
            Filter::AnyOf(column, values) => {
                let domain = HashDomain::Column { table: name, column };
                let numbers: Vec<String> =
                    values.iter().map(|value| format!("${}", self.bind(QueryParam::of(value, domain, keys)))).collect();
                // An empty list matches nothing, and `IN ()` is not SQL.
                if numbers.is_empty() {
                    self.text.push_str(" AND 1 = 0");
                } else {
                    let _ = write!(self.text, " AND {column} IN ({})", numbers.join(", "));
                }
            }
            Filter::AtLeast(column, value) => {
                let number = self.bind(QueryParam::Integer(*value));
                let _ = write!(self.text, " AND {column} >= ${number}");
            }
            Filter::AtMost(column, value) => {
                let number = self.bind(QueryParam::Integer(*value));
                let _ = write!(self.text, " AND {column} <= ${number}");
            }
            Filter::AbsentOrAbove(column, value) => {
                let number = self.bind(QueryParam::Integer(*value));
                let _ = write!(self.text, " AND ({column} IS NULL OR {column} > ${number})");
            }
            Filter::Either(lists) => {
                self.text.push_str(" AND (1 = 0");
                for list in lists {
                    self.text.push_str(" OR (1 = 1");
                    list.iter().for_each(|filter| self.filter(table, filter, keys));
                    self.text.push(')');
                }
                self.text.push(')');
            }
            Filter::SearchTerms(terms) => {
                for term in terms {
                    let number = self.bind(QueryParam::of_term(term, table, keys));
                    let _ = write!(
                        self.text,
                        " AND EXISTS (SELECT 1 FROM {name}_word w WHERE w.tenant = $1 AND w.word = ${number} AND w.id = {name}.id)"
                    );
                }
            }
        }
    }
}

/// SQLite numbers `$n` by first appearance, so texts that use them out of order would bind wrongly; `?n` is always n.
pub fn for_sqlite(text: &str) -> String {
    text.replace('$', "?")
}

#[cfg(test)]
mod tests;
