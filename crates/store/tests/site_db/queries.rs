//! Queries and the rows that every database returns for them.

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::FaultKind;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Join, JoinKind, Like, Literal, Number, Operand, Predicate, Select, SiteCell, TableAlias,
};
use frontdesk_testkit::sites::SiteDatabases;
use frontdesk_testkit::sites::query::{all, column, is, of, same, shown, value_of};

fn products(filter: Vec<Predicate>) -> Select {
    let mut select = all("site_content", &["id"]);
    select.filter = vec![is(column("template"), 4), is(column("deleted"), 0)];
    select.filter.extend(filter);
    select
}

fn text(expr: Expr, comparison: Comparison, value: &str) -> Predicate {
    Predicate::Compare(expr, comparison, Operand::Literal(Literal::Text(value.to_owned())))
}

fn number(cast: Number, comparison: Comparison, value: &str) -> Predicate {
    let expr = Expr::Number(cast, Box::new(of(1, "value")));
    Predicate::Compare(expr, comparison, Operand::Literal(Literal::Decimal(value.to_owned())))
}

fn words(values: &[&str]) -> Vec<Literal> {
    values.iter().map(|value| Literal::Text((*value).to_owned())).collect()
}

/// The counts are those of the original implementation on MariaDB.
#[tokio::test]
async fn filters_by_variables_find_as_many_products_as_the_original() {
    let three = SiteDatabases::small().await;
    let (price, sku, color) = (1, 3, 4);
    let value = || of(1, "value");
    let decimal = Number::Decimal { digits: 10, places: 2 };
    let or_red = Expr::Coalesce(Box::new(value()), "red".to_owned());
    for (variable, test, count) in [
        (price, Predicate::IsNull(value()), 12),
        (price, Predicate::IsNotNull(value()), 96),
        (price, number(Number::Signed, Comparison::Greater, "500"), 20),
        (price, number(Number::Unsigned, Comparison::Greater, "500"), 32),
        (price, text(value(), Comparison::Greater, "500"), 44),
        (price, number(Number::Signed, Comparison::Less, "200"), 46),
        (price, number(decimal, Comparison::Equal, "99.95"), 12),
        (price, Predicate::NoneOf(value(), words(&["111", "112"])), 94),
        (price, Predicate::AnyOf(value(), words(&["111", "112", "113"])), 2),
        (color, Predicate::NoneOf(or_red, words(&["red"])), 24),
        (color, Predicate::IsNull(value()), 60),
        (sku, Predicate::Like(value(), Like::Contains, "SKU-01".to_owned()), 18),
        (sku, Predicate::Like(value(), Like::StartsWith, "SKU-01".to_owned()), 18),
        (sku, Predicate::Like(value(), Like::EndsWith, "01".to_owned()), 12),
    ] {
        let mut select = products(vec![test.clone()]);
        select.joins = vec![value_of(variable, 1)];
        assert_eq!(three.rows(&select).await.len(), count, "{test:?}");
    }
    let mut select = products(vec![]);
    select.filter = vec![is(column("published"), 0), is(column("deleted"), 0)];
    assert_eq!(three.rows(&select).await.len(), 18);

    documents_in_order(&three).await;
    trees(&three).await;
    tags(&three).await;
}

async fn documents_in_order(three: &SiteDatabases) {
    let date = Expr::NonZero(Box::new(column("pub_date")), Box::new(column("createdon")));
    let mut select = all("site_content", &["id"]);
    select.order = vec![(date, Direction::Descending), (column("id"), Direction::Ascending)];
    select.limit = 5;
    assert_eq!(three.list(&select).await, ["5", "10", "15", "20", "25"]);
    select.offset = 3;
    assert_eq!(three.list(&select).await, ["20", "25", "30", "35", "40"]);
    select.offset = 5_000;
    assert_eq!(three.rows(&select).await, Vec::<Vec<SiteCell>>::new());
    select.offset = 0;
    select.limit = 0;
    assert_eq!(three.rows(&select).await, Vec::<Vec<SiteCell>>::new());
}

fn below(ancestor: i64, depth: i64) -> Select {
    let mut select = all("site_content", &["id"]);
    let on = vec![same(of(1, "descendant"), column("id")), is(of(1, "ancestor"), ancestor)];
    select.joins = vec![Join { table: (TableAlias(1), "site_content_closure"), on, kind: JoinKind::Inner }];
    let deep =
        |comparison, depth| Predicate::Compare(of(1, "depth"), comparison, Operand::Literal(Literal::Integer(depth)));
    select.filter = vec![deep(Comparison::Greater, 0), deep(Comparison::AtMost, depth), is(column("deleted"), 0)];
    select
}

async fn trees(three: &SiteDatabases) {
    assert_eq!(three.rows(&below(2, 2)).await.len(), 18);
    assert_eq!(three.list(&below(248, 1)).await, ["249", "250", "251", "252", "253", "254"]);
    let mut ancestors = all("site_content", &["id", "pagetitle"]);
    let on = vec![same(of(1, "ancestor"), column("id")), is(of(1, "descendant"), 247)];
    ancestors.joins = vec![Join { table: (TableAlias(1), "site_content_closure"), on, kind: JoinKind::Inner }];
    ancestors.filter =
        vec![Predicate::Compare(of(1, "depth"), Comparison::Greater, Operand::Literal(Literal::Integer(0)))];
    ancestors.order = vec![(of(1, "depth"), Direction::Descending)];
    assert_eq!(three.list(&ancestors).await, ["4", "239", "240", "241", "242", "243", "244", "245", "246"]);
}

fn tagged(tags: &[&str]) -> Select {
    let mut inner = all("site_content_tags", &[]);
    inner.from.0 = TableAlias(1);
    inner.order.clear();
    let on = vec![same(of(2, "id"), of(1, "tag_id"))];
    inner.joins = vec![Join { table: (TableAlias(2), "tags"), on, kind: JoinKind::Inner }];
    inner.filter =
        vec![same(of(1, "doc_id"), column("id")), is(of(1, "tv_id"), 9), Predicate::AnyOf(of(2, "name"), words(tags))];
    let mut select = all("site_content", &["id"]);
    select.filter = vec![Predicate::Exists(Box::new(inner))];
    select
}

async fn tags(three: &SiteDatabases) {
    assert_eq!(three.rows(&tagged(&["rust"])).await.len(), 60);
    assert_eq!(three.rows(&tagged(&["новини"])).await.len(), 20);
    assert_eq!(three.rows(&tagged(&["rust", "php", "новини"])).await.len(), 80, "each document once");
    assert_eq!(three.rows(&tagged(&[])).await.len(), 0);
}

fn oddities(database: ScriptDialect) -> String {
    let flag = |truth: &str| match (database, truth) {
        (ScriptDialect::Postgres, truth) => truth.to_owned(),
        (ScriptDialect::Sqlite | ScriptDialect::Mysql, truth) => u8::from(truth == "true").to_string(),
    };
    let kind = if database == ScriptDialect::Postgres { "boolean" } else { "tinyint(1)" };
    let words = if database == ScriptDialect::Mysql { "mediumtext" } else { "text" };
    let rows = [
        (1, "'a%b'", "0", flag("true")),
        (2, "'a_b'", "5", flag("false")),
        (3, "'a!b'", "NULL", flag("true")),
        (4, r"'a\b'", "-3", flag("false")),
        (5, "'axb'", "5", flag("true")),
        (6, "NULL", "9", "NULL".to_owned()),
        (7, "''", "0", flag("true")),
        (8, "'it''s \"100%_real\"'", "1", flag("false")),
    ];
    let rows: Vec<String> =
        rows.iter().map(|(id, words, number, flag)| format!("({id}, {words}, {number}, {flag})")).collect();
    format!(
        "CREATE TABLE evo_odd (id integer NOT NULL, words {words}, \"rank\" integer, flag {kind}); \
         INSERT INTO evo_odd VALUES {};",
        rows.join(", ")
    )
    .replace('"', if database == ScriptDialect::Mysql { "`" } else { "\"" })
    .replace("`100%_real`", "\"100%_real\"")
}

#[tokio::test]
async fn wildcards_are_escaped_and_null_sorts_the_same_everywhere() {
    let three = SiteDatabases::with(&CmsSite::small(), oddities).await;
    let ids = async |filter: Vec<Predicate>| {
        let mut select = all("odd", &["id"]);
        select.filter = filter;
        three.list(&select).await.join(" ")
    };
    let matching = |like, text: &str| vec![Predicate::Like(column("words"), like, text.to_owned())];
    for (like, text, found) in [
        (Like::Contains, "%", "1 8"),
        (Like::Contains, "_", "2 8"),
        (Like::Contains, "!", "3"),
        (Like::Contains, "\\", "4"),
        (Like::Contains, "'", "8"),
        (Like::Contains, "\"", "8"),
        (Like::Contains, "100%_r", "8"),
        (Like::Contains, "", "1 2 3 4 5 7 8"),
        (Like::StartsWith, "a", "1 2 3 4 5"),
        (Like::StartsWith, "a_", "2"),
        (Like::EndsWith, "!b", "3"),
        (Like::EndsWith, "xb", "5"),
        (Like::EndsWith, "a", ""),
    ] {
        assert_eq!(ids(matching(like, text)).await, found, "{like:?} {text}");
    }
    // LIKE compares a number as a text.
    assert_eq!(ids(vec![Predicate::Like(column("id"), Like::Contains, "7".to_owned())]).await, "7");

    let (words_, rank) = (|| column("words"), || column("rank"));
    for (test, found) in [
        (is(column("flag"), 1), "1 3 5 7"),
        (is(column("flag"), 0), "2 4 8"),
        (Predicate::IsNull(column("flag")), "6"),
        (
            Predicate::AnyOf(
                rank(),
                vec![Literal::Integer(5), Literal::Text("9".to_owned()), Literal::Text("x".to_owned())],
            ),
            "2 5 6",
        ),
        (Predicate::NoneOf(rank(), vec![Literal::Integer(5)]), "1 4 6 7 8"),
        (Predicate::NoneOf(rank(), vec![]), "1 2 4 5 6 7 8"),
        (Predicate::AnyOf(rank(), vec![]), ""),
        (Predicate::NoneOf(rank(), vec![Literal::Text("x".to_owned())]), "1 2 4 5 6 7 8"),
        (text(rank(), Comparison::AtLeast, "4.5"), "2 5 6"),
        (text(rank(), Comparison::Equal, "5.0"), "2 5"),
        (text(rank(), Comparison::Equal, "five"), ""),
        (text(words_(), Comparison::Equal, ""), "7"),
        (text(words_(), Comparison::NotEqual, ""), "1 2 3 4 5 8"),
        (text(words_(), Comparison::Equal, "a\\b"), "4"),
        (text(Expr::Coalesce(Box::new(words_()), "none".to_owned()), Comparison::Equal, "none"), "6"),
        (text(Expr::Coalesce(Box::new(rank()), "none".to_owned()), Comparison::Equal, "none"), "3"),
        (same(rank(), column("id")), "5"),
        // Columns that do not exist are NULL.
        (Predicate::IsNull(column("colour")), "1 2 3 4 5 6 7 8"),
        (Predicate::IsNotNull(column("colour")), ""),
        (is(column("colour"), 1), ""),
        (Predicate::Compare(column("colour"), Comparison::NotEqual, Operand::Expr(rank())), ""),
        (Predicate::NoneOf(column("colour"), vec![Literal::Integer(1)]), ""),
        (text(Expr::Coalesce(Box::new(column("colour")), "x".to_owned()), Comparison::Equal, "x"), "1 2 3 4 5 6 7 8"),
    ] {
        assert_eq!(ids(vec![test.clone()]).await, found, "{test:?}");
    }
    order_and_columns(&three).await;
}

async fn order_and_columns(three: &SiteDatabases) {
    let mut select = all("odd", &["id"]);
    select.order = vec![(column("rank"), Direction::Ascending), (column("id"), Direction::Ascending)];
    assert_eq!(three.list(&select).await, ["3", "4", "1", "7", "8", "2", "5", "6"]);
    select.order = vec![(column("rank"), Direction::Descending), (column("id"), Direction::Ascending)];
    assert_eq!(three.list(&select).await, ["6", "2", "5", "8", "1", "7", "4", "3"]);
    select.order = vec![(column("colour"), Direction::Descending), (column("id"), Direction::Descending)];
    assert_eq!(three.list(&select).await, ["8", "7", "6", "5", "4", "3", "2", "1"]);

    let mut select = all("odd", &["id", "words", "rank", "flag", "colour"]);
    select.columns.push(Expr::NonZero(Box::new(column("rank")), Box::new(column("id"))));
    select.filter =
        vec![Predicate::AnyOf(column("id"), vec![Literal::Integer(3), Literal::Integer(6), Literal::Integer(8)])];
    let shape: Vec<String> =
        three.rows(&select).await.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>().join("|")).collect();
    assert_eq!(shape, ["3|a!b|–|1|–|3", "6|–|9|–|–|9", "8|it's \"100%_real\"|1|0|–|1"]);

    // A left join kind a document without a value.
    let mut select = all("site_content", &["id", "hidemenu", "alias"]);
    select.columns.push(of(1, "value"));
    select.joins = vec![value_of(1, 1)];
    select.filter = vec![Predicate::AnyOf(column("id"), vec![Literal::Integer(12), Literal::Integer(13)])];
    let integer = SiteCell::Integer;
    let words = |text: &str| SiteCell::Text(text.to_owned());
    assert_eq!(
        three.rows(&select).await,
        [
            vec![integer(12), integer(0), words("doc-12"), SiteCell::Null],
            vec![integer(13), integer(1), words("doc-13"), words("114")],
        ]
    );
    let mut moments = all("permissions", &["id", "key", "created_at", "description"]);
    moments.limit = 1;
    assert_eq!(three.rows(&moments).await, [vec![integer(1), words("permission1"), SiteCell::Null, SiteCell::Null]]);
    tables(three).await;
}

async fn tables(three: &SiteDatabases) {
    for (name, site_db) in &three.sites {
        for (table, is_there) in [("site_content", true), ("odd", true), ("s_tasks", false), ("evo_odd", false)] {
            assert_eq!(site_db.has_table(table).await.unwrap(), is_there, "{name}: {table}");
        }
        let fault = site_db.select(&all("s_tasks", &["id"])).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Internal, "{name}");
        let mut select = all("site_content", &["id"]);
        for hostile in ["a\0b", &"x".repeat(30_000)] {
            select.filter = vec![Predicate::Like(column("pagetitle"), Like::Contains, hostile.to_owned())];
            assert_eq!(site_db.select(&select).await.unwrap_err().kind, FaultKind::InvalidArgument, "{name}");
        }
        select.filter =
            vec![text(column("pagetitle"), Comparison::Equal, "'; DROP TABLE evo_site_content; -- \" ` \\")];
        assert_eq!(site_db.select(&select).await.unwrap(), Vec::<Vec<SiteCell>>::new(), "{name}");
    }
}
