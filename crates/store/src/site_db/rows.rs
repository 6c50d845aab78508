//! The rows of an answer, collected up to a number of bytes.

use frontdesk_engine::ports::site_db::{SiteCell, SiteRow};

use super::error::ReadError;
use super::render::SiteQuery;

pub(super) struct RowCollector {
    budget: ByteBudget,
    columns: usize,
    rows: Vec<SiteRow>,
}

impl RowCollector {
    pub(super) fn new(query: &SiteQuery) -> RowCollector {
        RowCollector { budget: ByteBudget(query.max_bytes), columns: query.columns, rows: Vec::new() }
    }

    pub(super) fn push(&mut self, cells: impl Iterator<Item = Result<SiteCell, ReadError>>) -> Result<(), ReadError> {
        let mut row = Vec::with_capacity(self.columns);
        for cell in cells.take(self.columns) {
            row.push(self.budget.charge(cell?)?);
        }
        self.rows.push(row);
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<SiteRow> {
        self.rows
    }
}

/// How many bytes an answer may still have.
struct ByteBudget(usize);

impl ByteBudget {
    /// A text counts its bytes, an integer eight.
    fn charge(&mut self, cell: SiteCell) -> Result<SiteCell, ReadError> {
        let bytes = match &cell {
            SiteCell::Null => 0,
            SiteCell::Integer(_) => 8,
            SiteCell::Text(text) => text.len(),
        };
        self.0 = self.0.checked_sub(bytes).ok_or(ReadError::TooLarge)?;
        Ok(cell)
    }
}

/// A site may hold bytes that are no UTF-8.
pub(super) fn text_cell(bytes: Vec<u8>) -> SiteCell {
    SiteCell::Text(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}
