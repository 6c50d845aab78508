//! Texts as numbers on PostgreSQL. Its own cast rejects what is no number, so a pattern selects the digits first. The
//! pattern captures nothing and counts nothing: PostgreSQL then finds the match in one pass, which is a hundred times
//! faster than replacing by groups.

use std::fmt::Write as _;

use frontdesk_engine::Fault;
use frontdesk_engine::ports::site_db::{Expr, Number};

use super::comparand::ExprType;
use super::decimal::clamp_precision;
use super::dialect::clamp_postgres;
use super::render::Renderer;

/// The beginning of a text that is parsed. Blanks, a sign and zeros aside, 100 digits on each side of the point are more
/// than any limit has and than any rounding looks at.
const HEAD: usize = 300;
/// How much of the head must be left without blanks, sign and zeros so that the rest of the text does not matter.
const SIGNIFICANT: usize = 200;

const INTEGER: &str = r"'^[\x09-\x0D\x20]*[+-]?[0-9]+'";
const DECIMAL: &str = r"'^[\x09-\x0D\x20]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)'";
/// The same for a text with very many blanks or zeros; matches the empty text too.
const LONG_INTEGER: &str = r"'^[\x09-\x0D\x20]*[+-]?[0-9]*'";
const LONG_DECIMAL: &str = r"'^[\x09-\x0D\x20]*[+-]?[0-9]*(?:\.[0-9]*)?'";
/// What stands before the first significant digit.
const INSIGNIFICANT: &str = r"E'\t\n\x0B\f\r +-0'";

impl Renderer<'_> {
    /// The expression as a number within its limits, or NULL.
    pub(super) fn postgres_number(&mut self, number: Number, expr: &Expr) -> Result<(), Fault> {
        let expr_type = self.type_of(expr)?;
        let value = self.rendered(|renderer| renderer.expr(expr))?;
        let parsed = match (expr_type, number) {
            (ExprType::Text | ExprType::Null, Number::Signed | Number::Unsigned) => {
                parse(&value, INTEGER, LONG_INTEGER)
            }
            (ExprType::Text | ExprType::Null, Number::Decimal { .. }) => parse(&value, DECIMAL, LONG_DECIMAL),
            (ExprType::Integer | ExprType::Decimal, Number::Signed | Number::Unsigned) => {
                format!("TRUNC(CAST({value} AS NUMERIC))")
            }
            (ExprType::Integer | ExprType::Decimal, Number::Decimal { .. }) => format!("CAST({value} AS NUMERIC)"),
        };
        let clamped = match number {
            Number::Signed | Number::Unsigned => clamp_postgres(number, &parsed),
            Number::Decimal { digits, places } => {
                let (_, scale) = clamp_precision(digits, places);
                clamp_postgres(number, &format!("ROUND({parsed}, {scale})"))
            }
        };
        // LEAST and GREATEST ignore NULL. Writing to a `String` does not fail.
        let _ = write!(self.sql, "CASE WHEN {value} IS NOT NULL THEN {clamped} END");
        Ok(())
    }

    /// The SQL that `render` writes, to be used more than once: its placeholders are numbered.
    fn rendered(&mut self, render: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<String, Fault> {
        let start = self.sql.len();
        render(self)?;
        Ok(self.sql.split_off(start))
    }
}

/// The number that a text begins with, or 0.
fn parse(value: &str, pattern: &str, long_pattern: &str) -> String {
    let prefix = format!("SUBSTRING({value} FROM {long_pattern})");
    let significant_length = SIGNIFICANT + 1;
    format!(
        "CASE WHEN OCTET_LENGTH({value}) <= {HEAD} OR LENGTH(LTRIM(LEFT({value}, {HEAD}), {INSIGNIFICANT})) > {SIGNIFICANT} \
         THEN COALESCE(CAST(SUBSTRING(LEFT({value}, {HEAD}) FROM {pattern}) AS NUMERIC), 0) \
         ELSE CAST('0' || LEFT(LTRIM({prefix}, {INSIGNIFICANT}), {significant_length}) AS NUMERIC) \
         * CASE WHEN STRPOS({prefix}, '-') > 0 THEN -1 ELSE 1 END END"
    )
}
