//! Pages by their place in the tree: from the top, above, below. A page in the bin hides only itself, not what is below
//! it.

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::model::tool::{Future, Tool};
use frontdesk_engine::ports::site_db::{Comparison, Expr, Join, JoinKind, Predicate, TableAlias};

use super::Words;
use super::beside::node;
use super::content::{Ask, Rows, asked_id, by_menuindex, list, live};
use crate::emcp::words::{HERE, column, compared, is, same};
use crate::emcp::{Limits, document, shapes};

/// The closure beside the documents.
const PATH: TableAlias = TableAlias(1);
/// The document that a path begins at.
const ROOT: TableAlias = TableAlias(2);

pub(super) fn root_tree(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.root_tree",
        title: "List pages from the top",
        about: "Lists the pages at the top of the site and those below them, down to a depth, as a flat list by id.",
    };
    let depth = depth(&limits, "How many levels below the top; 1 if absent.");
    list(limits, words, vec![depth], |ask| Box::pin(async move { Ok(Some(from_the_top(ask))) }))
}

pub(super) fn descendants(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.descendants",
        title: "List pages below a page",
        about: "Lists the pages below a page, down to a depth, by parent and then in menu order; not the page itself.",
    };
    let depth = depth(&limits, "How many levels below the page; 1 if absent.");
    list(limits, words, vec![shapes::id("The page to look below."), depth], |ask| {
        Box::pin(async move { Ok(Some(below_a_page(ask))) })
    })
}

pub(super) fn ancestors(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.ancestors",
        title: "List pages above a page",
        about: "Lists the pages on the way from the top of the site to a page, the top first; not the page itself.",
    };
    let depth = depth(&limits, "How many levels above the page; all if absent.");
    list(limits, words, vec![shapes::id("The page to look above."), depth], |ask| {
        Box::pin(async move { Ok(Some(above_a_page(ask))) })
    })
}

pub(super) fn children(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.children",
        title: "List pages directly below a page",
        about: "Lists the pages directly below a page, in menu order.",
    };
    list(limits, words, vec![shapes::id("The page to look below.")], |ask| {
        Box::pin(async move {
            let tests = vec![is(column("parent"), asked_id(ask)), live()];
            Ok(Some(Rows { tests, order: by_menuindex(Direction::Ascending), ..Rows::default() }))
        })
    })
}

pub(super) fn children_range(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.children_range",
        title: "List a range of pages below a page",
        about: "Lists the pages directly below a page whose menuindex lies in a range, in menu order.",
    };
    let [from, to] = range_fields();
    list(limits, words, vec![shapes::id("The page to look below."), from, to], run_children_range)
}

fn run_children_range<'a>(ask: &'a Ask<'a>) -> Future<'a, Result<Option<Rows>, Fault>> {
    Box::pin(async move {
        let mut tests = range(ask)?;
        if node(ask).await?.is_none() {
            return Ok(None);
        }
        tests.extend([is(column("parent"), asked_id(ask)), live()]);
        Ok(Some(Rows { tests, order: by_menuindex(Direction::Ascending), ..Rows::default() }))
    })
}

fn from_the_top(ask: &Ask<'_>) -> Rows {
    let root = Join {
        table: (ROOT, document::TABLE),
        on: vec![same(Expr::Column(ROOT, "id"), Expr::Column(PATH, "ancestor"))],
        kind: JoinKind::Inner,
    };
    Rows {
        joins: vec![path("descendant"), root],
        tests: vec![
            is(Expr::Column(ROOT, "parent"), 0),
            is(Expr::Column(ROOT, "deleted"), 0),
            compared(distance(), Comparison::AtMost, asked_depth(ask).unwrap_or(1)),
            live(),
        ],
        order: vec![(column("id"), Direction::Ascending)],
    }
}

fn below_a_page(ask: &Ask<'_>) -> Rows {
    let mut rows = below(asked_id(ask), asked_depth(ask).unwrap_or(1));
    rows.tests.push(live());
    rows.order = ["parent", "menuindex", "id"].map(|name| (column(name), Direction::Ascending)).into();
    rows
}

/// Everything below a document, also what is in the bin.
pub(super) fn below(id: i64, depth: i64) -> Rows {
    Rows {
        tests: vec![
            is(Expr::Column(PATH, "ancestor"), id),
            compared(distance(), Comparison::Greater, 0),
            compared(distance(), Comparison::AtMost, depth),
        ],
        joins: vec![path("descendant")],
        order: Vec::new(),
    }
}

fn above_a_page(ask: &Ask<'_>) -> Rows {
    let mut tests =
        vec![is(Expr::Column(PATH, "descendant"), asked_id(ask)), compared(distance(), Comparison::Greater, 0), live()];
    tests.extend(asked_depth(ask).map(|depth| compared(distance(), Comparison::AtMost, depth)));
    Rows {
        joins: vec![path("ancestor")],
        tests,
        order: vec![(distance(), Direction::Descending), (column("id"), Direction::Ascending)],
    }
}

/// The closure, joined so that each document stands at this end of its paths.
fn path(end: &'static str) -> Join {
    Join {
        table: (PATH, document::CLOSURE),
        on: vec![same(Expr::Column(PATH, end), Expr::Column(HERE, "id"))],
        kind: JoinKind::Inner,
    }
}

fn distance() -> Expr {
    Expr::Column(PATH, "depth")
}

pub(super) fn depth(limits: &Limits, about: &'static str) -> Field {
    optional("depth", Schema::integer(1, limits.max_depth.into()), about)
}

pub(super) fn asked_depth(ask: &Ask<'_>) -> Option<i64> {
    ask.reading.integer("depth")
}

pub(super) fn range_fields() -> [Field; 2] {
    [
        required("from", Schema::integer(0, shapes::LARGEST), "The smallest menuindex."),
        optional("to", Schema::integer(0, shapes::LARGEST), "The largest menuindex; no bound if absent."),
    ]
}

/// The range of `menuindex` that was asked for, both ends included.
pub(super) fn range(ask: &Ask<'_>) -> Result<Vec<Predicate>, Fault> {
    let from = ask.reading.integer("from").unwrap_or(0);
    let mut tests = vec![compared(column("menuindex"), Comparison::AtLeast, from)];
    if let Some(to) = ask.reading.integer("to") {
        if to < from {
            return Err(Fault::invalid_argument("/to", "minimum", "it must be greater than or equal to from"));
        }
        tests.push(compared(column("menuindex"), Comparison::AtMost, to));
    }
    Ok(tests)
}
