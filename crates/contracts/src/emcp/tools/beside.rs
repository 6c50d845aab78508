//! Pages beside a page. The page is looked up first, so that one that is unknown or in the bin has nothing beside it,
//! and never the whole site (E-25).

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::tool::{Future, Tool};
use frontdesk_engine::ports::site_db::{Comparison, Literal, Predicate, Select};

use super::Words;
use super::content::{Ask, Rows, asked_id, by_menuindex, list, live};
use super::tree::{range, range_fields};
use crate::emcp::words::{HERE, column, compared, is};
use crate::emcp::{Limits, document, shapes};

/// Where a page stands.
pub(super) struct Node {
    parent: i64,
    menuindex: i64,
}

pub(super) fn siblings(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.siblings",
        title: "List pages beside a page",
        about: "Lists the other pages with the same parent, in menu order.",
    };
    list(limits, words, vec![shapes::id(ABOUT_ID)], |ask| around(ask, |_| Vec::new(), Direction::Ascending))
}

pub(super) fn neighbors(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.neighbors",
        title: "List neighbours of a page",
        about: "Lists the pages with the same parent whose menuindex is one less or one more; a gap gives none.",
    };
    list(limits, words, vec![shapes::id(ABOUT_ID)], |ask| around(ask, near, Direction::Ascending))
}

pub(super) fn prev_siblings(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.prev_siblings",
        title: "List pages before a page",
        about: "Lists the pages with the same parent that come before a page in menu order, the nearest first.",
    };
    list(limits, words, vec![shapes::id(ABOUT_ID)], |ask| around(ask, before, Direction::Descending))
}

pub(super) fn next_siblings(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.next_siblings",
        title: "List pages after a page",
        about: "Lists the pages with the same parent that come after a page in menu order, the nearest first.",
    };
    list(limits, words, vec![shapes::id(ABOUT_ID)], |ask| around(ask, after, Direction::Ascending))
}

pub(super) fn siblings_range(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.siblings_range",
        title: "List a range of pages beside a page",
        about: "Lists the other pages with the same parent whose menuindex lies in a range, in menu order.",
    };
    let [from, to] = range_fields();
    list(limits, words, vec![shapes::id(ABOUT_ID), from, to], run_siblings_range)
}

const ABOUT_ID: &str = "The page to look beside.";

fn near(node: &Node) -> Vec<Predicate> {
    let places = [node.menuindex.saturating_sub(1), node.menuindex.saturating_add(1)];
    vec![Predicate::AnyOf(column("menuindex"), places.map(Literal::Integer).into())]
}

fn before(node: &Node) -> Vec<Predicate> {
    vec![compared(column("menuindex"), Comparison::Less, node.menuindex)]
}

fn after(node: &Node) -> Vec<Predicate> {
    vec![compared(column("menuindex"), Comparison::Greater, node.menuindex)]
}

fn run_siblings_range<'a>(ask: &'a Ask<'a>) -> Future<'a, Result<Option<Rows>, Fault>> {
    Box::pin(async move {
        let within = range(ask)?;
        let Some(node) = node(ask).await? else {
            return Ok(None);
        };
        Ok(Some(beside(ask, &node, within, Direction::Ascending)))
    })
}

fn around<'a>(
    ask: &'a Ask<'a>,
    narrower: fn(&Node) -> Vec<Predicate>,
    direction: Direction,
) -> Future<'a, Result<Option<Rows>, Fault>> {
    Box::pin(async move {
        let node = node(ask).await?;
        Ok(node.map(|node| beside(ask, &node, narrower(&node), direction)))
    })
}

fn beside(ask: &Ask<'_>, node: &Node, narrower: Vec<Predicate>, direction: Direction) -> Rows {
    let mut tests =
        vec![is(column("parent"), node.parent), compared(column("id"), Comparison::NotEqual, asked_id(ask)), live()];
    tests.extend(narrower);
    Rows { tests, order: by_menuindex(direction), ..Rows::default() }
}

/// The page that was named, unless it is unknown or in the bin.
pub(super) async fn node(ask: &Ask<'_>) -> Result<Option<Node>, Fault> {
    let select = Select {
        from: (HERE, document::TABLE),
        joins: Vec::new(),
        columns: vec![column("parent"), column("menuindex")],
        filter: vec![is(column("id"), asked_id(ask)), live()],
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: ask.limits.max_result_bytes,
    };
    let found = ask.archive.select(&select).await?;
    Ok(match found.first().map(Vec::as_slice) {
        Some([parent, menuindex]) => {
            Some(Node { parent: shapes::whole(parent).unwrap_or(0), menuindex: shapes::whole(menuindex).unwrap_or(0) })
        }
        Some(_) | None => None,
    })
}
