//! Which columns of an export go into which columns of this database. An export of an earlier release may lack columns
//! and tables; what rows are looked up by is then computed. One with columns that are not known here is refused.

use frontdesk_engine::model::table::{ColumnSpec, TableSpec};

use super::tables::{self, TransferColumn, TransferTable};
use super::{Manifest, StoredValue, TableManifest};
use crate::StoreError;
use crate::reindex::{IndexWork, TermWork, is_looked_up_by};

/// A table of the manifest, and where the values of its rows come from.
pub(super) struct ImportTable {
    pub(super) table: TransferTable,
    pub(super) expected: u64,
    pub(super) received: u64,
    /// For each column its position in a received row, `None` if the export lacks it.
    sources: Vec<Option<usize>>,
    /// How many values a received row has.
    width: usize,
    searched: Option<Vec<String>>,
}

impl ImportTable {
    /// The row with a value for each column of the table. `None` if it has another number of values than announced.
    pub(super) fn arrange(&self, mut row: Vec<StoredValue>) -> Option<Vec<StoredValue>> {
        if row.len() != self.width {
            return None;
        }
        let mut value = |(column, source): (&TransferColumn, &Option<usize>)| match source {
            Some(position) => row.get_mut(*position).map(|value| std::mem::replace(value, StoredValue::Null)),
            None => Some(column.default_value()),
        };
        self.table.columns.iter().zip(&self.sources).map(&mut value).collect()
    }

    /// Whether its rows were searched by the same fields.
    pub(super) fn is_searched_alike(&self, spec: &TableSpec) -> bool {
        self.searched.as_ref().is_some_and(|searched| searched == spec.searched)
    }

    pub(super) fn lacks(&self, column: &str) -> bool {
        let of = |(own, source): (&TransferColumn, &Option<usize>)| own.name == column && source.is_none();
        self.table.columns.iter().zip(&self.sources).any(of)
    }
}

/// The tables of the manifest in its order, and what has to be computed when their rows are there.
pub(super) fn arrange(
    specs: &[&'static TableSpec],
    manifest: &Manifest,
) -> Result<(Vec<ImportTable>, Vec<IndexWork>), StoreError> {
    let mut known = tables::all(specs);
    let mut arranged = Vec::new();
    for received in &manifest.tables {
        let position = known.iter().position(|table| table.name == received.table);
        // The name of the file is not repeated: it is printed to terminals.
        let position = position.ok_or_else(|| mismatch("of a contract"))?;
        let table = known.remove(position);
        let sources = sources(&table, received).ok_or_else(|| mismatch(&table.name))?;
        let width = sources.iter().flatten().count();
        let (expected, searched) = (received.rows, received.searched.clone());
        arranged.push(ImportTable { table, expected, received: 0, sources, width, searched });
    }
    if let Some(absent) = known.iter().find(|table| !table.is_declared()) {
        return Err(mismatch(&absent.name));
    }
    let mut all = Vec::new();
    for spec in specs {
        let of_spec = arranged.iter().zip(&manifest.tables).find(|(own, _)| own.table.name == spec.name);
        if let Some((own, received)) = of_spec {
            all.extend(work(spec, own, received)?);
        }
    }
    Ok((arranged, all))
}

/// `None` if a column is not known here, has another type, or is missing although every release has it.
fn sources(table: &TransferTable, received: &TableManifest) -> Option<Vec<Option<usize>>> {
    let columns: Vec<&str> = received.columns.split(", ").collect();
    let position = |own: &TransferColumn| columns.iter().position(|column| *column == own.signature());
    let sources: Vec<Option<usize>> = table.columns.iter().map(position).collect();
    let is_complete = |(own, source): (&TransferColumn, &Option<usize>)| source.is_some() || own.may_be_absent(table);
    let all_known = sources.iter().flatten().count() == columns.len();
    (all_known && table.columns.iter().zip(&sources).all(is_complete)).then_some(sources)
}

fn work(
    spec: &'static TableSpec,
    own: &ImportTable,
    received: &TableManifest,
) -> Result<Option<IndexWork>, StoreError> {
    let missing: Vec<&ColumnSpec> = spec.columns.iter().filter(|column| own.lacks(column.name)).collect();
    let is_searched_alike = received.searched.as_ref().is_some_and(|searched| searched == spec.searched);
    if received.rows == 0 || (missing.is_empty() && is_searched_alike) {
        return Ok(None);
    }
    let terms = if is_searched_alike { TermWork::Keep } else { TermWork::Replace };
    match spec.index {
        Some(index) => Ok(Some(IndexWork { table: spec, index, columns: missing, terms, target: String::new() })),
        None => {
            // An export that does not say what it was searched by is of a release in which that could not change.
            let searched = received.searched.iter().flatten();
            let gained_fields = received.searched.is_some()
                && spec.searched.iter().any(|field| !searched.clone().any(|one| one == field));
            if gained_fields || missing.iter().any(|column| is_looked_up_by(spec, column)) {
                Err(mismatch(spec.name))
            } else {
                Ok(None)
            }
        }
    }
}

fn mismatch(table: &str) -> StoreError {
    StoreError::SchemaMismatch { table: table.to_owned() }
}
