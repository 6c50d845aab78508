//! A `frontdesk` process that a test has started: what it has said so far, and its end.

use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longer than any command takes on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that may run on. Dropping it kills it.
pub(crate) struct Started {
    process: Child,
    out: Stream,
    err: Stream,
}

/// What came through a pipe so far, and who reads it until its end.
struct Stream {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
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
        let (out, err) = (Stream::of(process.stdout.take().unwrap()), Stream::of(process.stderr.take().unwrap()));
        Started { process, out, err }
    }

    /// What was printed to standard output, once this is in it.
    pub(crate) fn printed(&mut self, awaited: &str) -> String {
        heard(&mut self.process, &self.out, 0, awaited)
    }

    /// What was written to standard error, once this is in it.
    pub(crate) fn logged(&mut self, awaited: &str) -> String {
        heard(&mut self.process, &self.err, 0, awaited)
    }

    /// Asks for a reload and gives what was logged since, once this is in it: an earlier reload may have said the same.
    pub(crate) fn reload(&mut self, awaited: &str) -> String {
        let before = self.err.text.lock().unwrap().len();
        self.signal("HUP");
        heard(&mut self.process, &self.err, before, awaited)
    }

    /// Where it serves, once it says so.
    pub(crate) fn address(&mut self) -> SocketAddr {
        let log = self.logged("serving\",\"url\":\"https://localhost:");
        let port = log.split("serving\",\"url\":\"https://localhost:").nth(1).unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}").parse().unwrap()
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
                None if Instant::now() > deadline => panic!("it runs on: {} {}", self.out.so_far(), self.err.so_far()),
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        while !(self.out.reader.is_finished() && self.err.reader.is_finished()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        Said { code: status.code(), out: self.out.so_far(), err: self.err.so_far() }
    }
}

/// What came through a pipe from there on, once this is in one of its whole lines.
fn heard(process: &mut Child, stream: &Stream, from: usize, awaited: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // Asked first: whatever the process has said before its end is there then.
        let over = process.try_wait().unwrap().is_some() && stream.reader.is_finished();
        let text = stream.text.lock().unwrap()[from..].to_vec();
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(if over { &text } else { &text[..whole] }).into_owned();
        if text.contains(awaited) {
            return text;
        }
        assert!(!over && Instant::now() < deadline, "no {awaited:?}: {text}");
        thread::sleep(Duration::from_millis(10));
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Stream {
    fn of(mut pipe: impl Read + Send + 'static) -> Stream {
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let written = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut piece = [0; 8192];
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                written.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        Stream { text, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}
