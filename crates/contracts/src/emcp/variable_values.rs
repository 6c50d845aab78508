//! The values of many variables for the rows of one answer, read by a statement of their own: PostgreSQL plans a
//! statement with 50 joins for a quarter of a second, and every call anew.

use std::collections::HashMap;

use frontdesk_engine::ports::site_db::{Literal, Name, Predicate, Select, SiteCell, SiteDb, SiteRow};
use frontdesk_engine::{Fault, FaultKind};

use super::query::{BASE, column};
use super::schemas;

pub(super) const TABLE: Name = "site_tmplvar_contentvalues";

/// The two integers that come with each value.
const KEY_BYTES: usize = 16;

/// A variable that is shown, and what is shown where a document has no value.
pub(super) struct ShownVariable<'a> {
    pub(super) id: i64,
    pub(super) default: Option<&'a str>,
}

/// Appends the values to the rows, which begin with the id of their document. Rows and values together have at most so
/// many bytes.
pub(super) async fn append(
    site_db: &dyn SiteDb,
    variables: &[ShownVariable<'_>],
    rows: &mut [SiteRow],
    max_bytes: usize,
) -> Result<(), Fault> {
    let mut budget = max_bytes;
    for cell in rows.iter().flatten() {
        charge(&mut budget, cell)?;
    }
    let documents: Vec<i64> = rows.iter().filter_map(document_id).collect();
    if documents.is_empty() || variables.is_empty() {
        return Ok(());
    }
    let mut values = HashMap::new();
    for row in site_db.select(&select(&documents, variables, budget)).await? {
        if let Ok([document, variable, value]) = <[SiteCell; 3]>::try_from(row) {
            values.entry((schemas::integer(&document), schemas::integer(&variable))).or_insert(value);
        }
    }
    for row in rows {
        let document = document_id(row);
        for variable in variables {
            let value = values.get(&(document, Some(variable.id))).unwrap_or(&SiteCell::Null);
            let cell = match (value, variable.default) {
                (SiteCell::Null, Some(default)) => SiteCell::Text(default.to_owned()),
                (value, _) => value.clone(),
            };
            charge(&mut budget, &cell)?;
            row.push(cell);
        }
    }
    Ok(())
}

fn document_id(row: &SiteRow) -> Option<i64> {
    row.first().and_then(schemas::integer)
}

fn select(documents: &[i64], variables: &[ShownVariable<'_>], bytes: usize) -> Select {
    let cells = documents.len().saturating_mul(variables.len());
    let among = |ids: &mut dyn Iterator<Item = i64>| ids.map(Literal::Integer).collect();
    Select {
        from: (BASE, TABLE),
        joins: Vec::new(),
        columns: vec![column("contentid"), column("tmplvarid"), column("value")],
        filter: vec![
            Predicate::AnyOf(column("contentid"), among(&mut documents.iter().copied())),
            Predicate::AnyOf(column("tmplvarid"), among(&mut variables.iter().map(|variable| variable.id))),
        ],
        // A key of the CMS makes each value unique, and an order by id would make SQLite walk the whole table.
        order: Vec::new(),
        offset: 0,
        limit: u64::try_from(cells).unwrap_or(u64::MAX),
        bytes: bytes.saturating_add(cells.saturating_mul(KEY_BYTES)),
    }
}

/// As the database counts: a text its bytes, an integer eight.
fn charge(budget: &mut usize, cell: &SiteCell) -> Result<(), Fault> {
    let bytes = match cell {
        SiteCell::Null => 0,
        SiteCell::Integer(_) => 8,
        SiteCell::Text(text) => text.len(),
    };
    *budget = budget.checked_sub(bytes).ok_or_else(|| {
        Fault::new(FaultKind::AnswerTooLarge, "The answer is larger than allowed. Ask for fewer rows or fields.")
    })?;
    Ok(())
}
