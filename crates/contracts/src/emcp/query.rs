//! Shorthands for building queries to the site's database.

use frontdesk_engine::ports::site_db::{Comparison, Expr, Literal, Name, Operand, Predicate, TableAlias};

/// The alias of the table that a statement selects from; joined tables have other aliases.
pub(super) const BASE: TableAlias = TableAlias(0);

pub(super) fn column(name: Name) -> Expr {
    Expr::Column(BASE, name)
}

pub(super) fn equals(expr: Expr, number: i64) -> Predicate {
    compare(expr, Comparison::Equal, number)
}

pub(super) fn compare(expr: Expr, comparison: Comparison, number: i64) -> Predicate {
    Predicate::Compare(expr, comparison, Operand::Literal(Literal::Integer(number)))
}

pub(super) fn columns_equal(left: Expr, right: Expr) -> Predicate {
    Predicate::Compare(left, Comparison::Equal, Operand::Expr(right))
}
