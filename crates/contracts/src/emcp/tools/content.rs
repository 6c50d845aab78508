//! Reading pages: from the rows that a tool chooses to the answer, with the selected template variables.

use frontdesk_engine::model::contract_entry::QueryLimits;
use std::sync::Arc;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::Field;
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool, Tool};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::site_db::{Expr, Join, Predicate, Select, SiteDb, SiteRow};
use frontdesk_engine::{Fault, Permitted};

use super::{ToolDescription, read_tool};
use crate::emcp::query::{BASE, column, equals};
use crate::emcp::variable_cache::VariableCache;
use crate::emcp::variables::{Variables, with_tvs};
use crate::emcp::{document, schemas};

/// What a tool can use to choose its rows.
pub(super) struct QueryContext<'a> {
    pub(super) input: &'a ToolInput,
    pub(super) site_db: &'a dyn SiteDb,
    pub(super) limits: &'a QueryLimits,
    pub(super) variables: &'a Variables,
}

/// Which documents, in which order.
#[derive(Default)]
pub(super) struct DocumentQuery {
    pub(super) joins: Vec<Join>,
    pub(super) filter: Vec<Predicate>,
    pub(super) order: Vec<(Expr, Direction)>,
}

/// Builds the query of a list. `None` is an empty list without a query.
pub(super) type SelectRows = for<'a> fn(&'a QueryContext<'a>) -> Future<'a, Result<Option<DocumentQuery>, Fault>>;

/// A list of pages.
pub(super) fn list(
    limits: QueryLimits,
    description: ToolDescription,
    own: Vec<Field>,
    select_rows: SelectRows,
) -> Tool {
    let mut input = own;
    input.push(with_tvs());
    input.extend(schemas::limit_and_offset(&limits));
    let output = schemas::list(document::schema(), &limits, None);
    read_tool(description, input, output, Arc::new(List { limits, select_rows, cache: VariableCache::default() }))
}

pub(super) fn get(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.get",
        title: "Get a page",
        about: "Reads one page by its id; null if there is none or it is in the bin.",
    };
    let input = vec![schemas::id("The page's id."), with_tvs()];
    read_tool(
        description,
        input,
        schemas::single(document::schema(), None),
        Arc::new(Get { limits, cache: VariableCache::default() }),
    )
}

struct List {
    limits: QueryLimits,
    select_rows: SelectRows,
    cache: VariableCache,
}

impl ReadTool for List {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let (input, site_db, limits) = (permitted.input(), &permitted.site_db()?, &self.limits);
            let variables = Variables::resolve(permitted, &self.cache).await?;
            let context = QueryContext { input, site_db, limits, variables: &variables };
            let (limit, offset) = limit_and_offset(input);
            let rows = match (self.select_rows)(&context).await? {
                Some(query) => read_rows(&context, query, limit, offset).await?,
                None => Vec::new(),
            };
            let names = variables.names();
            let mut answer = String::with_capacity(document::TYPICAL_BYTES * (1 + rows.len()));
            answer.push_str("{\"items\":[");
            for (number, row) in rows.iter().enumerate() {
                answer.push_str(if number == 0 { "" } else { "," });
                document::write(row, &names, &mut answer);
            }
            answer.push_str("],\"meta\":");
            schemas::write_list_meta(limit, offset, rows.len(), None, &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: rows.len() })
        })
    }
}

struct Get {
    limits: QueryLimits,
    cache: VariableCache,
}

impl ReadTool for Get {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let (input, site_db, limits) = (permitted.input(), &permitted.site_db()?, &self.limits);
            let variables = Variables::resolve(permitted, &self.cache).await?;
            let context = QueryContext { input, site_db, limits, variables: &variables };
            let query = DocumentQuery {
                filter: vec![equals(column("id"), requested_id(&context)), not_deleted()],
                ..DocumentQuery::default()
            };
            let rows = read_rows(&context, query, 1, 0).await?;
            let mut answer = String::with_capacity(document::TYPICAL_BYTES);
            answer.push_str("{\"item\":");
            match rows.first() {
                Some(row) => document::write(row, &variables.names(), &mut answer),
                None => answer.push_str("null"),
            }
            answer.push_str(",\"meta\":");
            schemas::write_single_meta(None, &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: rows.len() })
        })
    }
}

/// The rows, each with the fields of a page and the selected variables.
async fn read_rows(
    context: &QueryContext<'_>,
    query: DocumentQuery,
    limit: u64,
    offset: u64,
) -> Result<Vec<SiteRow>, Fault> {
    let mut rows = context.site_db.select(&select(context, query, limit, offset)?).await?;
    context.variables.append_values(context.site_db, &mut rows, context.limits.bytes).await?;
    Ok(rows)
}

fn select(context: &QueryContext<'_>, query: DocumentQuery, limit: u64, offset: u64) -> Result<Select, Fault> {
    Ok(Select {
        from: (BASE, document::TABLE),
        joins: query.joins.into_iter().chain(context.variables.joins()).collect(),
        columns: document::columns().chain(context.variables.columns()?).collect(),
        filter: query.filter,
        order: query.order,
        offset,
        limit,
        bytes: context.limits.bytes,
    })
}

pub(super) fn limit_and_offset(input: &ToolInput) -> (u64, u64) {
    let number = |name| input.integer(name).and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    (number(schemas::LIMIT), number(schemas::OFFSET))
}

/// The checked `id` argument; no page has the id 0.
pub(super) fn requested_id(context: &QueryContext<'_>) -> i64 {
    context.input.integer("id").unwrap_or(0)
}

/// Deleted pages stay in the table, in the CMS's recycle bin.
pub(super) fn not_deleted() -> Predicate {
    equals(column("deleted"), 0)
}

pub(super) fn by_menuindex(direction: Direction) -> Vec<(Expr, Direction)> {
    vec![(column("menuindex"), direction), (column("id"), direction)]
}
