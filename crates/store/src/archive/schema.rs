//! Which tables and columns the database has, as it says itself. A name that is not here goes into no statement.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use super::error::ArchiveError;

/// What is looked at to know a site by.
pub(crate) const LANDMARK: &str = "site_content";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Whole,
    /// Truth of its own kind, read as 0 and 1.
    Truth,
    Text,
    /// Something else, read as the database writes it.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) holds: Holds,
    /// Whether every row has a value.
    pub(crate) is_filled: bool,
    /// Whether a value may be as long as it likes.
    pub(crate) is_wide: bool,
    pub(crate) letters: Letters,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// All that there are.
    All,
    /// Those of an older character set.
    Some,
}

pub(crate) struct Described {
    pub(crate) table: String,
    pub(crate) column: String,
    pub(crate) is: Column,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// With the prefix.
    pub(crate) name: String,
    pub(crate) columns: HashMap<String, Column>,
}

/// The tables of one site, by their names without its prefix.
#[derive(Debug)]
pub(crate) struct Schema {
    tables: HashMap<String, Table>,
}

impl Schema {
    pub(crate) fn of(described: Vec<Described>, prefix: &str) -> Result<Schema, ArchiveError> {
        let mut tables: HashMap<String, Table> = HashMap::new();
        let mut prefixes = BTreeSet::new();
        for Described { table, column, is } in described {
            if let Some(prefix) = table.strip_suffix(LANDMARK) {
                prefixes.insert(prefix.to_owned());
            }
            if let Some(short) = table.strip_prefix(prefix).map(str::to_owned) {
                let entry = tables.entry(short).or_insert_with(|| Table { name: table, columns: HashMap::new() });
                entry.columns.insert(column, is);
            }
        }
        match tables.contains_key(LANDMARK) {
            true => Ok(Schema { tables }),
            false => Err(ArchiveError::NoSite { prefix: prefix.to_owned(), found: prefixes.into_iter().collect() }),
        }
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }
}

/// What was found when the database was last looked at.
pub(crate) struct Found(RwLock<Arc<Schema>>);

impl Found {
    pub(crate) fn new(schema: Schema) -> Found {
        Found(RwLock::new(Arc::new(schema)))
    }

    pub(crate) fn now(&self) -> Arc<Schema> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, schema: Schema) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(schema);
    }
}
