//! Pages by their position in the tree: from the root, ancestors, descendants, children. A deleted page hides only
//! itself, not its descendants.

use frontdesk_engine::Fault;
use frontdesk_engine::model::contract_entry::QueryLimits;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::model::tool::{Future, Tool};
use frontdesk_engine::ports::site_db::{Comparison, Expr, Join, JoinKind, Predicate, TableAlias};

use super::ToolDescription;
use super::content::{DocumentQuery, QueryContext, by_menuindex, list, not_deleted, requested_id};
use crate::emcp::query::{BASE, column, columns_equal, compare, equals};
use crate::emcp::{document, schemas};

/// The closure table, joined to the documents.
const PATH: TableAlias = TableAlias(1);
/// The document that is the ancestor of a path.
const ROOT: TableAlias = TableAlias(2);

pub(super) fn root_tree(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.root_tree",
        title: "List pages from the top",
        about: "Lists the pages at the top of the site and those below them, down to a depth, as a flat list by id.",
    };
    let depth = depth_field(&limits, "How many levels below the top; 1 if absent.");
    list(limits, description, vec![depth], |context| Box::pin(async move { Ok(Some(root_tree_query(context))) }))
}

pub(super) fn descendants(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.descendants",
        title: "List pages below a page",
        about: "Lists the pages below a page, down to a depth, by parent and then in menu order; not the page itself.",
    };
    let depth = depth_field(&limits, "How many levels below the page; 1 if absent.");
    list(limits, description, vec![schemas::id("The page to look below."), depth], |context| {
        Box::pin(async move { Ok(Some(descendants_query(context))) })
    })
}

pub(super) fn ancestors(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.ancestors",
        title: "List pages above a page",
        about: "Lists the pages on the way from the top of the site to a page, the top first; not the page itself.",
    };
    let depth = depth_field(&limits, "How many levels above the page; all if absent.");
    list(limits, description, vec![schemas::id("The page to look above."), depth], |context| {
        Box::pin(async move { Ok(Some(ancestors_query(context))) })
    })
}

pub(super) fn children(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.children",
        title: "List pages directly below a page",
        about: "Lists the pages directly below a page, in menu order.",
    };
    list(limits, description, vec![schemas::id("The page to look below.")], |context| {
        Box::pin(async move {
            let filter = vec![equals(column("parent"), requested_id(context)), not_deleted()];
            Ok(Some(DocumentQuery { filter, order: by_menuindex(Direction::Ascending), ..DocumentQuery::default() }))
        })
    })
}

pub(super) fn children_range(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.children_range",
        title: "List a range of pages below a page",
        about: "Lists the pages directly below a page whose menuindex lies in a range, in menu order.",
    };
    let [from, to] = range_fields();
    list(limits, description, vec![schemas::id("The page to look below."), from, to], run_children_range)
}

fn run_children_range<'a>(context: &'a QueryContext<'a>) -> Future<'a, Result<Option<DocumentQuery>, Fault>> {
    Box::pin(async move {
        let mut filter = menuindex_range(context)?;
        filter.extend([equals(column("parent"), requested_id(context)), not_deleted()]);
        Ok(Some(DocumentQuery { filter, order: by_menuindex(Direction::Ascending), ..DocumentQuery::default() }))
    })
}

fn root_tree_query(context: &QueryContext<'_>) -> DocumentQuery {
    let root = Join {
        table: (ROOT, document::TABLE),
        on: vec![columns_equal(Expr::Column(ROOT, "id"), Expr::Column(PATH, "ancestor"))],
        kind: JoinKind::Inner,
    };
    DocumentQuery {
        joins: vec![path("descendant"), root],
        filter: vec![
            equals(Expr::Column(ROOT, "parent"), 0),
            equals(Expr::Column(ROOT, "deleted"), 0),
            compare(distance(), Comparison::AtMost, requested_depth(context).unwrap_or(1)),
            not_deleted(),
        ],
        order: vec![(column("id"), Direction::Ascending)],
    }
}

fn descendants_query(context: &QueryContext<'_>) -> DocumentQuery {
    let mut query = descendants_of(requested_id(context), requested_depth(context).unwrap_or(1));
    query.filter.push(not_deleted());
    query.order = ["parent", "menuindex", "id"].map(|name| (column(name), Direction::Ascending)).into();
    query
}

/// All descendants of a document, including deleted ones.
pub(super) fn descendants_of(id: i64, depth: i64) -> DocumentQuery {
    DocumentQuery {
        filter: vec![
            equals(Expr::Column(PATH, "ancestor"), id),
            compare(distance(), Comparison::Greater, 0),
            compare(distance(), Comparison::AtMost, depth),
        ],
        joins: vec![path("descendant")],
        order: Vec::new(),
    }
}

fn ancestors_query(context: &QueryContext<'_>) -> DocumentQuery {
    let mut filter = vec![
        equals(Expr::Column(PATH, "descendant"), requested_id(context)),
        compare(distance(), Comparison::Greater, 0),
        not_deleted(),
    ];
    filter.extend(requested_depth(context).map(|depth| compare(distance(), Comparison::AtMost, depth)));
    DocumentQuery {
        joins: vec![path("ancestor")],
        filter,
        order: vec![(distance(), Direction::Descending), (column("id"), Direction::Ascending)],
    }
}

/// Joins the closure table by this end of its paths.
fn path(end: &'static str) -> Join {
    Join {
        table: (PATH, document::CLOSURE),
        on: vec![columns_equal(Expr::Column(PATH, end), Expr::Column(BASE, "id"))],
        kind: JoinKind::Inner,
    }
}

fn distance() -> Expr {
    Expr::Column(PATH, "depth")
}

pub(super) fn depth_field(limits: &QueryLimits, about: &'static str) -> Field {
    optional("depth", Schema::integer(1, limits.depth.into()), about)
}

pub(super) fn requested_depth(context: &QueryContext<'_>) -> Option<i64> {
    context.input.integer("depth")
}

pub(super) fn range_fields() -> [Field; 2] {
    [
        required("from", Schema::integer(0, schemas::MAX_ID), "The smallest menuindex."),
        optional("to", Schema::integer(0, schemas::MAX_ID), "The largest menuindex; no bound if absent."),
    ]
}

/// The requested range of `menuindex`, both ends included.
pub(super) fn menuindex_range(context: &QueryContext<'_>) -> Result<Vec<Predicate>, Fault> {
    let from = context.input.integer("from").unwrap_or(0);
    let mut filter = vec![compare(column("menuindex"), Comparison::AtLeast, from)];
    if let Some(to) = context.input.integer("to") {
        if to < from {
            return Err(Fault::invalid_argument("/to", "minimum", "it must be greater than or equal to from"));
        }
        filter.push(compare(column("menuindex"), Comparison::AtMost, to));
    }
    Ok(filter)
}
