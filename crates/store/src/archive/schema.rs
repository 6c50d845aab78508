//! Which tables and columns the database has, as it says itself. A name that is not here goes into no statement.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use super::error::ArchiveError;
use super::texts::Texts;

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

/// By names that are short and the site's own: every column of every statement is looked up, and nobody can fill the
/// table with names that collide.
type ByName<T> = HashMap<String, T, BuildHasherDefault<Quick>>;

/// The hash that Fowler, Noll and Vo made for this.
pub(crate) struct Quick(u64);

impl Default for Quick {
    fn default() -> Quick {
        Quick(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// With the prefix.
    pub(crate) name: String,
    pub(crate) columns: ByName<Column>,
}

/// The tables of one site, by their names without its prefix.
#[derive(Debug)]
pub(crate) struct Schema {
    tables: ByName<Table>,
    pub(super) texts: Texts,
}

impl Schema {
    pub(crate) fn of(described: Vec<Described>, prefix: &str) -> Result<Schema, ArchiveError> {
        let mut tables: ByName<Table> = HashMap::default();
        let mut prefixes = BTreeSet::new();
        for Described { table, column, is } in described {
            if let Some(prefix) = table.strip_suffix(LANDMARK) {
                prefixes.insert(prefix.to_owned());
            }
            if let Some(short) = table.strip_prefix(prefix).map(str::to_owned) {
                let entry = tables.entry(short).or_insert_with(|| Table { name: table, columns: HashMap::default() });
                entry.columns.insert(column, is);
            }
        }
        match tables.contains_key(LANDMARK) {
            true => Ok(Schema { tables, texts: Texts::default() }),
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
