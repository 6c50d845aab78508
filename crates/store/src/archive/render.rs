//! One `Select` as the text of a statement and its values. Names come from the schema that was found, and every value
//! is bound; nothing of a caller's becomes text.

use std::sync::Arc;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Operand, Predicate, Select, TableAlias,
};
use frontdesk_engine::{Fault, FaultKind};

use super::dialect::Dialect;
use super::operand::{Against, Kind, against, clean};
use super::schema::{Schema, Table};
use super::shape::Place;

/// SQLite's own limit for a pattern is 50,000 bytes, and each letter may need a mark before it.
pub(super) const LONGEST_LIKENESS: usize = 24_000;
/// SQLite joins 64 tables and takes 32,766 values.
const MOST_TABLES: usize = 60;
const MOST_VALUES: usize = 30_000;
/// Room for most statements, so that they are written without being moved.
const USUAL_TEXT: usize = 2_048;
const USUAL_VALUES: usize = 16;

/// What a database is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub text: Arc<str>,
    pub values: Vec<Bound>,
    /// How many columns were asked for.
    pub columns: usize,
}

/// What is bound at a statement's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    Integer(i64),
    Text(String),
    /// A number as SQLite compares it.
    Key(Vec<u8>),
}

/// Where a bound value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// As it is, or as text.
    Literal(Place),
    Pattern(Place, Like),
    Limit,
    Offset,
    /// It is the same for every caller.
    Ours,
}

/// A statement that was made, and where its values come from. That is nowhere to be found if its text depends on more of
/// them than whether they are numbers and which letters they have.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) statement: Statement,
    pub(super) origins: Option<Vec<Origin>>,
}

pub(super) fn make(dialect: Dialect, schema: &Schema, select: &Select, widest: usize) -> Result<Made, Fault> {
    let mut writer = Writer {
        dialect,
        schema,
        widest,
        text: String::with_capacity(USUAL_TEXT),
        values: Vec::with_capacity(USUAL_VALUES),
        origins: Some(Vec::with_capacity(USUAL_VALUES)),
        scope: Vec::with_capacity(1 + select.joins.len()),
    };
    writer.select(select)?;
    if writer.scope.len() > MOST_TABLES || writer.values.len() > MOST_VALUES {
        return Err(Fault::new(FaultKind::InvalidArgument, "This asks for too much at once. Ask for less."));
    }
    let statement = Statement { text: writer.text.into(), values: writer.values, columns: select.columns.len() };
    Ok(Made { statement, origins: writer.origins })
}

pub(super) struct Seen<'a> {
    pub(super) source: TableAlias,
    pub(super) table: &'a Table,
    /// Whether rows may be without a partner here.
    pub(super) keeps: JoinKind,
}

pub(super) struct Writer<'a> {
    pub(super) dialect: Dialect,
    schema: &'a Schema,
    pub(super) widest: usize,
    pub(super) text: String,
    pub(super) values: Vec<Bound>,
    /// One for each of the values.
    pub(super) origins: Option<Vec<Origin>>,
    pub(super) scope: Vec<Seen<'a>>,
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
                Direction::Ascending => "",
                Direction::Descending => " DESC",
            });
            if may_miss {
                self.put(self.dialect.missing_place(*direction));
            }
            word = ", ";
        }
        self.put(" LIMIT ");
        self.whole(rows_of(select.limit), Origin::Limit);
        self.put(" OFFSET ");
        self.whole(rows_of(select.offset), Origin::Offset);
        Ok(())
    }

    fn see(&mut self, select: &Select) -> Result<(), Fault> {
        self.see_one(select.from, JoinKind::Inner)?;
        select.joins.iter().try_for_each(|join| self.see_one(join.table, join.kind))
    }

    fn see_one(&mut self, (source, name): (TableAlias, &'static str), keeps: JoinKind) -> Result<(), Fault> {
        let table = self.schema.table(name);
        let table = table.ok_or_else(|| Fault::internal(format!("the database has no table {name} of this site")))?;
        self.scope.push(Seen { source, table, keeps });
        Ok(())
    }

    /// From the tables to the tests.
    fn body(&mut self, select: &Select) -> Result<(), Fault> {
        self.put(" FROM ");
        self.table(select.from.0)?;
        for Join { table, on, kind: keeps } in &select.joins {
            self.put(match keeps {
                JoinKind::Inner => " JOIN ",
                JoinKind::Left => " LEFT JOIN ",
            });
            self.table(table.0)?;
            self.put(" ON ");
            self.all(on)?;
        }
        if !select.filter.is_empty() {
            self.put(" WHERE ");
            self.all(&select.filter)?;
        }
        Ok(())
    }

    fn table(&mut self, source: TableAlias) -> Result<(), Fault> {
        let table = self.seen(source)?.table;
        self.dialect.name(&table.name, &mut self.text);
        self.put(" AS t");
        self.put_number(source.0.into());
        Ok(())
    }

    fn all(&mut self, tests: &[Predicate]) -> Result<(), Fault> {
        for (number, test) in tests.iter().enumerate() {
            self.put(if number == 0 { "" } else { " AND " });
            self.test(test)?;
        }
        self.put(if tests.is_empty() { ALWAYS } else { "" });
        Ok(())
    }

    fn test(&mut self, test: &Predicate) -> Result<(), Fault> {
        match test {
            Predicate::Compare(term, comparison, Operand::Literal(value)) => self.compare(term, *comparison, value),
            Predicate::Compare(left, comparison, Operand::Expr(right)) => self.compare_terms(left, *comparison, right),
            Predicate::AnyOf(term, values) => self.one_of(term, values, " IN (", NEVER),
            Predicate::NoneOf(term, values) if values.is_empty() => self.is_present(term),
            Predicate::NoneOf(term, values) => self.one_of(term, values, " NOT IN (", ""),
            Predicate::Like(term, likeness, text) => self.like(term, *likeness, text),
            Predicate::IsNull(term) => self.is_missing(term, " IS NULL", ALWAYS),
            Predicate::IsNotNull(term) => self.is_present(term),
            Predicate::Exists(select) => self.exists(select),
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

    fn is_present(&mut self, term: &Expr) -> Result<(), Fault> {
        self.is_missing(term, " IS NOT NULL", NEVER)
    }

    fn is_missing(&mut self, term: &Expr, words: &str, if_missing: &str) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Missing => self.put(if_missing),
            Kind::Whole | Kind::Text | Kind::Number => {
                self.itself(term)?;
                self.put(words);
            }
        }
        Ok(())
    }

    fn compare(&mut self, term: &Expr, comparison: Comparison, value: &Literal) -> Result<(), Fault> {
        match (self.against(self.kind(term)?, value)?, comparison) {
            (Against::Nothing, _) => self.put(NEVER),
            (Against::NoNumber, Comparison::NotEqual) => self.is_present(term)?,
            (Against::NoNumber, _) => self.put(NEVER),
            (against, comparison) => {
                self.as_against(term, &against)?;
                self.put(sign(comparison));
                self.value(against, Origin::Literal(Place::of(value)));
            }
        }
        Ok(())
    }

    /// What the value means here, and whether that depends on more of it than its shape.
    fn against(&mut self, kind: Kind, value: &Literal) -> Result<Against, Fault> {
        match (kind, value) {
            (Kind::Text | Kind::Missing, _) | (Kind::Whole, Literal::Integer(_)) => {}
            (Kind::Whole, Literal::Text(_) | Literal::Decimal(_)) | (Kind::Number, _) => self.origins = None,
        }
        against(kind, value)
    }

    fn compare_terms(&mut self, left: &Expr, comparison: Comparison, right: &Expr) -> Result<(), Fault> {
        let write: fn(&mut Self, &Expr) -> Result<(), Fault> = match (self.kind(left)?, self.kind(right)?) {
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
    fn one_of(&mut self, term: &Expr, values: &[Literal], words: &str, if_none: &str) -> Result<(), Fault> {
        let kind = self.kind(term)?;
        let mut possible = Vec::with_capacity(values.len());
        for value in values {
            match (kind, self.against(kind, value)?) {
                (Kind::Missing, _) | (_, Against::Nothing) => {
                    self.put(NEVER);
                    return Ok(());
                }
                (_, Against::NoNumber) | (Kind::Whole, Against::Text(_) | Against::Number(_)) => {}
                (Kind::Whole | Kind::Text | Kind::Number, against) => possible.push((against, Place::of(value))),
            }
        }
        // If one of them has letters that the column lacks, all are compared as if it had them.
        let first = possible.iter().find(|(against, _)| against.has_rare_letters()).or_else(|| possible.first());
        let Some((first, _)) = first else {
            return match if_none {
                "" => self.is_present(term),
                never => {
                    self.put(never);
                    Ok(())
                }
            };
        };
        self.as_against(term, first)?;
        self.put(words);
        for (number, (against, place)) in possible.into_iter().enumerate() {
            self.put(if number == 0 { "" } else { ", " });
            self.value(against, Origin::Literal(place));
        }
        self.put(")");
        Ok(())
    }

    fn like(&mut self, term: &Expr, likeness: Like, given: &String) -> Result<(), Fault> {
        let text = clean(given)?;
        if text.len() > LONGEST_LIKENESS {
            return Err(Fault::new(FaultKind::InvalidArgument, "The text to look for is too long."));
        }
        if self.kind(term)? == Kind::Missing {
            self.put(NEVER);
            return Ok(());
        }
        self.text_beside(term, text)?;
        self.put(" LIKE ");
        self.value(Against::Text(pattern(likeness, text)), Origin::Pattern(Place::of(given), likeness));
        self.put(" ESCAPE '!'");
        Ok(())
    }
}

/// The text with marks before the letters that a pattern would take for something else.
pub(super) fn pattern(likeness: Like, text: &str) -> String {
    let marked = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    match likeness {
        Like::Contains => format!("%{marked}%"),
        Like::StartsWith => format!("{marked}%"),
        Like::EndsWith => format!("%{marked}"),
    }
}

pub(super) fn rows_of(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

const ALWAYS: &str = "1 = 1";
const NEVER: &str = "1 = 0";

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => " = ",
        Comparison::NotEqual => " <> ",
        Comparison::Greater => " > ",
        Comparison::AtLeast => " >= ",
        Comparison::Less => " < ",
        Comparison::AtMost => " <= ",
    }
}
