//! Which tables and columns the database has, as it says itself. A name that is not here goes into no statement.

use std::collections::{BTreeSet, HashMap};

/// What is looked at to know a site by.
const LANDMARK: &str = "site_content";

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
    /// The prefixes under which sites were found, if none is under this one.
    pub(crate) fn of(described: Vec<Described>, prefix: &str) -> Result<Schema, Vec<String>> {
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
            false => Err(prefixes.into_iter().collect()),
        }
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }
}
