//! A PostgreSQL server of the test's or the bench's own: made in a temporary folder, reached by a socket in it,
//! and gone with its value. It must never touch a server that is there for another reason.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

/// The role tests connect as: no superuser, no BYPASSRLS.
pub(crate) const ROLE: &str = "desk";

/// Whether the server waits for the disk. What it has written survives its own end either way; without waiting
/// tests are quicker, and with it the time between a commit and its answer is as long as it is in earnest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disk {
    Awaited,
    Trusted,
}

pub(crate) struct Server {
    folder: PathBuf,
    /// A number of the socket's name, and of the port if there is one.
    port: u16,
    /// What is set beyond what every server here has, each as `name=value`.
    settings: Vec<String>,
    disk: Disk,
    process: Mutex<Option<Child>>,
    /// Keeps the port from everybody who asks for any free one, and not from PostgreSQL, which asks for this one.
    reserved: Option<TcpSocket>,
}

impl Server {
    /// A running server with the database `desk`, owned by the role `desk`.
    pub(crate) fn start() -> Server {
        Server::start_on(Disk::Trusted)
    }

    pub(crate) fn start_on(disk: Disk) -> Server {
        let server = Server::prepared(disk);
        server.resume();
        server
    }

    /// A running server on a copy of files that `keep` has left.
    pub(crate) fn on_a_copy_of(files: &Path, settings: &[&str]) -> Server {
        let server = Server::with(settings);
        copy(files, &server.folder.join("data"));
        server.resume();
        server
    }

    /// A running server that can also be reached on a free port of 127.0.0.1. With a certificate it offers TLS, and
    /// whoever comes that way must know the password.
    pub(crate) fn on_a_port(certificate: Option<(&str, &str)>) -> Server {
        let mut server = Server::prepared(Disk::Trusted);
        let reserved = TcpSocket::new_v4().unwrap();
        reserved.set_reuseaddr(true).unwrap();
        reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        server.port = reserved.local_addr().unwrap().port();
        server.reserved = Some(reserved);
        server.settings = vec!["listen_addresses=127.0.0.1".to_owned()];
        if let Some((certificate, key)) = certificate {
            let data = server.folder.join("data");
            write_for_postgres(&data.join("server.crt"), certificate);
            write_for_postgres(&data.join("server.key"), key);
            server
                .settings
                .extend(["ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key"].map(str::to_owned));
            let rules = data.join("pg_hba.conf");
            let others = std::fs::read_to_string(&rules).unwrap();
            std::fs::write(&rules, format!("hostssl all {ROLE} 127.0.0.1/32 scram-sha-256\n{others}")).unwrap();
        }
        server.resume();
        server.sql("postgres", &format!("ALTER ROLE {ROLE} PASSWORD 'hunter2'"));
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// A running server as `start` gives it, but made from nothing.
    pub(crate) fn made(settings: &[&str]) -> Server {
        let server = Server::with(settings);
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

    /// A server that waits for the disk, with these settings beside what every server here has.
    fn with(settings: &[&str]) -> Server {
        let mut server = Server::in_new_folder(Disk::Awaited);
        server.settings.extend(settings.iter().map(|setting| (*setting).to_owned()));
        server
    }

    /// The files of a server that has not been started yet.
    fn prepared(disk: Disk) -> Server {
        let server = Server::in_new_folder(disk);
        copy(&template(), &server.folder.join("data"));
        server
    }

    fn in_new_folder(disk: Disk) -> Server {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A socket's path may have about 100 characters, so not under the build folder.
        let folder = std::env::temp_dir().join(format!("fdpg-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        give_away(&folder);
        let settings = vec!["listen_addresses=".to_owned()];
        Server { folder, port: 5432, settings, disk, process: Mutex::new(None), reserved: None }
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
        let mut process = self.spawn();
        let until = Instant::now() + Duration::from_secs(90);
        while !self.psql("postgres", "SELECT 1").status.success() {
            let log = self.log();
            assert!(Instant::now() < until, "PostgreSQL did not start: {log}");
            if process.try_wait().unwrap().is_some() {
                // Processes of a server that was killed may live a moment longer, and the next one waits for them.
                assert!(log.contains("pre-existing shared memory block"), "PostgreSQL did not start: {log}");
                process = self.spawn();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if self.disk == Disk::Awaited {
            self.set("fsync = on");
            self.sql("postgres", "SELECT pg_reload_conf()");
        }
        *self.process.lock().unwrap() = Some(process);
    }

    fn set(&self, setting: &str) {
        std::fs::write(self.folder.join("data/postgresql.auto.conf"), format!("{setting}\n")).unwrap();
    }

    /// Recovery never waits for the disk: it would, for every file there is.
    fn spawn(&self) -> Child {
        self.set("fsync = off");
        let mut postgres = as_postgres("postgres");
        postgres
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-k")
            .arg(&self.folder)
            .args(["-c", "max_connections=60", "-c", "shared_buffers=16MB", "-p", &self.port.to_string()])
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]))
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.folder.join("log")).unwrap());
        postgres.spawn().unwrap()
    }

    /// Makes everything ready to end all processes of the server at once, in the middle of whatever they do, so that nothing but a signal lies between its moment and the end.
    pub(crate) fn aim(&self) -> Aim<'_> {
        let all = self.processes();
        let mut shell = Command::new("sh");
        shell.args(["-c", "read now; kill -KILL \"$@\"", "sh"]).args(all.iter().map(u32::to_string));
        let finger = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        Aim { server: self, all, finger }
    }

    /// From here on the server neither answers nor closes anything, until `thaw`.
    pub(crate) fn freeze(&self) {
        self.signal_all("STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal_all("CONT");
    }

    fn signal_all(&self, signal: &str) {
        let all = self.processes();
        if !all.is_empty() {
            // One that has just ended by itself is no failure.
            let all = all.iter().map(u32::to_string);
            let _ = Command::new("kill").arg(format!("-{signal}")).args(all).stderr(Stdio::null()).status();
        }
    }

    /// The first process comes first: it would replace the others, or take their end for a crash of theirs.
    fn processes(&self) -> Vec<u32> {
        let first = self.process.lock().unwrap().as_ref().map(Child::id);
        first.into_iter().flat_map(|first| std::iter::once(first).chain(children_of(first))).collect()
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

    /// Takes the locks of these statements and keeps them until it is dropped.
    pub(crate) fn hold(&self, database: &str, text: &str) -> Held {
        let session = self.session(database).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut held = Held(session);
        writeln!(held.0.stdin.as_mut().unwrap(), "BEGIN; {text};\n\\echo held").unwrap();
        let mut said = BufReader::new(held.0.stdout.as_mut().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == "held"), "{text}: it could not be held");
        held
    }

    fn psql(&self, database: &str, text: &str) -> std::process::Output {
        self.session(database).args(["-c", text]).output().unwrap()
    }

    fn session(&self, database: &str) -> Command {
        let mut psql = Command::new(program("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-h"]);
        psql.arg(&self.folder).args(["-p", &self.port.to_string()]);
        psql
    }
}

/// Locks that somebody else has.
pub(crate) struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        // At the end of its input the session ends, and its transaction with it.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A kill that only waits for its moment.
pub(crate) struct Aim<'a> {
    server: &'a Server,
    all: Vec<u32>,
    finger: Child,
}

impl Aim<'_> {
    /// Whether some process of the server is in the middle of a commit; they say so in their titles.
    pub(crate) fn is_committing(&self) -> bool {
        let title = |id: &u32| std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        self.all.iter().any(|id| title(id).windows(6).any(|word| word == b"COMMIT"))
    }

    pub(crate) fn fire(mut self) {
        // Closing the pipe ends the shell's reading as well as a line would.
        drop(self.finger.stdin.take());
        self.finger.wait().unwrap();
        if let Some(mut process) = self.server.process.lock().unwrap().take() {
            process.wait().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A frozen server would not hear of its end.
        self.thaw();
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

fn children_of(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in brackets may contain anything; state and parent come after it.
            let parent_of_it = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()?;
            (parent_of_it == parent).then_some(id)
        })
        .collect()
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

/// A key that others could read is refused by PostgreSQL.
fn write_for_postgres(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    give_away(file);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
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
