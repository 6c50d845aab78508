//! Siblings of a page. The page is looked up first, so that an unknown or deleted one has no siblings instead of all
//! pages of the site (E-25).

use frontdesk_engine::Fault;
use frontdesk_engine::model::contract_entry::QueryLimits;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::tool::{Future, Tool};
use frontdesk_engine::ports::site_db::{Comparison, Literal, Predicate, Select};

use super::ToolDescription;
use super::content::{DocumentQuery, QueryContext, by_menuindex, list, not_deleted, requested_id};
use super::tree::{menuindex_range, range_fields};
use crate::emcp::query::{BASE, column, compare, equals};
use crate::emcp::{document, schemas};

/// The position of a page in the tree.
pub(super) struct TreePosition {
    parent: i64,
    menuindex: i64,
}

pub(super) fn siblings(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.siblings",
        title: "List pages beside a page",
        about: "Lists the other pages with the same parent, in menu order.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, |_| Vec::new(), Direction::Ascending)
    })
}

pub(super) fn neighbors(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.neighbors",
        title: "List neighbours of a page",
        about: "Lists the pages with the same parent whose menuindex is one less or one more; a gap gives none.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, adjacent, Direction::Ascending)
    })
}

pub(super) fn prev_siblings(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.prev_siblings",
        title: "List pages before a page",
        about: "Lists the pages with the same parent that come before a page in menu order, the nearest first.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, before, Direction::Descending)
    })
}

pub(super) fn next_siblings(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.next_siblings",
        title: "List pages after a page",
        about: "Lists the pages with the same parent that come after a page in menu order, the nearest first.",
    };
    list(limits, description, vec![schemas::id(ID_DESCRIPTION)], |context| {
        select_siblings(context, after, Direction::Ascending)
    })
}

pub(super) fn siblings_range(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.siblings_range",
        title: "List a range of pages beside a page",
        about: "Lists the other pages with the same parent whose menuindex lies in a range, in menu order.",
    };
    let [from, to] = range_fields();
    list(limits, description, vec![schemas::id(ID_DESCRIPTION), from, to], run_siblings_range)
}

const ID_DESCRIPTION: &str = "The page to look beside.";

fn adjacent(position: &TreePosition) -> Vec<Predicate> {
    let places = [position.menuindex.saturating_sub(1), position.menuindex.saturating_add(1)];
    vec![Predicate::AnyOf(column("menuindex"), places.map(Literal::Integer).into())]
}

fn before(position: &TreePosition) -> Vec<Predicate> {
    vec![compare(column("menuindex"), Comparison::Less, position.menuindex)]
}

fn after(position: &TreePosition) -> Vec<Predicate> {
    vec![compare(column("menuindex"), Comparison::Greater, position.menuindex)]
}

fn run_siblings_range<'a>(context: &'a QueryContext<'a>) -> Future<'a, Result<Option<DocumentQuery>, Fault>> {
    Box::pin(async move {
        let within = menuindex_range(context)?;
        let Some(position) = find_position(context).await? else {
            return Ok(None);
        };
        Ok(Some(siblings_query(context, &position, within, Direction::Ascending)))
    })
}

fn select_siblings<'a>(
    context: &'a QueryContext<'a>,
    extra_filter: fn(&TreePosition) -> Vec<Predicate>,
    direction: Direction,
) -> Future<'a, Result<Option<DocumentQuery>, Fault>> {
    Box::pin(async move {
        let position = find_position(context).await?;
        Ok(position.map(|position| siblings_query(context, &position, extra_filter(&position), direction)))
    })
}

fn siblings_query(
    context: &QueryContext<'_>,
    position: &TreePosition,
    extra_filter: Vec<Predicate>,
    direction: Direction,
) -> DocumentQuery {
    let mut filter = vec![
        equals(column("parent"), position.parent),
        compare(column("id"), Comparison::NotEqual, requested_id(context)),
        not_deleted(),
    ];
    filter.extend(extra_filter);
    DocumentQuery { filter, order: by_menuindex(direction), ..DocumentQuery::default() }
}

/// The position of the requested page, unless it is unknown or deleted.
async fn find_position(context: &QueryContext<'_>) -> Result<Option<TreePosition>, Fault> {
    let select = Select {
        from: (BASE, document::TABLE),
        joins: Vec::new(),
        columns: vec![column("parent"), column("menuindex")],
        filter: vec![equals(column("id"), requested_id(context)), not_deleted()],
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: context.limits.bytes,
    };
    let found = context.site_db.select(&select).await?;
    Ok(match found.first().map(Vec::as_slice) {
        Some([parent, menuindex]) => Some(TreePosition {
            parent: schemas::integer(parent).unwrap_or(0),
            menuindex: schemas::integer(menuindex).unwrap_or(0),
        }),
        Some(_) | None => None,
    })
}
