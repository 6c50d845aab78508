//! Long texts: complete up to the byte limit of an answer, and beyond it not read to their end.

use std::time::{Duration, Instant};

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::FaultKind;
use frontdesk_engine::ports::site_db::SiteCell;
use frontdesk_store::site_db::open;
use frontdesk_testkit::databases::MariadbServer;
use frontdesk_testkit::sites::query::all;
use frontdesk_testkit::sites::{SiteDatabases, settings};
use mysql_async::prelude::Queryable as _;

#[tokio::test]
async fn long_texts_are_complete_up_to_the_byte_limit() {
    let three = SiteDatabases::with(&CmsSite::small(), |database| match database {
        ScriptDialect::Sqlite => String::new(),
        ScriptDialect::Mysql => "ALTER TABLE evo_site_content MODIFY longtitle LONGTEXT;".to_owned(),
        ScriptDialect::Postgres => "ALTER TABLE evo_site_content ALTER longtitle TYPE text;".to_owned(),
    })
    .await;
    let mut select = all("site_content", &["id", "longtitle"]);
    // Short and long texts, of one byte and of four bytes a character.
    for (letter, count) in [("x", 900), ("x", 5_000), ("\u{1f600}", 700), ("\u{1f600}", 50_000)] {
        let text = letter.repeat(count);
        let update = format!("UPDATE evo_site_content SET longtitle = '{text}' WHERE id = 2;");
        three.sqlite.sql(&update);
        three.mariadb.sql(&update);
        three.postgres.load(&update);
        select.bytes = 1 << 20;
        let rows = three.rows(&select).await;
        assert!(rows.contains(&vec![SiteCell::Integer(2), SiteCell::Text(text.clone())]), "{count} letters were cut");
        select.bytes = text.len();
        for (name, site_db) in &three.sites {
            let fault = site_db.select(&select).await.unwrap_err();
            assert_eq!(fault.kind, FaultKind::AnswerTooLarge, "{name}: {count}");
        }
    }
}

#[tokio::test]
async fn an_oversized_answer_is_not_read_to_its_end() {
    const ROWS: u64 = 40;
    const MEGABYTE: u64 = 1 << 20;
    // Its status counts all connections, so it is not shared.
    let mariadb = MariadbServer::start();
    mariadb.sql(&format!(
        "{} ALTER TABLE evo_site_content MODIFY longtitle LONGTEXT; \
         UPDATE evo_site_content SET longtitle = REPEAT('x', {MEGABYTE}) WHERE id <= {ROWS}; COMMIT;",
        CmsSite::small().script(ScriptDialect::Mysql)
    ));
    let site_db = open(&settings(&mariadb.url())).await.unwrap();
    let mut watch = mysql_async::Conn::from_url(mariadb.url()).await.unwrap();
    let before = number(&mut watch, "Bytes_sent").await;
    let fault = site_db.select(&all("site_content", &["id", "longtitle"])).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::AnswerTooLarge);
    let until = Instant::now() + Duration::from_secs(30);
    while number(&mut watch, "Threads_connected").await > 1 {
        assert!(Instant::now() < until, "the connection is still open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let sent = number(&mut watch, "Bytes_sent").await - before;
    assert!(sent < ROWS / 2 * MEGABYTE, "{sent} bytes were sent");
    watch.disconnect().await.unwrap();
}

async fn number(connection: &mut mysql_async::Conn, name: &str) -> u64 {
    let question = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let (_, number): (String, u64) = connection.query_first(question).await.unwrap().unwrap();
    number
}
