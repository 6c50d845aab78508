//! The reading tools of a resource. Stored text is answered as it is; nothing here parses it.

use frontdesk_engine::model::page::{Projection, Query, Start, Window};
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{Future, Item, ListAnswer, Outcome, ReadTool};
use frontdesk_engine::{Fault, FaultKind, Permitted};

use super::MAX_TOTAL;
use crate::record::filter::{Filters, NEWEST, Sorting};

pub(super) struct ListTool {
    pub(super) table: &'static TableSpec,
    pub(super) filters: Filters,
    pub(super) sorting: Sorting,
}

impl ReadTool for ListTool {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let query = Query {
                projection: Projection::Rows,
                table: self.table,
                filters: self.filters.of_call(permitted)?,
                order: self.sorting.of_call(permitted),
                window: permitted.window(),
            };
            let page = permitted.page(query).await?;
            let total = permitted.total(self.table, || self.filters.of_call(permitted), &page, MAX_TOTAL).await?;
            // A cursor may point behind the last row; then the list itself is not empty.
            let is_empty = page.rows.is_empty() && permitted.window().start == Start::First;
            let note = if is_empty { self.money_note(permitted).await? } else { None };
            Ok(Outcome::Many(Box::new(ListAnswer { page, total, note })))
        })
    }
}

impl ListTool {
    /// Said of an empty list if its range of money is all that excludes its rows, as when dollars were sent for cents.
    async fn money_note(&self, permitted: &Permitted<'_>) -> Result<Option<String>, Fault> {
        let names = self.filters.money_arguments(permitted);
        if names.is_empty() {
            return Ok(None);
        }
        let query = Query {
            projection: Projection::Ids,
            table: self.table,
            filters: self.filters.without_money(permitted)?,
            order: NEWEST,
            window: Window { limit: 1, ..permitted.window() },
        };
        let found = permitted.page(query).await?;
        Ok((!found.rows.is_empty()).then(|| {
            format!(
                "Without {} there would be matches. Amounts are in minor units of the currency: 2499999 is 24,999.99 USD. \
                 Only amounts in the same currency are compared.",
                names.join(" and ")
            )
        }))
    }
}

pub(super) struct GetTool {
    pub(super) table: &'static TableSpec,
    /// Said if there is no such record.
    pub(super) not_found: &'static str,
}

impl ReadTool for GetTool {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("id").unwrap_or_default();
            let row =
                permitted.get(self.table, id).await?.ok_or_else(|| Fault::new(FaultKind::NotFound, self.not_found))?;
            Ok(Outcome::One(Item {
                id: row.id,
                version: row.version,
                body: row.body,
                masked: row.masked,
                personal: row.personal,
            }))
        })
    }
}
