//! What some tools ask of a site's database, written out: `measuring.rs` holds the tools to it, and the bench's bare
//! server asks the same.

use frontdesk_engine::archive::{Comparison, Join, Keeps, Operand, Select, Source, Term, Test, Value};
use frontdesk_engine::page::Direction;

const HERE: Source = Source(0);
const PATH: Source = Source(1);
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
    let names = names.iter().map(|name| Value::Text((*name).to_owned())).collect();
    Select {
        from: (HERE, "site_tmplvars"),
        joins: Vec::new(),
        columns: ["id", "name"].map(column).into(),
        tests: vec![Test::AnyOf(column("name"), names)],
        order: vec![(column("id"), Direction::Falling)],
        offset: 0,
        limit,
        bytes: 1 << 18,
    }
}

/// One page with what it has in these variables.
pub(crate) fn page(id: i64, variables: &[i64]) -> Select {
    let tests = vec![is(column("id"), id), is(column("deleted"), 0)];
    Select { columns: shown(variables), joins: values(variables), tests, ..documents(1, 0) }
}

/// Pages whose second variable has this value.
pub(crate) fn found(variables: &[i64], value: &str, limit: u64, offset: u64) -> Select {
    let held = Term::Column(Source(FIRST_VARIABLE + 1), "value");
    let same = Test::Compare(held, Comparison::Equal, Operand::Value(Value::Text(value.to_owned())));
    Select {
        columns: shown(variables),
        joins: values(variables),
        tests: vec![is(column("deleted"), 0), same],
        order: vec![(column("id"), Direction::Rising)],
        ..documents(limit, offset)
    }
}

pub(crate) fn below(id: i64, depth: i64, limit: u64, offset: u64) -> Select {
    Select {
        joins: vec![path("descendant")],
        tests: vec![
            is(Term::Column(PATH, "ancestor"), id),
            compared(Term::Column(PATH, "depth"), Comparison::More, 0),
            compared(Term::Column(PATH, "depth"), Comparison::AtMost, depth),
            is(column("deleted"), 0),
        ],
        order: ["parent", "menuindex", "id"].map(|name| (column(name), Direction::Rising)).into(),
        ..documents(limit, offset)
    }
}

pub(crate) fn above(id: i64, limit: u64) -> Select {
    Select {
        joins: vec![path("ancestor")],
        tests: vec![
            is(Term::Column(PATH, "descendant"), id),
            compared(Term::Column(PATH, "depth"), Comparison::More, 0),
            is(column("deleted"), 0),
        ],
        order: vec![(Term::Column(PATH, "depth"), Direction::Falling), (column("id"), Direction::Rising)],
        ..documents(limit, 0)
    }
}

fn documents(limit: u64, offset: u64) -> Select {
    Select {
        from: (HERE, "site_content"),
        joins: Vec::new(),
        columns: shown(&[]),
        tests: Vec::new(),
        order: Vec::new(),
        offset,
        limit,
        bytes: 1 << 20,
    }
}

fn shown(variables: &[i64]) -> Vec<Term> {
    let values = (FIRST_VARIABLE..).zip(variables).map(|(source, _)| Term::Column(Source(source), "value"));
    FIELDS.into_iter().map(column).chain(values).collect()
}

fn values(variables: &[i64]) -> Vec<Join> {
    let beside = (FIRST_VARIABLE..).map(Source).zip(variables);
    let join = |(source, id): (Source, &i64)| Join {
        table: (source, "site_tmplvar_contentvalues"),
        on: vec![same(Term::Column(source, "contentid"), column("id")), is(Term::Column(source, "tmplvarid"), *id)],
        keeps: Keeps::All,
    };
    beside.map(join).collect()
}

fn path(end: &'static str) -> Join {
    let on = vec![same(Term::Column(PATH, end), column("id"))];
    Join { table: (PATH, "site_content_closure"), on, keeps: Keeps::Matched }
}

fn column(name: &'static str) -> Term {
    Term::Column(HERE, name)
}

fn is(term: Term, number: i64) -> Test {
    compared(term, Comparison::Equal, number)
}

fn compared(term: Term, comparison: Comparison, number: i64) -> Test {
    Test::Compare(term, comparison, Operand::Value(Value::Integer(number)))
}

fn same(one: Term, other: Term) -> Test {
    Test::Compare(one, Comparison::Equal, Operand::Term(other))
}
