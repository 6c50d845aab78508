//! A `frontdesk` process that a test has started: what it has said so far, and its end.

use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any command takes, shorter than a test runner's patience.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process that may run on. Dropping it kills it.
pub(crate) struct Started {
    process: Child,
    out: Arc<Mutex<String>>,
    err: Arc<Mutex<String>>,
}

/// What a command said when it was over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command in this folder to its end.
pub(crate) fn frontdesk(folder: &Path, arguments: &[&str]) -> Said {
    Started::new(folder, arguments, &[]).end()
}

/// Runs a shell script as a user pastes it; `frontdesk` in it is the binary under test.
pub(crate) fn bash(folder: &Path, script: &str) -> Said {
    let script = format!("frontdesk() {{ '{}' \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_frontdesk"));
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &script]).env("NO_PROXY", "localhost,127.0.0.1");
    Started::spawn(command, folder).end()
}

impl Started {
    pub(crate) fn new(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Started {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command.args(arguments).env_clear().envs(environment.iter().copied());
        Started::spawn(command, folder)
    }

    fn spawn(mut command: Command, folder: &Path) -> Started {
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (out, err) = (collect(process.stdout.take().unwrap()), collect(process.stderr.take().unwrap()));
        Started { process, out, err }
    }

    /// What was printed to standard output, once this is in it.
    pub(crate) fn printed(&mut self, awaited: &str) -> String {
        let out = Arc::clone(&self.out);
        self.heard(&out, 0, awaited)
    }

    /// What was written to standard error, once this is in it.
    pub(crate) fn logged(&mut self, awaited: &str) -> String {
        let err = Arc::clone(&self.err);
        self.heard(&err, 0, awaited)
    }

    /// Asks for a reload and gives what was logged since, once this is in it: an earlier reload may have said the same.
    pub(crate) fn reload(&mut self, awaited: &str) -> String {
        let err = Arc::clone(&self.err);
        let before = err.lock().unwrap().len();
        self.signal("HUP");
        self.heard(&err, before, awaited)
    }

    /// Where it serves, once it says so.
    pub(crate) fn address(&mut self) -> SocketAddr {
        let log = self.logged("serving https://localhost:");
        let port = log.split("serving https://localhost:").nth(1).unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}").parse().unwrap()
    }

    fn heard(&mut self, stream: &Mutex<String>, from: usize, awaited: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = stream.lock().unwrap()[from..].to_owned();
            if text.contains(awaited) {
                return text;
            }
            let over = self.process.try_wait().unwrap().is_some();
            assert!(!over && Instant::now() < deadline, "no {awaited:?}: {:?} {:?}", self.out, self.err);
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn stop(self) -> Said {
        self.signal("TERM");
        self.end()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end; a process that does not end is a failure.
    pub(crate) fn end(mut self) -> Said {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.process.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("it runs on: {:?} {:?}", self.out, self.err),
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        // The readers let go of the text when the pipes are at their end.
        while Arc::strong_count(&self.out) + Arc::strong_count(&self.err) > 2 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let text = |stream: &Mutex<String>| stream.lock().unwrap().clone();
        Said { code: status.code(), out: text(&self.out), err: text(&self.err) }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let written = Arc::clone(&text);
    thread::spawn(move || {
        let mut piece = [0; 8192];
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            written.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..length]));
        }
    });
    text
}
