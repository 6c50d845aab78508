//! Short forms for queries of a site's tables.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Literal, Operand, Predicate, Select, SiteCell, TableAlias,
};

/// The table that a query reads.
pub const T: TableAlias = TableAlias(0);

pub fn shown(cell: &SiteCell) -> String {
    match cell {
        SiteCell::Null => "–".to_owned(),
        SiteCell::Integer(number) => number.to_string(),
        SiteCell::Text(text) => text.clone(),
    }
}

pub fn column(name: &'static str) -> Expr {
    Expr::Column(T, name)
}

pub fn of(source: u8, name: &'static str) -> Expr {
    Expr::Column(TableAlias(source), name)
}

pub fn is(term: Expr, value: i64) -> Predicate {
    Predicate::Compare(term, Comparison::Equal, Operand::Literal(Literal::Integer(value)))
}

pub fn same(one: Expr, other: Expr) -> Predicate {
    Predicate::Compare(one, Comparison::Equal, Operand::Expr(other))
}

/// All rows of a table by its id.
pub fn all(table: &'static str, columns: &[&'static str]) -> Select {
    Select {
        from: (T, table),
        joins: Vec::new(),
        columns: columns.iter().map(|name| column(name)).collect(),
        filter: Vec::new(),
        order: vec![(column("id"), Direction::Ascending)],
        offset: 0,
        limit: 1_000,
        bytes: 1 << 20,
    }
}

/// The value of a variable beside each document, as table 1 and so on.
pub fn value_of(variable: i64, source: u8) -> Join {
    let on = vec![same(of(source, "contentid"), column("id")), is(of(source, "tmplvarid"), variable)];
    Join { table: (TableAlias(source), "site_tmplvar_contentvalues"), on, kind: JoinKind::Left }
}
