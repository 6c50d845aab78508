//! What stands between the words of a statement: columns, values, casts and choices, each as what it is needed as.

use std::fmt::Write as _;

use frontdesk_engine::Fault;
use frontdesk_engine::ports::site_db::{Expr, JoinKind, Number, TableAlias};

use super::dialect::{Around, Dialect, MOST_LETTERS, Numbered};
use super::number::{Decimal, bounds};
use super::operand::{Against, Kind, clean};
use super::render::{Bound, Origin, Seen, Writer};
use super::schema::{Column, Holds, Letters};
use super::shape::Place;

impl<'a> Writer<'a> {
    pub(super) fn value(&mut self, against: Against, origin: Origin) {
        match against {
            Against::Nothing | Against::NoNumber => self.put(self.dialect.missing()),
            Against::Whole(number) => self.whole(number, origin),
            Against::Text(text) => self.bind(self.dialect.text_value(), Bound::Text(text), origin),
            Against::Number(number) => {
                let bound = match self.dialect {
                    Dialect::Sqlite => Bound::Key(number.key()),
                    Dialect::Mysql | Dialect::Postgres => Bound::Text(number.written(0)),
                };
                self.bind(self.dialect.number_value(number.shape()), bound, origin);
            }
        }
    }

    pub(super) fn whole(&mut self, number: i64, origin: Origin) {
        self.bind(self.dialect.whole_value(), Bound::Integer(number), origin);
    }

    fn bind(&mut self, (before, behind): Around, value: Bound, origin: Origin) {
        self.values.push(value);
        if let Some(origins) = &mut self.origins {
            origins.push(origin);
        }
        self.put(&before);
        let (mark, numbered) = self.dialect.place();
        self.put(mark);
        match numbered {
            Numbered::Yes => self.put_number(self.values.len()),
            Numbered::No => {}
        }
        self.put(&behind);
    }

    pub(super) fn as_against(&mut self, term: &Expr, against: &Against) -> Result<(), Fault> {
        match against {
            Against::Nothing | Against::NoNumber | Against::Whole(_) => self.itself(term),
            Against::Text(text) => self.text_beside(term, text),
            Against::Number(_) => self.number(term),
        }
    }

    /// As what it is beside this text. A column of an older character set is asked in the newest one if the text may
    /// have letters that it lacks; otherwise as it is, because its index knows it so.
    pub(super) fn text_beside(&mut self, term: &Expr, text: &str) -> Result<(), Fault> {
        let column = self.text_column(term)?;
        let around = match column.map(|column| column.letters) {
            Some(Letters::Some) if !text.is_ascii() => self.dialect.in_all_letters(),
            Some(Letters::All | Letters::Some) | None => around("", ""),
        };
        self.inside(around, |writer| writer.written(term))
    }

    /// The column that the term's text comes from, if it is a text.
    fn text_column(&self, term: &Expr) -> Result<Option<Column>, Fault> {
        Ok(match term {
            Expr::Column(source, name) => {
                let column = self.seen(*source)?.table.columns.get(*name).copied();
                column.filter(|column| matches!(column.holds, Holds::Text | Holds::Other))
            }
            Expr::Coalesce(term, _) => self.text_column(term)?,
            Expr::Number(..) | Expr::NonZero(..) => None,
        })
    }

    /// As one of the columns of the answer.
    pub(super) fn answered(&mut self, term: &Expr) -> Result<(), Fault> {
        if let Expr::Column(source, name) = term {
            return self.answered_column(*source, name);
        }
        match self.kind(term)? {
            Kind::Whole => self.inside(self.dialect.answered_choice(), |writer| writer.itself(term)),
            Kind::Text if self.text_column(term)?.is_some_and(|column| column.is_wide) => {
                self.cut(|writer| writer.written(term))
            }
            Kind::Text | Kind::Number | Kind::Missing => self.written(term),
        }
    }

    /// Nearly everything that is answered is a column, so it is looked up once.
    fn answered_column(&mut self, source: TableAlias, name: &str) -> Result<(), Fault> {
        let column = self.seen(source)?.table.columns.get(name).copied();
        match column {
            Some(Column { holds: holds @ (Holds::Whole | Holds::Truth), .. }) => {
                self.inside(self.dialect.answered_whole(), |writer| writer.held(source, name, holds))
            }
            Some(Column { holds, is_wide: true, .. }) => self.cut(|writer| writer.held(source, name, holds)),
            Some(Column { holds, .. }) => self.held(source, name, holds),
            None => {
                self.put(self.dialect.missing());
                Ok(())
            }
        }
    }

    /// A text with no more letters than were asked for.
    fn cut(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        let (before, behind) = self.dialect.no_longer_than();
        self.put(before);
        write(self)?;
        self.put(behind);
        self.put_number(self.widest.min(MOST_LETTERS));
        self.put(")");
        Ok(())
    }

    pub(super) fn written(&mut self, term: &Expr) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Whole => self.inside(self.dialect.as_text(), |writer| writer.itself(term)),
            Kind::Number => {
                let around = self.dialect.written_number(self.places(term)?);
                self.inside(around, |writer| writer.itself(term))
            }
            Kind::Text | Kind::Missing => self.itself(term),
        }
    }

    pub(super) fn number(&mut self, term: &Expr) -> Result<(), Fault> {
        match self.kind(term)? {
            Kind::Whole => self.inside(self.dialect.whole_as_number(), |writer| writer.itself(term)),
            Kind::Text => self.read(Number::Decimal { digits: 65, places: 30 }, term),
            Kind::Number | Kind::Missing => self.itself(term),
        }
    }

    /// The term as what it is.
    pub(super) fn itself(&mut self, term: &Expr) -> Result<(), Fault> {
        if self.kind(term)? == Kind::Missing {
            self.put(self.dialect.missing());
            return Ok(());
        }
        match term {
            Expr::Column(source, name) => self.column(*source, name),
            Expr::Coalesce(term, given) => {
                let (text, origin) = (clean(given)?, Origin::Literal(Place::of(given)));
                let value = Against::Text(text.to_owned());
                if self.kind(term)? == Kind::Missing {
                    self.value(value, origin);
                    return Ok(());
                }
                self.put("COALESCE(");
                self.text_beside(term, text)?;
                self.put(", ");
                self.value(value, origin);
                self.put(")");
                Ok(())
            }
            Expr::Number(number, term) => self.read(*number, term),
            Expr::NonZero(first, second) => self.non_zero(first, second),
        }
    }

    fn column(&mut self, source: TableAlias, name: &str) -> Result<(), Fault> {
        match self.seen(source)?.table.columns.get(name).map(|column| column.holds) {
            Some(holds) => self.held(source, name, holds),
            None => {
                self.put(self.dialect.missing());
                Ok(())
            }
        }
    }

    /// A column that is there.
    fn held(&mut self, source: TableAlias, name: &str, holds: Holds) -> Result<(), Fault> {
        let (before, behind) = match holds {
            Holds::Whole | Holds::Text => around("", ""),
            Holds::Truth => self.dialect.truth_as_whole(),
            Holds::Other => self.dialect.as_text(),
        };
        self.put(&before);
        self.put("t");
        self.put_number(source.0.into());
        self.put(".");
        self.dialect.name(name, &mut self.text);
        self.put(&behind);
        Ok(())
    }

    fn read(&mut self, number: Number, term: &Expr) -> Result<(), Fault> {
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

    fn non_zero(&mut self, first: &Expr, second: &Expr) -> Result<(), Fault> {
        let side: fn(&mut Self, &Expr) -> Result<(), Fault> = match (self.kind(first)?, self.kind(second)?) {
            (Kind::Missing, _) => return self.itself(second),
            (Kind::Whole, Kind::Whole) => Self::itself,
            (Kind::Whole | Kind::Text | Kind::Number, _) => |writer, term| match writer.kind(term)? {
                Kind::Missing => {
                    writer.put("NULL");
                    Ok(())
                }
                Kind::Whole | Kind::Text | Kind::Number => writer.read(Number::Signed, term),
            },
        };
        let zero = match self.kind(&Expr::NonZero(Box::new(first.clone()), Box::new(second.clone())))? {
            Kind::Whole => Against::Whole(0),
            Kind::Text | Kind::Number | Kind::Missing => Against::Number(Decimal::of_integer(0)),
        };
        self.put("CASE WHEN ");
        side(self, first)?;
        self.put(" <> ");
        self.value(zero, Origin::Ours);
        self.put(" THEN ");
        side(self, first)?;
        self.put(" ELSE ");
        side(self, second)?;
        self.put(" END");
        Ok(())
    }

    pub(super) fn kind(&self, term: &Expr) -> Result<Kind, Fault> {
        Ok(match term {
            Expr::Column(source, name) => match self.seen(*source)?.table.columns.get(*name) {
                None => Kind::Missing,
                Some(column) => match column.holds {
                    Holds::Whole | Holds::Truth => Kind::Whole,
                    Holds::Text | Holds::Other => Kind::Text,
                },
            },
            Expr::Coalesce(..) => Kind::Text,
            Expr::Number(_, term) => match self.kind(term)? {
                Kind::Missing => Kind::Missing,
                Kind::Whole | Kind::Text | Kind::Number => Kind::Number,
            },
            Expr::NonZero(first, second) => match (self.kind(first)?, self.kind(second)?) {
                (Kind::Missing, second) => second,
                (Kind::Whole, Kind::Whole) => Kind::Whole,
                (Kind::Whole | Kind::Text | Kind::Number, _) => Kind::Number,
            },
        })
    }

    /// How many places behind the point the term has as a text.
    fn places(&self, term: &Expr) -> Result<u8, Fault> {
        Ok(match term {
            Expr::Number(Number::Decimal { digits, places }, _) => bounds(*digits, *places).1,
            Expr::NonZero(first, second) if self.kind(first)? == Kind::Missing => self.places(second)?,
            Expr::Number(Number::Signed | Number::Unsigned, _)
            | Expr::Column(..)
            | Expr::Coalesce(..)
            | Expr::NonZero(..) => 0,
        })
    }

    /// Whether the term has a value in every row.
    pub(super) fn is_filled(&self, term: &Expr) -> Result<bool, Fault> {
        Ok(match term {
            Expr::Column(source, name) => {
                let seen = self.seen(*source)?;
                seen.keeps == JoinKind::Inner && seen.table.columns.get(*name).is_some_and(|column| column.is_filled)
            }
            Expr::Coalesce(..) => true,
            Expr::Number(_, term) => self.is_filled(term)?,
            Expr::NonZero(_, second) => self.is_filled(second)?,
        })
    }

    pub(super) fn seen(&self, source: TableAlias) -> Result<&Seen<'a>, Fault> {
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

    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Most are small, and a statement has dozens of them.
    pub(super) fn put_number(&mut self, number: usize) {
        match u8::try_from(number) {
            Ok(digit @ 0..10) => self.text.push(char::from(b'0' + digit)),
            Ok(two @ 10..100) => {
                self.text.push(char::from(b'0' + two / 10));
                self.text.push(char::from(b'0' + two % 10));
            }
            // Writing to memory does not fail.
            Ok(_) | Err(_) => drop(write!(self.text, "{number}")),
        }
    }
}

fn around(before: &'static str, behind: &'static str) -> Around {
    (before.into(), behind.into())
}
