//! A PostgreSQL server of the test's or the bench's own: made in a temporary folder, reached by a socket in it,
//! and gone with its value. It must never touch a server that is there for another reason.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The role tests connect as: no superuser, no BYPASSRLS.
pub(crate) const ROLE: &str = "desk";

pub(crate) struct Server {
    folder: PathBuf,
    process: Mutex<Option<Child>>,
    /// What is set beyond what every server here has, each as `name=value`.
    settings: &'static [&'static str],
}

impl Server {
    /// A running server with the database `desk`, owned by the role `desk`.
    pub(crate) fn start() -> Server {
        Server::on_a_copy_of(&template(), &[])
    }

    /// A running server on a copy of files that `keep` has left.
    pub(crate) fn on_a_copy_of(files: &Path, settings: &'static [&'static str]) -> Server {
        let server = Server::in_new_folder(settings);
        copy(files, &server.folder.join("data"));
        server.resume();
        server
    }

    /// A running server as `start` gives it, but made from nothing.
    pub(crate) fn made(settings: &'static [&'static str]) -> Server {
        let server = Server::in_new_folder(settings);
        server.initialise();
        server.resume();
        server
    }

    /// Ends the server in order and leaves a copy of its files.
    pub(crate) fn keep(&self, files: &Path) {
        self.stop("INT");
        let _ = std::fs::remove_dir_all(files);
        copy(&self.folder.join("data"), files);
    }

    fn in_new_folder(settings: &'static [&'static str]) -> Server {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A socket's path may have about 100 characters, so not under the build folder.
        let folder = std::env::temp_dir().join(format!("fdpg-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        give_away(&folder);
        Server { folder, process: Mutex::new(None), settings }
    }

    /// Makes the files of a server, with the role and its database.
    fn initialise(&self) {
        let arguments = ["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"];
        let mut initdb = as_postgres("initdb");
        initdb.args(arguments).args(["--wal-segsize=1", "-D"]).arg(self.folder.join("data"));
        let made = initdb.current_dir(&self.folder).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        self.resume();
        self.sql("postgres", &format!("CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS"));
        self.sql("postgres", &format!("CREATE DATABASE {ROLE} OWNER {ROLE}"));
        self.stop("INT");
    }

    pub(crate) fn url(&self) -> String {
        self.url_as(ROLE)
    }

    pub(crate) fn url_as(&self, role: &str) -> String {
        self.url_of(role, ROLE)
    }

    pub(crate) fn url_of(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}:hunter2@/{database}?host={}", self.folder.display())
    }

    /// Starts the server on what is in its folder.
    pub(crate) fn resume(&self) {
        let mut postgres = as_postgres("postgres");
        postgres
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-k")
            .arg(&self.folder)
            .args(["-c", "listen_addresses=", "-c", "max_connections=60", "-c", "shared_buffers=16MB"])
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]))
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.folder.join("log")).unwrap());
        let mut process = postgres.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while !self.psql("postgres", "SELECT 1").status.success() {
            let ended = process.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < until, "PostgreSQL did not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        *self.process.lock().unwrap() = Some(process);
    }

    /// Ends the server without any order, as a crash would: no checkpoint, recovery at the next start.
    pub(crate) fn crash(&self) {
        self.stop("QUIT");
    }

    fn stop(&self, signal: &str) {
        let Some(mut process) = self.process.lock().unwrap().take() else { return };
        let _ = Command::new("kill").arg(format!("-{signal}")).arg(process.id().to_string()).status();
        process.wait().unwrap();
    }

    /// What the server has logged since it was started.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Runs SQL as the superuser and gives back what it prints, a row a line.
    pub(crate) fn sql(&self, database: &str, text: &str) -> Vec<String> {
        let output = self.psql(database, text);
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    /// What the server says against this SQL.
    pub(crate) fn refusal(&self, database: &str, text: &str) -> String {
        let output = self.psql(database, text);
        assert!(!output.status.success(), "{text} went through");
        String::from_utf8(output.stderr).unwrap()
    }

    fn psql(&self, database: &str, text: &str) -> std::process::Output {
        let mut psql = Command::new(program("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-h"]);
        psql.arg(&self.folder).args(["-c", text]).output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.crash();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The files of a fresh server, made once by whichever test comes first: making them takes a second, copying
/// them does not.
fn template() -> PathBuf {
    // Only tests are given such a folder.
    let home = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&home).unwrap();
    let lock = std::fs::File::create(home.join("postgres.lock")).unwrap();
    lock.lock().unwrap();
    let made = home.join("postgres-template");
    if !made.exists() {
        let unfinished = home.join("postgres-template.new");
        Server::made(&[]).keep(&unfinished);
        std::fs::rename(&unfinished, &made).unwrap();
    }
    made
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

/// PostgreSQL refuses to run as root; then its own user runs it. Should this process die, the server does too.
fn as_postgres(name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.arg(program(name));
    command
}

fn give_away(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    if is_root() {
        let given = Command::new("chown").arg("postgres:postgres").arg(folder).status().unwrap();
        assert!(given.success());
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Debian keeps the server's programs apart from everybody's.
fn program(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|found| found.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    folders.sort();
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists());
    // Elsewhere it is where every program is; without PostgreSQL the test fails, which is right.
    found.unwrap_or_else(|| PathBuf::from(name))
}
