//! Short words for asking the site's database.

use frontdesk_engine::ports::site_db::{Comparison, Expr, Literal, Name, Operand, Predicate, TableAlias};

/// The table that a statement is about; others stand beside it.
pub(super) const HERE: TableAlias = TableAlias(0);

pub(super) fn column(name: Name) -> Expr {
    Expr::Column(HERE, name)
}

pub(super) fn is(term: Expr, number: i64) -> Predicate {
    compared(term, Comparison::Equal, number)
}

pub(super) fn compared(term: Expr, comparison: Comparison, number: i64) -> Predicate {
    Predicate::Compare(term, comparison, Operand::Literal(Literal::Integer(number)))
}

pub(super) fn same(one: Expr, other: Expr) -> Predicate {
    Predicate::Compare(one, Comparison::Equal, Operand::Expr(other))
}
