//! Which tables hold a tenant's rows, and the statements that read and write them on either database. A table
//! that is forgotten here would stay behind: a test compares the list with the schema.

use frontdesk_engine::model::table::{ColumnType, TableSpec};

use crate::ddl;

/// A table whose rows move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    /// Without the one that says whose the row is. The first ones are the key that orders the rows.
    pub(super) columns: Vec<Column>,
    key: usize,
    whose: Whose,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) holds: Holding,
    /// Whether a row may be without it.
    pub(super) may_lack: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    Text,
    Integer,
    Bytes,
}

/// How a row says that it is the tenant's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Tenant,
    /// It is on the tenant's audit chain.
    Chain,
    /// It is a client that acts for this tenant and no other.
    Client,
}

impl Whose {
    pub(super) fn column(self) -> &'static str {
        match self {
            Whose::Tenant => "tenant",
            Whose::Chain => "chain",
            Whose::Client => "tenants",
        }
    }

    /// Holds for rows of the tenant that is bound first. A client may name its one tenant several times.
    fn condition(self) -> &'static str {
        match self {
            Whose::Tenant => "tenant = $1",
            Whose::Chain => "chain = $1",
            Whose::Client => "replace(tenants || ' ', CAST($1 AS TEXT) || ' ', '') = ''",
        }
    }
}

/// Every table that moves, in the order in which its rows do.
pub(super) fn all(kinds: &[&'static TableSpec]) -> Vec<Table> {
    use Holding::{Bytes, Integer, Text};
    // The chain comes first: one that does not hold is said before anything else is done.
    let mut tables = vec![table("fd_audit", Whose::Chain, 1, &LINK)];
    for kind in kinds {
        let mut columns = vec![
            ("id", Text),
            ("version", Integer),
            ("created_at", Integer),
            ("updated_at", Integer),
            ("body", Text),
            ("masked", Text),
            ("sealed", Bytes),
        ];
        columns.extend(kind.columns.iter().map(|column| {
            let holds = match column.column_type {
                ColumnType::Text | ColumnType::Digest => Text,
                ColumnType::Integer => Integer,
            };
            (column.name, holds)
        }));
        let mut own = table(kind.name, Whose::Tenant, 1, &columns);
        for (column, declared) in own.columns.iter_mut().rev().zip(kind.columns.iter().rev()) {
            column.may_lack = !ddl::is_needed(kind, declared);
        }
        tables.push(own);
        tables.push(table(&format!("{}_word", kind.name), Whose::Tenant, 2, &[("word", Text), ("id", Text)]));
    }
    let claim = [
        ("client", Text),
        ("tool", Text),
        ("key_hash", Text),
        ("meaning", Bytes),
        ("sealed_answer", Bytes),
        ("at", Integer),
    ];
    let event = [("seq", Integer), ("event", Text), ("kind", Text), ("id", Text), ("change", Text), ("at", Integer)];
    let client = [
        ("client", Text),
        ("name", Text),
        ("secret_hash", Bytes),
        ("scopes", Text),
        ("created_at", Integer),
        ("revoked_at", Integer),
    ];
    tables.push(table("fd_claim", Whose::Tenant, 3, &claim));
    tables.push(table("fd_outbox", Whose::Tenant, 1, &event));
    tables.push(table("fd_counter", Whose::Tenant, 1, &[("event_seq", Integer)]));
    tables.push(table("fd_client", Whose::Client, 1, &client));
    tables
}

/// A link in the order of its columns; arrival makes the last one anew.
const LINK: [(&str, Holding); 4] =
    [("seq", Holding::Integer), ("at", Holding::Integer), ("records", Holding::Text), ("hash", Holding::Bytes)];

/// Columns of the engine's own that a row may be without.
const MAY_LACK: [&str; 3] = ["masked", "sealed", "revoked_at"];

fn table(name: &str, whose: Whose, key: usize, columns: &[(&str, Holding)]) -> Table {
    let columns = columns
        .iter()
        .map(|(name, holds)| Column { name: (*name).to_owned(), holds: *holds, may_lack: MAY_LACK.contains(name) })
        .collect();
    Table { name: name.to_owned(), columns, key, whose }
}

impl Table {
    pub(super) fn whose(&self) -> Whose {
        self.whose
    }

    /// How many of the first columns order the rows.
    pub(super) fn key(&self) -> usize {
        self.key
    }

    pub(super) fn count(&self) -> String {
        format!("SELECT count(*) FROM {} WHERE {}", self.name, self.whose.condition())
    }

    /// So many rows from the beginning.
    pub(super) fn first(&self, rows: usize) -> String {
        self.piece("", rows)
    }

    /// So many rows after the one whose key is bound.
    pub(super) fn next(&self, rows: usize) -> String {
        let numbers: Vec<String> = (0..self.key).map(|place| format!("${}", place + 2)).collect();
        self.piece(&format!(" AND ({}) > ({})", self.key_columns(), numbers.join(", ")), rows)
    }

    fn piece(&self, after: &str, rows: usize) -> String {
        let (table, whose, key) = (&self.name, self.whose.condition(), self.key_columns());
        format!("SELECT {} FROM {table} WHERE {whose}{after} ORDER BY {key} LIMIT {rows}", self.names())
    }

    /// One row.
    pub(super) fn insert(&self) -> String {
        let numbers: Vec<String> = (0..self.columns.len()).map(|place| format!("${}", place + 2)).collect();
        let (table, whose) = (&self.name, self.whose.column());
        format!("INSERT INTO {table} ({whose}, {}) VALUES ($1, {})", self.names(), numbers.join(", "))
    }

    /// Many rows, each column as one array. Only PostgreSQL understands it.
    pub(super) fn insert_many(&self) -> String {
        let arrays: Vec<String> = self.columns.iter().zip(2..).map(|(column, number)| column.array(number)).collect();
        let (table, whose) = (&self.name, self.whose.column());
        format!("INSERT INTO {table} ({whose}, {}) SELECT $1, * FROM unnest({})", self.names(), arrays.join(", "))
    }

    /// The columns and what they hold, in words that can be compared.
    pub(super) fn shape(&self) -> String {
        let columns: Vec<String> =
            self.columns.iter().map(|column| format!("{} {}", column.name, column.holds.word())).collect();
        columns.join(", ")
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    fn key_columns(&self) -> String {
        let names: Vec<&str> = self.columns.iter().take(self.key).map(|column| column.name.as_str()).collect();
        names.join(", ")
    }
}

impl Column {
    fn array(&self, number: usize) -> String {
        format!("CAST(${number} AS {}[])", self.holds.word())
    }
}

impl Holding {
    fn word(self) -> &'static str {
        match self {
            Holding::Text => "TEXT",
            Holding::Integer => "BIGINT",
            Holding::Bytes => "BYTEA",
        }
    }
}
