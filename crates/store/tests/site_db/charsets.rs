//! Searching for characters that the site's character set lacks.

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::FaultKind;
use frontdesk_engine::ports::site_db::{Comparison, Expr, Like, Literal, Operand, Predicate, SiteCell};
use frontdesk_store::site_db::open;
use frontdesk_testkit::databases::{MariadbDatabase, PostgresServer};
use frontdesk_testkit::sites::query::{all, column};
use frontdesk_testkit::sites::settings;

const FACE: &str = "\u{1f600}";

fn text(text: &str) -> Literal {
    Literal::Text(text.to_owned())
}

#[tokio::test]
async fn a_legacy_charset_on_mariadb_can_be_searched_for_any_letter() {
    let mariadb = MariadbDatabase::create();
    mariadb.sql(&format!(
        "{} ALTER TABLE evo_site_content CONVERT TO CHARACTER SET utf8mb3; \
         UPDATE evo_site_content SET pagetitle = 'Новини' WHERE id = 2; \
         ALTER TABLE evo_categories CONVERT TO CHARACTER SET latin1; COMMIT;",
        CmsSite::with_documents(5).script(ScriptDialect::Mysql).replace("Über", "Uber")
    ));
    let site_db = open(&settings(&mariadb.url())).await.unwrap();
    let title = || column("pagetitle");
    let equal = |value: &str| Predicate::Compare(title(), Comparison::Equal, Operand::Literal(text(value)));
    let or = Expr::Coalesce(Box::new(column("alias")), FACE.to_owned());
    for (test, found) in [
        (equal(FACE), 0),
        (equal("Новини"), 1),
        (Predicate::Compare(title(), Comparison::NotEqual, Operand::Literal(text(FACE))), 5),
        (Predicate::AnyOf(title(), vec![text("no such"), text("Новини"), text(FACE)]), 1),
        (Predicate::NoneOf(title(), vec![text("no such"), text("Новини"), text(FACE)]), 4),
        (Predicate::Like(title(), Like::Contains, FACE.to_owned()), 0),
        (Predicate::Like(title(), Like::StartsWith, "Нов".to_owned()), 1),
        (Predicate::Compare(or.clone(), Comparison::Equal, Operand::Literal(text("no such alias"))), 0),
    ] {
        let mut select = all("site_content", &["id"]);
        select.columns.push(or.clone());
        select.filter = vec![test.clone()];
        let rows = site_db.select(&select).await;
        assert_eq!(rows.unwrap_or_else(|fault| panic!("{test:?}: {fault:?}")).len(), found, "{test:?}");
    }
    let mut latin = all("categories", &["id"]);
    latin.filter = vec![Predicate::Compare(column("category"), Comparison::Equal, Operand::Literal(text("Новини")))];
    assert_eq!(site_db.select(&latin).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_letter_outside_a_postgres_encoding_is_an_invalid_argument() {
    let server = PostgresServer::start();
    server.sql("desk", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    let site =
        CmsSite::with_documents(1).script(ScriptDialect::Postgres).replace(|letter: char| !letter.is_ascii(), "?");
    server.sql("latin", &format!("{site} GRANT SELECT ON ALL TABLES IN SCHEMA public TO desk;"));
    let site_db = open(&settings(&server.url_of("desk", "latin"))).await.unwrap();
    let mut select = all("site_content", &["id"]);
    select.filter = vec![Predicate::Compare(column("pagetitle"), Comparison::Equal, Operand::Literal(text(FACE)))];
    let fault = site_db.select(&select).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidArgument);
    assert_eq!(
        fault.message,
        "A text has a character that the site's database cannot store, so nothing there has it. Leave it out."
    );
    select.filter.clear();
    assert_eq!(site_db.select(&select).await.unwrap().len(), 1);
}

#[tokio::test]
async fn bytes_that_are_no_utf_8_are_shown_as_replacement_characters() {
    let server = PostgresServer::start();
    server.sql("desk", "CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    let site = CmsSite::with_documents(3).script(ScriptDialect::Postgres);
    let bytes = "UPDATE evo_site_content SET pagetitle = E'Caf\\351', longtitle = E'\\377\\376' WHERE id = 2;";
    server.sql("bytes", &format!("{site} {bytes} GRANT SELECT ON ALL TABLES IN SCHEMA public TO desk;"));
    let site_db = open(&settings(&server.url_of("desk", "bytes"))).await.unwrap();
    let mut select = all("site_content", &["pagetitle", "longtitle"]);
    select.filter = vec![Predicate::Compare(column("id"), Comparison::Equal, Operand::Literal(Literal::Integer(2)))];
    let shown = ["Caf\u{fffd}", "\u{fffd}\u{fffd}"].map(|text| SiteCell::Text(text.to_owned()));
    assert_eq!(site_db.select(&select).await.unwrap(), [shown.to_vec()]);
}
