//! A database that does not answer yet, in contrast to one that rejects us, and that is opened later.

use std::time::Duration;

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::FaultKind;
use frontdesk_store::site_db::{SiteDbError, SiteDbSettings, open, open_lazily};
use frontdesk_testkit::databases::{MariadbDatabase, PostgresServer};
use frontdesk_testkit::sites::query::all;
use frontdesk_testkit::sites::{SiteFile, settings};

#[tokio::test]
async fn a_silent_server_is_down_and_a_rejecting_one_is_not() {
    for url in ["mysql://reader@127.0.0.1:1/site", "postgres://reader@127.0.0.1:1/site"] {
        assert!(matches!(open(&settings(url)).await.err(), Some(SiteDbError::Down(_))), "{url}");
    }
    let (mariadb, postgres) = (MariadbDatabase::create(), PostgresServer::start());
    let file = SiteFile::new();
    std::fs::write(file.path(), "this is no database, and long enough to be seen as none").unwrap();
    for (url, next) in [
        (mariadb.url().replacen("reader", "nobody", 1), "Check its user and password"),
        (postgres.url_of("desk", "nowhere"), "Check its address"),
        (postgres.url_of("nobody", "postgres"), "Check its user and password"),
        ("/nowhere/site.sqlite".to_owned(), "if the site uses it in WAL mode, its folder must be writable too"),
        (file.url(), "is not a SQLite database. Name the file with the site's tables"),
    ] {
        let error = open(&settings(&url)).await.err().unwrap();
        assert!(matches!(error, SiteDbError::Unreachable(_)), "{url}: {error:?}");
        assert!(error.to_string().ends_with(next), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_lazy_database_is_unavailable_until_it_can_be_opened() {
    let file = SiteFile::new();
    let site_db = open_lazily(settings(&file.url()));
    let question = all("site_content", &["id"]);
    let fault = site_db.select(&question).await.unwrap_err();
    assert_eq!((fault.kind, fault.retry_after), (FaultKind::Unavailable, Some(1)));
    assert!(fault.cause.unwrap().contains("cannot be opened"), "the cause is for the log");

    file.sql(&CmsSite::with_documents(3).script(ScriptDialect::Sqlite));
    let soon = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            match site_db.select(&question).await {
                Ok(rows) => return rows.len(),
                Err(fault) => assert_eq!(fault.kind, FaultKind::Unavailable),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert_eq!(soon.await.unwrap(), 3);
    assert!(site_db.has_table("site_content").await.unwrap());
}

#[tokio::test]
async fn a_lazy_database_is_opened_by_has_table() {
    let file = SiteFile::new();
    let site_db = open_lazily(settings(&file.url()));
    file.sql(&CmsSite::with_documents(1).script(ScriptDialect::Sqlite));
    assert!(!site_db.has_table("no_such_table").await.unwrap());
}

#[tokio::test]
async fn a_server_that_accepts_and_stays_silent_is_down() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for scheme in ["mysql", "postgres"] {
        let url = format!("{scheme}://reader@127.0.0.1:{port}/site");
        let brief = SiteDbSettings { deadline: Duration::from_millis(100), ..settings(&url) };
        let opened = tokio::time::timeout(Duration::from_secs(60), open(&brief)).await;
        let error = opened.unwrap_or_else(|_| panic!("{scheme}: it was waited for too long")).err();
        assert!(matches!(error, Some(SiteDbError::Down(_))), "{scheme}: {error:?}");
    }
}
