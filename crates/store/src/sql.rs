//! SQL texts made from declared kinds and checked queries. Names come from constants, values are
//! always bound. The texts use `$n` and stay within what the supported databases share.

use std::fmt::Write;

use frontdesk_engine::model::page::{Direction, Filter, Projection, Query, Start};
use frontdesk_engine::model::table::{Cell, ColumnSpec, ColumnType, Row, SearchTerm, TableSpec};

use crate::vault::{Place, TenantKeys};

/// A statement and its values, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement<'a> {
    pub(crate) text: String,
    pub(crate) values: Vec<Value<'a>>,
}

/// A value as a database may see it: personal ones have been hashed for the place they are kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    Text(&'a str),
    Integer(i64),
    Digest(String),
}

impl<'a> Value<'a> {
    /// A tenant without keys has no rows, so there is nothing a hash could find.
    pub(crate) fn of(cell: &'a Cell, place: Place<'_>, keys: Option<&TenantKeys>) -> Value<'a> {
        match (cell, keys) {
            (Cell::Null, _) | (Cell::Digest(_), None) => Value::Null,
            (Cell::Text(text), _) => Value::Text(text),
            (Cell::Integer(number), _) => Value::Integer(*number),
            (Cell::Digest(text), Some(keys)) => Value::Digest(keys.digest(place, text)),
        }
    }

    pub(crate) fn of_word(word: &'a SearchTerm, kind: &TableSpec, keys: Option<&TenantKeys>) -> Value<'a> {
        match (word, keys) {
            (SearchTerm::Plain(word), _) => Value::Text(word),
            (SearchTerm::Personal(_), None) => Value::Null,
            (SearchTerm::Personal(word), Some(keys)) => {
                Value::Digest(keys.digest(Place::Word { kind: kind.name }, word))
            }
        }
    }
}

/// The values of a kind's own columns, in their order. A number to sort by is never missing.
pub(crate) fn cells<'a>(kind: &TableSpec, row: &'a Row, keys: &TenantKeys) -> Vec<Value<'a>> {
    let value = |column: &ColumnSpec| {
        let missing = match column.column_type == ColumnType::Integer && kind.sorted.contains(&column.name) {
            true => &Cell::Integer(0),
            false => &Cell::Null,
        };
        let cell = row.cells.iter().find(|(name, cell)| *name == column.name && *cell != Cell::Null);
        let place = Place::Column { kind: kind.name, column: column.name };
        Value::of(cell.map_or(missing, |(_, cell)| cell), place, Some(keys))
    };
    kind.columns.iter().map(value).collect()
}

/// Columns every kind's table has before its own. The last one is there on SQLite only, see `sqlite::words`.
pub(crate) const FIXED: &str = "tenant, id, version, created_at, updated_at, body, masked, sealed, words";

/// A tenant's next event.
pub const ADD_EVENT: &str =
    "INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
pub const LAST_EVENT: &str = "SELECT event_seq FROM fd_counter WHERE tenant = $1";
pub const COUNT_EVENTS: &str = "INSERT INTO fd_counter (tenant, event_seq) VALUES ($1, $2) \
                                ON CONFLICT (tenant) DO UPDATE SET event_seq = excluded.event_seq";
pub const FIND_CLAIM: &str =
    "SELECT meaning, sealed_answer FROM fd_claim WHERE tenant = $1 AND client = $2 AND tool = $3 AND key_hash = $4";
pub const ADD_CLAIM: &str = "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7)";

pub fn get(kind: &TableSpec) -> String {
    format!("SELECT id, version, created_at, body, masked, sealed FROM {} WHERE tenant = $1 AND id = $2", kind.name)
}

pub(crate) fn find(kind: &TableSpec, column: &str) -> String {
    format!(
        "SELECT id, version, created_at, body, masked, sealed FROM {} WHERE tenant = $1 AND {column} = $2",
        kind.name
    )
}

pub fn insert(kind: &TableSpec) -> String {
    let mut text = format!("INSERT INTO {} ({FIXED}", kind.name);
    for column in kind.columns {
        let _ = write!(text, ", {}", column.name);
    }
    text.push_str(") VALUES (");
    for number in 1..=FIXED.split(", ").count() + kind.columns.len() {
        let comma = if number > 1 { ", " } else { "" };
        let _ = write!(text, "{comma}${number}");
    }
    text.push(')');
    text
}

/// Numbered like an insert of the table's fixed columns and the kind's own, with the expected version last.
pub(crate) fn update(kind: &TableSpec, fixed: &str) -> String {
    let mut text = format!("UPDATE {} SET ", kind.name);
    let own = kind.columns.iter().map(|column| column.name);
    let mut number = 2;
    // The first two are the row's key.
    for column in fixed.split(", ").skip(2).chain(own) {
        let comma = if number > 2 { ", " } else { "" };
        number += 1;
        let _ = write!(text, "{comma}{column} = ${number}");
    }
    let _ = write!(text, " WHERE tenant = $1 AND id = $2 AND version = ${}", number + 1);
    text
}

pub(crate) fn adjust(kind: &TableSpec, column: &str) -> String {
    format!("UPDATE {} SET {column} = {column} + $3 WHERE tenant = $1 AND id = $2 AND {column} + $3 >= $4", kind.name)
}

pub(crate) fn version(kind: &TableSpec) -> String {
    format!("SELECT version FROM {} WHERE tenant = $1 AND id = $2", kind.name)
}

/// Removes a tenant's rows whose number in this column is smaller, the smallest first and only so many.
pub(crate) fn remove_rows_before(kind: &TableSpec, column: &str) -> String {
    format!("DELETE FROM {} WHERE tenant = $1 AND id IN ({})", kind.name, before(kind, column))
}

/// Their ids.
pub(crate) fn before(kind: &TableSpec, column: &str) -> String {
    format!("SELECT id FROM {} WHERE tenant = $1 AND {column} < $2 ORDER BY {column}, id LIMIT $3", kind.name)
}

/// A page: the window's rows and one more, to know whether there are any.
pub(crate) fn page<'a>(tenant: &'a str, query: &'a Query, keys: Option<&TenantKeys>) -> Statement<'a> {
    let table = query.table.name;
    let column = query.order.column;
    let mut made = Statement {
        text: match query.projection {
            Projection::Rows => {
                format!("SELECT id, {column}, body, masked FROM {table} WHERE tenant = $1")
            }
            Projection::Ids => format!("SELECT id, {column} FROM {table} WHERE tenant = $1"),
        },
        values: vec![Value::Text(tenant)],
    };
    for filter in &query.filters {
        made.filter(query.table, filter, keys);
    }
    let (compare, direction) = match query.order.direction {
        Direction::Ascending => (">", "ASC"),
        Direction::Descending => ("<", "DESC"),
    };
    if let Start::After(key) = &query.window.start {
        let value = made.bind(Value::Integer(key.value));
        let id = made.bind(Value::Text(&key.id));
        let _ = write!(made.text, " AND ({column}, id) {compare} (${value}, ${id})");
    }
    let limit = made.bind(Value::Integer(i64::try_from(query.window.limit).unwrap_or(i64::MAX).saturating_add(1)));
    let _ = write!(made.text, " ORDER BY {column} {direction}, id {direction} LIMIT ${limit}");
    if let Start::Offset(rows) = query.window.start {
        let offset = made.bind(Value::Integer(i64::try_from(rows).unwrap_or(i64::MAX)));
        let _ = write!(made.text, " OFFSET ${offset}");
    }
    made
}

impl<'a> Statement<'a> {
    fn bind(&mut self, value: Value<'a>) -> usize {
        self.values.push(value);
        self.values.len()
    }

    fn filter(&mut self, kind: &TableSpec, filter: &'a Filter, keys: Option<&TenantKeys>) {
        let table = kind.name;
        match filter {
            Filter::Equals(column, value) => {
                let number = self.bind(Value::of(value, Place::Column { kind: table, column }, keys));
                let _ = write!(self.text, " AND {column} = ${number}");
            }
            Filter::AnyOf(column, values) => {
                let place = Place::Column { kind: table, column };
                let numbers: Vec<String> =
                    values.iter().map(|value| format!("${}", self.bind(Value::of(value, place, keys)))).collect();
                // An empty list matches nothing, and `IN ()` is not SQL.
                match numbers.is_empty() {
                    true => self.text.push_str(" AND 1 = 0"),
                    false => {
                        let _ = write!(self.text, " AND {column} IN ({})", numbers.join(", "));
                    }
                }
            }
            Filter::AtLeast(column, value) => {
                let number = self.bind(Value::Integer(*value));
                let _ = write!(self.text, " AND {column} >= ${number}");
            }
            Filter::AtMost(column, value) => {
                let number = self.bind(Value::Integer(*value));
                let _ = write!(self.text, " AND {column} <= ${number}");
            }
            Filter::SearchTerms(words) => {
                for word in words {
                    let number = self.bind(Value::of_word(word, kind, keys));
                    let _ = write!(
                        self.text,
                        " AND EXISTS (SELECT 1 FROM {table}_word w WHERE w.tenant = $1 AND w.word = ${number} AND w.id = {table}.id)"
                    );
                }
            }
        }
    }
}

/// SQLite numbers `$n` by first appearance, which would bind out-of-order texts wrongly; `?n` means n.
pub fn for_sqlite(text: &str) -> String {
    text.replace('$', "?")
}

#[cfg(test)]
mod tests;
