//! A `frontdesk` process that a test has started: its output so far, and its end.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::databases::{MARIADB_VARIABLE, POSTGRES_VARIABLE};

/// Longer than any command takes on a machine that has much else to do.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A process that may run on. Dropping it kills it.
pub struct CommandProcess {
    process: Child,
    out: OutputStream,
    err: OutputStream,
}

/// What came through a pipe so far, and the thread that reads it.
struct OutputStream {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Exit code and output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The binary under test, which cargo puts beside the folder of the test binaries.
pub fn frontdesk_binary() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("frontdesk")
}

/// Runs a command in this folder to its end.
pub fn run_frontdesk(folder: &Path, arguments: &[&str]) -> CommandOutput {
    CommandProcess::new(folder, arguments, &[]).end()
}

/// Runs a shell script as a user pastes it; `frontdesk` in it is the binary under test.
pub fn run_script(folder: &Path, script: &str) -> CommandOutput {
    let script = format!("frontdesk() {{ '{}' \"$@\"; }}\n{script}", frontdesk_binary().display());
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &script]).env("NO_PROXY", "localhost,127.0.0.1");
    // Whatever starts with FRONTDESK_ is taken for a setting of the program.
    command.env_remove(POSTGRES_VARIABLE).env_remove(MARIADB_VARIABLE);
    CommandProcess::spawn(command, folder).end()
}

impl CommandProcess {
    pub fn new(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> CommandProcess {
        let mut command = Command::new(frontdesk_binary());
        command.args(arguments).env_clear().envs(environment.iter().copied());
        CommandProcess::spawn(command, folder)
    }

    /// Another program, such as one that the server under test talks to.
    pub fn spawn(mut command: Command, folder: &Path) -> CommandProcess {
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (out, err) =
            (OutputStream::of(process.stdout.take().unwrap()), OutputStream::of(process.stderr.take().unwrap()));
        CommandProcess { process, out, err }
    }

    /// What was printed to standard output, once this is in it.
    pub fn printed(&mut self, awaited: &str) -> String {
        wait_for(&mut self.process, &self.out, 0, awaited)
    }

    /// What was written to standard error, once this is in it.
    pub fn logged(&mut self, awaited: &str) -> String {
        wait_for(&mut self.process, &self.err, 0, awaited)
    }

    /// Asks for a reload and gives what was logged since, once this is in it: an earlier reload may have said the same.
    pub fn reload(&mut self, awaited: &str) -> String {
        let before = self.err.text.lock().unwrap().len();
        self.signal("HUP");
        wait_for(&mut self.process, &self.err, before, awaited)
    }

    /// Where it serves, once it says so.
    pub fn address(&mut self) -> SocketAddr {
        let log = self.logged("serving\",\"url\":\"https://localhost:");
        let port = log.split("serving\",\"url\":\"https://localhost:").nth(1).unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}").parse().unwrap()
    }

    pub fn stop(self) -> CommandOutput {
        self.signal("TERM");
        self.end()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end; a process that does not end is a failure.
    pub fn end(mut self) -> CommandOutput {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match self.process.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    panic!("it does not end: {} {}", self.out.so_far(), self.err.so_far())
                }
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        while !(self.out.reader.is_finished() && self.err.reader.is_finished()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        CommandOutput { code: status.code(), out: self.out.so_far(), err: self.err.so_far() }
    }
}

/// What came through a pipe from there on, once this is in one of its whole lines.
fn wait_for(process: &mut Child, stream: &OutputStream, from: usize, awaited: &str) -> String {
    let deadline = Instant::now() + TIMEOUT;
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

impl Drop for CommandProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl OutputStream {
    fn of(mut pipe: impl Read + Send + 'static) -> OutputStream {
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let written = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut piece = [0; 8192];
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                written.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        OutputStream { text, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}
