//! A PostgreSQL server in a temporary folder, reached by a socket in it and removed with its value.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use super::process;

/// The role tests connect as (no superuser, no BYPASSRLS), and the name of the database it owns on a private server.
pub const ROLE: &str = "desk";
const USER: &str = "postgres";

/// Whether a commit waits for the disk. Data survives the end of the server's processes either way; without waiting
/// tests are faster, with it the time between a commit and its reply is as long as in production.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalSync {
    On,
    Off,
}

pub struct PostgresServer {
    folder: PathBuf,
    /// Part of the socket's name, and the TCP port if the server has one.
    port: u16,
    /// Settings beyond the common ones, each as `name=value`.
    settings: Vec<String>,
    sync: WalSync,
    process: Mutex<Option<Child>>,
    _reserved: Option<TcpSocket>,
}

impl PostgresServer {
    /// A running server with the database `desk`, owned by the role `desk`.
    pub fn start() -> PostgresServer {
        PostgresServer::start_with(WalSync::Off, &[])
    }

    pub fn start_with(sync: WalSync, settings: &[&str]) -> PostgresServer {
        let mut server = PostgresServer::from_template(sync);
        server.settings.extend(settings.iter().map(|setting| (*setting).to_owned()));
        server.resume();
        server
    }

    /// A running server that waits for the disk, on a copy of the files that `save` left.
    pub fn start_from(files: &Path, settings: &[&str]) -> PostgresServer {
        let server = PostgresServer::empty(WalSync::On, settings);
        process::copy_folder(files, &server.data());
        server.resume();
        server
    }

    /// A running server that can also be reached on a free port of 127.0.0.1. With a certificate and its key it offers
    /// TLS, and TCP connections need the password.
    pub fn start_on_port(certificate: Option<(&str, &str)>) -> PostgresServer {
        let mut server = PostgresServer::from_template(WalSync::Off);
        let (reserved, port) = process::reserve_port();
        server.port = port;
        server._reserved = Some(reserved);
        server.settings = vec!["listen_addresses=127.0.0.1".to_owned()];
        if let Some((certificate, key)) = certificate {
            write_private(&server.data().join("server.crt"), certificate);
            write_private(&server.data().join("server.key"), key);
            let tls = ["ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key"];
            server.settings.extend(tls.map(str::to_owned));
            let rules = server.data().join("pg_hba.conf");
            let others = std::fs::read_to_string(&rules).unwrap();
            std::fs::write(&rules, format!("hostssl all {ROLE} 127.0.0.1/32 scram-sha-256\n{others}")).unwrap();
        }
        server.resume();
        server.sql("postgres", &format!("ALTER ROLE {ROLE} PASSWORD 'hunter2'"));
        server
    }

    /// A running server that waits for the disk, as `start` gives it but not copied from the template.
    pub fn initialise(settings: &[&str]) -> PostgresServer {
        let server = PostgresServer::empty(WalSync::On, settings);
        server.initdb();
        server.resume();
        server
    }

    /// Stops the server and saves its files.
    pub fn save(&self, files: &Path) {
        self.stop("INT");
        let _ = std::fs::remove_dir_all(files);
        process::copy_folder(&self.data(), files);
    }

    fn from_template(sync: WalSync) -> PostgresServer {
        let make = |files: &Path| {
            let server = PostgresServer::empty(WalSync::Off, &[]);
            server.initdb();
            process::copy_folder(&server.data(), files);
        };
        let files = process::template("postgres-template", make);
        let server = PostgresServer::empty(sync, &[]);
        process::copy_folder(&files, &server.data());
        server
    }

    fn empty(sync: WalSync, settings: &[&str]) -> PostgresServer {
        let folder = process::new_folder("fdpg");
        give_to_postgres(&folder);
        let settings = [&["listen_addresses="], settings].concat().iter().map(|&setting| setting.to_owned()).collect();
        PostgresServer { folder, port: 5432, settings, sync, process: Mutex::new(None), _reserved: None }
    }

    /// Makes the files of a server with the role and its database.
    fn initdb(&self) {
        let arguments = ["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"];
        let mut initdb = process::unprivileged(USER, "QUIT", &program("initdb"));
        initdb.args(arguments).args(["--wal-segsize=1", "-D"]).arg(self.data());
        let output = initdb.current_dir(&self.folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.resume();
        self.sql("postgres", &format!("CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS"));
        self.sql("postgres", &format!("CREATE DATABASE {ROLE} OWNER {ROLE}"));
        self.stop("INT");
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Connects as `desk` to the database `desk`.
    pub fn url(&self) -> String {
        self.url_as(ROLE)
    }

    pub fn url_as(&self, role: &str) -> String {
        self.url_of(role, ROLE)
    }

    pub fn url_of(&self, role: &str, database: &str) -> String {
        url(&self.folder, role, database)
    }

    /// Starts the server on the files in its folder.
    pub fn resume(&self) {
        let mut server = self.spawn();
        let deadline = Instant::now() + Duration::from_secs(90);
        while !self.psql("postgres").args(["-c", "SELECT 1"]).output().unwrap().status.success() {
            let log = self.log();
            assert!(Instant::now() < deadline, "PostgreSQL did not start: {log}");
            if server.try_wait().unwrap().is_some() {
                // Processes of a killed server may live a moment longer, and the next one waits for them.
                assert!(log.contains("pre-existing shared memory block"), "PostgreSQL did not start: {log}");
                server = self.spawn();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if self.sync == WalSync::On {
            self.configure("fsync = on");
            self.sql("postgres", "SELECT pg_reload_conf()");
        }
        *self.process.lock().unwrap() = Some(server);
    }

    /// Recovery runs without fsync: it would sync every file there is.
    fn spawn(&self) -> Child {
        self.configure("fsync = off");
        let mut server = process::unprivileged(USER, "QUIT", &program("postgres"));
        server
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(&self.folder)
            .args(["-c", "max_connections=60", "-c", "shared_buffers=16MB", "-p", &self.port.to_string()])
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]))
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.folder.join("log")).unwrap());
        process::spawn(server).unwrap()
    }

    fn configure(&self, setting: &str) {
        std::fs::write(self.data().join("postgresql.auto.conf"), format!("{setting}\n")).unwrap();
    }

    /// Prepares to kill all processes of the server at once, so that nothing but a signal lies between the decision
    /// and the end.
    pub fn kill_switch(&self) -> KillSwitch<'_> {
        let processes = self.processes();
        let mut shell = Command::new("sh");
        shell.args(["-c", "read now; kill -KILL \"$@\"", "sh"]).args(processes.iter().map(u32::to_string));
        let shell = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        KillSwitch { server: self, processes, shell }
    }

    /// From here on the server neither answers nor closes anything, until `thaw`.
    pub fn freeze(&self) {
        self.signal_all("STOP");
    }

    pub fn thaw(&self) {
        self.signal_all("CONT");
    }

    fn signal_all(&self, signal: &str) {
        let processes = self.processes();
        if !processes.is_empty() {
            // A process that has just ended by itself is no failure.
            let processes = processes.iter().map(u32::to_string);
            let _ = Command::new("kill").arg(format!("-{signal}")).args(processes).stderr(Stdio::null()).status();
        }
    }

    /// The first process comes first: it would replace the others, or take their end for a crash.
    fn processes(&self) -> Vec<u32> {
        let first = self.process.lock().unwrap().as_ref().map(Child::id);
        first.into_iter().flat_map(|first| std::iter::once(first).chain(children_of(first))).collect()
    }

    /// Ends the server as a crash would: no checkpoint, recovery at the next start.
    pub fn crash(&self) {
        self.stop("QUIT");
    }

    fn stop(&self, signal: &str) {
        let Some(mut server) = self.process.lock().unwrap().take() else { return };
        process::signal(signal, server.id());
        server.wait().unwrap();
    }

    /// What the server has logged since it was started.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Runs SQL as the superuser and gives back what it prints, a row a line.
    pub fn sql(&self, database: &str, text: &str) -> Vec<String> {
        run_sql(self.psql(database), text)
    }

    /// The error that the server answers this SQL with.
    pub fn sql_error(&self, database: &str, text: &str) -> String {
        sql_error(self.psql(database), text)
    }

    /// Takes the locks of these statements and holds them until the value is dropped.
    pub fn hold(&self, database: &str, text: &str) -> HeldLocks {
        HeldLocks::take(self.psql(database), text)
    }

    fn psql(&self, database: &str) -> Command {
        psql(&self.folder, self.port, database)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // A frozen server would not handle the signal.
        self.thaw();
        self.crash();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Locks held by a session of their own.
pub struct HeldLocks(Child);

impl HeldLocks {
    pub(super) fn take(mut session: Command, text: &str) -> HeldLocks {
        let mut held = HeldLocks(session.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        writeln!(held.0.stdin.as_mut().unwrap(), "BEGIN; {text};\n\\echo held").unwrap();
        let mut lines = BufReader::new(held.0.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "held"), "{text}: the locks were not granted");
        held
    }

    /// Commits what the statements have changed; otherwise it is rolled back.
    pub fn commit(mut self) {
        writeln!(self.0.stdin.as_mut().unwrap(), "COMMIT;").unwrap();
    }
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        // At the end of its input the session ends, and its transaction with it.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A prepared kill of a server.
pub struct KillSwitch<'a> {
    server: &'a PostgresServer,
    processes: Vec<u32>,
    shell: Child,
}

impl KillSwitch<'_> {
    /// Whether some process of the server is in the middle of a commit, which its title says.
    pub fn is_committing(&self) -> bool {
        let title = |id: &u32| std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        self.processes.iter().any(|id| title(id).windows(6).any(|word| word == b"COMMIT"))
    }

    pub fn fire(mut self) {
        // Closing the pipe ends the shell's `read` as a line would.
        drop(self.shell.stdin.take());
        self.shell.wait().unwrap();
        if let Some(mut server) = self.server.process.lock().unwrap().take() {
            server.wait().unwrap();
        }
    }
}

pub(super) fn url(folder: &Path, role: &str, database: &str) -> String {
    format!("postgres://{role}:hunter2@/{database}?host={}", folder.display())
}

pub(super) fn psql(folder: &Path, port: u16, database: &str) -> Command {
    let mut psql = Command::new(program("psql"));
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-h"]);
    psql.arg(folder).args(["-p", &port.to_string()]);
    psql
}

pub(super) fn run_sql(mut psql: Command, text: &str) -> Vec<String> {
    let output = psql.args(["-c", text]).output().unwrap();
    assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

pub(super) fn sql_error(mut psql: Command, text: &str) -> String {
    let output = psql.args(["-c", text]).output().unwrap();
    assert!(!output.status.success(), "{text} succeeded");
    String::from_utf8(output.stderr).unwrap()
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

fn give_to_postgres(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    process::give_to(USER, path);
}

/// PostgreSQL refuses a key that others could read.
fn write_private(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    process::give_to(USER, file);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Debian does not have the server's programs on the path.
fn program(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|found| found.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    folders.sort();
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists());
    // Elsewhere it is on the path; without PostgreSQL the test fails, which is right.
    found.unwrap_or_else(|| PathBuf::from(name))
}
