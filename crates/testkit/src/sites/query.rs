//! Short forms for queries of a site's tables.

use frontdesk_engine::archive::{Cell, Comparison, Join, Keeps, Operand, Select, Source, Term, Test, Value};
use frontdesk_engine::page::Direction;

/// The table that a query reads.
pub const T: Source = Source(0);

pub fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Missing => "–".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

pub fn column(name: &'static str) -> Term {
    Term::Column(T, name)
}

pub fn of(source: u8, name: &'static str) -> Term {
    Term::Column(Source(source), name)
}

pub fn is(term: Term, value: i64) -> Test {
    Test::Compare(term, Comparison::Equal, Operand::Value(Value::Integer(value)))
}

pub fn same(one: Term, other: Term) -> Test {
    Test::Compare(one, Comparison::Equal, Operand::Term(other))
}

/// All rows of a table by its id.
pub fn all(table: &'static str, columns: &[&'static str]) -> Select {
    Select {
        from: (T, table),
        joins: Vec::new(),
        columns: columns.iter().map(|name| column(name)).collect(),
        tests: Vec::new(),
        order: vec![(column("id"), Direction::Rising)],
        offset: 0,
        limit: 1_000,
        bytes: 1 << 20,
    }
}

/// The value of a variable beside each document, as table 1 and so on.
pub fn value_of(variable: i64, source: u8) -> Join {
    let on = vec![same(of(source, "contentid"), column("id")), is(of(source, "tmplvarid"), variable)];
    Join { table: (Source(source), "site_tmplvar_contentvalues"), on, keeps: Keeps::All }
}
