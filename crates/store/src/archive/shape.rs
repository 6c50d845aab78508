//! What a `Select` is like apart from its values: all that its text depends on, as words that can be compared. Two that
//! differ in anything else than values never have the same words.

use std::hash::{Hash, Hasher};
use std::ptr;

use frontdesk_engine::ports::site_db::{
    Expr, Join, JoinKind, Literal, Name, Number, Operand, Predicate, Select, TableAlias,
};

use super::dialect::Dialect;
use super::operand::clean;
use super::render::LONGEST_LIKENESS;

/// A shape with more words is made anew each time; a page with two variables has some seventy.
const MOST_WORDS: usize = 1_024;
const USUAL_WORDS: usize = 128;
const USUAL_VALUES: usize = 8;

/// Every word says how many of those behind it belong to it, so that none can be taken for another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape(Vec<u64>);

impl Hash for Shape {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|word| hasher.write_u64(*word));
    }
}

/// A value, where it stands in the `Select`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'a> {
    Literal(&'a Literal),
    Text(&'a String),
}

/// Where a value stands in memory while its `Select` is borrowed: this tells it from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(usize);

impl Place {
    pub(super) fn of<T>(value: &T) -> Place {
        Place(ptr::from_ref(value).addr())
    }
}

impl Given<'_> {
    pub(super) fn place(self) -> Place {
        match self {
            Given::Literal(value) => Place::of(value),
            Given::Text(text) => Place::of(text),
        }
    }
}

/// The shape and the values of it. Nothing, if it is too large to be worth keeping, or a value would be refused.
pub(super) fn shape(dialect: Dialect, select: &Select, widest: usize) -> Option<(Shape, Vec<Given<'_>>)> {
    let mut walk = Walk { words: Vec::with_capacity(USUAL_WORDS), given: Vec::with_capacity(USUAL_VALUES) };
    walk.words.extend([dialect as u64, widest as u64]);
    walk.count(select.columns.len());
    for term in &select.columns {
        walk.term(term)?;
    }
    walk.body(select)?;
    walk.count(select.order.len());
    for (term, direction) in &select.order {
        walk.words.push(*direction as u64);
        walk.term(term)?;
    }
    (walk.words.len() <= MOST_WORDS).then_some((Shape(walk.words), walk.given))
}

struct Walk<'a> {
    words: Vec<u64>,
    given: Vec<Given<'a>>,
}

impl<'a> Walk<'a> {
    fn body(&mut self, select: &'a Select) -> Option<()> {
        self.name(0, select.from.0, select.from.1);
        self.count(select.joins.len());
        for Join { table, on, kind: keeps } in &select.joins {
            let keeps = match keeps {
                JoinKind::Inner => 0,
                JoinKind::Left => 1,
            };
            self.name(keeps, table.0, table.1);
            self.tests(on)?;
        }
        self.tests(&select.filter)
    }

    fn tests(&mut self, tests: &'a [Predicate]) -> Option<()> {
        self.count(tests.len());
        tests.iter().try_for_each(|test| self.test(test))
    }

    fn test(&mut self, test: &'a Predicate) -> Option<()> {
        match test {
            Predicate::Compare(term, comparison, Operand::Literal(value)) => {
                self.words.push(*comparison as u64);
                self.term(term)?;
                self.value(value)
            }
            Predicate::Compare(left, comparison, Operand::Expr(right)) => {
                self.words.push(0x100 | *comparison as u64);
                self.term(left)?;
                self.term(right)
            }
            Predicate::AnyOf(term, values) => self.values(0x200, term, values),
            Predicate::NoneOf(term, values) => self.values(0x300, term, values),
            Predicate::Like(term, likeness, text) => {
                self.words.push(0x400 | *likeness as u64);
                self.term(term)?;
                (text.len() <= LONGEST_LIKENESS).then_some(())?;
                self.text(text)
            }
            Predicate::IsNull(term) => self.under(0x500, term),
            Predicate::IsNotNull(term) => self.under(0x600, term),
            Predicate::Exists(select) => {
                self.words.push(0x700);
                self.body(select)
            }
        }
    }

    fn values(&mut self, word: u64, term: &'a Expr, values: &'a [Literal]) -> Option<()> {
        self.under(word, term)?;
        self.count(values.len());
        values.iter().try_for_each(|value| self.value(value))
    }

    fn term(&mut self, term: &'a Expr) -> Option<()> {
        match term {
            Expr::Column(source, name) => {
                self.name(0, *source, name);
                Some(())
            }
            Expr::Coalesce(term, text) => {
                self.under(1, term)?;
                self.text(text)
            }
            Expr::Number(Number::Signed, term) => self.under(2, term),
            Expr::Number(Number::Unsigned, term) => self.under(3, term),
            Expr::Number(Number::Decimal { digits, places }, term) => {
                self.under(4 | u64::from(*digits) << 8 | u64::from(*places) << 16, term)
            }
            Expr::NonZero(first, second) => {
                self.under(5, first)?;
                self.term(second)
            }
        }
    }

    fn under(&mut self, word: u64, term: &'a Expr) -> Option<()> {
        self.words.push(word);
        self.term(term)
    }

    /// Of a value the text depends on what it is, and whether it has letters that some columns lack.
    fn value(&mut self, value: &'a Literal) -> Option<()> {
        self.words.push(match value {
            Literal::Integer(_) => 0,
            Literal::Text(text) => 1 | letters(text)?,
            Literal::Decimal(text) => 2 | letters(text)?,
        });
        self.given.push(Given::Literal(value));
        Some(())
    }

    fn text(&mut self, text: &'a String) -> Option<()> {
        self.words.push(letters(text)?);
        self.given.push(Given::Text(text));
        Some(())
    }

    /// A name is a constant: its place in memory and its length say which.
    fn name(&mut self, word: u64, source: TableAlias, name: Name) {
        self.words.extend([word | u64::from(source.0) << 8 | (name.len() as u64) << 16, name.as_ptr().addr() as u64]);
    }

    fn count(&mut self, count: usize) {
        self.words.push(count as u64);
    }
}

fn letters(text: &str) -> Option<u64> {
    clean(text).ok()?;
    Some(if text.is_ascii() { 0 } else { 4 })
}
