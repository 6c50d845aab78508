//! A site that writes its SQLite file while it is read without pause. Locks belong to a process, so the site runs in one
//! of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::ports::site_db::{Select, SiteCell, SiteDb};
use frontdesk_store::site_db::open;
use frontdesk_testkit::sites::query::{all, column, is};
use frontdesk_testkit::sites::{SiteFile, settings};
use rusqlite::Connection;

const WRITES: usize = 30;
const SITE_FILE: &str = "FRONTDESK_TEST_SITE";
const TIMEOUT: Duration = Duration::from_secs(60);

fn title() -> Select {
    let mut select = all("site_content", &["pagetitle"]);
    select.filter = vec![is(column("id"), 1)];
    select.limit = 1;
    select
}

/// The file, in the process that is the site.
#[expect(clippy::disallowed_methods, reason = "it comes from the test that has started this process")]
fn site_file() -> Option<PathBuf> {
    std::env::var_os(SITE_FILE).map(PathBuf::from)
}

fn start_site(file: &Path, test: &str) -> Child {
    let mut site = Command::new(std::env::current_exe().unwrap());
    site.args(["--exact", &format!("writing::{test}")]).env(SITE_FILE, file).stdout(Stdio::null()).spawn().unwrap()
}

/// Changes the first page in one transaction after another.
fn write(file: &Path) {
    let site = Connection::open(file).unwrap();
    site.busy_timeout(TIMEOUT).unwrap();
    for number in 1..=WRITES {
        site.execute("UPDATE evo_site_content SET pagetitle = ?1 WHERE id = 1", [format!("Title {number}")]).unwrap();
    }
}

fn read_until(stop: &Arc<AtomicBool>, site_db: &Arc<dyn SiteDb>, reads: &Arc<AtomicUsize>) {
    let (stop, site_db, reads) = (Arc::clone(stop), Arc::clone(site_db), Arc::clone(reads));
    tokio::spawn(async move {
        while !stop.load(Ordering::Relaxed) {
            if site_db.select(&title()).await.is_ok() {
                reads.fetch_add(1, Ordering::Relaxed);
            }
            tokio::task::yield_now().await;
        }
    });
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Two mounts of the site read it with four tasks each.
async fn is_written_while_it_is_read(mode: &str, test: &str) {
    let file = SiteFile::new();
    file.sql(&format!("PRAGMA journal_mode = {mode}; {}", CmsSite::with_documents(3).script(ScriptDialect::Sqlite)));
    let (stop, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mounts = [open(&settings(&file.url())).await.unwrap(), open(&settings(&file.url())).await.unwrap()];
    for site_db in mounts.iter().cycle().take(8) {
        read_until(&stop, site_db, &reads);
    }
    until("nothing is read", || reads.load(Ordering::Relaxed) > 100).await;
    let mut site = start_site(&file.path(), test);
    let mut ended = None;
    until("the site cannot lock its file", || {
        ended = site.try_wait().unwrap();
        ended.is_some()
    })
    .await;
    assert!(ended.unwrap().success(), "the site could not write");
    let last = [vec![SiteCell::Text(format!("Title {WRITES}"))]];
    let deadline = Instant::now() + TIMEOUT;
    while !mounts[0].select(&title()).await.is_ok_and(|rows| rows == last) {
        assert!(Instant::now() < deadline, "the last title is not read");
    }
    let before = reads.load(Ordering::Relaxed);
    until("reading has stopped", || reads.load(Ordering::Relaxed) > before).await;
    stop.store(true, Ordering::Relaxed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_site_with_a_journal_writes_while_it_is_read() {
    match site_file() {
        Some(file) => write(&file),
        None => is_written_while_it_is_read("DELETE", "a_site_with_a_journal_writes_while_it_is_read").await,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_site_in_wal_mode_writes_while_it_is_read() {
    match site_file() {
        Some(file) => write(&file),
        None => is_written_while_it_is_read("WAL", "a_site_in_wal_mode_writes_while_it_is_read").await,
    }
}

#[tokio::test]
async fn an_idle_reader_holds_no_lock() {
    let file = SiteFile::new();
    file.sql(&format!("PRAGMA journal_mode = DELETE; {}", CmsSite::with_documents(3).script(ScriptDialect::Sqlite)));
    let site_db = open(&settings(&file.url())).await.unwrap();
    let site = Connection::open(file.path()).unwrap();
    site.busy_timeout(Duration::ZERO).unwrap();
    for number in 0..5 {
        assert_eq!(site_db.select(&title()).await.unwrap().len(), 1);
        site.execute("UPDATE evo_site_content SET pagetitle = ?1 WHERE id = 1", [format!("Title {number}")]).unwrap();
    }
}
