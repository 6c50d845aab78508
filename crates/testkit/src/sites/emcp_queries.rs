//! The queries of some eMCP tools, written out: the contract's tests compare the tools with them, and the reference
//! server of the bench sends the same.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Literal, Operand, Predicate, Select, TableAlias,
};

const BASE: TableAlias = TableAlias(0);
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
pub fn variables(names: &[&str]) -> Select {
    let limit = names.len() as u64 * 8;
    let names = names.iter().map(|name| Literal::Text((*name).to_owned())).collect();
    Select {
        from: (BASE, "site_tmplvars"),
        joins: Vec::new(),
        columns: ["id", "name"].map(column).into(),
        filter: vec![Predicate::AnyOf(column("name"), names)],
        order: vec![(column("id"), Direction::Descending)],
        offset: 0,
        limit,
        bytes: 1 << 18,
    }
}

/// One page with its values of these variables.
pub fn page(id: i64, variables: &[i64]) -> Select {
    let tests = vec![equals(column("id"), id), equals(column("deleted"), 0)];
    Select { columns: columns(variables), joins: values(variables), filter: tests, ..documents(1, 0) }
}

/// Pages whose second variable has this value.
pub fn search(variables: &[i64], value: &str, limit: u64, offset: u64) -> Select {
    let value_column = Expr::Column(TableAlias(FIRST_VARIABLE + 1), "value");
    let has_value =
        Predicate::Compare(value_column, Comparison::Equal, Operand::Literal(Literal::Text(value.to_owned())));
    Select {
        columns: columns(variables),
        joins: values(variables),
        filter: vec![equals(column("deleted"), 0), has_value],
        order: vec![(column("id"), Direction::Ascending)],
        ..documents(limit, offset)
    }
}

pub fn descendants(id: i64, depth: i64, limit: u64, offset: u64) -> Select {
    Select {
        joins: vec![path("descendant")],
        filter: vec![
            equals(Expr::Column(PATH, "ancestor"), id),
            compare(Expr::Column(PATH, "depth"), Comparison::Greater, 0),
            compare(Expr::Column(PATH, "depth"), Comparison::AtMost, depth),
            equals(column("deleted"), 0),
        ],
        order: ["parent", "menuindex", "id"].map(|name| (column(name), Direction::Ascending)).into(),
        ..documents(limit, offset)
    }
}

pub fn ancestors(id: i64, limit: u64) -> Select {
    Select {
        joins: vec![path("ancestor")],
        filter: vec![
            equals(Expr::Column(PATH, "descendant"), id),
            compare(Expr::Column(PATH, "depth"), Comparison::Greater, 0),
            equals(column("deleted"), 0),
        ],
        order: vec![(Expr::Column(PATH, "depth"), Direction::Descending), (column("id"), Direction::Ascending)],
        ..documents(limit, 0)
    }
}

fn documents(limit: u64, offset: u64) -> Select {
    Select {
        from: (BASE, "site_content"),
        joins: Vec::new(),
        columns: columns(&[]),
        filter: Vec::new(),
        order: Vec::new(),
        offset,
        limit,
        bytes: 1 << 20,
    }
}

fn columns(variables: &[i64]) -> Vec<Expr> {
    let values = (FIRST_VARIABLE..).zip(variables).map(|(source, _)| Expr::Column(TableAlias(source), "value"));
    FIELDS.into_iter().map(column).chain(values).collect()
}

fn values(variables: &[i64]) -> Vec<Join> {
    let aliases = (FIRST_VARIABLE..).map(TableAlias).zip(variables);
    let join = |(source, id): (TableAlias, &i64)| Join {
        table: (source, "site_tmplvar_contentvalues"),
        on: vec![
            columns_equal(Expr::Column(source, "contentid"), column("id")),
            equals(Expr::Column(source, "tmplvarid"), *id),
        ],
        kind: JoinKind::Left,
    };
    aliases.map(join).collect()
}

fn path(end: &'static str) -> Join {
    let on = vec![columns_equal(Expr::Column(PATH, end), column("id"))];
    Join { table: (PATH, "site_content_closure"), on, kind: JoinKind::Inner }
}

fn column(name: &'static str) -> Expr {
    Expr::Column(BASE, name)
}

fn equals(term: Expr, number: i64) -> Predicate {
    compare(term, Comparison::Equal, number)
}

fn compare(term: Expr, comparison: Comparison, number: i64) -> Predicate {
    Predicate::Compare(term, comparison, Operand::Literal(Literal::Integer(number)))
}

fn columns_equal(one: Expr, other: Expr) -> Predicate {
    Predicate::Compare(one, Comparison::Equal, Operand::Expr(other))
}
