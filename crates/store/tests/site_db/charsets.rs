//! Searching for characters that the site's character set lacks.

use frontdesk_engine::FaultKind;
use frontdesk_engine::archive::{Comparison, Likeness, Operand, Term, Test, Value};
use frontdesk_site::{Database, Site};
use frontdesk_store::site_db::open;

use crate::mariadb::MariaDb;
use crate::server::Server;
use crate::three::{all, column, settings};

const FACE: &str = "\u{1f600}";

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[tokio::test]
async fn a_legacy_charset_on_mariadb_can_be_searched_for_any_letter() {
    let mariadb = MariaDb::start();
    mariadb.sql(&format!(
        "{} ALTER TABLE evo_site_content CONVERT TO CHARACTER SET utf8mb3; \
         UPDATE evo_site_content SET pagetitle = 'Новини' WHERE id = 2; \
         ALTER TABLE evo_categories CONVERT TO CHARACTER SET latin1; COMMIT;",
        Site::of(5).script(Database::Mysql).replace("Über", "Uber")
    ));
    let site_db = open(&settings(&mariadb.url())).await.unwrap();
    let title = || column("pagetitle");
    let equal = |value: &str| Test::Compare(title(), Comparison::Equal, Operand::Value(text(value)));
    let or = Term::Or(Box::new(column("alias")), FACE.to_owned());
    for (test, found) in [
        (equal(FACE), 0),
        (equal("Новини"), 1),
        (Test::Compare(title(), Comparison::Unequal, Operand::Value(text(FACE))), 5),
        (Test::AnyOf(title(), vec![text("no such"), text("Новини"), text(FACE)]), 1),
        (Test::NoneOf(title(), vec![text("no such"), text("Новини"), text(FACE)]), 4),
        (Test::Like(title(), Likeness::Contains, FACE.to_owned()), 0),
        (Test::Like(title(), Likeness::Begins, "Нов".to_owned()), 1),
        (Test::Compare(or.clone(), Comparison::Equal, Operand::Value(text("no such alias"))), 0),
    ] {
        let mut select = all("site_content", &["id"]);
        select.columns.push(or.clone());
        select.tests = vec![test.clone()];
        let rows = site_db.select(&select).await;
        assert_eq!(rows.unwrap_or_else(|fault| panic!("{test:?}: {fault:?}")).len(), found, "{test:?}");
    }
    let mut latin = all("categories", &["id"]);
    latin.tests = vec![Test::Compare(column("category"), Comparison::Equal, Operand::Value(text("Новини")))];
    assert_eq!(site_db.select(&latin).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_letter_outside_a_postgres_encoding_is_an_invalid_argument() {
    let server = Server::start();
    server.sql("desk", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    let site = Site::of(1).script(Database::Postgres).replace(|letter: char| !letter.is_ascii(), "?");
    server.sql("latin", &format!("{site} GRANT SELECT ON ALL TABLES IN SCHEMA public TO desk;"));
    let site_db = open(&settings(&server.url_of("desk", "latin"))).await.unwrap();
    let mut select = all("site_content", &["id"]);
    select.tests = vec![Test::Compare(column("pagetitle"), Comparison::Equal, Operand::Value(text(FACE)))];
    let fault = site_db.select(&select).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidArgument);
    assert_eq!(
        fault.message,
        "A text has a character that the site's database cannot store, so nothing there has it. Leave it out."
    );
    select.tests.clear();
    assert_eq!(site_db.select(&select).await.unwrap().len(), 1);
}
