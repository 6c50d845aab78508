//! The reading tools of a resource. Stored text is answered as it is; nothing here parses it.

use frontdesk_engine::model::page::{Projection, Query};
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{Future, Item, Outcome, ReadTool};
use frontdesk_engine::{Fault, Permitted};

use crate::record::filter::{Filters, Sorting};

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
            permitted.page(query).await.map(Outcome::Many)
        })
    }
}

pub(super) struct GetTool {
    pub(super) table: &'static TableSpec,
}

impl ReadTool for GetTool {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("id").unwrap_or_default();
            let row = permitted.get(self.table, id).await?.ok_or_else(Fault::not_found)?;
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
