//! Renders expressions and parameters in the type in which they are needed.

use std::fmt::Write as _;

use frontdesk_engine::Fault;
use frontdesk_engine::ports::site_db::{Expr, JoinKind, Number, TableAlias};

use super::comparand::{Comparand, ExprType, without_nul};
use super::decimal::{Decimal, clamp_precision};
use super::dialect::{MAX_TEXT_LENGTH, NO_WRAP, SqlDialect, Wrap};
use super::render::{Renderer, ScopedTable, SqlParam};
use super::schema::{Charset, SiteColumn, SqlType};

/// Renders an expression in one of the types.
pub(super) type RenderExpr<'a> = fn(&mut Renderer<'a>, &Expr) -> Result<(), Fault>;

impl<'a> Renderer<'a> {
    /// The value as a parameter.
    pub(super) fn comparand(&mut self, comparand: Comparand) -> Result<(), Fault> {
        let (wrap, param) = match comparand {
            Comparand::Null | Comparand::NotANumber => return self.constant(self.dialect.null()),
            Comparand::Integer(number) => (self.dialect.integer_param(), SqlParam::Integer(number)),
            Comparand::Text(text) => (self.dialect.text_param(), SqlParam::Text(text)),
            Comparand::Decimal(number) => {
                let param = match self.dialect {
                    SqlDialect::Sqlite => SqlParam::SortKey(number.sort_key()),
                    SqlDialect::Mysql | SqlDialect::Postgres => SqlParam::Text(number.to_text(0)),
                };
                (self.dialect.decimal_param(number.precision_and_scale()), param)
            }
        };
        self.params.push(param);
        self.wrapped(wrap, |renderer| {
            renderer.dialect.push_placeholder(renderer.params.len(), &mut renderer.sql);
            Ok(())
        })
    }

    /// The expression in the type of what it is compared with.
    pub(super) fn expr_for(&mut self, expr: &Expr, comparand: &Comparand) -> Result<(), Fault> {
        match comparand {
            Comparand::Null | Comparand::NotANumber | Comparand::Integer(_) => self.expr(expr),
            Comparand::Text(text) => self.text_expr_for(expr, text),
            Comparand::Decimal(_) => self.decimal_expr(expr),
        }
    }

    /// The expression as text, to be compared with this text. A column of a legacy character set is converted to UTF-8
    /// if it may lack a character of the text; otherwise not, because its index could not be used.
    pub(super) fn text_expr_for(&mut self, expr: &Expr, text: &str) -> Result<(), Fault> {
        let wrap = match self.text_column(expr)?.map(|column| column.charset) {
            Some(Charset::Legacy) if !text.is_ascii() => self.dialect.to_utf8(),
            Some(Charset::Utf8 | Charset::Legacy) | None => NO_WRAP,
        };
        self.wrapped(wrap, |renderer| renderer.text_expr(expr))
    }

    /// The column that a text expression reads.
    fn text_column(&self, expr: &Expr) -> Result<Option<SiteColumn>, Fault> {
        Ok(match expr {
            Expr::Column(alias, name) => {
                let column = self.column(*alias, name)?;
                column.filter(|column| matches!(column.sql_type, SqlType::Text | SqlType::Other))
            }
            Expr::Coalesce(expr, _) => self.text_column(expr)?,
            Expr::Number(..) | Expr::NonZero(..) => None,
        })
    }

    /// The expression as a column of the result.
    pub(super) fn result_column(&mut self, expr: &Expr) -> Result<(), Fault> {
        if let Expr::Column(alias, name) = expr {
            return self.result_of_column(*alias, name);
        }
        match self.type_of(expr)? {
            ExprType::Integer => self.wrapped(self.dialect.integer_expression(), |renderer| renderer.expr(expr)),
            ExprType::Text if self.text_column(expr)?.is_some_and(|column| column.is_unbounded) => {
                self.truncated(|renderer| renderer.text_expr(expr))
            }
            ExprType::Text | ExprType::Decimal | ExprType::Null => self.text_expr(expr),
        }
    }

    /// Nearly all results are columns, so this looks a column up only once.
    fn result_of_column(&mut self, alias: TableAlias, name: &str) -> Result<(), Fault> {
        let Some(column) = self.column(alias, name)? else {
            return self.constant(self.dialect.null());
        };
        let render = |renderer: &mut Self| renderer.typed_column(alias, name, column.sql_type);
        match column.sql_type {
            SqlType::Integer | SqlType::Boolean => self.wrapped(self.dialect.integer_column(), render),
            SqlType::Text | SqlType::Other if column.is_unbounded => self.truncated(render),
            SqlType::Text | SqlType::Other => render(self),
        }
    }

    fn truncated(&mut self, render: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        let (before, after) = self.dialect.truncate();
        self.push(before);
        render(self)?;
        self.push(after);
        self.push_number(self.max_text_length.min(MAX_TEXT_LENGTH));
        self.constant(")")
    }

    pub(super) fn text_expr(&mut self, expr: &Expr) -> Result<(), Fault> {
        match self.type_of(expr)? {
            ExprType::Integer => self.wrapped(self.dialect.as_text(), |renderer| renderer.expr(expr)),
            ExprType::Decimal => {
                let wrap = self.dialect.decimal_as_text(self.scale(expr)?);
                self.wrapped(wrap, |renderer| renderer.expr(expr))
            }
            ExprType::Text | ExprType::Null => self.expr(expr),
        }
    }

    pub(super) fn decimal_expr(&mut self, expr: &Expr) -> Result<(), Fault> {
        match self.type_of(expr)? {
            ExprType::Integer => self.wrapped(self.dialect.integer_as_decimal(), |renderer| renderer.expr(expr)),
            ExprType::Text => self.parsed(Number::Decimal { digits: 65, places: 30 }, expr),
            ExprType::Decimal | ExprType::Null => self.expr(expr),
        }
    }

    /// The expression in its own type.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<(), Fault> {
        match expr {
            Expr::Column(alias, name) => match self.column(*alias, name)? {
                Some(column) => self.typed_column(*alias, name, column.sql_type),
                None => self.constant(self.dialect.null()),
            },
            Expr::Coalesce(expr, default) => self.coalesce(expr, without_nul(default)?),
            Expr::Number(_, inner) if self.type_of(inner)? == ExprType::Null => self.expr(inner),
            Expr::Number(number, inner) => self.parsed(*number, inner),
            Expr::NonZero(first, second) => self.non_zero(first, second),
        }
    }

    fn coalesce(&mut self, expr: &Expr, default: &str) -> Result<(), Fault> {
        let comparand = Comparand::Text(default.to_owned());
        if self.type_of(expr)? == ExprType::Null {
            return self.comparand(comparand);
        }
        self.push("COALESCE(");
        self.text_expr_for(expr, default)?;
        self.push(", ");
        self.comparand(comparand)?;
        self.constant(")")
    }

    fn typed_column(&mut self, alias: TableAlias, name: &str, sql_type: SqlType) -> Result<(), Fault> {
        let wrap = match sql_type {
            SqlType::Integer | SqlType::Text => NO_WRAP,
            SqlType::Boolean => self.dialect.boolean_as_integer(),
            SqlType::Other => self.dialect.as_text(),
        };
        self.wrapped(wrap, |renderer| {
            renderer.push_alias(alias);
            renderer.push(".");
            renderer.dialect.push_identifier(name, &mut renderer.sql);
            Ok(())
        })
    }

    fn parsed(&mut self, number: Number, expr: &Expr) -> Result<(), Fault> {
        match self.dialect.parse_number(number) {
            Some(wrap) => self.wrapped(wrap, |renderer| renderer.text_expr(expr)),
            None => self.postgres_number(number, expr),
        }
    }

    fn non_zero(&mut self, first: &Expr, second: &Expr) -> Result<(), Fault> {
        let (render, zero): (RenderExpr<'a>, _) = match (self.type_of(first)?, self.type_of(second)?) {
            (ExprType::Null, _) => return self.expr(second),
            (ExprType::Integer, ExprType::Integer) => (Self::expr, Comparand::Integer(0)),
            (ExprType::Integer | ExprType::Text | ExprType::Decimal, _) => {
                (Self::signed_or_null, Comparand::Decimal(Decimal::from(0)))
            }
        };
        self.push("CASE WHEN ");
        render(self, first)?;
        self.push(" <> ");
        self.comparand(zero)?;
        self.push(" THEN ");
        render(self, first)?;
        self.push(" ELSE ");
        render(self, second)?;
        self.constant(" END")
    }

    fn signed_or_null(&mut self, expr: &Expr) -> Result<(), Fault> {
        if self.type_of(expr)? == ExprType::Null {
            return self.constant("NULL");
        }
        self.parsed(Number::Signed, expr)
    }

    pub(super) fn type_of(&self, expr: &Expr) -> Result<ExprType, Fault> {
        Ok(match expr {
            Expr::Column(alias, name) => match self.column(*alias, name)?.map(|column| column.sql_type) {
                None => ExprType::Null,
                Some(SqlType::Integer | SqlType::Boolean) => ExprType::Integer,
                Some(SqlType::Text | SqlType::Other) => ExprType::Text,
            },
            Expr::Coalesce(..) => ExprType::Text,
            Expr::Number(_, expr) => match self.type_of(expr)? {
                ExprType::Null => ExprType::Null,
                ExprType::Integer | ExprType::Text | ExprType::Decimal => ExprType::Decimal,
            },
            Expr::NonZero(first, second) => match (self.type_of(first)?, self.type_of(second)?) {
                (ExprType::Null, second) => second,
                (ExprType::Integer, ExprType::Integer) => ExprType::Integer,
                (ExprType::Integer | ExprType::Text | ExprType::Decimal, _) => ExprType::Decimal,
            },
        })
    }

    /// The number of decimal places that a decimal expression has as a text.
    fn scale(&self, expr: &Expr) -> Result<u8, Fault> {
        Ok(match expr {
            Expr::Number(Number::Decimal { digits, places }, _) => clamp_precision(*digits, *places).1,
            Expr::NonZero(first, second) if self.type_of(first)? == ExprType::Null => self.scale(second)?,
            Expr::Number(Number::Signed | Number::Unsigned, _)
            | Expr::Column(..)
            | Expr::Coalesce(..)
            | Expr::NonZero(..) => 0,
        })
    }

    pub(super) fn is_not_null(&self, expr: &Expr) -> Result<bool, Fault> {
        Ok(match expr {
            Expr::Column(alias, name) => {
                self.scoped(*alias)?.join == JoinKind::Inner
                    && self.column(*alias, name)?.is_some_and(|column| column.is_not_null)
            }
            Expr::Coalesce(..) => true,
            Expr::Number(_, expr) => self.is_not_null(expr)?,
            Expr::NonZero(_, second) => self.is_not_null(second)?,
        })
    }

    fn column(&self, alias: TableAlias, name: &str) -> Result<Option<SiteColumn>, Fault> {
        Ok(self.scoped(alias)?.table.columns.get(name).copied())
    }

    pub(super) fn scoped(&self, alias: TableAlias) -> Result<&ScopedTable<'a>, Fault> {
        let scoped = self.scope.iter().rev().find(|table| table.alias == alias);
        scoped.ok_or_else(|| Fault::internal(format!("the statement has no table t{}", alias.0)))
    }

    fn wrapped(
        &mut self,
        (before, after): Wrap,
        render: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.push(&before);
        render(self)?;
        self.push(&after);
        Ok(())
    }

    /// SQL in the place of something that may fail to render.
    pub(super) fn constant(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.push(sql);
        Ok(())
    }

    pub(super) fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    pub(super) fn push_alias(&mut self, alias: TableAlias) {
        self.push("t");
        self.push_number(alias.0.into());
    }

    fn push_number(&mut self, number: usize) {
        // Writing to a `String` does not fail.
        let _ = write!(self.sql, "{number}");
    }
}
