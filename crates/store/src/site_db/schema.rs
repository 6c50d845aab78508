//! The tables and columns of a site, as the database itself lists them. A name that is not in here gets into no
//! statement.

use std::collections::{BTreeSet, HashMap};

use super::error::SiteDbError;

/// The table by which a site is recognized.
pub(super) const PROBE_TABLE: &str = "site_content";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlType {
    Integer,
    /// A boolean type of its own, read as 0 and 1.
    Boolean,
    Text,
    /// Any other type, read as its text.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SiteColumn {
    pub(super) sql_type: SqlType,
    pub(super) is_not_null: bool,
    /// Whether its values may be very long.
    pub(super) is_unbounded: bool,
    pub(super) charset: Charset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// All of Unicode.
    Utf8,
    /// A smaller one, such as latin1 or utf8mb3.
    #[cfg_attr(
        all(not(test), not(feature = "mysql")),
        expect(dead_code, reason = "only MySQL has a character set per column")
    )]
    Legacy,
}

/// A column as introspection finds it.
pub(super) struct ColumnInfo {
    pub(super) table: String,
    pub(super) name: String,
    pub(super) column: SiteColumn,
}

#[derive(Debug, Default)]
pub(super) struct SiteTable {
    /// With the prefix.
    pub(super) name: String,
    pub(super) columns: HashMap<String, SiteColumn>,
}

/// The tables of one site, by their names without its prefix.
#[derive(Debug)]
pub(super) struct SiteSchema {
    tables: HashMap<String, SiteTable>,
}

impl SiteSchema {
    pub(super) fn new(columns: Vec<ColumnInfo>, prefix: &str) -> Result<SiteSchema, SiteDbError> {
        let mut tables: HashMap<String, SiteTable> = HashMap::new();
        let mut prefixes = BTreeSet::new();
        for ColumnInfo { table, name, column } in columns {
            if let Some(prefix) = table.strip_suffix(PROBE_TABLE) {
                prefixes.insert(prefix.to_owned());
            }
            if let Some(short) = table.strip_prefix(prefix).map(str::to_owned) {
                let entry = tables.entry(short).or_insert_with(|| SiteTable { name: table, columns: HashMap::new() });
                entry.columns.insert(name, column);
            }
        }
        if tables.contains_key(PROBE_TABLE) {
            Ok(SiteSchema { tables })
        } else {
            Err(SiteDbError::NoSite { prefix: prefix.to_owned(), found: prefixes.into_iter().collect() })
        }
    }

    pub(super) fn table(&self, name: &str) -> Option<&SiteTable> {
        self.tables.get(name)
    }
}
