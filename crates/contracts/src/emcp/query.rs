//! Short words for asking the site's database.

use frontdesk_engine::archive::{Comparison, Name, Operand, Source, Term, Test, Value};

/// The table that a statement is about; others stand beside it.
pub(super) const HERE: Source = Source(0);

pub(super) fn column(name: Name) -> Term {
    Term::Column(HERE, name)
}

pub(super) fn is(term: Term, number: i64) -> Test {
    compared(term, Comparison::Equal, number)
}

pub(super) fn compared(term: Term, comparison: Comparison, number: i64) -> Test {
    Test::Compare(term, comparison, Operand::Value(Value::Integer(number)))
}

pub(super) fn same(one: Term, other: Term) -> Test {
    Test::Compare(one, Comparison::Equal, Operand::Term(other))
}
