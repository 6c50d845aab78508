//! Queries of a foreign database: which tables, which rows, in which order. There is no word here for a
//! write, and no place where a text could become part of a statement: names are constants, values are bound.

use crate::model::fault::Fault;
use crate::model::page::Direction;
use crate::model::tool::Future;

/// A table or a column, as the contract's own code names it.
pub type Name = &'static str;

/// Which of a statement's tables is meant. A table inside `Predicate::Exists` can see those around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableAlias(pub u8);

/// Rows of one table, with others beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub from: (TableAlias, Name),
    pub joins: Vec<Join>,
    pub columns: Vec<Expr>,
    /// All of them must hold.
    pub filter: Vec<Predicate>,
    /// Rows without a value come first when rising and last when falling.
    pub order: Vec<(Expr, Direction)>,
    pub offset: u64,
    pub limit: u64,
    /// No more bytes of values than this, an integer counting eight; rows beyond it are a fault, not a shorter answer.
    pub bytes: usize,
}

/// Another table beside those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    pub table: (TableAlias, Name),
    pub on: Vec<Predicate>,
    pub kind: JoinKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Only rows that have a partner.
    Inner,
    /// All rows; those without a partner have no values on this side.
    Left,
}

/// Something that has a value in each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A column that the table does not have is without a value everywhere.
    Column(TableAlias, Name),
    /// The term, or this text where it has no value.
    Coalesce(Box<Expr>, String),
    /// The number that the text of the term begins with.
    Number(Number, Box<Expr>),
    /// The first, unless that is zero or missing; then the second. For whole numbers; texts are read as `Signed`.
    NonZero(Box<Expr>, Box<Expr>),
}

/// How a text is read as a number. It is the same on every database: blanks (of ASCII), a sign and digits at the
/// beginning count, what comes after them does not, and a text without any is zero. So `1e3` is 1. As a column of an
/// answer a number is a text with all its places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// A whole number of 64 bits; a fraction is cut off, and what does not fit becomes the nearest that does.
    Signed,
    /// As `Signed`, and negative numbers count from 2^64 downwards.
    Unsigned,
    /// Digits behind a point count too; rounded to so many places, half away from zero. With more digits in all than
    /// these it becomes the nearest that fits. No database has more than 65 digits and 30 places.
    Decimal { digits: u8, places: u8 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// No value equals nothing and differs from nothing: such rows fail every comparison.
    Compare(Expr, Comparison, Operand),
    AnyOf(Expr, Vec<Literal>),
    /// Rows without a value fail it too.
    NoneOf(Expr, Vec<Literal>),
    /// The letters of the text stand for themselves, also `%` and `_`.
    Like(Expr, Like, String),
    IsNull(Expr),
    IsNotNull(Expr),
    Exists(Box<Select>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    AtLeast,
    Less,
    AtMost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Like {
    Contains,
    StartsWith,
    EndsWith,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    Literal(Literal),
    Expr(Expr),
}

/// What a term is compared with; always bound, never written into the statement. A text is compared with a number as
/// with its digits; a whole number with a text that is a number, blanks around it aside, as numbers. It equals no other
/// text, is neither more nor less than one, and differs from all of them. `NUL` in a text is a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    Integer(i64),
    Text(String),
    /// A number written with digits, perhaps a sign in front and a point between: it has been checked.
    Decimal(String),
}

/// What a row has in one of the columns that were asked for. Truth is 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteCell {
    Null,
    Integer(i64),
    Text(String),
}

pub type SiteRow = Vec<SiteCell>;

/// A database that is read and never written.
pub trait SiteDb: Send + Sync {
    /// Whether the table is there. Columns that are not there read as `Missing`.
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>>;

    /// Faults with `AnswerTooLarge` beyond the bytes asked for and with `Unavailable` when the database cannot answer
    /// in time.
    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>>;

    /// The same for this caller, who cannot have all connections at once.
    fn select_for<'a>(&'a self, _caller: &'a str, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        self.select(select)
    }
}

/// A site's database as one caller reads it.
pub struct CallerSiteDb<'c> {
    pub site_db: &'c dyn SiteDb,
    pub caller: &'c str,
}

impl SiteDb for CallerSiteDb<'_> {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        self.site_db.has_table(table)
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        self.site_db.select_for(self.caller, select)
    }
}
