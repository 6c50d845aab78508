//! One `Select` as the text of a statement and its values. Names come from the schema that was found, and every value
//! is bound; nothing of a caller's becomes text.

use frontdesk_engine::archive::{
    Comparison, Join, Keeps, Likeness, Number, Operand, Select, Source, Term, Test, Value,
};
use frontdesk_engine::page::Direction;
use frontdesk_engine::{Fault, FaultKind};

use super::dialect::{Around, Dialect};
use super::number::{Decimal, bounds};
use super::operand::{Against, Kind, against, clean};
use super::schema::{Holds, Schema, Table};

/// SQLite's own limit for a pattern is 50,000 bytes, and each letter may need a mark before it.
const LONGEST_LIKENESS: usize = 24_000;
/// SQLite joins 64 tables and takes 32,766 values.
const MOST_TABLES: usize = 60;
const MOST_VALUES: usize = 30_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) values: Vec<Bound>,
    /// How many columns were asked for.
    pub(crate) columns: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bound {
    Integer(i64),
    Text(String),
    /// A number as SQLite compares it.
    Key(Vec<u8>),
}

pub(crate) fn render(dialect: Dialect, schema: &Schema, select: &Select) -> Result<Statement, Fault> {
    let mut writer = Writer { dialect, schema, text: String::new(), values: Vec::new(), scope: Vec::new() };
    writer.select(select)?;
    if writer.scope.len() > MOST_TABLES || writer.values.len() > MOST_VALUES {
        return Err(Fault::new(FaultKind::InvalidArgument, "This asks for too much at once. Ask for less."));
    }
    Ok(Statement { text: writer.text, values: writer.values, columns: select.columns.len() })
}

struct Seen<'a> {
    source: Source,
    table: &'a Table,
    /// Whether rows may be without a partner here.
    keeps: Keeps,
}

struct Writer<'a> {
    dialect: Dialect,
    schema: &'a Schema,
    text: String,
    values: Vec<Bound>,
    scope: Vec<Seen<'a>>,
}

impl Writer<'_> {
    fn select(&mut self, select: &Select) -> Result<(), Fault> {
        // The tables are known before the columns are written.
        self.see(select)?;
        self.put("SELECT ");
        for (number, term) in select.columns.iter().enumerate() {
            self.put(if number == 0 { "" } else { ", " });
            self.answered(term)?;
        }
        self.put(if select.columns.is_empty() { "1" } else { "" });
        self.body(select)?;
        let mut word = " ORDER BY ";
        for (term, direction) in &select.order {
            if self.kind(term)? == Kind::Missing {
                continue;
            }
            self.put(word);
            self.itself(term)?;
            let may_miss = !self.is_filled(term)?;
            self.put(match direction {
                Direction::Rising => "",
                Direction::Falling => " DESC",
            });
            if may_miss {
                self.put(self.dialect.missing_place(*direction));
            }
            word = ", ";
        }
        self.put(" LIMIT ");
        self.whole(i64::try_from(select.limit).unwrap_or(i64::MAX));
        self.put(" OFFSET ");
        self.whole(i64::try_from(select.offset).unwrap_or(i64::MAX));
        Ok(())
    }

    fn see(&mut self, select: &Select) -> Result<(), Fault> {
        self.see_one(select.from, Keeps::Matched)?;
        select.joins.iter().try_for_each(|join| self.see_one(join.table, join.keeps))
    }

    fn see_one(&mut self, (source, name): (Source, &'static str), keeps: Keeps) -> Result<(), Fault> {
        let table = self.schema.table(name);
        let table = table.ok_or_else(|| Fault::internal(format!("the database has no table {name} of this site")))?;
        self.scope.push(Seen { source, table, keeps });
        Ok(())
    }

    /// From the tables to the tests.
    fn body(&mut self, select: &Select) -> Result<(), Fault> {
        self.put(" FROM ");
        self.table(select.from.0)?;
        for Join { table, on, keeps } in &select.joins {
            self.put(match keeps {
                Keeps::Matched => " JOIN ",
                Keeps::All => " LEFT JOIN ",
            });
            self.table(table.0)?;
            self.put(" ON ");
            self.all(on)?;
        }
        if !select.tests.is_empty() {
            self.put(" WHERE ");
            self.all(&select.tests)?;
        }
        Ok(())
    }

    fn table(&mut self, source: Source) -> Result<(), Fault> {
        let text = format!("{} AS t{}", self.dialect.name(&self.seen(source)?.table.name), source.0);
        self.put(&text);
        Ok(())
    }

    fn all(&mut self, tests: &[Test]) -> Result<(), Fault> {
        for (number, test) in tests.iter().enumerate() {
            self.put(if number == 0 { "" } else { " AND " });
            self.test(test)?;
        }
        self.put(if tests.is_empty() { ALWAYS } else { "" });
        Ok(())
    }

    fn test(&mut self, test: &Test) -> Result<(), Fault> {
        match test {
            Test::Compare(term, comparison, Operand::Value(value)) => self.compare(term, *comparison, value),
            Test::Compare(left, comparison, Operand::Term(right)) => self.compare_terms(left, *comparison, right),
            Test::AnyOf(term, values) => self.one_of(term, values, " IN (", NEVER),
            Test::NoneOf(term, values) if values.is_empty() => self.test(&Test::Present(term.clone())),
            Test::NoneOf(term, values) => self.one_of(term, values, " NOT IN (", ""),
            Test::Like(term, likeness, text) => self.like(term, *likeness, text),
            Test::Missing(term) => self.is_missing(term, " IS NULL", ALWAYS),
            Test::Present(term) => self.is_missing(term, " IS NOT NULL", NEVER),
            Test::Exists(select) => self.exists(select),
        }
    }

    fn exists(&mut self, select: &Select) -> Result<(), Fault> {
        let around = self.scope.len();
        self.see(select)?;
        self.put("EXISTS (SELECT 1");
        self.body(select)?;
        self.put(")");
        self.scope.truncate(around);
        Ok(())
    }

    fn is_missing(&mut self, term: &Term, words: &str, if_missing: &str) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Missing => self.put(if_missing),
            Kind::Whole | Kind::Text | Kind::Number => {
                self.itself(term)?;
                self.put(words);
            }
        }
        Ok(())
    }

    fn compare(&mut self, term: &Term, comparison: Comparison, value: &Value) -> Result<(), Fault> {
        match against(self.kind(term)?, value)? {
            None => self.put(NEVER),
            Some(against) => {
                self.as_against(term, &against)?;
                self.put(sign(comparison));
                self.value(against);
            }
        }
        Ok(())
    }

    fn compare_terms(&mut self, left: &Term, comparison: Comparison, right: &Term) -> Result<(), Fault> {
        let write: fn(&mut Self, &Term) -> Result<(), Fault> = match (self.kind(left)?, self.kind(right)?) {
            (Kind::Missing, _) | (_, Kind::Missing) => {
                self.put(NEVER);
                return Ok(());
            }
            (Kind::Number, _) | (_, Kind::Number) => Self::number,
            (Kind::Whole, Kind::Whole) => Self::itself,
            (Kind::Text, Kind::Text | Kind::Whole) | (Kind::Whole, Kind::Text) => Self::written,
        };
        write(self, left)?;
        self.put(sign(comparison));
        write(self, right)
    }

    /// Values that the term can never be equal to say nothing; if only such are left, `if_none` does, or presence.
    fn one_of(&mut self, term: &Term, values: &[Value], words: &str, if_none: &str) -> Result<(), Fault> {
        let kind = self.kind(term)?;
        let mut possible = Vec::with_capacity(values.len());
        for value in values {
            match (kind, against(kind, value)?) {
                (Kind::Missing, _) | (_, None) => {
                    self.put(NEVER);
                    return Ok(());
                }
                (Kind::Whole, Some(Against::Text(_) | Against::Number(_))) => {}
                (Kind::Whole | Kind::Text | Kind::Number, Some(against)) => possible.push(against),
            }
        }
        let Some(first) = possible.first() else {
            return match if_none {
                "" => self.test(&Test::Present(term.clone())),
                never => {
                    self.put(never);
                    Ok(())
                }
            };
        };
        self.as_against(term, first)?;
        self.put(words);
        for (number, against) in possible.into_iter().enumerate() {
            self.put(if number == 0 { "" } else { ", " });
            self.value(against);
        }
        self.put(")");
        Ok(())
    }

    fn like(&mut self, term: &Term, likeness: Likeness, text: &str) -> Result<(), Fault> {
        let text = clean(text)?;
        if text.len() > LONGEST_LIKENESS {
            return Err(Fault::new(FaultKind::InvalidArgument, "The text to look for is too long."));
        }
        if self.kind(term)? == Kind::Missing {
            self.put(NEVER);
            return Ok(());
        }
        self.written(term)?;
        self.put(" LIKE ");
        let marked = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        self.value(Against::Text(match likeness {
            Likeness::Contains => format!("%{marked}%"),
            Likeness::Begins => format!("{marked}%"),
            Likeness::Ends => format!("%{marked}"),
        }));
        self.put(" ESCAPE '!'");
        Ok(())
    }

    fn value(&mut self, against: Against) {
        match against {
            Against::Whole(number) => self.whole(number),
            Against::Text(text) => self.bind(self.dialect.text_value(), Bound::Text(text)),
            Against::Number(number) => {
                let bound = match self.dialect {
                    Dialect::Sqlite => Bound::Key(number.key()),
                    Dialect::Mysql | Dialect::Postgres => Bound::Text(number.written(0)),
                };
                self.bind(self.dialect.number_value(number.shape()), bound);
            }
        }
    }

    fn whole(&mut self, number: i64) {
        self.bind(self.dialect.whole_value(), Bound::Integer(number));
    }

    fn bind(&mut self, (before, behind): Around, value: Bound) {
        self.values.push(value);
        let place = self.dialect.place(self.values.len());
        self.put(&format!("{before}{place}{behind}"));
    }

    fn as_against(&mut self, term: &Term, against: &Against) -> Result<(), Fault> {
        match against {
            Against::Whole(_) => self.itself(term),
            Against::Text(_) => self.written(term),
            Against::Number(_) => self.number(term),
        }
    }

    /// As one of the columns of the answer.
    fn answered(&mut self, term: &Term) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Whole => self.inside(self.dialect.answered_whole(), |writer| writer.itself(term)),
            Kind::Text | Kind::Number | Kind::Missing => self.written(term),
        }
    }

    fn written(&mut self, term: &Term) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Whole => self.inside(self.dialect.as_text(), |writer| writer.itself(term)),
            Kind::Number => {
                let around = self.dialect.written_number(self.places(term)?);
                self.inside(around, |writer| writer.itself(term))
            }
            Kind::Text | Kind::Missing => self.itself(term),
        }
    }

    fn number(&mut self, term: &Term) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Whole => self.inside(self.dialect.whole_as_number(), |writer| writer.itself(term)),
            Kind::Text => self.read(Number::Decimal { digits: 65, places: 30 }, term),
            Kind::Number | Kind::Missing => self.itself(term),
        }
    }

    /// The term as what it is.
    fn itself(&mut self, term: &Term) -> Result<(), Fault> {
        if self.kind(term)? == Kind::Missing {
            self.put(self.dialect.missing());
            return Ok(());
        }
        match term {
            Term::Column(source, name) => self.column(*source, name),
            Term::Or(term, text) => {
                let text = Against::Text(clean(text)?.to_owned());
                if self.kind(term)? == Kind::Missing {
                    self.value(text);
                    return Ok(());
                }
                self.put("COALESCE(");
                self.written(term)?;
                self.put(", ");
                self.value(text);
                self.put(")");
                Ok(())
            }
            Term::Number(number, term) => self.read(*number, term),
            Term::NonZero(first, second) => self.non_zero(first, second),
        }
    }

    fn column(&mut self, source: Source, name: &str) -> Result<(), Fault> {
        let holds = self.seen(source)?.table.columns.get(name).map(|column| column.holds);
        let plain = around("", "");
        let (before, behind) = match holds {
            Some(Holds::Whole | Holds::Text) => plain,
            Some(Holds::Truth) => self.dialect.truth_as_whole(),
            Some(Holds::Other) => self.dialect.as_text(),
            None => return Ok(self.put(self.dialect.missing())),
        };
        let text = format!("{before}t{}.{}{behind}", source.0, self.dialect.name(name));
        self.put(&text);
        Ok(())
    }

    fn read(&mut self, number: Number, term: &Term) -> Result<(), Fault> {
        let is_guarded = self.dialect.limits_forget_the_missing();
        if is_guarded {
            self.put("CASE WHEN ");
            self.itself(term)?;
            self.put(" IS NOT NULL THEN ");
        }
        self.inside(self.dialect.reading(number), |writer| writer.written(term))?;
        self.put(if is_guarded { " END" } else { "" });
        Ok(())
    }

    fn non_zero(&mut self, first: &Term, second: &Term) -> Result<(), Fault> {
        let side: fn(&mut Self, &Term) -> Result<(), Fault> = match (self.kind(first)?, self.kind(second)?) {
            (Kind::Missing, _) => return self.itself(second),
            (Kind::Whole, Kind::Whole) => Self::itself,
            (Kind::Whole | Kind::Text | Kind::Number, _) => |writer, term| match writer.kind(term)? {
                Kind::Missing => Ok(writer.put("NULL")),
                Kind::Whole | Kind::Text | Kind::Number => writer.read(Number::Signed, term),
            },
        };
        let zero = match self.kind(&Term::NonZero(Box::new(first.clone()), Box::new(second.clone())))? {
            Kind::Whole => Against::Whole(0),
            Kind::Text | Kind::Number | Kind::Missing => Against::Number(Decimal::of_integer(0)),
        };
        self.put("CASE WHEN ");
        side(self, first)?;
        self.put(" <> ");
        self.value(zero);
        self.put(" THEN ");
        side(self, first)?;
        self.put(" ELSE ");
        side(self, second)?;
        self.put(" END");
        Ok(())
    }

    fn kind(&self, term: &Term) -> Result<Kind, Fault> {
        Ok(match term {
            Term::Column(source, name) => match self.seen(*source)?.table.columns.get(*name) {
                None => Kind::Missing,
                Some(column) => match column.holds {
                    Holds::Whole | Holds::Truth => Kind::Whole,
                    Holds::Text | Holds::Other => Kind::Text,
                },
            },
            Term::Or(..) => Kind::Text,
            Term::Number(_, term) => match self.kind(term)? {
                Kind::Missing => Kind::Missing,
                Kind::Whole | Kind::Text | Kind::Number => Kind::Number,
            },
            Term::NonZero(first, second) => match (self.kind(first)?, self.kind(second)?) {
                (Kind::Missing, second) => second,
                (Kind::Whole, Kind::Whole) => Kind::Whole,
                (Kind::Whole | Kind::Text | Kind::Number, _) => Kind::Number,
            },
        })
    }

    /// How many places behind the point the term has as a text.
    fn places(&self, term: &Term) -> Result<u8, Fault> {
        Ok(match term {
            Term::Number(Number::Decimal { digits, places }, _) => bounds(*digits, *places).1,
            Term::NonZero(first, second) if self.kind(first)? == Kind::Missing => self.places(second)?,
            Term::Number(Number::Signed | Number::Unsigned, _)
            | Term::Column(..)
            | Term::Or(..)
            | Term::NonZero(..) => 0,
        })
    }

    /// Whether the term has a value in every row.
    fn is_filled(&self, term: &Term) -> Result<bool, Fault> {
        Ok(match term {
            Term::Column(source, name) => {
                let seen = self.seen(*source)?;
                seen.keeps == Keeps::Matched && seen.table.columns.get(*name).is_some_and(|column| column.is_filled)
            }
            Term::Or(..) => true,
            Term::Number(_, term) => self.is_filled(term)?,
            Term::NonZero(_, second) => self.is_filled(second)?,
        })
    }

    fn seen(&self, source: Source) -> Result<&Seen<'_>, Fault> {
        let seen = self.scope.iter().rev().find(|seen| seen.source == source);
        seen.ok_or_else(|| Fault::internal(format!("a statement names its table {} nowhere", source.0)))
    }

    fn inside(
        &mut self,
        (before, behind): Around,
        write: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.put(&before);
        write(self)?;
        self.put(&behind);
        Ok(())
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

const ALWAYS: &str = "1 = 1";
const NEVER: &str = "1 = 0";

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => " = ",
        Comparison::Unequal => " <> ",
        Comparison::More => " > ",
        Comparison::AtLeast => " >= ",
        Comparison::Less => " < ",
        Comparison::AtMost => " <= ",
    }
}

fn around(before: &str, behind: &str) -> Around {
    (before.to_owned(), behind.to_owned())
}
