//! The SQL in which the databases differ: identifiers, placeholders, casts and the order of NULL.

use std::borrow::Cow;
use std::fmt::Write as _;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::Number;

use super::decimal::clamp_precision;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlDialect {
    Sqlite,
    /// MariaDB too.
    #[cfg_attr(all(not(test), not(feature = "mysql")), expect(dead_code, reason = "constructed by the MySQL driver"))]
    Mysql,
    Postgres,
}

/// SQL before and after an expression.
pub(super) type Wrap = (Cow<'static, str>, Cow<'static, str>);

pub(super) const NO_WRAP: Wrap = (Cow::Borrowed(""), Cow::Borrowed(""));

impl SqlDialect {
    pub(super) fn push_identifier(self, name: &str, sql: &mut String) {
        let quote = match self {
            SqlDialect::Sqlite | SqlDialect::Postgres => '"',
            SqlDialect::Mysql => '`',
        };
        sql.push(quote);
        for (index, part) in name.split(quote).enumerate() {
            if index > 0 {
                sql.extend([quote, quote]);
            }
            sql.push_str(part);
        }
        sql.push(quote);
    }

    /// Placeholders are counted from 1; MariaDB and MySQL do not write the number.
    pub(super) fn push_placeholder(self, number: usize, sql: &mut String) {
        // Writing to a `String` does not fail.
        let _ = match self {
            SqlDialect::Sqlite => write!(sql, "?{number}"),
            SqlDialect::Mysql => write!(sql, "?"),
            SqlDialect::Postgres => write!(sql, "${number}"),
        };
    }

    /// Only PostgreSQL needs the type of a parameter.
    pub(super) fn text_param(self) -> Wrap {
        match self {
            SqlDialect::Sqlite | SqlDialect::Mysql => NO_WRAP,
            SqlDialect::Postgres => wrap("CAST(", " AS TEXT)"),
        }
    }

    pub(super) fn integer_param(self) -> Wrap {
        match self {
            SqlDialect::Sqlite | SqlDialect::Mysql => NO_WRAP,
            SqlDialect::Postgres => wrap("CAST(", " AS BIGINT)"),
        }
    }

    /// On SQLite the parameter is the number's sort key.
    pub(super) fn decimal_param(self, (precision, scale): (usize, usize)) -> Wrap {
        match self {
            SqlDialect::Sqlite => NO_WRAP,
            SqlDialect::Mysql => wrap("CAST(", format!(" AS DECIMAL({precision},{scale}))")),
            SqlDialect::Postgres => wrap("CAST(CAST(", " AS TEXT) AS NUMERIC)"),
        }
    }

    pub(super) fn boolean_as_integer(self) -> Wrap {
        match self {
            SqlDialect::Sqlite | SqlDialect::Mysql => NO_WRAP,
            SqlDialect::Postgres => wrap("CAST(", " AS INTEGER)"),
        }
    }

    pub(super) fn as_text(self) -> Wrap {
        match self {
            SqlDialect::Sqlite | SqlDialect::Postgres => wrap("CAST(", " AS TEXT)"),
            SqlDialect::Mysql => wrap("CAST(", " AS CHAR)"),
        }
    }

    /// Truncates a text: stands before the text, and between it and the number of characters.
    pub(super) fn truncate(self) -> (&'static str, &'static str) {
        match self {
            SqlDialect::Sqlite => ("SUBSTR(", ", 1, "),
            SqlDialect::Mysql | SqlDialect::Postgres => ("LEFT(", ", "),
        }
    }

    /// Converts from any character set. Only MariaDB and MySQL have one per column.
    pub(super) fn to_utf8(self) -> Wrap {
        match self {
            SqlDialect::Sqlite | SqlDialect::Postgres => NO_WRAP,
            SqlDialect::Mysql => wrap("CONVERT(", " USING utf8mb4)"),
        }
    }

    pub(super) fn integer_as_decimal(self) -> Wrap {
        match self {
            SqlDialect::Sqlite => wrap("fd_decimal(", ", 65, 30)"),
            SqlDialect::Mysql => wrap("CAST(", " AS DECIMAL(65,30))"),
            SqlDialect::Postgres => wrap("CAST(", " AS NUMERIC)"),
        }
    }

    /// A number as text with `scale` decimal places.
    pub(super) fn decimal_as_text(self, scale: u8) -> Wrap {
        match self {
            SqlDialect::Sqlite => wrap("fd_decimal_text(", format!(", {scale})")),
            // Without a length MariaDB drops the last digit of some numbers.
            SqlDialect::Mysql => wrap("CAST(", " AS CHAR(100))"),
            SqlDialect::Postgres => self.as_text(),
        }
    }

    /// Integers of every size are returned as 64 bits.
    pub(super) fn integer_column(self) -> Wrap {
        match self {
            SqlDialect::Sqlite | SqlDialect::Mysql => NO_WRAP,
            SqlDialect::Postgres => wrap("CAST(", " AS BIGINT)"),
        }
    }

    /// A CASE over integers of two sizes has a third type.
    pub(super) fn integer_expression(self) -> Wrap {
        match self {
            SqlDialect::Sqlite => NO_WRAP,
            SqlDialect::Mysql => wrap("CAST(", " AS SIGNED)"),
            SqlDialect::Postgres => self.integer_column(),
        }
    }

    pub(super) fn null(self) -> &'static str {
        match self {
            SqlDialect::Sqlite | SqlDialect::Mysql => "NULL",
            SqlDialect::Postgres => "CAST(NULL AS TEXT)",
        }
    }

    /// By default PostgreSQL puts NULL last in ascending order.
    pub(super) fn null_order(self, direction: Direction) -> &'static str {
        match (self, direction) {
            (SqlDialect::Sqlite | SqlDialect::Mysql, Direction::Ascending | Direction::Descending) => "",
            (SqlDialect::Postgres, Direction::Ascending) => " NULLS FIRST",
            (SqlDialect::Postgres, Direction::Descending) => " NULLS LAST",
        }
    }

    /// Parses the number at the beginning of a text. The databases' own casts differ in signs, exponents and overflow,
    /// so only digits reach a cast, and the limits are explicit. PostgreSQL needs the text more than once; see
    /// `Renderer::postgres_number`.
    pub(super) fn parse_number(self, number: Number) -> Option<Wrap> {
        Some(match (self, number) {
            (SqlDialect::Sqlite, Number::Signed) => wrap("fd_signed(", ")"),
            (SqlDialect::Sqlite, Number::Unsigned) => wrap("fd_unsigned(", ")"),
            (SqlDialect::Sqlite, Number::Decimal { digits, places }) => {
                let (precision, scale) = clamp_precision(digits, places);
                wrap("fd_decimal(", format!(", {precision}, {scale})"))
            }
            (SqlDialect::Mysql, Number::Signed) => signed(MYSQL_PARSE, MYSQL_INTEGER),
            (SqlDialect::Mysql, Number::Unsigned) => unsigned(MYSQL_PARSE, MYSQL_INTEGER),
            (SqlDialect::Mysql, Number::Decimal { digits, places }) => {
                let (precision, scale) = clamp_precision(digits, places);
                wrap(MYSQL_PARSE, format!("{MYSQL_DECIMAL} AS DECIMAL({precision},{scale}))"))
            }
            (SqlDialect::Postgres, Number::Signed | Number::Unsigned | Number::Decimal { .. }) => return None,
        })
    }
}

/// The maximum length that the databases accept.
pub(super) const MAX_TEXT_LENGTH: usize = 1 << 30;

const MIN_SIGNED: i64 = i64::MIN;
const MAX_SIGNED: i64 = i64::MAX;
const MAX_UNSIGNED: u64 = u64::MAX;
const UNSIGNED_MODULUS: u128 = 1 << 64;

const MYSQL_PARSE: &str = "CAST(REGEXP_SUBSTR(";
const MYSQL_INTEGER: &str = r", '^[\x09-\x0D\x20]*[+-]?[0-9]*') AS DECIMAL(65,0))";
const MYSQL_DECIMAL: &str = r", '^[\x09-\x0D\x20]*[+-]?[0-9]*(\.[0-9]*)?')";

/// The number, or the nearest within its limits.
pub(super) fn clamp_postgres(number: Number, value: &str) -> String {
    let (before, after) = match number {
        Number::Signed => signed("", ""),
        Number::Unsigned => unsigned("", ""),
        Number::Decimal { digits, places } => {
            let (precision, scale) = clamp_precision(digits, places);
            let max = max_decimal(precision, scale);
            wrap("LEAST(GREATEST(", format!(", -{max}), {max})"))
        }
    };
    format!("{before}{value}{after}")
}

fn signed(before: &str, after: &str) -> Wrap {
    wrap(format!("LEAST(GREATEST({before}"), format!("{after}, {MIN_SIGNED}), {MAX_SIGNED})"))
}

fn unsigned(before: &str, after: &str) -> Wrap {
    wrap(
        format!("MOD(LEAST(GREATEST({before}"),
        format!("{after}, {MIN_SIGNED}), {MAX_UNSIGNED}) + {UNSIGNED_MODULUS}, {UNSIGNED_MODULUS})"),
    )
}

/// The largest number of this precision and scale.
fn max_decimal(precision: u8, scale: u8) -> String {
    let integer = if precision == scale { "0".to_owned() } else { "9".repeat(usize::from(precision - scale)) };
    match scale {
        0 => integer,
        scale => format!("{integer}.{}", "9".repeat(usize::from(scale))),
    }
}

fn wrap(before: impl Into<Cow<'static, str>>, after: impl Into<Cow<'static, str>>) -> Wrap {
    (before.into(), after.into())
}
