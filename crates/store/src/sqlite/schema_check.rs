//! Comparing the schema of a file with the one that Frontdesk makes. A trigger, a view or a constraint that somebody has
//! added can undo a revocation or change what a statement does, and no MAC of a row would notice.

use std::collections::{BTreeMap, BTreeSet};

use frontdesk_engine::model::table::TableSpec;
use rusqlite::Connection;

use crate::StoreError;
use crate::sql::ddl;

/// How much of the schema must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaScope {
    /// A backup, also of an earlier release: nothing that Frontdesk does not make, and no table beside its own.
    Backup,
    /// A database that was just migrated: its tables are exactly as Frontdesk makes them. A table that is not known
    /// here is never read, and may be of a contract that is not declared.
    Migrated,
}

/// The definitions of a table, or of an index, without what differs between a table that was created and one that was
/// altered.
type Definitions = BTreeSet<String>;

/// Fails with what is not as Frontdesk makes it.
pub(crate) fn check_schema(
    connection: &Connection,
    tables: &[&'static TableSpec],
    scope: SchemaScope,
) -> Result<(), StoreError> {
    let expected = expected_objects(tables)?;
    let mut statement = connection.prepare(OBJECTS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name, table, text): (String, String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, Option<String>>(3)?.unwrap_or_default());
        let found = definitions(&text);
        let as_made = match (expected.get(&(kind.clone(), name.clone())), scope) {
            (Some(expected), SchemaScope::Backup) => found.is_subset(expected),
            (Some(expected), SchemaScope::Migrated) => found == *expected,
            (None, SchemaScope::Backup) => false,
            (None, SchemaScope::Migrated) => {
                let is_known = expected.contains_key(&("table".to_owned(), table));
                !is_known && (kind == "table" || kind == "index")
            }
        };
        if !as_made {
            return Err(StoreError::UnexpectedSchema { what: format!("{kind} {name}") });
        }
    }
    Ok(())
}

/// Names that begin with `sqlite_` are SQLite's own; it lets nobody else use them.
const OBJECTS: &str =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name";

/// By kind and name.
fn expected_objects(tables: &[&'static TableSpec]) -> Result<BTreeMap<(String, String), Definitions>, StoreError> {
    let mut objects = BTreeMap::new();
    let core = Connection::open_in_memory()?;
    for text in ddl::MIGRATIONS {
        core.execute_batch(text)?;
    }
    let mut statement = core.prepare(OBJECTS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: Option<String> = row.get(3)?;
        objects.insert((row.get(0)?, row.get(1)?), definitions(&text.unwrap_or_default()));
    }
    for table in tables {
        for text in ddl::create_sqlite(table).into_iter().chain(ddl::indexes(table, &[])) {
            let kind = if text.starts_with("CREATE TABLE") { "table" } else { "index" };
            let text = text.replace(" IF NOT EXISTS", "");
            let name = name_of(&text).to_owned();
            objects.insert((kind.to_owned(), name), definitions(&text));
        }
    }
    Ok(objects)
}

/// Of `CREATE TABLE name (..`, `CREATE INDEX name ON ..` and `CREATE UNIQUE INDEX name ON ..`.
fn name_of(text: &str) -> &str {
    let mut words = text.split([' ', '(']).filter(|word| !word.is_empty());
    words.find(|word| !["CREATE", "UNIQUE", "TABLE", "INDEX"].contains(word)).unwrap_or_default()
}

/// For a table, each of its columns and constraints and what stands around them; for an index, the whole text. A column
/// that is sorted since a later release is not NOT NULL in older tables, so that is left out.
fn definitions(text: &str) -> Definitions {
    let text = without_comments(text);
    let (Some(open), Some(close)) = (text.find('('), text.rfind(')')) else {
        return Definitions::from([text]);
    };
    if !text.starts_with("CREATE TABLE") {
        return Definitions::from([text]);
    }
    let (head, rest) = text.split_at(open);
    let (inner, tail) = rest.split_at(close - open);
    let mut parts: Definitions = split_definitions(inner.strip_prefix('(').unwrap_or_default());
    parts.insert(head.trim().to_owned());
    parts.insert(tail.to_owned());
    parts
}

/// At the commas that are in no parentheses.
fn split_definitions(inner: &str) -> Definitions {
    let (mut depth, mut parts) = (0_i32, vec![String::new()]);
    for one in inner.chars() {
        match one {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if one == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(one);
        }
    }
    parts.iter().map(|part| part.trim().replace(" NOT NULL DEFAULT 0", "")).collect()
}

/// One space between words, no comments.
fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("--").next().unwrap_or_default());
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")")
}
