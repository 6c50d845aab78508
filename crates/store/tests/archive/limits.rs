//! What keeps a site's database and its readers from each other's troubles: sizes, deadlines, queues and restarts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_engine::FaultKind;
use frontdesk_engine::ports::site_db::{
    Comparison, Join, JoinKind, Literal, Operand, Predicate, Select, SiteCell, SiteDb, TableAlias,
};
use frontdesk_site::{Database, Site};
use frontdesk_store::archive::{ArchiveSettings, open};

use crate::three::{File, Three, all, column, is, of, settings};

/// A question that no database answers in time: every document beside every other, four times over.
fn endless() -> Select {
    let mut select = all("site_content", &["id"]);
    select.joins = (1..5)
        .map(|number| Join { table: (TableAlias(number), "site_content"), on: Vec::new(), kind: JoinKind::Inner })
        .collect();
    // Each was made before the next and the last before the first, which only shows when all were looked at.
    let before =
        |one, other| Predicate::Compare(of(one, "createdon"), Comparison::Less, Operand::Expr(of(other, "createdon")));
    select.filter = (0..5).map(|number| before(number, (number + 1) % 5)).collect();
    select
}

#[tokio::test]
async fn an_answer_has_the_bytes_it_may_have_and_not_one_more() {
    let three = Three::with_the_site().await;
    let mut select = all("site_content", &["id", "pagetitle"]);
    select.filter = vec![is(column("parent"), 248)];
    // Six times eight bytes of id and five of title.
    for (bytes, rows) in [(78, Some(6)), (77, None), (0, None)] {
        select.bytes = bytes;
        for (name, archive) in &three.archives {
            match (archive.select(&select).await, rows) {
                (Ok(found), Some(rows)) => assert_eq!(found.len(), rows, "{name}"),
                (Err(fault), None) => assert_eq!(fault.kind, FaultKind::AnswerTooLarge, "{name}"),
                (other, _) => panic!("{name}: {bytes} bytes gave {other:?}"),
            }
        }
    }
    // Whoever got too much is no trouble to the next.
    select.bytes = 1_000;
    assert_eq!(three.rows(&select).await.len(), 6);
}

#[tokio::test]
async fn a_statement_ends_at_its_deadline_and_the_next_one_is_answered() {
    let three = Three::with_the_site().await;
    for url in [three.sqlite.url(), three.mariadb.url(), three.postgres.url()] {
        let brief = ArchiveSettings { deadline: Duration::from_millis(400), ..ArchiveSettings::new(&url) };
        let archive = opened(&brief).await;
        let fault =
            tokio::time::timeout(Duration::from_secs(60), archive.select(&endless())).await.unwrap().unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unavailable, "{url}: {fault:?}");
        let mut one = all("site_content", &["id"]);
        one.limit = 1;
        assert_eq!(patient(&archive, &one).await, [vec![SiteCell::Integer(1)]], "{url}");
    }
}

#[tokio::test]
async fn who_finds_all_connections_busy_is_told_before_they_are_free() {
    let three = Three::with_the_site().await;
    for url in [three.sqlite.url(), three.mariadb.url(), three.postgres.url()] {
        let narrow = ArchiveSettings { deadline: Duration::from_secs(6), connections: 1, ..ArchiveSettings::new(&url) };
        let archive = open(&narrow).await.unwrap();
        let (slow, select) = (endless(), all("site_content", &["id"]));
        let ended = |select| {
            let archive = Arc::clone(&archive);
            async move { (archive.select(select).await.map(|rows| rows.len()), Instant::now()) }
        };
        // Both are asked in this order by one thread.
        let ((busy, busy_until), (refused, refused_at)) = tokio::join!(ended(&slow), ended(&select));
        assert_eq!(busy.unwrap_err().kind, FaultKind::Unavailable, "{url}");
        assert_eq!(refused.unwrap_err().kind, FaultKind::Unavailable, "{url}");
        assert!(refused_at < busy_until, "{url}");
    }
}

#[tokio::test]
async fn a_restarted_server_is_found_again() {
    let three = Three::with_the_site().await;
    let mut select = all("site_content", &["id"]);
    select.limit = 2;
    let expected = [vec![SiteCell::Integer(1)], vec![SiteCell::Integer(2)]];
    assert_eq!(three.rows(&select).await, expected);
    three.mariadb.crash();
    three.postgres.crash();
    for (name, archive) in &three.archives[1..] {
        assert_eq!(archive.select(&select).await.unwrap_err().kind, FaultKind::Unavailable, "{name}");
    }
    three.mariadb.resume();
    three.postgres.resume();
    assert_eq!(three.rows(&select).await, expected);
    // And when nobody asked in between.
    three.mariadb.crash();
    three.mariadb.resume();
    three.postgres.crash();
    three.postgres.resume();
    assert_eq!(three.rows(&select).await, expected);
}

#[tokio::test]
async fn a_site_that_writes_its_own_sqlite_file_is_read_beside() {
    for mode in ["WAL", "DELETE"] {
        let file = File::new();
        file.sql(&format!("PRAGMA journal_mode = {mode};"));
        file.sql(&Site::small().script(Database::Sqlite));
        let archive = open(&settings(&file.url())).await.unwrap();
        let mut select = all("site_content", &["pagetitle"]);
        select.filter = vec![Predicate::AnyOf(column("id"), vec![Literal::Integer(2)])];
        let titled = |title: &str| [vec![SiteCell::Text(title.to_owned())]];
        assert_eq!(archive.select(&select).await.unwrap(), titled("Catalog"), "{mode}");
        let site = rusqlite::Connection::open(file.path()).unwrap();
        site.execute_batch("BEGIN IMMEDIATE; UPDATE evo_site_content SET pagetitle = 'Shop' WHERE id = 2;").unwrap();
        assert_eq!(archive.select(&select).await.unwrap(), titled("Catalog"), "{mode}");
        site.execute_batch("COMMIT").unwrap();
        assert_eq!(archive.select(&select).await.unwrap(), titled("Shop"), "{mode}");
    }
}

/// Opening has the same deadline, which a busy machine may need more than once.
async fn opened(brief: &ArchiveSettings) -> Arc<dyn SiteDb> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match open(brief).await {
            Ok(archive) => return archive,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    }
}

/// A busy machine may need more than one short deadline.
async fn patient(archive: &Arc<dyn SiteDb>, select: &Select) -> Vec<Vec<SiteCell>> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match archive.select(select).await {
            Ok(rows) => return rows,
            Err(fault) => assert!(Instant::now() < until, "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn a_long_statement_on_sqlite_lets_others_go_on() {
    let file = File::new();
    file.sql(&Site::small().script(Database::Sqlite));
    let archive = open(&settings(&file.url())).await.unwrap();
    let long = endless();
    let began = Instant::now();
    tokio::select! {
        biased;
        ended = archive.select(&long) => panic!("it was read to its end first: {ended:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert!(began.elapsed() < settings("").deadline, "it was read here and not on a thread");
}

#[tokio::test]
async fn a_statement_that_waits_for_the_site_s_own_write_lets_others_go_on() {
    let file = File::new();
    file.sql(&Site::small().script(Database::Sqlite));
    let archive = open(&settings(&file.url())).await.unwrap();
    let site = rusqlite::Connection::open(file.path()).unwrap();
    site.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut one = all("site_content", &["id"]);
    one.limit = 1;
    let asked = archive.select(&one);
    tokio::pin!(asked);
    let began = Instant::now();
    tokio::select! {
        biased;
        ended = &mut asked => panic!("it was read while the site held it: {ended:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert!(began.elapsed() < settings("").deadline, "the wait was here and not on a thread");
    site.execute_batch("COMMIT").unwrap();
    assert_eq!(asked.await.unwrap(), [vec![SiteCell::Integer(1)]]);
}

#[tokio::test]
async fn callers_who_leave_while_the_site_writes_take_no_more_connections_than_there_are() {
    let file = File::new();
    file.sql(&Site::of(3).script(Database::Sqlite));
    let archive = open(&ArchiveSettings { connections: 2, ..settings(&file.url()) }).await.unwrap();
    let site = rusqlite::Connection::open(file.path()).unwrap();
    site.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut one = all("site_content", &["id"]);
    one.limit = 1;
    for _ in 0..20 {
        let left = tokio::time::timeout(Duration::from_millis(20), archive.select(&one)).await;
        assert!(left.is_err() || left.unwrap().is_err(), "the site held it");
    }
    // One is the site's own.
    assert!(files_open_at(&file.path()) <= 3, "{} connections are open", files_open_at(&file.path()));
    site.execute_batch("COMMIT").unwrap();
    assert_eq!(patient(&archive, &one).await, [vec![SiteCell::Integer(1)]]);
}

fn files_open_at(path: &std::path::Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    open.filter(|entry| std::fs::read_link(entry.as_ref().unwrap().path()).is_ok_and(|target| target == path)).count()
}
