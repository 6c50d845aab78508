//! Long texts: whole as long as the answer may hold them, and not read to their end where it may not.

use std::time::{Duration, Instant};

use frontdesk_engine::FaultKind;
use frontdesk_engine::ports::site_db::SiteCell;
use frontdesk_site::{Database, Site};
use frontdesk_store::archive::open;
use mysql_async::prelude::Queryable as _;

use crate::mariadb::MariaDb;
use crate::three::{Three, all, load, settings};

#[tokio::test]
async fn a_text_is_whole_however_long_it_is_among_others_until_the_answer_is_too_large() {
    let three = Three::with(&Site::small(), |database| match database {
        Database::Sqlite => String::new(),
        Database::Mysql => "ALTER TABLE evo_site_content MODIFY longtitle LONGTEXT;".to_owned(),
        Database::Postgres => "ALTER TABLE evo_site_content ALTER longtitle TYPE text;".to_owned(),
    })
    .await;
    let mut select = all("site_content", &["id", "longtitle"]);
    // Less than its share of the answer, more than that, more than that in bytes only, and much more.
    for (letter, count) in [("x", 900), ("x", 5_000), ("\u{1f600}", 700), ("\u{1f600}", 50_000)] {
        let text = letter.repeat(count);
        let update = format!("UPDATE evo_site_content SET longtitle = '{text}' WHERE id = 2;");
        three.sqlite.sql(&update);
        three.mariadb.sql(&update);
        load(&three.postgres, &update);
        select.bytes = 1 << 20;
        let rows = three.rows(&select).await;
        assert!(rows.contains(&vec![SiteCell::Integer(2), SiteCell::Text(text.clone())]), "{count} letters were cut");
        select.bytes = text.len();
        for (name, archive) in &three.archives {
            let fault = archive.select(&select).await.unwrap_err();
            assert_eq!(fault.kind, FaultKind::AnswerTooLarge, "{name}: {count}");
        }
    }
}

#[tokio::test]
async fn what_is_too_much_is_not_read_to_its_end_from_mariadb() {
    const ROWS: u64 = 40;
    const MEGABYTE: u64 = 1 << 20;
    let mariadb = MariaDb::start();
    mariadb.sql(&format!(
        "{} ALTER TABLE evo_site_content MODIFY longtitle LONGTEXT; \
         UPDATE evo_site_content SET longtitle = REPEAT('x', {MEGABYTE}) WHERE id <= {ROWS}; COMMIT;",
        Site::small().script(Database::Mysql)
    ));
    let archive = open(&settings(&mariadb.url())).await.unwrap();
    let mut watch = mysql_async::Conn::from_url(mariadb.url()).await.unwrap();
    let before = number(&mut watch, "Bytes_sent").await;
    let fault = archive.select(&all("site_content", &["id", "longtitle"])).await.unwrap_err();
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
