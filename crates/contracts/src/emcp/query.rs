//! Shorthands for building queries to the site's database.

use frontdesk_engine::archive::{Comparison, Name, Operand, Source, Term, Test, Value};

/// The alias of the table that a statement selects from; joined tables have other aliases.
pub(super) const BASE: Source = Source(0);

pub(super) fn column(name: Name) -> Term {
    Term::Column(BASE, name)
}

pub(super) fn equals(term: Term, number: i64) -> Test {
    compare(term, Comparison::Equal, number)
}

pub(super) fn compare(term: Term, comparison: Comparison, number: i64) -> Test {
    Test::Compare(term, comparison, Operand::Value(Value::Integer(number)))
}

pub(super) fn columns_equal(left: Term, right: Term) -> Test {
    Test::Compare(left, Comparison::Equal, Operand::Term(right))
}
