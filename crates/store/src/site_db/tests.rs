//! The SQL that is sent to each of the databases, and that the connections cannot write.

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Number, Operand, Predicate, Select, SiteDb as _, TableAlias,
};
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::sites::query::{column, is, of, same};

use super::SiteDbSettings;
use super::address::{self, SiteAddress};
use super::dialect::SqlDialect;
use super::error::SiteDbError;
use super::postgres::{PlanCache, PostgresDriver};
use super::reader::SiteReader;
use super::render::{SiteQuery, SqlParam, render};
use super::schema::{Charset, ColumnInfo, SiteColumn, SiteSchema, SqlType};
use super::sqlite::SqliteDriver;

const DIALECTS: [SqlDialect; 3] = [SqlDialect::Sqlite, SqlDialect::Mysql, SqlDialect::Postgres];

/// One column has a legacy character set.
fn charset(column: &str) -> Charset {
    match column {
        "contentType" => Charset::Legacy,
        _ => Charset::Utf8,
    }
}

fn schema() -> SiteSchema {
    let columns = [
        ("evo_site_content", "id", SqlType::Integer, true),
        ("evo_site_content", "contentType", SqlType::Text, true),
        ("evo_site_content", "hidemenu", SqlType::Boolean, true),
        ("evo_site_tmplvar_contentvalues", "contentid", SqlType::Integer, true),
        ("evo_site_tmplvar_contentvalues", "value", SqlType::Text, false),
        ("evo_site_tmplvars", "rank", SqlType::Integer, true),
        ("other_table", "id", SqlType::Integer, true),
    ];
    let columns = columns.map(|(table, name, sql_type, is_not_null)| {
        let column = SiteColumn { sql_type, is_not_null, is_unbounded: name == "value", charset: charset(name) };
        ColumnInfo { table: table.to_owned(), name: name.to_owned(), column }
    });
    SiteSchema::new(columns.into(), "evo_").unwrap()
}

fn select(columns: Vec<Expr>, filter: Vec<Predicate>) -> Select {
    let from = (TableAlias(0), "site_content");
    Select { from, joins: Vec::new(), columns, filter, order: Vec::new(), offset: 0, limit: 2, bytes: 100 }
}

fn rendered(dialect: SqlDialect, select: &Select) -> SiteQuery {
    render(dialect, &schema(), select).unwrap()
}

/// Only the WHERE clause.
fn where_clause(dialect: SqlDialect, predicate: &Predicate) -> String {
    let text = rendered(dialect, &select(vec![], vec![predicate.clone()])).sql;
    text.split_once(" WHERE ").unwrap().1.split(" LIMIT ").next().unwrap().to_owned()
}

#[test]
fn every_value_is_a_parameter_and_every_name_is_quoted() {
    let value = || of(1, "value");
    let columns = vec![column("contentType"), column("hidemenu"), value(), column("gone")];
    let hidden = is(column("hidemenu"), 1);
    let mut select = select(columns, vec![hidden, Predicate::Like(value(), Like::StartsWith, "5%!".to_owned())]);
    let on = same(of(1, "contentid"), column("id"));
    select.joins =
        vec![Join { table: (TableAlias(1), "site_tmplvar_contentvalues"), on: vec![on], kind: JoinKind::Left }];
    select.order = vec![(value(), Direction::Descending), (column("id"), Direction::Ascending)];
    select.offset = 7;
    let params =
        [SqlParam::Integer(1), SqlParam::Text("5!%!!%".to_owned()), SqlParam::Integer(2), SqlParam::Integer(7)];
    for (dialect, text) in [
        (
            SqlDialect::Sqlite,
            r#"SELECT t0."contentType", t0."hidemenu", SUBSTR(t1."value", 1, 101), NULL FROM "evo_site_content" AS t0 LEFT JOIN "evo_site_tmplvar_contentvalues" AS t1 ON t1."contentid" = t0."id" WHERE t0."hidemenu" = ?1 AND t1."value" LIKE ?2 ESCAPE '!' ORDER BY t1."value" DESC, t0."id" LIMIT ?3 OFFSET ?4"#,
        ),
        (
            SqlDialect::Mysql,
            "SELECT t0.`contentType`, t0.`hidemenu`, LEFT(t1.`value`, 101), NULL FROM `evo_site_content` AS t0 LEFT JOIN `evo_site_tmplvar_contentvalues` AS t1 ON t1.`contentid` = t0.`id` WHERE t0.`hidemenu` = ? AND t1.`value` LIKE ? ESCAPE '!' ORDER BY t1.`value` DESC, t0.`id` LIMIT ? OFFSET ?",
        ),
        (
            SqlDialect::Postgres,
            r#"SELECT t0."contentType", CAST(CAST(t0."hidemenu" AS INTEGER) AS BIGINT), LEFT(t1."value", 101), CAST(NULL AS TEXT) FROM "evo_site_content" AS t0 LEFT JOIN "evo_site_tmplvar_contentvalues" AS t1 ON t1."contentid" = t0."id" WHERE CAST(t0."hidemenu" AS INTEGER) = CAST($1 AS BIGINT) AND t1."value" LIKE CAST($2 AS TEXT) ESCAPE '!' ORDER BY t1."value" DESC NULLS LAST, t0."id" LIMIT CAST($3 AS BIGINT) OFFSET CAST($4 AS BIGINT)"#,
        ),
    ] {
        let expected = SiteQuery { sql: text.into(), params: params.to_vec(), columns: 4, max_rows: 2, max_bytes: 100 };
        assert_eq!(rendered(dialect, &select), expected);
    }
}

#[test]
fn a_cast_reads_digits_only_and_has_explicit_limits() {
    let price = |number| {
        let expr = Expr::Number(number, Box::new(column("contentType")));
        Predicate::Compare(expr, Comparison::Greater, Operand::Literal(Literal::Decimal("1.50".to_owned())))
    };
    let decimal = price(Number::Decimal { digits: 5, places: 2 });
    assert_eq!(where_clause(SqlDialect::Sqlite, &price(Number::Signed)), r#"fd_signed(t0."contentType") > ?1"#);
    assert_eq!(where_clause(SqlDialect::Sqlite, &decimal), r#"fd_decimal(t0."contentType", 5, 2) > ?1"#);
    assert_eq!(
        where_clause(SqlDialect::Mysql, &price(Number::Signed)),
        r"LEAST(GREATEST(CAST(REGEXP_SUBSTR(t0.`contentType`, '^[\x09-\x0D\x20]*[+-]?[0-9]*') AS DECIMAL(65,0)), -9223372036854775808), 9223372036854775807) > CAST(? AS DECIMAL(2,1))"
    );
    assert_eq!(
        where_clause(SqlDialect::Mysql, &decimal),
        r"CAST(REGEXP_SUBSTR(t0.`contentType`, '^[\x09-\x0D\x20]*[+-]?[0-9]*(\.[0-9]*)?') AS DECIMAL(5,2)) > CAST(? AS DECIMAL(2,1))"
    );
    assert_eq!(
        where_clause(SqlDialect::Postgres, &decimal),
        r#"CASE WHEN t0."contentType" IS NOT NULL THEN LEAST(GREATEST(ROUND(CASE WHEN OCTET_LENGTH(t0."contentType") <= 300 OR LENGTH(LTRIM(LEFT(t0."contentType", 300), E'\t\n\x0B\f\r +-0')) > 200 THEN COALESCE(CAST(SUBSTRING(LEFT(t0."contentType", 300) FROM '^[\x09-\x0D\x20]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)') AS NUMERIC), 0) ELSE CAST('0' || LEFT(LTRIM(SUBSTRING(t0."contentType" FROM '^[\x09-\x0D\x20]*[+-]?[0-9]*(?:\.[0-9]*)?'), E'\t\n\x0B\f\r +-0'), 201) AS NUMERIC) * CASE WHEN STRPOS(SUBSTRING(t0."contentType" FROM '^[\x09-\x0D\x20]*[+-]?[0-9]*(?:\.[0-9]*)?'), '-') > 0 THEN -1 ELSE 1 END END, 2), -999.99), 999.99) END > CAST(CAST($1 AS TEXT) AS NUMERIC)"#
    );
}

#[test]
fn the_sql_depends_on_no_value() {
    let content_type = || column("contentType");
    let sql = |dialect, number: i64, text: &str| {
        let predicates = vec![
            is(column("id"), number),
            Predicate::AnyOf(content_type(), vec![Literal::Text(text.to_owned()), Literal::Integer(number)]),
            Predicate::Like(content_type(), Like::Contains, text.to_owned()),
        ];
        let columns = vec![Expr::Coalesce(Box::new(content_type()), text.to_owned())];
        rendered(dialect, &Select { offset: number as u64, ..select(columns, predicates) }).sql
    };
    for dialect in DIALECTS {
        assert_eq!(sql(dialect, 1, "tea"), sql(dialect, 12_345, "it's 100%"));
    }
}

#[test]
fn a_text_with_nul_or_too_long_is_rejected() {
    let like = |text: &str| Predicate::Like(column("contentType"), Like::EndsWith, text.to_owned());
    let result = |predicate: Predicate| render(SqlDialect::Sqlite, &schema(), &select(vec![], vec![predicate]));
    assert!(result(like("tea")).is_ok());
    assert_eq!(result(like("te\0a")).unwrap_err().message, "A text must not contain the character NUL.");
    assert_eq!(result(like(&"a".repeat(24_001))).unwrap_err().message, "The text to look for is too long.");
}

#[test]
fn names_that_the_schema_lacks_are_not_sent() {
    let gone = || column("gone");
    for dialect in DIALECTS {
        assert_eq!(where_clause(dialect, &Predicate::IsNull(gone())), "1 = 1");
        assert_eq!(where_clause(dialect, &Predicate::AnyOf(gone(), vec![Literal::Integer(1)])), "1 = 0");
        let mut other = select(vec![gone()], vec![]);
        other.from.1 = "other_table";
        assert!(render(dialect, &schema(), &other).is_err());
        let mut unknown = select(vec![of(9, "id")], vec![]);
        unknown.limit = 1;
        assert!(render(dialect, &schema(), &unknown).is_err());
    }
}

#[test]
fn a_legacy_charset_is_converted_only_for_non_ascii_texts() {
    let title = || column("contentType");
    let is =
        |text: &str| Predicate::Compare(title(), Comparison::Equal, Operand::Literal(Literal::Text(text.to_owned())));
    assert_eq!(where_clause(SqlDialect::Mysql, &is("tea")), "t0.`contentType` = ?");
    assert_eq!(where_clause(SqlDialect::Mysql, &is("thé")), "CONVERT(t0.`contentType` USING utf8mb4) = ?");
    assert_eq!(where_clause(SqlDialect::Postgres, &is("thé")), r#"t0."contentType" = CAST($1 AS TEXT)"#);
    let like = Predicate::Like(title(), Like::Contains, "茶".to_owned());
    assert_eq!(where_clause(SqlDialect::Mysql, &like), "CONVERT(t0.`contentType` USING utf8mb4) LIKE ? ESCAPE '!'");
    let texts = ["tea", "茶"].map(|text| Literal::Text(text.to_owned()));
    let one_of = Predicate::AnyOf(title(), texts.to_vec());
    assert_eq!(where_clause(SqlDialect::Mysql, &one_of), "CONVERT(t0.`contentType` USING utf8mb4) IN (?, ?)");
    let or = Expr::Coalesce(Box::new(title()), "茶".to_owned());
    assert_eq!(
        where_clause(SqlDialect::Mysql, &Predicate::Like(or, Like::StartsWith, "x".to_owned())),
        "COALESCE(CONVERT(t0.`contentType` USING utf8mb4), ?) LIKE ? ESCAPE '!'"
    );
}

#[test]
fn an_integer_differs_from_every_text_that_is_no_number() {
    let compared = |comparison, text: &str| {
        Predicate::Compare(column("id"), comparison, Operand::Literal(Literal::Text(text.to_owned())))
    };
    for dialect in [SqlDialect::Sqlite, SqlDialect::Mysql] {
        let id = where_clause(dialect, &compared(Comparison::NotEqual, "x"));
        assert!(id.ends_with(" IS NOT NULL"), "{id}");
        for comparison in [Comparison::Equal, Comparison::Greater, Comparison::AtMost] {
            assert_eq!(where_clause(dialect, &compared(comparison, "x")), "1 = 0");
        }
        // Blanks around a number do not count.
        assert_ne!(where_clause(dialect, &compared(Comparison::Equal, " 7\n")), "1 = 0");
    }
}

#[test]
fn a_missing_driver_is_reported_with_its_feature() {
    assert_eq!(
        SiteDbError::missing_mysql_driver().to_string(),
        "this build cannot read MySQL and MariaDB: it was compiled without the cargo feature `mysql`, which is on by \
         default. Build it with --features mysql"
    );
}

#[tokio::test]
async fn a_connection_to_a_sqlite_site_cannot_write() {
    let folder = std::env::temp_dir().join(format!("fdreadonly-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("site.sqlite");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(&CmsSite::with_documents(1).script(ScriptDialect::Sqlite))
        .unwrap();
    let settings = SiteDbSettings::new(path.to_str().unwrap(), "evo_");
    let reader = SiteReader::open(SqliteDriver::new(path, settings.deadline), &settings).await.unwrap();
    let connection = reader.pool.take().unwrap().connection;
    for sql in WRITES {
        let error = connection.execute_batch(sql).unwrap_err();
        assert!(error.to_string().contains("readonly"), "{sql}: {error}");
    }
    // The file itself is opened read-only, too.
    connection.pragma_update(None, "query_only", "OFF").unwrap();
    let error = connection.execute_batch(WRITES[0]).unwrap_err();
    assert!(error.to_string().contains("readonly"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn postgres_site(connections: usize) -> (PostgresDatabase, SiteReader<PostgresDriver>) {
    let database = PostgresDatabase::create();
    database.load(&CmsSite::with_documents(1).script(ScriptDialect::Postgres));
    database.sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO desk");
    let settings = SiteDbSettings { connections, ..SiteDbSettings::new(&database.url(), "evo_") };
    let Ok(SiteAddress::Postgres(address)) = address::parse(&settings.url, None) else { panic!("a wrong address") };
    let reader = SiteReader::open(PostgresDriver::new(&address, settings.deadline), &settings).await.unwrap();
    (database, reader)
}

#[tokio::test]
async fn a_connection_to_a_postgres_site_cannot_write() {
    let (_database, reader) = postgres_site(4).await;
    assert_eq!(reader.select(&select(vec![column("id")], vec![])).await.unwrap().len(), 1);
    let session = reader.pool.take().unwrap();
    for sql in WRITES {
        let error = session.client.batch_execute(sql).await.unwrap_err();
        assert_eq!(error.code().unwrap().code(), "25006", "{sql}");
    }
}

#[tokio::test]
async fn postgres_plans_a_list_for_its_values_each_time() {
    let (_database, reader) = postgres_site(1).await;
    // Short and long lists, and single rows, whose mode is another, in between.
    for (limit, columns) in [(2, 1), (100, 2)] {
        let list = Select { limit, ..select(vec![column("id"); columns], vec![]) };
        let single = Select { limit: 1, ..list.clone() };
        for number in 0..10 {
            assert_eq!(reader.select(&list).await.unwrap().len(), 1);
            if number == 5 {
                assert_eq!(reader.select(&Select { columns: vec![], ..single.clone() }).await.unwrap().len(), 1);
            }
        }
    }
    let session = reader.pool.take().unwrap();
    let sql = "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT CAST(t0.%'";
    let rows = session.client.query(sql, &[]).await.unwrap();
    let plans: Vec<(i64, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(plans, [(10, 0), (10, 0)]);
}

#[test]
fn only_a_postgres_that_has_plan_cache_mode_is_told_one() {
    for (version, expected) in [
        (Some("15.14 (Debian 15.14-0+deb12u1)"), Some(PlanCache::Auto)),
        (Some("12.0"), Some(PlanCache::Auto)),
        (Some("19devel"), Some(PlanCache::Auto)),
        (Some("11.22"), None),
        (Some("9.6.24"), None),
        (Some("devel"), None),
        (None, None),
    ] {
        assert_eq!(PlanCache::of_server(version), expected, "{version:?}");
    }
}

#[cfg(feature = "mysql")]
mod mysql {
    use frontdesk_engine::ports::site_db::SiteCell;
    use frontdesk_testkit::databases::MariadbDatabase;
    use mysql_async::prelude::Queryable as _;

    use super::*;
    use crate::site_db::error::ReadError;
    use crate::site_db::mysql::{MysqlDriver, ServerFlavor};

    async fn mariadb_site(connections: usize) -> (MariadbDatabase, SiteReader<MysqlDriver>) {
        let database = MariadbDatabase::create();
        database.sql(&format!("{} COMMIT;", CmsSite::with_documents(1).script(ScriptDialect::Mysql)));
        let settings = SiteDbSettings { connections, ..SiteDbSettings::new(&database.url(), "evo_") };
        let driver = MysqlDriver::new(&settings.url, None, settings.deadline).unwrap();
        let reader = SiteReader::open(driver, &settings).await.unwrap();
        (database, reader)
    }

    #[tokio::test]
    async fn a_connection_to_a_mariadb_site_cannot_write() {
        let (_database, reader) = mariadb_site(4).await;
        assert_eq!(reader.select(&select(vec![column("id")], vec![])).await.unwrap().len(), 1);
        let mut session = reader.pool.take().unwrap();
        for sql in WRITES {
            let error = session.connection().unwrap().query_drop(sql).await.unwrap_err().to_string();
            assert!(error.contains("READ ONLY transaction"), "{sql}: {error}");
        }
    }

    #[tokio::test]
    async fn statements_on_mariadb_are_prepared_once_and_at_most_64_are_kept() {
        let (_database, reader) = mariadb_site(1).await;
        let read = async |columns: usize| {
            let select = Select { bytes: 1_000, ..select(vec![column("id"); columns], vec![]) };
            assert_eq!(reader.select(&select).await.unwrap(), [vec![SiteCell::Integer(1); columns]]);
        };
        let count = async |name: &str| {
            let mut session = reader.pool.take().unwrap();
            let sql = format!("SHOW STATUS LIKE '{name}'");
            let (_, count): (String, u64) = session.connection().unwrap().query_first(sql).await.unwrap().unwrap();
            reader.pool.put(session);
            count
        };
        // One more is the introspection's.
        for _ in 0..3 {
            read(1).await;
        }
        assert_eq!((count("Com_stmt_prepare").await, count("Com_stmt_execute").await), (2, 4));
        for columns in 1..=70 {
            read(columns).await;
        }
        let (prepared, closed) = (count("Com_stmt_prepare").await, count("Com_stmt_close").await);
        assert_eq!((prepared, prepared - closed), (71, 64));
        read(1).await;
    }

    #[test]
    fn a_server_that_is_too_old_is_rejected() {
        for (version, expected) in [
            ("10.11.6-MariaDB-0+deb12u1", Ok(ServerFlavor::MariaDb)),
            ("5.5.5-10.1.48-MariaDB", Ok(ServerFlavor::MariaDb)),
            ("8.0.36-0ubuntu0.22.04.1", Ok(ServerFlavor::Mysql)),
            ("8.4.0", Ok(ServerFlavor::Mysql)),
            ("5.7.44-log", Err("its server is MySQL 5.7.44, which is too old.")),
            ("10.0.38-MariaDB", Err("its server is MariaDB 10.0.38, which is too old.")),
        ] {
            match (ServerFlavor::parse(version), expected) {
                (Ok(flavor), Ok(expected)) => assert_eq!(flavor, expected, "{version}"),
                (Err(ReadError::Rejected(reason)), Err(begins)) => assert!(reason.starts_with(begins), "{reason}"),
                (other, _) => panic!("{version}: {other:?}"),
            }
        }
    }
}

const WRITES: [&str; 4] = [
    "UPDATE evo_site_content SET pagetitle = 'x'",
    "DELETE FROM evo_users",
    "INSERT INTO evo_tags (id, name) VALUES (99, 'x')",
    "CREATE TABLE evo_mine (id integer)",
];
