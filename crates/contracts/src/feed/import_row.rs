//! A row of a feed as an import sees it.

use frontdesk_engine::import::{ReadRow, RowProblem};

use super::{FeedProblem, FeedRow};

impl From<FeedRow> for ReadRow {
    fn from(row: FeedRow) -> ReadRow {
        let arguments = row.arguments.map_err(|problems| problems.into_iter().map(RowProblem::from).collect());
        ReadRow { line: row.line, arguments }
    }
}

impl From<FeedProblem> for RowProblem {
    fn from(problem: FeedProblem) -> RowProblem {
        RowProblem { field: problem.column.unwrap_or_default(), reason: problem.reason }
    }
}
