//! Asking for many rows: filters, an order, a window onto it, and the page that comes back.

use crate::model::table::{Cell, SearchTerm, TableSpec};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    Equals(&'static str, Cell),
    AnyOf(&'static str, Vec<Cell>),
    AtLeast(&'static str, i64),
    AtMost(&'static str, i64),
    /// More than this, or no value at all: what has not ended yet. Not for columns that lists are sorted by.
    AbsentOrAbove(&'static str, i64),
    /// All filters of at least one of these lists.
    Either(Vec<Vec<Filter>>),
    /// Every one of these words.
    SearchTerms(Vec<SearchTerm>),
}

impl Filter {
    /// Whether it searches by personal data.
    pub fn is_personal(&self) -> bool {
        match self {
            Filter::Equals(_, cell) => matches!(cell, Cell::Digest(_)),
            Filter::AnyOf(_, cells) => cells.iter().any(|cell| matches!(cell, Cell::Digest(_))),
            Filter::SearchTerms(words) => words.iter().any(|word| matches!(word, SearchTerm::Personal(_))),
            Filter::Either(lists) => lists.iter().flatten().any(Filter::is_personal),
            Filter::AtLeast(..) | Filter::AtMost(..) | Filter::AbsentOrAbove(..) => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// An order is total: the column first, the id second, both in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    pub column: &'static str,
    pub direction: Direction,
}

/// Where the last page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageKey {
    pub value: i64,
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    First,
    After(PageKey),
    Offset(u64),
}

/// At most `limit` rows and about `bytes` bytes, but always one whole row if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub start: Start,
    pub limit: usize,
    pub bytes: usize,
}

/// Whether a page is made of whole rows or only of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    Rows,
    Ids,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub projection: Projection,
    pub table: &'static TableSpec,
    pub filters: Vec<Filter>,
    pub order: Order,
    pub window: Window,
}

/// How many rows pass these filters, counted to `max` at most: counting more would cost more than anybody needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountQuery {
    pub table: &'static TableSpec,
    pub filters: Vec<Filter>,
    pub max: usize,
}

/// How many rows a whole list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Exactly(usize),
    /// More than this; they were counted no further.
    MoreThan(usize),
}

/// Rows as JSON objects ready to send, personal data masked (or bare ids, when only those were wanted);
/// `next` only when more rows exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    pub rows: Vec<String>,
    /// Ids of those rows that have personal data, which the audit must name.
    pub ids: Vec<String>,
    pub next: Option<PageKey>,
}
