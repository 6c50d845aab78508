//! Renders a `Select` as SQL text and parameters. Names come from the introspected schema and every value is a
//! parameter, so that nothing of a caller's becomes part of the text.

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Operand, Predicate, Select, TableAlias,
};
use frontdesk_engine::{Fault, FaultKind};

use super::comparand::{Comparand, ExprType, without_nul};
use super::dialect::SqlDialect;
use super::expr::RenderExpr;
use super::schema::{SiteSchema, SiteTable};

/// SQLite limits a pattern to 50,000 bytes, and each character may need an escape.
const MAX_PATTERN_LENGTH: usize = 24_000;
/// SQLite joins at most 64 tables and takes at most 32,766 parameters.
const MAX_TABLES: usize = 60;
const MAX_PARAMS: usize = 30_000;
/// Large enough for most statements.
const SQL_CAPACITY: usize = 2_048;

/// A query for a site's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteQuery {
    pub sql: String,
    pub params: Vec<SqlParam>,
    pub columns: usize,
    pub max_rows: u64,
    /// Texts are truncated one character beyond this, which is enough to reject the answer.
    pub max_bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlParam {
    Integer(i64),
    Text(String),
    /// The sort key by which SQLite compares a decimal number.
    SortKey(Vec<u8>),
}

pub(super) fn render(dialect: SqlDialect, schema: &SiteSchema, select: &Select) -> Result<SiteQuery, Fault> {
    let mut renderer = Renderer {
        dialect,
        schema,
        max_text_length: select.bytes.saturating_add(1),
        sql: String::with_capacity(SQL_CAPACITY),
        params: Vec::new(),
        scope: Vec::with_capacity(1 + select.joins.len()),
    };
    renderer.select(select)?;
    if renderer.scope.len() > MAX_TABLES || renderer.params.len() > MAX_PARAMS {
        return Err(Fault::new(FaultKind::InvalidArgument, "This asks for too much at once. Ask for less."));
    }
    Ok(SiteQuery {
        sql: renderer.sql,
        params: renderer.params,
        columns: select.columns.len(),
        max_rows: select.limit,
        max_bytes: select.bytes,
    })
}

/// A table that the expressions of a statement can name.
pub(super) struct ScopedTable<'a> {
    pub(super) alias: TableAlias,
    pub(super) table: &'a SiteTable,
    pub(super) join: JoinKind,
}

pub(super) struct Renderer<'a> {
    pub(super) dialect: SqlDialect,
    schema: &'a SiteSchema,
    pub(super) max_text_length: usize,
    pub(super) sql: String,
    pub(super) params: Vec<SqlParam>,
    pub(super) scope: Vec<ScopedTable<'a>>,
}

impl Renderer<'_> {
    fn select(&mut self, select: &Select) -> Result<(), Fault> {
        // Columns are written before the tables, but their types depend on them.
        self.enter_scope(select)?;
        self.push("SELECT ");
        for (index, expr) in select.columns.iter().enumerate() {
            self.push(if index == 0 { "" } else { ", " });
            self.result_column(expr)?;
        }
        self.push(if select.columns.is_empty() { "1" } else { "" });
        self.body(select)?;
        let mut separator = " ORDER BY ";
        for (expr, direction) in &select.order {
            if self.type_of(expr)? == ExprType::Null {
                continue;
            }
            self.push(separator);
            self.expr(expr)?;
            self.push(match direction {
                Direction::Ascending => "",
                Direction::Descending => " DESC",
            });
            if !self.is_not_null(expr)? {
                self.push(self.dialect.null_order(*direction));
            }
            separator = ", ";
        }
        self.push(" LIMIT ");
        self.comparand(Comparand::Integer(saturating(select.limit)))?;
        self.push(" OFFSET ");
        self.comparand(Comparand::Integer(saturating(select.offset)))
    }

    fn enter_scope(&mut self, select: &Select) -> Result<(), Fault> {
        self.add_table(select.from, JoinKind::Inner)?;
        select.joins.iter().try_for_each(|join| self.add_table(join.table, join.kind))
    }

    fn add_table(&mut self, (alias, name): (TableAlias, &'static str), join: JoinKind) -> Result<(), Fault> {
        let table = self.schema.table(name);
        let table = table.ok_or_else(|| Fault::internal(format!("the database has no table {name} of this site")))?;
        self.scope.push(ScopedTable { alias, table, join });
        Ok(())
    }

    /// FROM, JOIN and WHERE.
    fn body(&mut self, select: &Select) -> Result<(), Fault> {
        self.push(" FROM ");
        self.table(select.from.0)?;
        for Join { table, on, kind } in &select.joins {
            self.push(match kind {
                JoinKind::Inner => " JOIN ",
                JoinKind::Left => " LEFT JOIN ",
            });
            self.table(table.0)?;
            self.push(" ON ");
            self.conjunction(on)?;
        }
        if !select.filter.is_empty() {
            self.push(" WHERE ");
            self.conjunction(&select.filter)?;
        }
        Ok(())
    }

    fn table(&mut self, alias: TableAlias) -> Result<(), Fault> {
        let table = self.scoped(alias)?.table;
        self.dialect.push_identifier(&table.name, &mut self.sql);
        self.push(" AS ");
        self.push_alias(alias);
        Ok(())
    }

    fn conjunction(&mut self, predicates: &[Predicate]) -> Result<(), Fault> {
        for (index, predicate) in predicates.iter().enumerate() {
            self.push(if index == 0 { "" } else { " AND " });
            self.predicate(predicate)?;
        }
        self.constant(if predicates.is_empty() { TRUE } else { "" })
    }

    fn predicate(&mut self, predicate: &Predicate) -> Result<(), Fault> {
        match predicate {
            Predicate::Compare(expr, comparison, Operand::Literal(value)) => self.compare(expr, *comparison, value),
            Predicate::Compare(left, comparison, Operand::Expr(right)) => self.compare_exprs(left, *comparison, right),
            Predicate::AnyOf(expr, values) => self.in_list(expr, values, Membership::In),
            Predicate::NoneOf(expr, values) => self.in_list(expr, values, Membership::NotIn),
            Predicate::Like(expr, like, text) => self.like(expr, *like, text),
            Predicate::IsNull(expr) => self.null_check(expr, " IS NULL", TRUE),
            Predicate::IsNotNull(expr) => self.is_present(expr),
            Predicate::Exists(select) => self.exists(select),
        }
    }

    fn exists(&mut self, select: &Select) -> Result<(), Fault> {
        let outer = self.scope.len();
        self.enter_scope(select)?;
        self.push("EXISTS (SELECT 1");
        self.body(select)?;
        self.push(")");
        self.scope.truncate(outer);
        Ok(())
    }

    fn is_present(&mut self, expr: &Expr) -> Result<(), Fault> {
        self.null_check(expr, " IS NOT NULL", FALSE)
    }

    fn null_check(&mut self, expr: &Expr, operator: &'static str, if_null: &'static str) -> Result<(), Fault> {
        if self.type_of(expr)? == ExprType::Null {
            return self.constant(if_null);
        }
        self.expr(expr)?;
        self.constant(operator)
    }

    fn compare(&mut self, expr: &Expr, comparison: Comparison, value: &Literal) -> Result<(), Fault> {
        match (Comparand::new(self.type_of(expr)?, value)?, comparison) {
            (Comparand::NotANumber, Comparison::NotEqual) => self.is_present(expr),
            (Comparand::Null | Comparand::NotANumber, _) => self.constant(FALSE),
            (comparand, comparison) => {
                self.expr_for(expr, &comparand)?;
                self.push(operator(comparison));
                self.comparand(comparand)
            }
        }
    }

    fn compare_exprs(&mut self, left: &Expr, comparison: Comparison, right: &Expr) -> Result<(), Fault> {
        let render: RenderExpr<'_> = match (self.type_of(left)?, self.type_of(right)?) {
            (ExprType::Null, _) | (_, ExprType::Null) => return self.constant(FALSE),
            (ExprType::Decimal, _) | (_, ExprType::Decimal) => Self::decimal_expr,
            (ExprType::Integer, ExprType::Integer) => Self::expr,
            (ExprType::Text, ExprType::Text | ExprType::Integer) | (ExprType::Integer, ExprType::Text) => {
                Self::text_expr
            }
        };
        render(self, left)?;
        self.push(operator(comparison));
        render(self, right)
    }

    /// Values that the expression can never equal are left out.
    fn in_list(&mut self, expr: &Expr, values: &[Literal], membership: Membership) -> Result<(), Fault> {
        let expr_type = self.type_of(expr)?;
        let mut possible = Vec::with_capacity(values.len());
        for value in values {
            match (expr_type, Comparand::new(expr_type, value)?) {
                (_, Comparand::NotANumber | Comparand::Null)
                | (ExprType::Integer, Comparand::Text(_) | Comparand::Decimal(_)) => {}
                (_, comparand) => possible.push(comparand),
            }
        }
        // If the column's character set may lack one of the values, all are compared in UTF-8.
        let first = possible.iter().find(|comparand| comparand.is_non_ascii()).or_else(|| possible.first());
        let Some(first) = first else {
            return match membership {
                Membership::NotIn => self.is_present(expr),
                Membership::In => self.constant(FALSE),
            };
        };
        self.expr_for(expr, first)?;
        self.push(match membership {
            Membership::In => " IN (",
            Membership::NotIn => " NOT IN (",
        });
        for (index, comparand) in possible.into_iter().enumerate() {
            self.push(if index == 0 { "" } else { ", " });
            self.comparand(comparand)?;
        }
        self.constant(")")
    }

    fn like(&mut self, expr: &Expr, like: Like, text: &str) -> Result<(), Fault> {
        let text = without_nul(text)?;
        if text.len() > MAX_PATTERN_LENGTH {
            return Err(Fault::new(FaultKind::InvalidArgument, "The text to look for is too long."));
        }
        if self.type_of(expr)? == ExprType::Null {
            return self.constant(FALSE);
        }
        self.text_expr_for(expr, text)?;
        self.push(" LIKE ");
        self.comparand(Comparand::Text(pattern(like, text)))?;
        self.constant(" ESCAPE '!'")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    In,
    NotIn,
}

/// The pattern, with the wildcards of the text escaped.
fn pattern(like: Like, text: &str) -> String {
    let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    match like {
        Like::Contains => format!("%{escaped}%"),
        Like::StartsWith => format!("{escaped}%"),
        Like::EndsWith => format!("%{escaped}"),
    }
}

fn saturating(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

const TRUE: &str = "1 = 1";
const FALSE: &str = "1 = 0";

fn operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => " = ",
        Comparison::NotEqual => " <> ",
        Comparison::Greater => " > ",
        Comparison::AtLeast => " >= ",
        Comparison::Less => " < ",
        Comparison::AtMost => " <= ",
    }
}
