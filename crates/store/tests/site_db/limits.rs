//! Limits of bytes, time and connections, restarts of a server, and locks of a SQLite file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::FaultKind;
use frontdesk_engine::ports::site_db::{
    Comparison, Join, JoinKind, Literal, Operand, Predicate, Select, SiteCell, SiteDb, TableAlias,
};
use frontdesk_store::site_db::{SiteDbSettings, open};
use frontdesk_testkit::sites::query::{all, column, is, of};
use frontdesk_testkit::sites::{SiteDatabases, SiteFile, settings};

/// A query that no database answers in time: a join of five times all documents.
fn endless() -> Select {
    let mut select = all("site_content", &["id"]);
    select.joins = (1..5)
        .map(|number| Join { table: (TableAlias(number), "site_content"), on: Vec::new(), kind: JoinKind::Inner })
        .collect();
    // A cycle of `<`, which no combination of rows fulfils.
    let before =
        |one, other| Predicate::Compare(of(one, "createdon"), Comparison::Less, Operand::Expr(of(other, "createdon")));
    select.filter = (0..5).map(|number| before(number, (number + 1) % 5)).collect();
    select
}

#[tokio::test]
async fn an_answer_has_at_most_the_allowed_bytes() {
    let three = SiteDatabases::small().await;
    let mut select = all("site_content", &["id", "pagetitle"]);
    select.filter = vec![is(column("parent"), 248)];
    // Six times eight bytes of id and five of title.
    for (bytes, rows) in [(78, Some(6)), (77, None), (0, None)] {
        select.bytes = bytes;
        for (name, site_db) in &three.sites {
            match (site_db.select(&select).await, rows) {
                (Ok(found), Some(rows)) => assert_eq!(found.len(), rows, "{name}"),
                (Err(fault), None) => assert_eq!(fault.kind, FaultKind::AnswerTooLarge, "{name}"),
                (other, _) => panic!("{name}: {bytes} bytes gave {other:?}"),
            }
        }
    }
    // The next query is not affected.
    select.bytes = 1_000;
    assert_eq!(three.rows(&select).await.len(), 6);
}

#[tokio::test]
async fn a_query_ends_at_its_deadline_and_the_next_one_succeeds() {
    let three = SiteDatabases::small().await;
    for url in [three.sqlite.url(), three.mariadb.url(), three.postgres.url()] {
        let brief = SiteDbSettings { deadline: Duration::from_millis(400), ..SiteDbSettings::new(&url, "evo_") };
        let site_db = opened(&brief).await;
        let fault =
            tokio::time::timeout(Duration::from_secs(60), site_db.select(&endless())).await.unwrap().unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unavailable, "{url}: {fault:?}");
        let mut one = all("site_content", &["id"]);
        one.limit = 1;
        assert_eq!(retried(&site_db, &one).await, [vec![SiteCell::Integer(1)]], "{url}");
    }
}

#[tokio::test]
async fn a_call_fails_early_if_all_connections_are_busy() {
    let three = SiteDatabases::small().await;
    for url in [three.sqlite.url(), three.mariadb.url(), three.postgres.url()] {
        let narrow =
            SiteDbSettings { deadline: Duration::from_secs(6), connections: 1, ..SiteDbSettings::new(&url, "evo_") };
        let site_db = open(&narrow).await.unwrap();
        let (slow, select) = (endless(), all("site_content", &["id"]));
        let ended = |select| {
            let site_db = Arc::clone(&site_db);
            async move { (site_db.select(select).await.map(|rows| rows.len()), Instant::now()) }
        };
        // One thread starts both in this order.
        let ((busy, busy_until), (refused, refused_at)) = tokio::join!(ended(&slow), ended(&select));
        assert_eq!(busy.unwrap_err().kind, FaultKind::Unavailable, "{url}");
        assert_eq!(refused.unwrap_err().kind, FaultKind::Unavailable, "{url}");
        assert!(refused_at < busy_until, "{url}");
    }
}

#[tokio::test]
async fn a_restarted_server_is_reconnected() {
    let three = SiteDatabases::on_own_servers().await;
    let mut select = all("site_content", &["id"]);
    select.limit = 2;
    let expected = [vec![SiteCell::Integer(1)], vec![SiteCell::Integer(2)]];
    assert_eq!(three.rows(&select).await, expected);
    three.mariadb.server().crash();
    three.postgres.server().crash();
    for (name, site_db) in &three.sites[1..] {
        assert_eq!(site_db.select(&select).await.unwrap_err().kind, FaultKind::Unavailable, "{name}");
    }
    three.mariadb.server().resume();
    three.postgres.server().resume();
    assert_eq!(three.rows(&select).await, expected);
    // Also without a query in between.
    three.mariadb.server().crash();
    three.mariadb.server().resume();
    three.postgres.server().crash();
    three.postgres.server().resume();
    assert_eq!(three.rows(&select).await, expected);
}

#[tokio::test]
async fn a_sqlite_file_is_read_during_the_site_s_transaction() {
    for mode in ["WAL", "DELETE"] {
        let file = SiteFile::new();
        file.sql(&format!("PRAGMA journal_mode = {mode};"));
        file.sql(&CmsSite::small().script(ScriptDialect::Sqlite));
        let site_db = open(&settings(&file.url())).await.unwrap();
        let mut select = all("site_content", &["pagetitle"]);
        select.filter = vec![Predicate::AnyOf(column("id"), vec![Literal::Integer(2)])];
        let titled = |title: &str| [vec![SiteCell::Text(title.to_owned())]];
        assert_eq!(site_db.select(&select).await.unwrap(), titled("Catalog"), "{mode}");
        let site = rusqlite::Connection::open(file.path()).unwrap();
        site.execute_batch("BEGIN IMMEDIATE; UPDATE evo_site_content SET pagetitle = 'Shop' WHERE id = 2;").unwrap();
        assert_eq!(site_db.select(&select).await.unwrap(), titled("Catalog"), "{mode}");
        site.execute_batch("COMMIT").unwrap();
        assert_eq!(site_db.select(&select).await.unwrap(), titled("Shop"), "{mode}");
    }
}

/// Opening has the same short deadline, which a busy machine may miss.
async fn opened(brief: &SiteDbSettings) -> Arc<dyn SiteDb> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match open(brief).await {
            Ok(site_db) => return site_db,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    }
}

/// A busy machine may miss a short deadline.
async fn retried(site_db: &Arc<dyn SiteDb>, select: &Select) -> Vec<Vec<SiteCell>> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match site_db.select(select).await {
            Ok(rows) => return rows,
            Err(fault) => assert!(Instant::now() < until, "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn a_long_sqlite_query_does_not_block_the_runtime() {
    let file = SiteFile::new();
    file.sql(&CmsSite::small().script(ScriptDialect::Sqlite));
    let site_db = open(&settings(&file.url())).await.unwrap();
    let long = endless();
    let began = Instant::now();
    tokio::select! {
        biased;
        ended = site_db.select(&long) => panic!("it was read to its end first: {ended:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert!(began.elapsed() < settings("").deadline, "it ran on the calling thread");
}

#[tokio::test]
async fn a_query_that_waits_for_a_lock_does_not_block_the_runtime() {
    let file = SiteFile::new();
    file.sql(&CmsSite::small().script(ScriptDialect::Sqlite));
    let site_db = open(&settings(&file.url())).await.unwrap();
    let site = rusqlite::Connection::open(file.path()).unwrap();
    site.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut one = all("site_content", &["id"]);
    one.limit = 1;
    let asked = site_db.select(&one);
    tokio::pin!(asked);
    let began = Instant::now();
    tokio::select! {
        biased;
        ended = &mut asked => panic!("it was read while the site held it: {ended:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert!(began.elapsed() < settings("").deadline, "it waited on the calling thread");
    site.execute_batch("COMMIT").unwrap();
    assert_eq!(asked.await.unwrap(), [vec![SiteCell::Integer(1)]]);
}

#[tokio::test]
async fn cancelled_calls_do_not_exceed_the_connection_limit() {
    let file = SiteFile::new();
    file.sql(&CmsSite::with_documents(3).script(ScriptDialect::Sqlite));
    let site_db = open(&SiteDbSettings { connections: 2, ..settings(&file.url()) }).await.unwrap();
    let site = rusqlite::Connection::open(file.path()).unwrap();
    site.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut one = all("site_content", &["id"]);
    one.limit = 1;
    for _ in 0..20 {
        let left = tokio::time::timeout(Duration::from_millis(20), site_db.select(&one)).await;
        assert!(left.is_err() || left.unwrap().is_err(), "the site held it");
    }
    // One of them is the site's.
    assert!(files_open_at(&file.path()) <= 3, "{} connections are open", files_open_at(&file.path()));
    site.execute_batch("COMMIT").unwrap();
    assert_eq!(retried(&site_db, &one).await, [vec![SiteCell::Integer(1)]]);
}

fn files_open_at(path: &std::path::Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    open.filter(|entry| std::fs::read_link(entry.as_ref().unwrap().path()).is_ok_and(|target| target == path)).count()
}

/// One caller's slow lists on all connections it can get.
#[tokio::test]
async fn slow_lists_of_one_caller_leave_connections_to_others() {
    let three = SiteDatabases::small().await;
    for url in [three.sqlite.url(), three.mariadb.url(), three.postgres.url()] {
        let settings =
            SiteDbSettings { deadline: Duration::from_secs(4), connections: 4, ..SiteDbSettings::new(&url, "evo_") };
        let site_db = open(&settings).await.unwrap();
        let slow: Vec<_> = (0..6)
            .map(|_| {
                let site_db = Arc::clone(&site_db);
                tokio::spawn(
                    async move { (site_db.select_for("one", &endless()).await.unwrap_err().kind, Instant::now()) },
                )
            })
            .collect();
        // Whoever cannot run gives up first, so from here on the others run.
        tokio::time::sleep(Duration::from_millis(700)).await;
        let mut page = all("site_content", &["id", "pagetitle"]);
        page.limit = 1;
        assert_eq!(site_db.select_for("other", &page).await.unwrap().len(), 1, "{url}");
        page.filter = vec![is(column("id"), 2)];
        for caller in ["one", "other"] {
            assert_eq!(site_db.select_for(caller, &page).await.unwrap().len(), 1, "{url} {caller}");
        }
        let answered = Instant::now();
        let mut ran = 0;
        for ended in slow {
            let (kind, at) = ended.await.unwrap();
            assert_eq!(kind, FaultKind::Unavailable, "{url}");
            ran += usize::from(at > answered);
        }
        assert_eq!(ran, 2, "{url}: half of the connections, and as long as the others were answered");
    }
}

#[tokio::test]
async fn a_look_up_does_not_wait_for_lists() {
    let three = SiteDatabases::small().await;
    for url in [three.mariadb.url(), three.postgres.url(), three.sqlite.url()] {
        let settings =
            SiteDbSettings { deadline: Duration::from_secs(4), connections: 1, ..SiteDbSettings::new(&url, "evo_") };
        let site_db = open(&settings).await.unwrap();
        let slow = {
            let site_db = Arc::clone(&site_db);
            tokio::spawn(async move { (site_db.select(&endless()).await.unwrap_err().kind, Instant::now()) })
        };
        tokio::time::sleep(Duration::from_millis(100)).await;
        let mut page = all("site_content", &["pagetitle"]);
        page.filter = vec![is(column("id"), 2)];
        assert_eq!(site_db.select(&page).await.unwrap(), [vec![SiteCell::Text("Catalog".to_owned())]], "{url}");
        let answered = Instant::now();
        let (kind, at) = slow.await.unwrap();
        assert_eq!((kind, at > answered), (FaultKind::Unavailable, true), "{url}");
    }
}
