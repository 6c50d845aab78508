//! A MariaDB server for a test or the bench: created in a temporary folder, reached by a socket in it, and removed when
//! it is dropped. It never touches another server.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

pub(crate) struct MariaDb {
    folder: PathBuf,
    /// Arguments beyond those that every server here has.
    settings: Vec<String>,
    process: Mutex<Option<Child>>,
    /// Reserves the port: others who ask for any free port do not get it, but MariaDB can bind it.
    reserved: Option<TcpSocket>,
}

impl MariaDb {
    /// A running server with an empty database `site`, which the user `reader` may read and write.
    pub(crate) fn start() -> MariaDb {
        let server = MariaDb::prepared();
        server.resume();
        server
    }

    /// A running server that can also be reached by TLS on a free port of 127.0.0.1.
    pub(crate) fn on_a_port(certificate: &str, key: &str) -> (MariaDb, u16) {
        let mut server = MariaDb::prepared();
        let reserved = TcpSocket::new_v4().unwrap();
        reserved.set_reuseaddr(true).unwrap();
        reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = reserved.local_addr().unwrap().port();
        server.reserved = Some(reserved);
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            std::fs::write(server.folder.join(name), text).unwrap();
        }
        let path = |name: &str| server.folder.join(name).display().to_string();
        server.settings = vec![
            format!("--port={port}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--ssl-cert={}", path("server.crt")),
            format!("--ssl-key={}", path("server.key")),
        ];
        server.resume();
        (server, port)
    }

    pub(crate) fn url(&self) -> String {
        format!("mysql://reader:hunter2@localhost/site?socket={}", self.folder.join("s").display())
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.lock().unwrap().as_ref().map(Child::id)
    }

    /// Starts the server with the data in its folder.
    pub(crate) fn resume(&self) {
        let mut process = self.spawn();
        let until = Instant::now() + Duration::from_secs(90);
        while !self.client("mysql", "SELECT 1").status.success() {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let has_ended = process.try_wait().unwrap().is_some();
            assert!(!has_ended && Instant::now() < until, "MariaDB did not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        *self.process.lock().unwrap() = Some(process);
    }

    /// Kills the server, as a crash would.
    pub(crate) fn crash(&self) {
        self.stop("KILL");
    }

    /// Runs SQL as the superuser.
    pub(crate) fn sql(&self, text: &str) {
        let output = self.client("site", text);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn client(&self, database: &str, text: &str) -> std::process::Output {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "-S"]);
        client.arg(self.folder.join("s")).arg(database).stdin(Stdio::piped());
        let mut client = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Writing fails if the server does not run yet, which the client's status tells.
        let _ = client.stdin.take().unwrap().write_all(text.as_bytes());
        client.wait_with_output().unwrap()
    }

    fn prepared() -> MariaDb {
        let server = MariaDb::in_new_folder();
        let copied = Command::new("cp").arg("-a").arg(template()).arg(server.folder.join("data")).status().unwrap();
        assert!(copied.success());
        server
    }

    fn in_new_folder() -> MariaDb {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A socket's path may have about 100 characters, so not under the build folder.
        let folder = std::env::temp_dir().join(format!("fdmy-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        give_away(&folder);
        MariaDb { folder, settings: vec!["--skip-networking".to_owned()], process: Mutex::new(None), reserved: None }
    }

    fn spawn(&self) -> Child {
        let mut server = as_mysql("mariadbd");
        server.args(["--no-defaults", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"]);
        server.args(["--innodb-log-file-size=8M", "--character-set-server=utf8mb4"]);
        server.args(["--collation-server=utf8mb4_unicode_520_ci", "--skip-log-bin"]);
        server.args(&self.settings);
        // A temporary folder of its own, because a starting server removes the files in a shared one.
        for (name, file) in [("datadir", "data"), ("tmpdir", "data"), ("socket", "s"), ("pid-file", "pid")] {
            server.arg(format!("--{name}={}", self.folder.join(file).display()));
        }
        let log = std::fs::File::create(self.folder.join("log")).unwrap();
        server.current_dir(&self.folder).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    fn stop(&self, signal: &str) {
        let Some(mut process) = self.process.lock().unwrap().take() else { return };
        let _ = Command::new("kill").arg(format!("-{signal}")).arg(process.id().to_string()).status();
        process.wait().unwrap();
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        self.crash();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The files of a new server, created by the first test.
fn template() -> PathBuf {
    let home = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&home).unwrap();
    let lock = std::fs::File::create(home.join("mariadb.lock")).unwrap();
    lock.lock().unwrap();
    let made = home.join("mariadb-template");
    if !made.exists() {
        let server = MariaDb::in_new_folder();
        let data = server.folder.join("data");
        let mut install = as_mysql("mariadb-install-db");
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.args(["--skip-name-resolve", "--innodb-log-file-size=8M"]).arg(format!("--datadir={}", data.display()));
        let output = install.current_dir(&server.folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        server.resume();
        server.sql_without_database(
            "CREATE DATABASE site; CREATE USER reader@localhost IDENTIFIED BY 'hunter2'; \
             GRANT ALL ON site.* TO reader@localhost; \
             CREATE USER reader@127.0.0.1 IDENTIFIED BY 'hunter2'; GRANT ALL ON site.* TO reader@127.0.0.1;",
        );
        server.stop("TERM");
        let unfinished = home.join("mariadb-template.new");
        let _ = std::fs::remove_dir_all(&unfinished);
        let copied = Command::new("cp").arg("-a").arg(&data).arg(&unfinished).status().unwrap();
        assert!(copied.success());
        std::fs::rename(&unfinished, &made).unwrap();
    }
    made
}

impl MariaDb {
    fn sql_without_database(&self, text: &str) {
        let output = self.client("mysql", text);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// MariaDB refuses to run as root; then its own user runs it. The server ends with this process.
fn as_mysql(name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if is_root() {
        command.args(["--reuid=mysql", "--regid=mysql", "--clear-groups"]);
    }
    // On Debian the server is not in the PATH of an ordinary user.
    let path = Path::new("/usr/sbin").join(name);
    command.arg(if path.exists() { path } else { PathBuf::from(name) });
    command
}

fn give_away(folder: &Path) {
    if is_root() {
        let given = Command::new("chown").arg("mysql:mysql").arg(folder).status().unwrap();
        assert!(given.success());
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
