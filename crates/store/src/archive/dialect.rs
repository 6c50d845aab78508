//! Where the three databases differ: quotes, the numbering of values, casts, and where rows without a value stand.

use std::borrow::Cow;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::Number;

use super::number::bounds;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    /// MariaDB too.
    Mysql,
    Postgres,
}

/// Whether the places of values are counted, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbered {
    Yes,
    No,
}

/// Text before something and behind it.
pub(crate) type Around = (Cow<'static, str>, Cow<'static, str>);

impl Dialect {
    /// A name, as nothing but a name.
    pub(crate) fn name(self, name: &str, out: &mut String) {
        let quote = match self {
            Dialect::Sqlite | Dialect::Postgres => '"',
            Dialect::Mysql => '`',
        };
        out.push(quote);
        for (number, piece) in name.split(quote).enumerate() {
            if number > 0 {
                out.push(quote);
                out.push(quote);
            }
            out.push_str(piece);
        }
        out.push(quote);
    }

    /// What a value's place begins with; on MariaDB and MySQL that is all of it.
    pub(crate) fn place(self) -> (&'static str, Numbered) {
        match self {
            Dialect::Sqlite => ("?", Numbered::Yes),
            Dialect::Mysql => ("?", Numbered::No),
            Dialect::Postgres => ("$", Numbered::Yes),
        }
    }

    /// Only PostgreSQL has to be told what a value is.
    pub(crate) fn text_value(self) -> Around {
        match self {
            Dialect::Sqlite | Dialect::Mysql => around("", ""),
            Dialect::Postgres => around("CAST(", " AS TEXT)"),
        }
    }

    pub(crate) fn whole_value(self) -> Around {
        match self {
            Dialect::Sqlite | Dialect::Mysql => around("", ""),
            Dialect::Postgres => around("CAST(", " AS BIGINT)"),
        }
    }

    /// A value that is a number of any size; SQLite gets its key.
    pub(crate) fn number_value(self, (digits, places): (usize, usize)) -> Around {
        match self {
            Dialect::Sqlite => around("", ""),
            Dialect::Mysql => around("CAST(", format!(" AS DECIMAL({digits},{places}))")),
            Dialect::Postgres => around("CAST(CAST(", " AS TEXT) AS NUMERIC)"),
        }
    }

    pub(crate) fn truth_as_whole(self) -> Around {
        match self {
            Dialect::Sqlite | Dialect::Mysql => around("", ""),
            Dialect::Postgres => around("CAST(", " AS INTEGER)"),
        }
    }

    /// Whatever it is, as text.
    pub(crate) fn as_text(self) -> Around {
        match self {
            Dialect::Sqlite | Dialect::Postgres => around("CAST(", " AS TEXT)"),
            Dialect::Mysql => around("CAST(", " AS CHAR)"),
        }
    }

    /// Around a text and before a number, it makes the text with no more letters than these.
    pub(crate) fn no_longer_than(self) -> (&'static str, &'static str) {
        match self {
            Dialect::Sqlite => ("SUBSTR(", ", 1, "),
            Dialect::Mysql | Dialect::Postgres => ("LEFT(", ", "),
        }
    }

    /// A text of any character set. Only on MariaDB and MySQL has each column its own.
    pub(crate) fn in_all_letters(self) -> Around {
        match self {
            Dialect::Sqlite | Dialect::Postgres => around("", ""),
            Dialect::Mysql => around("CONVERT(", " USING utf8mb4)"),
        }
    }

    pub(crate) fn whole_as_number(self) -> Around {
        match self {
            Dialect::Sqlite => around("fd_decimal(", ", 65, 30)"),
            Dialect::Mysql => around("CAST(", " AS DECIMAL(65,30))"),
            Dialect::Postgres => around("CAST(", " AS NUMERIC)"),
        }
    }

    /// A number as text with all its places.
    pub(crate) fn written_number(self, places: u8) -> Around {
        match self {
            Dialect::Sqlite => around("fd_written(", format!(", {places})")),
            // Left to itself, MariaDB cuts the last digit of some.
            Dialect::Mysql => around("CAST(", " AS CHAR(100))"),
            Dialect::Postgres => self.as_text(),
        }
    }

    /// Whole numbers of every length leave the database as 64 bits.
    pub(crate) fn answered_whole(self) -> Around {
        match self {
            Dialect::Sqlite | Dialect::Mysql => around("", ""),
            Dialect::Postgres => around("CAST(", " AS BIGINT)"),
        }
    }

    /// A choice between columns of two lengths is of a third type.
    pub(crate) fn answered_choice(self) -> Around {
        match self {
            Dialect::Sqlite => around("", ""),
            Dialect::Mysql => around("CAST(", " AS SIGNED)"),
            Dialect::Postgres => self.answered_whole(),
        }
    }

    pub(crate) fn missing(self) -> &'static str {
        match self {
            Dialect::Sqlite | Dialect::Mysql => "NULL",
            Dialect::Postgres => "CAST(NULL AS TEXT)",
        }
    }

    /// Left alone, PostgreSQL puts rows without a value last when rising.
    pub(crate) fn missing_place(self, direction: Direction) -> &'static str {
        match (self, direction) {
            (Dialect::Sqlite | Dialect::Mysql, Direction::Ascending | Direction::Descending) => "",
            (Dialect::Postgres, Direction::Ascending) => " NULLS FIRST",
            (Dialect::Postgres, Direction::Descending) => " NULLS LAST",
        }
    }

    /// PostgreSQL's LEAST and GREATEST take the other value where one is missing.
    pub(crate) fn limits_forget_the_missing(self) -> bool {
        match self {
            Dialect::Sqlite | Dialect::Mysql => false,
            Dialect::Postgres => true,
        }
    }

    /// Around a text, it makes the number that the text begins with. What the databases' own casts do with signs,
    /// exponents and too many digits differs, so only digits reach a cast, and the limits are written out.
    pub(crate) fn reading(self, number: Number) -> Around {
        match (self, number) {
            (Dialect::Sqlite, Number::Signed) => around("fd_signed(", ")"),
            (Dialect::Sqlite, Number::Unsigned) => around("fd_unsigned(", ")"),
            (Dialect::Sqlite, Number::Decimal { digits, places }) => {
                let (digits, places) = bounds(digits, places);
                around("fd_decimal(", format!(", {digits}, {places})"))
            }
            (Dialect::Mysql, Number::Signed) => {
                around(format!("LEAST(GREATEST({MYSQL_OPEN}"), format!("{MYSQL_WHOLE}, {LEAST}), {MOST})"))
            }
            (Dialect::Mysql, Number::Unsigned) => around(
                format!("MOD(LEAST(GREATEST({MYSQL_OPEN}"),
                format!("{MYSQL_WHOLE}, {LEAST}), {MOST_UNSIGNED}) + {ROUND}, {ROUND})"),
            ),
            (Dialect::Mysql, Number::Decimal { digits, places }) => {
                let (digits, places) = bounds(digits, places);
                let close = format!(r", '^[\x09-\x0D\x20]*[+-]?[0-9]*(\.[0-9]*)?') AS DECIMAL({digits},{places}))");
                around(MYSQL_OPEN, close)
            }
            (Dialect::Postgres, Number::Signed) => {
                around(format!("LEAST(GREATEST({POSTGRES_OPEN}"), format!("{POSTGRES_WHOLE}, {LEAST}), {MOST})"))
            }
            (Dialect::Postgres, Number::Unsigned) => around(
                format!("MOD(LEAST(GREATEST({POSTGRES_OPEN}"),
                format!("{POSTGRES_WHOLE}, {LEAST}), {MOST_UNSIGNED}) + {ROUND}, {ROUND})"),
            ),
            (Dialect::Postgres, Number::Decimal { digits, places }) => {
                let (digits, places) = bounds(digits, places);
                let most = greatest(digits, places);
                around(
                    format!("LEAST(GREATEST(ROUND({POSTGRES_OPEN}"),
                    format!("{POSTGRES_DECIMAL}, {places}), -{most}), {most})"),
                )
            }
        }
    }
}

/// What the databases take as a length.
pub(crate) const MOST_LETTERS: usize = 1 << 30;

const LEAST: &str = "-9223372036854775808";
const MOST: &str = "9223372036854775807";
const MOST_UNSIGNED: &str = "18446744073709551615";
const ROUND: &str = "18446744073709551616";

const MYSQL_OPEN: &str = "CAST(REGEXP_SUBSTR(";
const MYSQL_WHOLE: &str = r", '^[\x09-\x0D\x20]*[+-]?[0-9]*') AS DECIMAL(65,0))";

const POSTGRES_OPEN: &str = "CAST(REGEXP_REPLACE(";
/// Digits beyond a hundred say no more than "too large", and PostgreSQL refuses numbers that are longer still.
const POSTGRES_WHOLE: &str = r", '^[\x09-\x0D\x20]*([+-]?)0*([0-9]{0,100}).*$', '\10\2') AS NUMERIC)";
const POSTGRES_DECIMAL: &str =
    r", '^[\x09-\x0D\x20]*([+-]?)0*([0-9]{0,100})[0-9]*(\.[0-9]{0,100})?.*$', '\10\2\3') AS NUMERIC)";

/// The greatest number of so many digits.
fn greatest(digits: u8, places: u8) -> String {
    let whole = "9".repeat(usize::from(digits - places).max(1));
    let whole = if digits == places { "0".to_owned() } else { whole };
    match places {
        0 => whole,
        places => format!("{whole}.{}", "9".repeat(usize::from(places))),
    }
}

fn around(before: impl Into<Cow<'static, str>>, behind: impl Into<Cow<'static, str>>) -> Around {
    (before.into(), behind.into())
}
