//! What some tools ask of a site's database, written out: `measuring.rs` holds the tools to it, and the bench's bare
//! server asks the same.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Literal, Operand, Predicate, Select, TableAlias,
};

const HERE: TableAlias = TableAlias(0);
const PATH: TableAlias = TableAlias(1);
const FIRST_VARIABLE: u8 = 10;

const FIELDS: [&str; 17] = [
    "id",
    "parent",
    "pagetitle",
    "longtitle",
    "description",
    "alias",
    "published",
    "deleted",
    "hidemenu",
    "menuindex",
    "template",
    "createdon",
    "editedon",
    "pub_date",
    "unpub_date",
    "isfolder",
    "type",
];

/// The variables with these names.
pub(crate) fn variables(names: &[&str]) -> Select {
    let limit = names.len() as u64 * 8;
    let names = names.iter().map(|name| Literal::Text((*name).to_owned())).collect();
    Select {
        from: (HERE, "site_tmplvars"),
        joins: Vec::new(),
        columns: ["id", "name"].map(column).into(),
        filter: vec![Predicate::AnyOf(column("name"), names)],
        order: vec![(column("id"), Direction::Descending)],
        offset: 0,
        limit,
        bytes: 1 << 18,
    }
}

/// One page with what it has in these variables.
pub(crate) fn page(id: i64, variables: &[i64]) -> Select {
    let tests = vec![is(column("id"), id), is(column("deleted"), 0)];
    Select { columns: shown(variables), joins: values(variables), filter: tests, ..documents(1, 0) }
}

/// Pages whose second variable has this value.
pub(crate) fn found(variables: &[i64], value: &str, limit: u64, offset: u64) -> Select {
    let held = Expr::Column(TableAlias(FIRST_VARIABLE + 1), "value");
    let same = Predicate::Compare(held, Comparison::Equal, Operand::Literal(Literal::Text(value.to_owned())));
    Select {
        columns: shown(variables),
        joins: values(variables),
        filter: vec![is(column("deleted"), 0), same],
        order: vec![(column("id"), Direction::Ascending)],
        ..documents(limit, offset)
    }
}

pub(crate) fn below(id: i64, depth: i64, limit: u64, offset: u64) -> Select {
    Select {
        joins: vec![path("descendant")],
        filter: vec![
            is(Expr::Column(PATH, "ancestor"), id),
            compared(Expr::Column(PATH, "depth"), Comparison::Greater, 0),
            compared(Expr::Column(PATH, "depth"), Comparison::AtMost, depth),
            is(column("deleted"), 0),
        ],
        order: ["parent", "menuindex", "id"].map(|name| (column(name), Direction::Ascending)).into(),
        ..documents(limit, offset)
    }
}

pub(crate) fn above(id: i64, limit: u64) -> Select {
    Select {
        joins: vec![path("ancestor")],
        filter: vec![
            is(Expr::Column(PATH, "descendant"), id),
            compared(Expr::Column(PATH, "depth"), Comparison::Greater, 0),
            is(column("deleted"), 0),
        ],
        order: vec![(Expr::Column(PATH, "depth"), Direction::Descending), (column("id"), Direction::Ascending)],
        ..documents(limit, 0)
    }
}

fn documents(limit: u64, offset: u64) -> Select {
    Select {
        from: (HERE, "site_content"),
        joins: Vec::new(),
        columns: shown(&[]),
        filter: Vec::new(),
        order: Vec::new(),
        offset,
        limit,
        bytes: 1 << 20,
    }
}

fn shown(variables: &[i64]) -> Vec<Expr> {
    let values = (FIRST_VARIABLE..).zip(variables).map(|(source, _)| Expr::Column(TableAlias(source), "value"));
    FIELDS.into_iter().map(column).chain(values).collect()
}

fn values(variables: &[i64]) -> Vec<Join> {
    let beside = (FIRST_VARIABLE..).map(TableAlias).zip(variables);
    let join = |(source, id): (TableAlias, &i64)| Join {
        table: (source, "site_tmplvar_contentvalues"),
        on: vec![same(Expr::Column(source, "contentid"), column("id")), is(Expr::Column(source, "tmplvarid"), *id)],
        kind: JoinKind::Left,
    };
    beside.map(join).collect()
}

fn path(end: &'static str) -> Join {
    let on = vec![same(Expr::Column(PATH, end), column("id"))];
    Join { table: (PATH, "site_content_closure"), on, kind: JoinKind::Inner }
}

fn column(name: &'static str) -> Expr {
    Expr::Column(HERE, name)
}

fn is(term: Expr, number: i64) -> Predicate {
    compared(term, Comparison::Equal, number)
}

fn compared(term: Expr, comparison: Comparison, number: i64) -> Predicate {
    Predicate::Compare(term, comparison, Operand::Literal(Literal::Integer(number)))
}

fn same(one: Expr, other: Expr) -> Predicate {
    Predicate::Compare(one, Comparison::Equal, Operand::Expr(other))
}
