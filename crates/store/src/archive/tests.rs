//! Statements as they are sent, for each of the databases; and that the connections they are sent on cannot write.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Number, Operand, Predicate, Select, SiteCell, TableAlias,
};
use frontdesk_site::{Database, Site};
use mysql_async::prelude::Queryable as _;

use super::address::{self, Place};
use super::dialect::Dialect;
use super::error::Failure;
use super::mysql::{MysqlArchive, Server};
use super::postgres::{Plans, PostgresArchive};
use super::render::{Bound, Statement, make};
use super::schema::{Column, Described, Holds, Letters, Schema};
use super::shape::{Shape, shape};
use super::sqlite::SqliteArchive;
use super::texts::statement;
use super::{ArchiveSettings, SiteDb};

#[path = "../../tests/archive/mariadb.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod mariadb;
#[path = "../../tests/postgres/server.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod server;

const DOCUMENT: TableAlias = TableAlias(0);
const VALUE: TableAlias = TableAlias(1);

/// One column has the letters of an older character set.
fn letters(column: &str) -> Letters {
    match column {
        "contentType" => Letters::Some,
        _ => Letters::All,
    }
}

fn schema() -> Schema {
    let described = [
        ("evo_site_content", "id", Holds::Whole, true),
        ("evo_site_content", "contentType", Holds::Text, true),
        ("evo_site_content", "hidemenu", Holds::Truth, true),
        ("evo_site_tmplvar_contentvalues", "contentid", Holds::Whole, true),
        ("evo_site_tmplvar_contentvalues", "value", Holds::Text, false),
        ("evo_site_tmplvars", "rank", Holds::Whole, true),
        ("other_table", "id", Holds::Whole, true),
    ];
    let described = described.map(|(table, column, holds, is_filled)| Described {
        table: table.to_owned(),
        column: column.to_owned(),
        is: Column { holds, is_filled, is_wide: column == "value", letters: letters(column) },
    });
    Schema::of(described.into(), "evo_").unwrap()
}

fn select(columns: Vec<Expr>, tests: Vec<Predicate>) -> Select {
    let from = (DOCUMENT, "site_content");
    Select { from, joins: Vec::new(), columns, filter: tests, order: Vec::new(), offset: 0, limit: 2, bytes: 100 }
}

fn rendered(dialect: Dialect, select: &Select) -> Statement {
    make(dialect, &schema(), select, 101).unwrap().statement
}

/// Only the tests' part of the statement.
fn tested(dialect: Dialect, test: &Predicate) -> String {
    let text = rendered(dialect, &select(vec![], vec![test.clone()])).text;
    text.split_once(" WHERE ").unwrap().1.split(" LIMIT ").next().unwrap().to_owned()
}

#[test]
fn a_page_with_a_variable_binds_every_value_and_quotes_every_name() {
    let value = || Expr::Column(VALUE, "value");
    let columns = vec![
        Expr::Column(DOCUMENT, "contentType"),
        Expr::Column(DOCUMENT, "hidemenu"),
        value(),
        Expr::Column(DOCUMENT, "gone"),
    ];
    let hidden = Predicate::Compare(
        Expr::Column(DOCUMENT, "hidemenu"),
        Comparison::Equal,
        Operand::Literal(Literal::Integer(1)),
    );
    let mut select = select(columns, vec![hidden, Predicate::Like(value(), Like::StartsWith, "5%!".to_owned())]);
    let on = Predicate::Compare(
        Expr::Column(VALUE, "contentid"),
        Comparison::Equal,
        Operand::Expr(Expr::Column(DOCUMENT, "id")),
    );
    select.joins = vec![Join { table: (VALUE, "site_tmplvar_contentvalues"), on: vec![on], kind: JoinKind::Left }];
    select.order = vec![(value(), Direction::Descending), (Expr::Column(DOCUMENT, "id"), Direction::Ascending)];
    select.offset = 7;
    let values = [Bound::Integer(1), Bound::Text("5!%!!%".to_owned()), Bound::Integer(2), Bound::Integer(7)];
    for (dialect, text) in [
        (
            Dialect::Sqlite,
            r#"SELECT t0."contentType", t0."hidemenu", SUBSTR(t1."value", 1, 101), NULL FROM "evo_site_content" AS t0 LEFT JOIN "evo_site_tmplvar_contentvalues" AS t1 ON t1."contentid" = t0."id" WHERE t0."hidemenu" = ?1 AND t1."value" LIKE ?2 ESCAPE '!' ORDER BY t1."value" DESC, t0."id" LIMIT ?3 OFFSET ?4"#,
        ),
        (
            Dialect::Mysql,
            "SELECT t0.`contentType`, t0.`hidemenu`, LEFT(t1.`value`, 101), NULL FROM `evo_site_content` AS t0 LEFT JOIN `evo_site_tmplvar_contentvalues` AS t1 ON t1.`contentid` = t0.`id` WHERE t0.`hidemenu` = ? AND t1.`value` LIKE ? ESCAPE '!' ORDER BY t1.`value` DESC, t0.`id` LIMIT ? OFFSET ?",
        ),
        (
            Dialect::Postgres,
            r#"SELECT t0."contentType", CAST(CAST(t0."hidemenu" AS INTEGER) AS BIGINT), LEFT(t1."value", 101), CAST(NULL AS TEXT) FROM "evo_site_content" AS t0 LEFT JOIN "evo_site_tmplvar_contentvalues" AS t1 ON t1."contentid" = t0."id" WHERE CAST(t0."hidemenu" AS INTEGER) = CAST($1 AS BIGINT) AND t1."value" LIKE CAST($2 AS TEXT) ESCAPE '!' ORDER BY t1."value" DESC NULLS LAST, t0."id" LIMIT CAST($3 AS BIGINT) OFFSET CAST($4 AS BIGINT)"#,
        ),
    ] {
        assert_eq!(rendered(dialect, &select), Statement { text: text.into(), values: values.to_vec(), columns: 4 });
    }
}

#[test]
fn a_cast_reads_digits_only_and_has_its_limits_written_out() {
    let price = |number| {
        let term = Expr::Number(number, Box::new(Expr::Column(DOCUMENT, "contentType")));
        Predicate::Compare(term, Comparison::Greater, Operand::Literal(Literal::Decimal("1.50".to_owned())))
    };
    let decimal = price(Number::Decimal { digits: 5, places: 2 });
    assert_eq!(tested(Dialect::Sqlite, &price(Number::Signed)), r#"fd_signed(t0."contentType") > ?1"#);
    assert_eq!(tested(Dialect::Sqlite, &decimal), r#"fd_decimal(t0."contentType", 5, 2) > ?1"#);
    assert_eq!(
        tested(Dialect::Mysql, &price(Number::Signed)),
        r"LEAST(GREATEST(CAST(REGEXP_SUBSTR(t0.`contentType`, '^[\x09-\x0D\x20]*[+-]?[0-9]*') AS DECIMAL(65,0)), -9223372036854775808), 9223372036854775807) > CAST(? AS DECIMAL(2,1))"
    );
    assert_eq!(
        tested(Dialect::Mysql, &decimal),
        r"CAST(REGEXP_SUBSTR(t0.`contentType`, '^[\x09-\x0D\x20]*[+-]?[0-9]*(\.[0-9]*)?') AS DECIMAL(5,2)) > CAST(? AS DECIMAL(2,1))"
    );
    assert_eq!(
        tested(Dialect::Postgres, &decimal),
        r#"CASE WHEN t0."contentType" IS NOT NULL THEN LEAST(GREATEST(ROUND(CAST(REGEXP_REPLACE(t0."contentType", '^[\x09-\x0D\x20]*([+-]?)0*([0-9]{0,100})[0-9]*(\.[0-9]{0,100})?.*$', '\10\2\3') AS NUMERIC), 2), -999.99), 999.99) END > CAST(CAST($1 AS TEXT) AS NUMERIC)"#
    );
}

/// Statements that differ in one thing each, some of them only in what they are asked with.
fn alike() -> Vec<Select> {
    let (id, title, value) =
        (Expr::Column(DOCUMENT, "id"), Expr::Column(DOCUMENT, "contentType"), Expr::Column(VALUE, "value"));
    let text = |text: &str| Literal::Text(text.to_owned());
    let is = |term: &Expr, value: Literal| Predicate::Compare(term.clone(), Comparison::Equal, Operand::Literal(value));
    let or = |text: &str| Expr::Coalesce(Box::new(title.clone()), text.to_owned());
    let number = |number| Expr::Number(number, Box::new(title.clone()));
    let mut tests = vec![
        Predicate::IsNull(id.clone()),
        Predicate::IsNotNull(id.clone()),
        Predicate::IsNotNull(Expr::Column(DOCUMENT, "gone")),
    ];
    for value in [
        Literal::Integer(7),
        Literal::Integer(-12_345),
        text("7"),
        text("7.5"),
        text("tea"),
        text("th\u{e9}"),
        Literal::Decimal("1.50".to_owned()),
        Literal::Decimal("12345.678".to_owned()),
    ] {
        for term in [
            &id,
            &title,
            &Expr::Column(DOCUMENT, "gone"),
            &or("a"),
            &or("th\u{e9}"),
            &number(Number::Signed),
            &number(Number::Unsigned),
            &number(Number::Decimal { digits: 5, places: 2 }),
            &number(Number::Decimal { digits: 2, places: 5 }),
            &Expr::NonZero(Box::new(id.clone()), Box::new(Expr::Column(DOCUMENT, "hidemenu"))),
            &Expr::NonZero(Box::new(or("9")), Box::new(id.clone())),
        ] {
            tests.push(is(term, value.clone()));
            tests.push(Predicate::Compare(term.clone(), Comparison::NotEqual, Operand::Literal(value.clone())));
            tests.push(Predicate::Compare(term.clone(), Comparison::Less, Operand::Expr(id.clone())));
            tests.push(Predicate::AnyOf(term.clone(), vec![value.clone()]));
            tests.push(Predicate::NoneOf(term.clone(), vec![value.clone(), text("x")]));
            tests.push(Predicate::AnyOf(term.clone(), vec![text("x"), value.clone()]));
        }
    }
    tests.extend([Predicate::AnyOf(id.clone(), vec![]), Predicate::NoneOf(id.clone(), vec![])]);
    for likeness in [Like::Contains, Like::StartsWith, Like::EndsWith] {
        for looked_for in ["50%", "a_b!", "th\u{e9}"] {
            tests.push(Predicate::Like(title.clone(), likeness, looked_for.to_owned()));
            tests.push(Predicate::Like(or("x"), likeness, looked_for.to_owned()));
        }
    }
    for inner in [is(&title, text("a")), is(&title, text("b")), is(&id, Literal::Integer(1))] {
        tests.push(Predicate::Exists(Box::new(select(vec![], vec![inner]))));
    }
    let mut all: Vec<Select> = tests.into_iter().map(|test| select(vec![id.clone()], vec![test])).collect();
    let first = all[0].clone();
    let join = |keeps, on: Vec<Predicate>| vec![Join { table: (VALUE, "site_tmplvar_contentvalues"), on, kind: keeps }];
    let shown = |columns: Vec<Expr>| Select { columns, joins: join(JoinKind::Left, vec![]), ..first.clone() };
    let ordered = |order| Select { order, ..first.clone() };
    all.extend([
        shown(vec![]),
        shown(vec![id.clone(), title.clone()]),
        shown(vec![title.clone(), id.clone()]),
        shown(vec![value.clone()]),
        shown(vec![or("a"), or("b")]),
        Select { joins: join(JoinKind::Inner, vec![]), ..first.clone() },
        Select { joins: join(JoinKind::Left, first.filter.clone()), filter: vec![], ..first.clone() },
        Select { joins: join(JoinKind::Left, vec![is(&id, Literal::Integer(3))]), ..first.clone() },
        Select { from: (VALUE, "site_content"), columns: vec![], filter: vec![], ..first.clone() },
        Select { from: (DOCUMENT, "site_tmplvars"), columns: vec![], filter: vec![], ..first.clone() },
        Select { limit: 9, offset: 3, ..first.clone() },
        ordered(vec![(id.clone(), Direction::Ascending)]),
        ordered(vec![(id.clone(), Direction::Descending)]),
        ordered(vec![(title.clone(), Direction::Ascending), (or("c"), Direction::Descending)]),
    ]);
    all
}

#[test]
fn a_text_that_is_kept_is_never_taken_for_another_ones_and_its_values_are_the_callers() {
    let all = alike();
    for dialect in [Dialect::Sqlite, Dialect::Mysql, Dialect::Postgres] {
        let mut firsts: HashMap<Shape, (&Select, Arc<str>)> = HashMap::new();
        let mut twins = 0;
        for (one, widest) in all.iter().flat_map(|one| [(one, 101), (one, 102)]) {
            let schema = schema();
            let made = make(dialect, &schema, one, widest).unwrap();
            if made.origins.is_none() {
                continue;
            }
            match firsts.entry(shape(dialect, one, widest).unwrap().0) {
                Entry::Vacant(entry) => drop(entry.insert((one, made.statement.text))),
                Entry::Occupied(entry) => {
                    let (first, text) = entry.get();
                    assert_eq!(*text, made.statement.text);
                    let kept = statement(dialect, &schema, first, widest).unwrap();
                    let second = statement(dialect, &schema, one, widest).unwrap();
                    assert!(Arc::ptr_eq(&kept.text, &second.text));
                    assert_eq!(second, made.statement);
                    twins += 1;
                }
            }
        }
        assert!(firsts.len() > 150 && twins > 100, "{} shapes, {twins} twins", firsts.len());
    }
}

#[test]
fn a_page_is_made_once_and_not_more_texts_are_kept_than_a_few() {
    let schema = schema();
    let is = |id| {
        Predicate::Compare(Expr::Column(DOCUMENT, "id"), Comparison::Equal, Operand::Literal(Literal::Integer(id)))
    };
    let ask = |columns, id| {
        let select = select(vec![Expr::Column(DOCUMENT, "id"); columns], vec![is(id)]);
        statement(Dialect::Sqlite, &schema, &select, 101).unwrap()
    };
    let (first, second) = (ask(1, 7), ask(1, 8));
    assert_eq!(&*first.text, r#"SELECT t0."id" FROM "evo_site_content" AS t0 WHERE t0."id" = ?1 LIMIT ?2 OFFSET ?3"#);
    assert!(Arc::ptr_eq(&first.text, &second.text));
    assert_eq!(first.values, [Bound::Integer(7), Bound::Integer(2), Bound::Integer(0)]);
    assert_eq!(second.values, [Bound::Integer(8), Bound::Integer(2), Bound::Integer(0)]);
    for columns in 2..=64 {
        ask(columns, 7);
    }
    assert_eq!(schema.texts.count(), 64);
    ask(65, 7);
    assert_eq!(schema.texts.count(), 1);
    // Too large to be worth it.
    ask(600, 7);
    assert_eq!(schema.texts.count(), 1);
}

#[test]
fn a_value_that_is_refused_is_refused_also_when_its_text_is_kept() {
    let schema = schema();
    let like = |text: &str| Predicate::Like(Expr::Column(DOCUMENT, "contentType"), Like::EndsWith, text.to_owned());
    let asked = |test: Predicate| statement(Dialect::Sqlite, &schema, &select(vec![], vec![test]), 101);
    for _ in 0..2 {
        assert!(asked(like("tea")).is_ok());
        assert_eq!(asked(like("te\0a")).unwrap_err().message, "A text must not contain the character NUL.");
        assert_eq!(asked(like(&"a".repeat(24_001))).unwrap_err().message, "The text to look for is too long.");
    }
    assert_eq!(schema.texts.count(), 1);
}

#[test]
fn nothing_that_the_schema_lacks_becomes_part_of_a_statement() {
    let gone = || Expr::Column(DOCUMENT, "gone");
    for dialect in [Dialect::Sqlite, Dialect::Mysql, Dialect::Postgres] {
        assert_eq!(tested(dialect, &Predicate::IsNull(gone())), "1 = 1");
        assert_eq!(tested(dialect, &Predicate::AnyOf(gone(), vec![Literal::Integer(1)])), "1 = 0");
        let mut other = select(vec![gone()], vec![]);
        other.from.1 = "other_table";
        assert!(make(dialect, &schema(), &other, 101).is_err());
        let mut unknown = select(vec![Expr::Column(TableAlias(9), "id")], vec![]);
        unknown.limit = 1;
        assert!(make(dialect, &schema(), &unknown, 101).is_err());
    }
}

#[test]
fn a_column_of_an_older_character_set_is_converted_for_letters_that_it_may_lack_and_only_for_those() {
    let title = || Expr::Column(DOCUMENT, "contentType");
    let is =
        |text: &str| Predicate::Compare(title(), Comparison::Equal, Operand::Literal(Literal::Text(text.to_owned())));
    assert_eq!(tested(Dialect::Mysql, &is("tea")), "t0.`contentType` = ?");
    assert_eq!(tested(Dialect::Mysql, &is("thé")), "CONVERT(t0.`contentType` USING utf8mb4) = ?");
    assert_eq!(tested(Dialect::Postgres, &is("thé")), r#"t0."contentType" = CAST($1 AS TEXT)"#);
    let like = Predicate::Like(title(), Like::Contains, "茶".to_owned());
    assert_eq!(tested(Dialect::Mysql, &like), "CONVERT(t0.`contentType` USING utf8mb4) LIKE ? ESCAPE '!'");
    let texts = ["tea", "茶"].map(|text| Literal::Text(text.to_owned()));
    let one_of = Predicate::AnyOf(title(), texts.to_vec());
    assert_eq!(tested(Dialect::Mysql, &one_of), "CONVERT(t0.`contentType` USING utf8mb4) IN (?, ?)");
    let or = Expr::Coalesce(Box::new(title()), "茶".to_owned());
    assert_eq!(
        tested(Dialect::Mysql, &Predicate::Like(or, Like::StartsWith, "x".to_owned())),
        "COALESCE(CONVERT(t0.`contentType` USING utf8mb4), ?) LIKE ? ESCAPE '!'"
    );
}

#[test]
fn a_whole_number_equals_no_text_that_is_none_and_differs_from_all_of_them() {
    let compared = |comparison, text: &str| {
        Predicate::Compare(Expr::Column(DOCUMENT, "id"), comparison, Operand::Literal(Literal::Text(text.to_owned())))
    };
    for dialect in [Dialect::Sqlite, Dialect::Mysql] {
        let id = tested(dialect, &compared(Comparison::NotEqual, "x"));
        assert!(id.ends_with(" IS NOT NULL"), "{id}");
        for comparison in [Comparison::Equal, Comparison::Greater, Comparison::AtMost] {
            assert_eq!(tested(dialect, &compared(comparison, "x")), "1 = 0");
        }
        // Blanks around a number do not count.
        assert_ne!(tested(dialect, &compared(Comparison::Equal, " 7\n")), "1 = 0");
    }
}

#[test]
fn a_server_that_lacks_what_the_statements_need_is_refused_with_what_is_needed() {
    for (version, expected) in [
        ("10.11.6-MariaDB-0+deb12u1", Ok(Server::MariaDb)),
        ("5.5.5-10.1.48-MariaDB", Ok(Server::MariaDb)),
        ("8.0.36-0ubuntu0.22.04.1", Ok(Server::Mysql)),
        ("8.4.0", Ok(Server::Mysql)),
        ("5.7.44-log", Err("its server is MySQL 5.7.44, which is too old.")),
        ("10.0.38-MariaDB", Err("its server is MariaDB 10.0.38, which is too old.")),
    ] {
        match (Server::of(version), expected) {
            (Ok(server), Ok(expected)) => assert_eq!(server, expected, "{version}"),
            (Err(Failure::Refused(why)), Err(begins)) => assert!(why.starts_with(begins), "{why}"),
            (other, _) => panic!("{version}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_connection_to_a_sqlite_site_cannot_write() {
    let folder = std::env::temp_dir().join(format!("fdreadonly-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("site.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(&Site::of(1).script(Database::Sqlite)).unwrap();
    let settings = ArchiveSettings::new(path.to_str().unwrap());
    let archive = SqliteArchive::open(path, &settings).await.unwrap();
    let connection = archive.pool.take().unwrap().connection;
    for text in WRITES {
        let refused = connection.execute_batch(text).unwrap_err();
        assert!(refused.to_string().contains("readonly"), "{text}: {refused}");
    }
    // Nor if the promise not to is taken back.
    connection.pragma_update(None, "query_only", "OFF").unwrap();
    let refused = connection.execute_batch(WRITES[0]).unwrap_err();
    assert!(refused.to_string().contains("readonly"), "{refused}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_connection_to_a_mariadb_site_cannot_write() {
    let server = mariadb::MariaDb::start();
    server.sql(&format!("{} COMMIT;", Site::of(1).script(Database::Mysql)));
    let settings = ArchiveSettings::new(&server.url());
    let Ok(Place::Mysql(options)) = address::parse(&settings.url, None) else { panic!("no address of MariaDB") };
    let archive = MysqlArchive::open(*options, &settings).await.unwrap();
    assert_eq!(archive.select(&select(vec![Expr::Column(DOCUMENT, "id")], vec![])).await.unwrap().len(), 1);
    let mut connection = archive.pool.take().unwrap();
    for text in WRITES {
        let refused = connection.connection().unwrap().query_drop(text).await.unwrap_err().to_string();
        assert!(refused.contains("READ ONLY transaction"), "{text}: {refused}");
    }
}

#[tokio::test]
async fn a_connection_to_a_postgres_site_cannot_write() {
    let server = server::Server::start();
    let script =
        format!("{} GRANT ALL ON ALL TABLES IN SCHEMA public TO desk;", Site::of(1).script(Database::Postgres));
    server.sql("desk", &script);
    let settings = ArchiveSettings::new(&server.url());
    let Ok(Place::Postgres(address)) = address::parse(&settings.url, None) else { panic!("no address of PostgreSQL") };
    let archive = PostgresArchive::open(address, &settings).await.unwrap();
    assert_eq!(archive.select(&select(vec![Expr::Column(DOCUMENT, "id")], vec![])).await.unwrap().len(), 1);
    let session = archive.pool.take().unwrap();
    for text in WRITES {
        let refused = session.client.batch_execute(text).await.unwrap_err();
        assert_eq!(refused.code().unwrap().code(), "25006", "{text}");
    }
}

#[tokio::test]
async fn statements_on_mariadb_are_prepared_once_and_not_more_of_them_are_kept_than_a_few() {
    let server = mariadb::MariaDb::start();
    server.sql(&format!("{} COMMIT;", Site::of(1).script(Database::Mysql)));
    let settings = ArchiveSettings { connections: 1, ..ArchiveSettings::new(&server.url()) };
    let Ok(Place::Mysql(options)) = address::parse(&settings.url, None) else { panic!("no address of MariaDB") };
    let archive = MysqlArchive::open(*options, &settings).await.unwrap();
    let ask = async |columns: usize| {
        let select = Select { bytes: 1_000, ..select(vec![Expr::Column(DOCUMENT, "id"); columns], vec![]) };
        let rows = archive.select(&select).await.unwrap();
        assert_eq!(rows, [vec![SiteCell::Integer(1); columns]]);
    };
    let count = async |name: &str| {
        let mut held = archive.pool.take().unwrap();
        let text = format!("SHOW STATUS LIKE '{name}'");
        let (_, count): (String, u64) = held.connection().unwrap().query_first(text).await.unwrap().unwrap();
        archive.pool.put_back(held);
        count
    };
    for _ in 0..3 {
        ask(1).await;
    }
    assert_eq!((count("Com_stmt_prepare").await, count("Com_stmt_execute").await), (1, 3));
    for columns in 1..=70 {
        ask(columns).await;
    }
    assert_eq!((count("Com_stmt_prepare").await, count("Com_stmt_close").await), (70, 64));
    ask(1).await;
}

#[tokio::test]
async fn postgres_plans_a_list_for_its_values_each_time() {
    let server = server::Server::start();
    let script =
        format!("{} GRANT ALL ON ALL TABLES IN SCHEMA public TO desk;", Site::of(1).script(Database::Postgres));
    server.sql("desk", &script);
    let settings = ArchiveSettings { connections: 1, ..ArchiveSettings::new(&server.url()) };
    let Ok(Place::Postgres(address)) = address::parse(&settings.url, None) else { panic!("no address of PostgreSQL") };
    let archive = PostgresArchive::open(address, &settings).await.unwrap();
    // In one flight, and by pieces.
    for (limit, columns) in [(2, 1), (100, 2)] {
        let list = Select { limit, ..select(vec![Expr::Column(DOCUMENT, "id"); columns], vec![]) };
        for _ in 0..10 {
            assert_eq!(archive.select(&list).await.unwrap().len(), 1);
        }
    }
    let session = archive.pool.take().unwrap();
    let text = "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT CAST(t0.%'";
    let rows = session.client.query(text, &[]).await.unwrap();
    let plans: Vec<(i64, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(plans, [(10, 0), (10, 0)]);
}

#[test]
fn only_a_postgres_that_knows_how_is_told_to_plan_anew() {
    for (version, expected) in [
        (Some("15.14 (Debian 15.14-0+deb12u1)"), Plans::Told),
        (Some("12.0"), Plans::Told),
        (Some("19devel"), Plans::Told),
        (Some("11.22"), Plans::AsItLikes),
        (Some("9.6.24"), Plans::AsItLikes),
        (Some("devel"), Plans::AsItLikes),
        (None, Plans::AsItLikes),
    ] {
        assert_eq!(Plans::of(version), expected, "{version:?}");
    }
}

const WRITES: [&str; 4] = [
    "UPDATE evo_site_content SET pagetitle = 'x'",
    "DELETE FROM evo_users",
    "INSERT INTO evo_tags (id, name) VALUES (99, 'x')",
    "CREATE TABLE evo_mine (id integer)",
];
