//! A database that is not there yet: told from one that refuses us, and read as soon as it is there.

use std::time::Duration;

use frontdesk_cms_fixture::{CmsSite, SqlDialect};
use frontdesk_engine::FaultKind;
use frontdesk_store::archive::{ArchiveError, ArchiveSettings, open, open_later};

use crate::mariadb::MariaDb;
use crate::server::Server;
use crate::three::{File, all, settings};

#[tokio::test]
async fn a_server_that_does_not_answer_is_down_and_one_that_refuses_us_is_not() {
    for url in ["mysql://reader@127.0.0.1:1/site", "postgres://reader@127.0.0.1:1/site"] {
        assert!(matches!(open(&settings(url)).await.err(), Some(ArchiveError::Down(_))), "{url}");
    }
    let (mariadb, postgres) = (MariaDb::start(), Server::start());
    let file = File::new();
    std::fs::write(file.path(), "this is no database, and long enough to be seen as none").unwrap();
    for (url, next) in [
        (mariadb.url().replacen("reader", "nobody", 1), "Check its user and password"),
        (postgres.url_of("desk", "nowhere"), "Check its address"),
        (postgres.url_of("nobody", "postgres"), "Check its user and password"),
        ("/nowhere/site.sqlite".to_owned(), "if the site uses it in WAL mode, its folder must be writable too"),
        (file.url(), "is no SQLite database. Name the file that the site keeps its tables in"),
    ] {
        let error = open(&settings(&url)).await.err().unwrap();
        assert!(matches!(error, ArchiveError::Unreachable(_)), "{url}: {error:?}");
        assert!(error.to_string().ends_with(next), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_database_that_comes_later_is_unavailable_until_then_and_read_from_then_on() {
    let file = File::new();
    let archive = open_later(settings(&file.url()));
    let question = all("site_content", &["id"]);
    let fault = archive.select(&question).await.unwrap_err();
    assert_eq!((fault.kind, fault.retry_after), (FaultKind::Unavailable, Some(1)));
    assert!(fault.cause.unwrap().contains("cannot be opened"), "the cause is for the log");

    file.sql(&CmsSite::with_documents(3).script(SqlDialect::Sqlite));
    let soon = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            match archive.select(&question).await {
                Ok(rows) => return rows.len(),
                Err(fault) => assert_eq!(fault.kind, FaultKind::Unavailable),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert_eq!(soon.await.unwrap(), 3);
    assert!(archive.has_table("site_content").await.unwrap());
}

#[tokio::test]
async fn whether_a_database_that_comes_later_has_a_table_is_known_at_the_first_question() {
    let file = File::new();
    let archive = open_later(settings(&file.url()));
    file.sql(&CmsSite::with_documents(1).script(SqlDialect::Sqlite));
    assert!(!archive.has_table("no_such_table").await.unwrap());
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing_is_down() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for scheme in ["mysql", "postgres"] {
        let url = format!("{scheme}://reader@127.0.0.1:{port}/site");
        let brief = ArchiveSettings { deadline: Duration::from_millis(100), ..settings(&url) };
        let opened = tokio::time::timeout(Duration::from_secs(60), open(&brief)).await;
        let error = opened.unwrap_or_else(|_| panic!("{scheme}: it was waited for too long")).err();
        assert!(matches!(error, Some(ArchiveError::Down(_))), "{scheme}: {error:?}");
    }
}
