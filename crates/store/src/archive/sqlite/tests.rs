//! A site that writes its file while it is read without pause. Locks are a process's, so the site is one of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use frontdesk_engine::ports::site_db::{
    Comparison, Expr, Literal, Operand, Predicate, Select, SiteCell, SiteDb as _, TableAlias,
};
use frontdesk_site::{Database, Site};
use rusqlite::Connection;

use super::SqliteArchive;
use super::window::Window;
use crate::archive::ArchiveSettings;
use crate::archive::file::Identity;
use crate::archive::pool::Pool;

const WRITES: usize = 30;
const SITE: &str = "FRONTDESK_TEST_SITE";
const LONG: Duration = Duration::from_secs(60);

struct Folder(PathBuf);

impl Folder {
    fn with_a_site(name: &str, mode: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fdwindow-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let made = Folder(folder);
        let site = Connection::open(made.file()).unwrap();
        site.execute_batch(&format!("PRAGMA journal_mode = {mode}; {}", Site::of(3).script(Database::Sqlite))).unwrap();
        made
    }

    fn file(&self) -> PathBuf {
        self.0.join("site.sqlite")
    }

    async fn archive(&self) -> Arc<SqliteArchive> {
        let settings = ArchiveSettings::new(self.file().to_str().unwrap());
        Arc::new(SqliteArchive::open(self.file(), &settings).await.unwrap())
    }

    fn window(&self) -> Arc<Window> {
        Window::of(Identity::of(&self.file()).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn title() -> Select {
    let first =
        Predicate::Compare(Expr::Column(TableAlias(0), "id"), Comparison::Equal, Operand::Literal(Literal::Integer(1)));
    Select {
        from: (TableAlias(0), "site_content"),
        joins: Vec::new(),
        columns: vec![Expr::Column(TableAlias(0), "pagetitle")],
        filter: vec![first],
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: 1_000,
    }
}

/// Changes the first page again and again, each time for good.
fn write(file: &Path) {
    let site = Connection::open(file).unwrap();
    site.busy_timeout(LONG).unwrap();
    for number in 1..=WRITES {
        site.execute("UPDATE evo_site_content SET pagetitle = ?1 WHERE id = 1", [format!("Title {number}")]).unwrap();
    }
}

/// The file, for the process that is the site.
#[expect(clippy::disallowed_methods, reason = "it comes from the test that has started this process")]
fn own_file() -> Option<PathBuf> {
    std::env::var_os(SITE).map(PathBuf::from)
}

fn site(file: &Path, test: &str) -> Child {
    let name = format!("archive::sqlite::tests::{test}");
    let mut site = Command::new(std::env::current_exe().unwrap());
    site.args(["--exact", &name]).env(SITE, file).stdout(std::process::Stdio::null()).spawn().unwrap()
}

/// Reads without pause from two mounts of the site until it is told to stop.
fn read_on(archives: [Arc<SqliteArchive>; 2], stop: &Arc<AtomicBool>, reads: &Arc<AtomicUsize>) {
    for archive in archives.into_iter().flat_map(|archive| vec![archive; 4]) {
        let (stop, reads) = (Arc::clone(stop), Arc::clone(reads));
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                if archive.select(&title()).await.is_ok() {
                    reads.fetch_add(1, Ordering::Relaxed);
                }
                tokio::task::yield_now().await;
            }
        });
    }
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let late = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < late, "{what}");
        tokio::time::sleep(Duration::from_micros(300)).await;
    }
}

async fn is_written_while_it_is_read(mode: &str, test: &str) {
    let folder = Folder::with_a_site(mode, mode);
    let (window, archive) = (folder.window(), folder.archive().await);
    let (stop, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    read_on([Arc::clone(&archive), folder.archive().await], &stop, &reads);
    until("nobody keeps the file", || window.staying() > 0).await;
    let mut site = site(&folder.file(), test);
    let mut ended = None;
    until("the site was not let in", || {
        ended = site.try_wait().unwrap();
        ended.is_some()
    })
    .await;
    assert!(ended.unwrap().success(), "the site could not write");
    // Nobody has an old state for longer than a moment.
    let last = [vec![SiteCell::Text(format!("Title {WRITES}"))]];
    let late = Instant::now() + LONG;
    while !archive.select(&title()).await.is_ok_and(|rows| rows == last) {
        assert!(Instant::now() < late, "the last title is not read");
    }
    until("nobody keeps the file any more", || window.staying() > 0).await;
    stop.store(true, Ordering::Relaxed);
    // With nobody calling, the file is given up all the same.
    until("the file is still kept", || window.staying() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_site_with_a_journal_is_let_in_to_write_while_it_is_read_without_pause() {
    match own_file() {
        Some(file) => write(&file),
        None => {
            let name = "a_site_with_a_journal_is_let_in_to_write_while_it_is_read_without_pause";
            is_written_while_it_is_read("DELETE", name).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_site_in_wal_mode_writes_while_it_is_read_without_pause_and_is_read_anew() {
    match own_file() {
        Some(file) => write(&file),
        None => {
            let name = "a_site_in_wal_mode_writes_while_it_is_read_without_pause_and_is_read_anew";
            is_written_while_it_is_read("WAL", name).await;
        }
    }
}

#[tokio::test]
async fn a_site_that_is_asked_now_and_then_keeps_nobody_waiting() {
    let folder = Folder::with_a_site("seldom", "DELETE");
    let (window, archive) = (folder.window(), folder.archive().await);
    let site = Connection::open(folder.file()).unwrap();
    site.busy_timeout(Duration::ZERO).unwrap();
    for number in 0..5 {
        assert_eq!(archive.select(&title()).await.unwrap().len(), 1);
        assert_eq!(window.staying(), 0);
        site.execute("UPDATE evo_site_content SET pagetitle = ?1 WHERE id = 1", [format!("Title {number}")]).unwrap();
    }
}

#[tokio::test]
async fn before_the_file_is_kept_again_nobody_has_it_for_an_instant() {
    let (window, pool) = (Arc::new(Window::default()), Arc::new(Pool::new(1)));
    let began = Instant::now();
    let at = |milliseconds| began + Duration::from_millis(milliseconds);
    for _ in 0..8 {
        assert!(window.enter(at(0), &pool).is_err(), "nobody knows yet whether there are many");
    }
    let other = window.pass();
    assert!(window.enter(at(6), &pool).is_err(), "somebody has the file");
    drop(other);
    let Ok(mut first) = window.enter(at(6), &pool) else { panic!("there are many calls") };
    let Ok(second) = window.enter(at(9), &pool) else { panic!("the moment is not over") };
    assert_eq!([10, 11].map(|end| (first.is_over(at(end)), second.is_over(at(end)))), [(false, false), (true, true)]);
    first.calls = 8;
    drop(first);
    assert!(window.enter(at(11), &pool).is_err(), "the second still has the file");
    drop(second);
    assert!(window.enter(at(11), &pool).is_ok());
    assert!(window.enter(at(50), &pool).is_err(), "there are no longer many");
}
