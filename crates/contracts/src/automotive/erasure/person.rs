//! Whom an erasure is about, and which records are about them.

use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, TableSpec};
use frontdesk_engine::{Fault, Permitted};

use crate::record::filter::NEWEST;
use crate::record::{Email, FieldValue, Phone};

/// One commit erases at most this many records.
pub const ROUND_RECORDS: usize = 200;
/// Ids that are read by one query.
const PAGE_IDS: usize = 500;

/// How somebody is recognised.
pub(super) struct Person {
    pub(super) customer_id: Option<String>,
    /// The record that they were named by, if no customer is stored for it.
    pub(super) record_id: Option<String>,
    /// Columns and the hashed values that they have.
    pub(super) contact: Vec<(&'static str, Cell)>,
}

pub(super) fn by_email(email: &Email) -> Option<(&'static str, Cell)> {
    first_cell(email).map(|cell| ("email", cell))
}

pub(super) fn by_phone(phone: &Phone) -> Option<(&'static str, Cell)> {
    first_cell(phone).map(|cell| ("phone", cell))
}

fn first_cell(value: &dyn FieldValue) -> Option<Cell> {
    let mut cells = Vec::new();
    value.cells(&mut cells);
    cells.into_iter().next()
}

/// The ids of every row with this value.
pub(super) async fn ids_with(
    permitted: &Permitted<'_>,
    table: &'static TableSpec,
    column: &'static str,
    value: &Cell,
) -> Result<Vec<String>, Fault> {
    let mut ids = Vec::new();
    let mut start = Start::First;
    loop {
        let query = Query {
            projection: Projection::Ids,
            table,
            filters: vec![Filter::Equals(column, value.clone())],
            order: NEWEST,
            window: Window { start, limit: PAGE_IDS, bytes: usize::MAX },
        };
        let page = permitted.page(query).await?;
        ids.extend(page.rows);
        match page.next {
            Some(key) => start = Start::After(key),
            None => return Ok(ids),
        }
    }
}
