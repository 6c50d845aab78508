//! The tables that hold a tenant's rows, and the statements that read and write them on either database. A test
//! compares the list with the schema, so that no table is forgotten.

use frontdesk_engine::model::table::{ColumnType, TableSpec};

use crate::keyring::RowContent;
use crate::sql::ddl;
use crate::sql::session::StoredValue;

/// A table whose rows are transferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TransferTable {
    pub(crate) name: String,
    /// Without the one that identifies the owner. The first ones are the key that orders the rows.
    pub(crate) columns: Vec<TransferColumn>,
    key: usize,
    owner: RowOwner,
    declared: Declared,
}

/// Whether a contract declares the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// The core's own.
    No,
    Rows {
        searched: &'static [&'static str],
    },
    SearchTerms,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TransferColumn {
    pub(crate) name: String,
    pub(crate) cell_type: CellType,
    pub(crate) nullable: bool,
    is_declared: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellType {
    Text,
    Integer,
    Bytes,
}

/// How a row belongs to the tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOwner {
    Tenant,
    /// By the tenant's audit chain.
    Chain,
    /// It is a client of this tenant and no other, and of no group.
    Client,
}

impl RowOwner {
    pub(crate) fn column(self) -> &'static str {
        match self {
            RowOwner::Tenant => "tenant",
            RowOwner::Chain => "chain",
            RowOwner::Client => "tenants",
        }
    }

    /// Selects the rows of the owner in `$1`. A client may list its only tenant several times.
    pub(crate) fn condition(self) -> &'static str {
        match self {
            RowOwner::Tenant => "tenant = $1",
            RowOwner::Chain => "chain = $1",
            RowOwner::Client => {
                "replace(tenants || ' ', CAST($1 AS TEXT) || ' ', '') = '' AND tenants <> '' AND tenant_groups = ''"
            }
        }
    }
}

/// Every table that is transferred, in order.
pub(crate) fn all(specs: &[&'static TableSpec]) -> Vec<TransferTable> {
    use CellType::{Bytes, Integer, Text};
    // The audit chain comes first, so that a broken one is reported before anything else is written.
    let mut tables = vec![table("fd_audit", RowOwner::Chain, 1, &LINK)];
    for spec in specs {
        let mut columns = vec![
            ("id", Text),
            ("version", Integer),
            ("created_at", Integer),
            ("updated_at", Integer),
            ("body", Text),
            ("masked", Text),
            ("sealed", Bytes),
            ("sealed_secret", Bytes),
        ];
        columns.extend(spec.columns.iter().map(|column| {
            let cell_type = match column.column_type {
                ColumnType::Text | ColumnType::Digest => Text,
                ColumnType::Integer => Integer,
            };
            (column.name, cell_type)
        }));
        let mut own = table(spec.name, RowOwner::Tenant, 1, &columns);
        for (column, declared) in own.columns.iter_mut().rev().zip(spec.columns.iter().rev()) {
            column.nullable = !ddl::is_required(spec, declared);
            column.is_declared = true;
        }
        tables.push(TransferTable { declared: Declared::Rows { searched: spec.searched }, ..own });
        let terms = table(&format!("{}_word", spec.name), RowOwner::Tenant, 2, &[("word", Text), ("id", Text)]);
        tables.push(TransferTable { declared: Declared::SearchTerms, ..terms });
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
    tables.push(table("fd_claim", RowOwner::Tenant, 3, &claim));
    tables.push(table("fd_outbox", RowOwner::Tenant, 1, &event));
    tables.push(table("fd_counter", RowOwner::Tenant, 1, &[("event_seq", Integer)]));
    tables.push(table("fd_client", RowOwner::Client, 1, &client));
    tables
}

/// The columns of a link. The import computes the last one again.
const LINK: [(&str, CellType); 4] =
    [("seq", CellType::Integer), ("at", CellType::Integer), ("records", CellType::Text), ("hash", CellType::Bytes)];

/// Columns of the core that may be NULL.
const NULLABLE: [&str; 4] = ["masked", "sealed", "sealed_secret", "revoked_at"];

fn table(name: &str, owner: RowOwner, key: usize, columns: &[(&str, CellType)]) -> TransferTable {
    let columns = columns
        .iter()
        .map(|(name, cell_type)| TransferColumn {
            name: (*name).to_owned(),
            cell_type: *cell_type,
            nullable: NULLABLE.contains(name),
            is_declared: false,
        })
        .collect();
    TransferTable { name: name.to_owned(), columns, key, owner, declared: Declared::No }
}

impl TransferTable {
    pub(crate) fn owner(&self) -> RowOwner {
        self.owner
    }

    /// How many of the first columns order the rows.
    pub(crate) fn key(&self) -> usize {
        self.key
    }

    pub(crate) fn count(&self) -> String {
        format!("SELECT count(*) FROM {} WHERE {}", self.name, self.owner.condition())
    }

    pub(crate) fn select_first(&self, rows: usize) -> String {
        self.select("", rows)
    }

    /// The rows after the one whose key is bound.
    pub(crate) fn select_next(&self, rows: usize) -> String {
        let numbers: Vec<String> = (0..self.key).map(|column| format!("${}", column + 2)).collect();
        self.select(&format!(" AND ({}) > ({})", self.key_columns(), numbers.join(", ")), rows)
    }

    fn select(&self, after: &str, rows: usize) -> String {
        let (table, owner, key) = (&self.name, self.owner.condition(), self.key_columns());
        format!("SELECT {} FROM {table} WHERE {owner}{after} ORDER BY {key} LIMIT {rows}", self.names())
    }

    pub(crate) fn insert(&self) -> String {
        let count = self.columns.len() + usize::from(self.has_macs());
        let numbers: Vec<String> = (0..count).map(|column| format!("${}", column + 2)).collect();
        let (table, owner) = (&self.name, self.owner.column());
        format!("INSERT INTO {table} ({owner}, {}) VALUES ($1, {})", self.names(), numbers.join(", "))
    }

    /// Many rows, each column as one array, for PostgreSQL.
    pub(crate) fn insert_many(&self) -> String {
        let types =
            self.columns.iter().map(|column| column.cell_type).chain(self.has_macs().then_some(CellType::Bytes));
        let arrays: Vec<String> = types.zip(2..).map(|(cell_type, number)| cell_type.array(number)).collect();
        let (table, owner) = (&self.name, self.owner.column());
        format!("INSERT INTO {table} ({owner}, {}) SELECT $1, * FROM unnest({})", self.names(), arrays.join(", "))
    }

    /// Deletes some rows of the owner in `$1`, on SQLite.
    pub(crate) fn delete_some(&self, rows: usize) -> String {
        let (table, owner, key) = (&self.name, self.owner.condition(), self.key_columns());
        format!(
            "DELETE FROM {table} WHERE {owner} AND ({key}) IN (SELECT {key} FROM {table} WHERE {owner} LIMIT {rows})"
        )
    }

    /// The same on PostgreSQL, by where the rows are: however many there are, no plan reads them all.
    pub(crate) fn delete_some_by_place(&self, rows: usize) -> String {
        let (table, owner) = (&self.name, self.owner.condition());
        format!("DELETE FROM {table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {owner} LIMIT {rows}))")
    }

    /// The columns and their types.
    pub(crate) fn signature(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(TransferColumn::signature).collect();
        columns.join(", ")
    }

    /// An earlier release may not have had it.
    pub(crate) fn is_declared(&self) -> bool {
        self.declared != Declared::No
    }

    pub(crate) fn searched(&self) -> Option<&'static [&'static str]> {
        match self.declared {
            Declared::Rows { searched } => Some(searched),
            Declared::No | Declared::SearchTerms => None,
        }
    }

    /// A row's MAC is verified when it is exported and computed when it is imported, so it is in no export.
    fn names(&self) -> String {
        let names = self.columns.iter().map(|column| column.name.as_str());
        names.chain(self.has_macs().then_some("mac")).collect::<Vec<_>>().join(", ")
    }

    /// Whether its rows carry MACs, in a column after the others.
    pub(crate) fn has_macs(&self) -> bool {
        matches!(self.declared, Declared::Rows { .. })
    }

    /// What the MAC of a row of the tenant covers. `None` if its values have other types.
    pub(crate) fn content<'a>(&'a self, tenant: &'a str, row: &'a [StoredValue]) -> Option<RowContent<'a>> {
        use StoredValue::{Bytes, Integer, Null, Text};
        let text = |value: &'a StoredValue| match value {
            Text(text) => Some(Some(text.as_str())),
            Null => Some(None),
            Integer(_) | Bytes(_) => None,
        };
        let bytes = |value: &'a StoredValue| match value {
            Bytes(bytes) => Some(Some(bytes.as_slice())),
            Null => Some(None),
            Integer(_) | Text(_) => None,
        };
        let [Text(id), Integer(version), Integer(created_at), Integer(updated_at), Text(body), rest @ ..] = row else {
            return None;
        };
        let [masked, sealed, sealed_secret, ..] = rest else {
            return None;
        };
        Some(RowContent {
            tenant,
            table: &self.name,
            id,
            version: *version,
            created_at: *created_at,
            updated_at: *updated_at,
            body,
            masked: text(masked)?,
            sealed: bytes(sealed)?,
            sealed_secret: bytes(sealed_secret)?,
        })
    }

    fn key_columns(&self) -> String {
        let names: Vec<&str> = self.columns.iter().take(self.key).map(|column| column.name.as_str()).collect();
        names.join(", ")
    }
}

impl TransferColumn {
    pub(crate) fn signature(&self) -> String {
        format!("{} {}", self.name, self.cell_type.sql_type())
    }

    /// Whether an export of an earlier release may lack it.
    pub(crate) fn may_be_absent(&self, table: &TransferTable) -> bool {
        table.is_declared() && (self.is_declared || self.name == "sealed_secret")
    }

    /// The value of rows that lack it, as `ALTER TABLE` gives it.
    pub(crate) fn default_value(&self) -> StoredValue {
        if self.nullable { StoredValue::Null } else { StoredValue::Integer(0) }
    }
}

impl CellType {
    fn array(self, number: usize) -> String {
        format!("CAST(${number} AS {}[])", self.sql_type())
    }

    fn sql_type(self) -> &'static str {
        match self {
            CellType::Text => "TEXT",
            CellType::Integer => "BIGINT",
            CellType::Bytes => "BYTEA",
        }
    }
}
