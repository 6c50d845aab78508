//! A MariaDB server in a temporary folder, reached by a socket in it and removed with its value.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use super::process;

const USER: &str = "mysql";

pub struct MariadbServer {
    folder: PathBuf,
    /// Settings beyond the common ones.
    settings: Vec<String>,
    process: Mutex<Option<Child>>,
    _reserved: Option<TcpSocket>,
}

impl MariadbServer {
    /// A running server with an empty database `site`, which the user `reader` may read and write.
    pub fn start() -> MariadbServer {
        MariadbServer::start_with(&[])
    }

    pub fn start_with(settings: &[&str]) -> MariadbServer {
        let mut server = MariadbServer::from_template();
        server.settings.extend(settings.iter().map(|setting| (*setting).to_owned()));
        server.resume();
        server
    }

    /// A running server that can also be reached by TLS on a free port of 127.0.0.1.
    pub fn start_on_port(certificate: &str, key: &str) -> (MariadbServer, u16) {
        let mut server = MariadbServer::from_template();
        let (reserved, port) = process::reserve_port();
        server._reserved = Some(reserved);
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

    fn from_template() -> MariadbServer {
        let files = process::template("mariadb-files", |files: &Path| {
            let server = MariadbServer::empty();
            server.install();
            process::copy_folder(&server.data(), files);
        });
        let server = MariadbServer::empty();
        process::copy_folder(&files, &server.data());
        server
    }

    fn empty() -> MariadbServer {
        let folder = process::new_folder("fdmy");
        process::give_to(USER, &folder);
        let settings = vec!["--skip-networking".to_owned()];
        MariadbServer { folder, settings, process: Mutex::new(None), _reserved: None }
    }

    /// Makes the files of a server with the user and its database.
    fn install(&self) {
        let mut install = process::unprivileged(USER, "KILL", &program("mariadb-install-db"));
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.args(["--skip-name-resolve", "--innodb-log-file-size=8M"]);
        let output = install.arg(argument("datadir", &self.data())).current_dir(&self.folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.resume();
        let users = ["localhost", "127.0.0.1"].map(|host| {
            format!(
                "CREATE USER reader@'{host}' IDENTIFIED BY 'hunter2'; GRANT ALL ON site.* TO reader@'{host}'; \
                 GRANT ALL ON `test\\_%`.* TO reader@'{host}';"
            )
        });
        run_sql(&self.folder, "mysql", &format!("CREATE DATABASE site; {}", users.concat()));
        self.stop("TERM");
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Connects as `reader` to the database `site`.
    pub fn url(&self) -> String {
        url(&self.folder, "site")
    }

    pub fn process_id(&self) -> Option<u32> {
        self.process.lock().unwrap().as_ref().map(Child::id)
    }

    /// Starts the server on the files in its folder.
    pub fn resume(&self) {
        let mut server = self.spawn();
        let deadline = Instant::now() + Duration::from_secs(90);
        while !client(&self.folder, "mysql", "SELECT 1").status.success() {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let has_ended = server.try_wait().unwrap().is_some();
            assert!(!has_ended && Instant::now() < deadline, "MariaDB did not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        *self.process.lock().unwrap() = Some(server);
    }

    fn spawn(&self) -> Child {
        let mut server = process::unprivileged(USER, "KILL", &program("mariadbd"));
        server.args(["--no-defaults", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"]);
        server.args(["--innodb-log-file-size=8M", "--character-set-server=utf8mb4"]);
        server.args(["--collation-server=utf8mb4_unicode_520_ci", "--skip-log-bin"]);
        server.args(&self.settings);
        // A folder of its own for temporary files: a server that starts removes those it finds in a shared one.
        for (name, file) in [("datadir", "data"), ("tmpdir", "data"), ("socket", "s"), ("pid-file", "pid")] {
            server.arg(argument(name, &self.folder.join(file)));
        }
        let log = std::fs::File::create(self.folder.join("log")).unwrap();
        server.current_dir(&self.folder).stdout(Stdio::null()).stderr(log);
        process::spawn(server).unwrap()
    }

    /// Ends the server as a crash would.
    pub fn crash(&self) {
        self.stop("KILL");
    }

    fn stop(&self, signal: &str) {
        let Some(mut server) = self.process.lock().unwrap().take() else { return };
        process::signal(signal, server.id());
        server.wait().unwrap();
    }

    /// Runs SQL as the superuser in the database `site`.
    pub fn sql(&self, text: &str) {
        run_sql(&self.folder, "site", text);
    }
}

impl Drop for MariadbServer {
    fn drop(&mut self) {
        self.crash();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(super) fn url(folder: &Path, database: &str) -> String {
    format!("mysql://reader:hunter2@localhost/{database}?socket={}", folder.join("s").display())
}

pub(super) fn run_sql(folder: &Path, database: &str, text: &str) {
    let output = client(folder, database, text);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

pub(super) fn client(folder: &Path, database: &str, text: &str) -> Output {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "-S"]);
    client.arg(folder.join("s")).arg(database).stdin(Stdio::piped());
    let mut client = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The client's status tells whether there was a server to write to.
    let _ = client.stdin.take().unwrap().write_all(text.as_bytes());
    client.wait_with_output().unwrap()
}

fn argument(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

/// Debian has the server where only root's path leads.
fn program(name: &str) -> PathBuf {
    let path = Path::new("/usr/sbin").join(name);
    if path.exists() { path } else { PathBuf::from(name) }
}
