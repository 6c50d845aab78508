//! Texts parsed as numbers: the same result on every database.

use std::time::{Duration, Instant};

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{Comparison, Expr, Literal, Number, Operand, Predicate, SiteCell};
use frontdesk_testkit::sites::SiteDatabases;
use frontdesk_testkit::sites::query::{all, column, shown};

/// Each text as SIGNED, UNSIGNED, DECIMAL(10,2) and DECIMAL(3,3).
const TEXTS: [(&str, [&str; 4]); 31] = [
    ("", ["0", "0", "0.00", "0.000"]),
    ("n/a", ["0", "0", "0.00", "0.000"]),
    ("0", ["0", "0", "0.00", "0.000"]),
    ("-0", ["0", "0", "0.00", "0.000"]),
    ("99.95", ["99", "99", "99.95", "0.999"]),
    ("-99.95", ["-99", "18446744073709551517", "-99.95", "-0.999"]),
    ("-115", ["-115", "18446744073709551501", "-115.00", "-0.999"]),
    ("+7", ["7", "7", "7.00", "0.999"]),
    ("--7", ["0", "0", "0.00", "0.000"]),
    ("+-7", ["0", "0", "0.00", "0.000"]),
    ("- 7", ["0", "0", "0.00", "0.000"]),
    ("  12", ["12", "12", "12.00", "0.999"]),
    ("\t\n\r 12 apples", ["12", "12", "12.00", "0.999"]),
    ("12,5", ["12", "12", "12.00", "0.999"]),
    ("1e3", ["1", "1", "1.00", "0.999"]),
    ("1.5e3", ["1", "1", "1.50", "0.999"]),
    (".5", ["0", "0", "0.50", "0.500"]),
    ("-.5", ["0", "0", "-0.50", "-0.500"]),
    ("5.", ["5", "5", "5.00", "0.999"]),
    ("1.005", ["1", "1", "1.01", "0.999"]),
    ("-1.005", ["-1", "18446744073709551615", "-1.01", "-0.999"]),
    ("0.0004", ["0", "0", "0.00", "0.000"]),
    ("0.9995", ["0", "0", "1.00", "0.999"]),
    (
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000042",
        ["42", "42", "42.00", "0.999"],
    ),
    ("9223372036854775807", ["9223372036854775807", "9223372036854775807", "99999999.99", "0.999"]),
    ("9223372036854775808", ["9223372036854775807", "9223372036854775808", "99999999.99", "0.999"]),
    ("-9223372036854775809", ["-9223372036854775808", "9223372036854775808", "-99999999.99", "-0.999"]),
    ("18446744073709551616", ["9223372036854775807", "18446744073709551615", "99999999.99", "0.999"]),
    ("123456789.125", ["123456789", "123456789", "99999999.99", "0.999"]),
    ("٣", ["0", "0", "0.00", "0.000"]),
    ("0x1F", ["0", "0", "0.00", "0.000"]),
];

/// Texts that are longer than any number, as in `TEXTS`: not all of one is looked at, but as much as decides.
fn long_texts() -> [(String, [&'static str; 4]); 9] {
    let max = ["9223372036854775807", "18446744073709551615", "99999999.99", "0.999"];
    let least = ["-9223372036854775808", "9223372036854775808", "-99999999.99", "-0.999"];
    [
        ("7".repeat(200_000), max),
        (format!("{}-{}", " ".repeat(5_000), "7".repeat(5_000)), least),
        (format!("{}42.125 apples", "0".repeat(5_000)), ["42", "42", "42.13", "0.999"]),
        (
            format!("{}-{}1.5", "\t ".repeat(5_000), "0".repeat(5_000)),
            ["-1", "18446744073709551615", "-1.50", "-0.999"],
        ),
        (format!("0.0045{}", "0".repeat(5_000)), ["0", "0", "0.00", "0.005"]),
        (format!("{}.5", "0".repeat(299)), ["0", "0", "0.50", "0.500"]),
        (format!("{}5", " ".repeat(299)), ["5", "5", "5.00", "0.999"]),
        (format!("{}n/a", "- ".repeat(5_000)), ["0", "0", "0.00", "0.000"]),
        (format!("12 {}", "ї".repeat(50_000)), ["12", "12", "12.00", "0.999"]),
    ]
}

const CASTS: [Number; 4] = [
    Number::Signed,
    Number::Unsigned,
    Number::Decimal { digits: 10, places: 2 },
    Number::Decimal { digits: 3, places: 3 },
];

fn texts(database: ScriptDialect) -> String {
    let kind = if database == ScriptDialect::Mysql { "mediumtext" } else { "text" };
    let rows: Vec<String> = TEXTS.iter().zip(1..).map(|((text, _), id)| format!("({id}, '{text}')")).collect();
    let long = long_texts().into_iter().zip(TEXTS.len() + 1..).map(|((text, _), id)| format!("({id}, '{text}')"));
    let rows: Vec<String> = rows.into_iter().chain(long).collect();
    format!(
        "CREATE TABLE evo_texts (id integer NOT NULL, words {kind}); INSERT INTO evo_texts VALUES {}, (99, NULL);",
        rows.join(", ")
    )
}

fn read(number: Number) -> Expr {
    Expr::Number(number, Box::new(column("words")))
}

#[tokio::test]
async fn a_text_is_the_same_number_on_every_database() {
    let three = SiteDatabases::with(&CmsSite::small(), texts).await;
    let mut select = all("texts", &["id"]);
    select.columns = CASTS.map(read).to_vec();
    let rows = three.rows(&select).await;
    for ((text, expected), record) in TEXTS.iter().zip(&rows) {
        assert_eq!(record.iter().map(shown).collect::<Vec<_>>(), expected, "{text:?}");
    }
    for ((text, expected), record) in long_texts().iter().zip(&rows[TEXTS.len()..]) {
        let begin: String = text.chars().take(20).collect();
        assert_eq!(record.iter().map(shown).collect::<Vec<_>>(), expected, "{begin:?} and {} bytes", text.len());
    }
    assert_eq!(*rows.last().unwrap(), vec![SiteCell::Null; 4]);

    compared(&three).await;
    ordered(&three).await;
}

/// Every cast with every comparison and operands around every limit: the databases agree, and each comparison and its
/// opposite select all rows.
async fn compared(three: &SiteDatabases) {
    let operands = [
        "0",
        "-0.5",
        "99",
        "99.95",
        "99.949",
        "-115",
        "1.01",
        "42",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551501",
        "18446744073709551615",
        "99999999.99",
        "100000000000000000000000000000000000000000",
        "0.000000000000000000000000000000001",
    ];
    for cast in CASTS {
        for operand in operands {
            let mut counts = Vec::new();
            for comparison in [
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Greater,
                Comparison::AtMost,
                Comparison::Less,
                Comparison::AtLeast,
            ] {
                let mut select = all("texts", &["id"]);
                let value = Operand::Literal(Literal::Decimal(operand.to_owned()));
                select.filter = vec![Predicate::Compare(read(cast), comparison, value)];
                counts.push(three.rows(&select).await.len());
            }
            // The row with NULL is in none of them.
            for pair in counts.chunks(2) {
                assert_eq!(
                    pair.iter().sum::<usize>(),
                    TEXTS.len() + long_texts().len(),
                    "{cast:?} {operand} {counts:?}"
                );
            }
        }
    }
}

async fn ordered(three: &SiteDatabases) {
    for cast in CASTS {
        let mut select = all("texts", &["id"]);
        select.order = vec![(read(cast), Direction::Ascending), (column("id"), Direction::Ascending)];
        let rising = three.list(&select).await;
        assert_eq!(rising[0], "99", "missing first when rising");
        select.order = vec![(read(cast), Direction::Descending), (column("id"), Direction::Ascending)];
        let falling = three.list(&select).await;
        assert_eq!(falling.last().unwrap(), "99", "missing last when falling");
    }
    let mut select = all("texts", &["id"]);
    select.order = vec![(read(Number::Signed), Direction::Ascending), (column("id"), Direction::Descending)];
    select.limit = 6;
    assert_eq!(three.list(&select).await, ["99", "33", "27", "7", "6", "35"]);
}

/// Otherwise one caller with a filter would keep a connection of a large site busy up to its deadline.
#[tokio::test]
async fn a_cast_costs_postgres_little_more_than_mariadb() {
    const DOCUMENTS: usize = 20_000;
    let three = SiteDatabases::with(&CmsSite::with_documents(DOCUMENTS), |_| String::new()).await;
    let mut select = all("site_tmplvar_contentvalues", &["id"]);
    let price = Expr::Number(Number::Decimal { digits: 10, places: 2 }, Box::new(column("value")));
    select.filter = vec![Predicate::Compare(
        price.clone(),
        Comparison::Greater,
        Operand::Literal(Literal::Decimal("99.5".to_owned())),
    )];
    select.order = vec![(price, Direction::Descending), (column("id"), Direction::Ascending)];
    select.limit = 100;
    assert_eq!(three.rows(&select).await.len(), 100);
    let mut fastest = [Duration::MAX; 3];
    for _ in 0..5 {
        for ((_, site_db), fastest) in three.sites.iter().zip(&mut fastest) {
            let began = Instant::now();
            site_db.select(&select).await.unwrap();
            *fastest = began.elapsed().min(*fastest);
        }
    }
    let [_, mariadb, postgres] = fastest;
    assert!(postgres < 3 * mariadb, "SQLite, MariaDB, PostgreSQL: {fastest:?}");
}
