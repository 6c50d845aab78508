//! Reading pages: from the rows that a tool chooses to the answer, with the template variables that were asked for.

use std::sync::Arc;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::Field;
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool, Tool};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::site_db::{Expr, Join, Predicate, Select, SiteDb};
use frontdesk_engine::{Fault, Permitted};

use super::{Words, reading};
use crate::emcp::lately::Lately;
use crate::emcp::variables::{Variables, with_tvs};
use crate::emcp::words::{HERE, column, is};
use crate::emcp::{Limits, document, shapes};

/// What a tool has at hand to choose its rows with.
pub(super) struct Ask<'a> {
    pub(super) reading: &'a ToolInput,
    pub(super) archive: &'a dyn SiteDb,
    pub(super) limits: &'a Limits,
    pub(super) variables: &'a Variables,
}

/// Which documents, in which order.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) joins: Vec<Join>,
    pub(super) tests: Vec<Predicate>,
    pub(super) order: Vec<(Expr, Direction)>,
}

/// Chooses the rows of a list; nothing if there is nothing to choose from.
pub(super) type Choose = for<'a> fn(&'a Ask<'a>) -> Future<'a, Result<Option<Rows>, Fault>>;

/// A list of pages.
pub(super) fn list(limits: Limits, words: Words, own: Vec<Field>, choose: Choose) -> Tool {
    let mut input = own;
    input.push(with_tvs());
    input.extend(shapes::window(&limits));
    let output = shapes::list_of(document::schema(), &limits, None);
    reading(words, input, output, Arc::new(List { limits, choose, lately: Lately::default() }))
}

pub(super) fn get(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.get",
        title: "Get a page",
        about: "Reads one page by its id; null if there is none or it is in the bin.",
    };
    let input = vec![shapes::id("The page's id."), with_tvs()];
    reading(words, input, shapes::one_of(document::schema(), None), Arc::new(Get { limits, lately: Lately::default() }))
}

struct List {
    limits: Limits,
    choose: Choose,
    lately: Lately,
}

impl ReadTool for List {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let (reading, archive, limits) = (permitted.input(), permitted.archive()?, &self.limits);
            let variables = Variables::named(permitted, &self.lately).await?;
            let ask = Ask { reading, archive, limits, variables: &variables };
            let (limit, offset) = window(reading);
            let records = match (self.choose)(&ask).await? {
                Some(rows) => archive.select(&select(&ask, rows, limit, offset)?).await?,
                None => Vec::new(),
            };
            let names = variables.names();
            let mut answer = String::with_capacity(document::USUAL_BYTES * (1 + records.len()));
            answer.push_str("{\"items\":[");
            for (number, record) in records.iter().enumerate() {
                answer.push_str(if number == 0 { "" } else { "," });
                document::write(record, &names, &mut answer);
            }
            answer.push_str("],\"meta\":");
            shapes::write_list_meta(limit, offset, records.len(), None, &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: records.len() })
        })
    }
}

struct Get {
    limits: Limits,
    lately: Lately,
}

impl ReadTool for Get {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let (reading, archive, limits) = (permitted.input(), permitted.archive()?, &self.limits);
            let variables = Variables::named(permitted, &self.lately).await?;
            let ask = Ask { reading, archive, limits, variables: &variables };
            let rows = Rows { tests: vec![is(column("id"), asked_id(&ask)), live()], ..Rows::default() };
            let records = archive.select(&select(&ask, rows, 1, 0)?).await?;
            let mut answer = String::with_capacity(document::USUAL_BYTES);
            answer.push_str("{\"item\":");
            match records.first() {
                Some(record) => document::write(record, &variables.names(), &mut answer),
                None => answer.push_str("null"),
            }
            answer.push_str(",\"meta\":");
            shapes::write_one_meta(None, &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: records.len() })
        })
    }
}

fn select(ask: &Ask<'_>, rows: Rows, limit: u64, offset: u64) -> Result<Select, Fault> {
    Ok(Select {
        from: (HERE, document::TABLE),
        joins: rows.joins.into_iter().chain(ask.variables.joins()).collect(),
        columns: document::columns().chain(ask.variables.columns()?).collect(),
        filter: rows.tests,
        order: rows.order,
        offset,
        limit,
        bytes: ask.limits.max_result_bytes,
    })
}

pub(super) fn window(reading: &ToolInput) -> (u64, u64) {
    let number = |name| reading.integer(name).and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    (number(shapes::LIMIT), number(shapes::OFFSET))
}

/// The checked `id` argument; no page has the id 0.
pub(super) fn asked_id(ask: &Ask<'_>) -> i64 {
    ask.reading.integer("id").unwrap_or(0)
}

/// Not in the bin.
pub(super) fn live() -> Predicate {
    is(column("deleted"), 0)
}

pub(super) fn by_menuindex(direction: Direction) -> Vec<(Expr, Direction)> {
    vec![(column("menuindex"), direction), (column("id"), direction)]
}
