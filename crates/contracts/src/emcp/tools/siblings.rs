//! Siblings of a page. The page is looked up first, so that an unknown or deleted one has no siblings instead of all
//! pages of the site (E-25).

use frontdesk_engine::Fault;
use frontdesk_engine::archive::{Comparison, Select, Test, Value};
use frontdesk_engine::page::Direction;
use frontdesk_engine::tool::{Future, Tool};

use super::ToolDescription;
use super::content::{DocumentQuery, QueryContext, by_menuindex, list, not_deleted, requested_id};
use super::tree::{menuindex_range, range_fields};
use crate::emcp::query::{BASE, column, compare, equals};
use crate::emcp::{ResultLimits, document, schemas};

/// The position of a page in the tree.
pub(super) struct TreePosition {
    parent: i64,
    menuindex: i64,
}

pub(super) fn siblings(limits: ResultLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.siblings",
        title: "List pages beside a page",
        about: "Lists the other pages with the same parent, in menu order.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, |_| Vec::new(), Direction::Rising)
    })
}

pub(super) fn neighbors(limits: ResultLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.neighbors",
        title: "List neighbours of a page",
        about: "Lists the pages with the same parent whose menuindex is one less or one more; a gap gives none.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, adjacent, Direction::Rising)
    })
}

pub(super) fn prev_siblings(limits: ResultLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.prev_siblings",
        title: "List pages before a page",
        about: "Lists the pages with the same parent that come before a page in menu order, the nearest first.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, before, Direction::Falling)
    })
}

pub(super) fn next_siblings(limits: ResultLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.next_siblings",
        title: "List pages after a page",
        about: "Lists the pages with the same parent that come after a page in menu order, the nearest first.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, after, Direction::Rising)
    })
}

pub(super) fn siblings_range(limits: ResultLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.siblings_range",
        title: "List a range of pages beside a page",
        about: "Lists the other pages with the same parent whose menuindex lies in a range, in menu order.",
    };
    let [from, to] = range_fields();
    list(limits, description, vec![schemas::id(ID_DESCRIPTION), from, to], run_siblings_range)
}

const ID_DESCRIPTION: &str = "The page to look beside.";

fn adjacent(position: &TreePosition) -> Vec<Test> {
    let places = [position.menuindex.saturating_sub(1), position.menuindex.saturating_add(1)];
    vec![Test::AnyOf(column("menuindex"), places.map(Value::Integer).into())]
}

fn before(position: &TreePosition) -> Vec<Test> {
    vec![compare(column("menuindex"), Comparison::Less, position.menuindex)]
}

fn after(position: &TreePosition) -> Vec<Test> {
    vec![compare(column("menuindex"), Comparison::More, position.menuindex)]
}

fn run_siblings_range<'a>(context: &'a QueryContext<'a>) -> Future<'a, Result<Option<DocumentQuery>, Fault>> {
    Box::pin(async move {
        let within = menuindex_range(context)?;
        let Some(position) = find_position(context).await? else {
            return Ok(None);
        };
        Ok(Some(siblings_query(context, &position, within, Direction::Rising)))
    })
}

fn select_siblings<'a>(
    context: &'a QueryContext<'a>,
    extra_tests: fn(&TreePosition) -> Vec<Test>,
    direction: Direction,
) -> Future<'a, Result<Option<DocumentQuery>, Fault>> {
    Box::pin(async move {
        let position = find_position(context).await?;
        Ok(position.map(|position| siblings_query(context, &position, extra_tests(&position), direction)))
    })
}

fn siblings_query(
    context: &QueryContext<'_>,
    position: &TreePosition,
    extra_tests: Vec<Test>,
    direction: Direction,
) -> DocumentQuery {
    let mut tests = vec![
        equals(column("parent"), position.parent),
        compare(column("id"), Comparison::Unequal, requested_id(context)),
        not_deleted(),
    ];
    tests.extend(extra_tests);
    DocumentQuery { tests, order: by_menuindex(direction), ..DocumentQuery::default() }
}

/// The position of the requested page, unless it is unknown or deleted.
pub(super) async fn find_position(context: &QueryContext<'_>) -> Result<Option<TreePosition>, Fault> {
    let select = Select {
        from: (BASE, document::TABLE),
        joins: Vec::new(),
        columns: vec![column("parent"), column("menuindex")],
        tests: vec![equals(column("id"), requested_id(context)), not_deleted()],
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: context.limits.max_result_bytes,
    };
    let found = context.archive.select(&select).await?;
    Ok(match found.first().map(Vec::as_slice) {
        Some([parent, menuindex]) => Some(TreePosition {
            parent: schemas::integer(parent).unwrap_or(0),
            menuindex: schemas::integer(menuindex).unwrap_or(0),
        }),
        Some(_) | None => None,
    })
}
