//! A whole Frontdesk, as a user starts it: the binary, a data folder of its own, a free port, and typed callers.

mod agent;
pub mod collector;
pub mod http_client;
mod login;
pub mod process;
pub mod receiver;

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::TestFolder;
use process::frontdesk_binary;

pub use login::{TestBrowser, authorization};

pub use agent::{CREDIT, DemoTenant, EVERYTHING, PATH, READ_LEADS, READ_STOCK, TestAgent, WRITE_LEADS};

/// A running `frontdesk demo`. Dropping it kills the process.
pub struct TestApp {
    process: Child,
    pub folder: TestFolder,
    /// What the command has printed about itself.
    pub banner: Value,
    pub address: SocketAddr,
    clients: Vec<DemoClient>,
    log: Arc<Mutex<Vec<u8>>>,
    /// They end when the process has closed its pipes and all that was in them is in the log.
    readers: Vec<JoinHandle<()>>,
    /// The pipe of the log, if nobody reads it yet.
    unread: Option<ChildStderr>,
    settings: Vec<(String, String)>,
}

/// Id, secret and tenant of a client of the demo.
pub type DemoClient = (String, String, String);

/// Whether somebody reads what the process writes to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogReader {
    Started,
    Later,
}

impl TestApp {
    pub fn start() -> TestApp {
        TestApp::start_with(&[])
    }

    /// With these `FRONTDESK_*` settings.
    pub fn start_with(settings: &[(&str, &str)]) -> TestApp {
        TestApp::spawn(TestFolder::new(), owned(settings), Vec::new(), LogReader::Started)
    }

    /// With a log that nobody reads until `read_log`.
    pub fn start_unread(settings: &[(&str, &str)]) -> TestApp {
        TestApp::spawn(TestFolder::new(), owned(settings), Vec::new(), LogReader::Later)
    }

    /// Started by a shell that has run this first; signals that it ignores are ignored by the process, too.
    pub fn start_after(script: &str, settings: &[(&str, &str)]) -> TestApp {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{script}; exec \"$0\" \"$@\"")).arg(frontdesk_binary());
        TestApp::spawn_by(shell, TestFolder::new(), owned(settings), Vec::new(), LogReader::Started)
    }

    /// On `data` in this folder, for the callers of another one.
    pub fn start_in(callers_of: &TestApp, folder: TestFolder, settings: &[(&str, &str)]) -> TestApp {
        TestApp::spawn(folder, owned(settings), callers_of.clients.clone(), LogReader::Started)
    }

    /// Another node with the same settings and master key, in a folder of its own.
    pub fn second_node(&self) -> TestApp {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = TestFolder::new();
        std::fs::DirBuilder::new().mode(0o700).create(folder.join("data")).unwrap();
        std::fs::copy(self.data().join("master.key"), folder.join("data").join("master.key")).unwrap();
        TestApp::spawn(folder, self.settings.clone(), self.clients.clone(), LogReader::Started)
    }

    /// The error of one that cannot start with these settings.
    pub fn start_error(settings: &[(&str, &str)]) -> String {
        let folder = TestFolder::new();
        let mut command = Command::new(frontdesk_binary());
        let output = demo(&mut command, &folder).envs(settings.iter().copied()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    fn spawn(folder: TestFolder, settings: Vec<(String, String)>, known: Vec<DemoClient>, log: LogReader) -> TestApp {
        TestApp::spawn_by(Command::new(frontdesk_binary()), folder, settings, known, log)
    }

    fn spawn_by(
        mut command: Command,
        folder: TestFolder,
        settings: Vec<(String, String)>,
        known: Vec<DemoClient>,
        reader: LogReader,
    ) -> TestApp {
        demo(&mut command, &folder).envs(settings.iter().map(|(name, value)| (name, value)));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut unread = process.stderr.take();
        let mut readers = vec![read_into(output, &log)];
        if reader == LogReader::Started {
            readers.push(read_into(unread.take().unwrap(), &log));
        }
        let banner: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let _ = process.wait();
            readers.drain(..).for_each(|reader| reader.join().unwrap());
            panic!("it did not start: {}", String::from_utf8_lossy(&log.lock().unwrap()))
        });
        let endpoint = banner["endpoint"].as_str().unwrap();
        let port = endpoint.strip_prefix("https://localhost:").unwrap().split('/').next().unwrap();
        let clients =
            if known.is_empty() { banner["clients"].as_array().unwrap().iter().map(client).collect() } else { known };
        let address = format!("127.0.0.1:{port}").parse().unwrap();
        TestApp { process, address, folder, banner, clients, log, readers, unread, settings }
    }

    /// Kills the process, as a crash would, and starts it again on the same data.
    pub fn crash_and_restart(mut self) -> TestApp {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.start_again()
    }

    /// Stops the process in order and starts it again on the same data.
    pub fn restart(mut self) -> TestApp {
        assert_eq!(self.stop(), Some(0));
        self.start_again()
    }

    /// Starts again on the same data after the process has ended.
    pub fn start_again(mut self) -> TestApp {
        let folder = std::mem::replace(&mut self.folder, TestFolder::new());
        let (settings, clients) = (std::mem::take(&mut self.settings), std::mem::take(&mut self.clients));
        TestApp::spawn(folder, settings, clients, LogReader::Started)
    }

    /// Stops and starts again with the same callers on another folder, in which `name` becomes `data`.
    pub fn restart_in(mut self, folder: TestFolder, name: &str) -> TestApp {
        assert_eq!(self.stop(), Some(0));
        std::fs::rename(folder.join(name), folder.join("data")).unwrap();
        let (settings, clients) = (std::mem::take(&mut self.settings), std::mem::take(&mut self.clients));
        TestApp::spawn(folder, settings, clients, LogReader::Started)
    }

    /// Asks for an orderly end; the exit code.
    pub fn stop(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.wait()
    }

    /// The exit code, once the process has ended and its log has been read.
    pub fn wait(&mut self) -> Option<i32> {
        let code = self.process.wait().unwrap().code();
        self.readers.drain(..).for_each(|reader| reader.join().unwrap());
        code
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    /// From here on the log is read.
    pub fn read_log(&mut self) {
        self.readers.push(read_into(self.unread.take().unwrap(), &self.log));
    }

    /// What the process has written so far to its log or anywhere else, after its banner; all of it once it has ended.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock().unwrap()).into_owned()
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn ca_file(&self) -> PathBuf {
        Path::new(self.banner["ca_file"].as_str().unwrap()).to_owned()
    }

    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Runs another `frontdesk` command on this data folder: its exit code, output and errors.
    pub fn command(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(frontdesk_binary());
        let output = command
            .env_clear()
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .args(arguments)
            .arg("--data")
            .arg(self.data())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn demo<'a>(command: &'a mut Command, folder: &TestFolder) -> &'a mut Command {
    command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("data")).env_clear()
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn client(entry: &Value) -> DemoClient {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    (text("id"), text("secret"), text("dealership_id"))
}

/// Appends whatever comes to the log, until the pipe is closed.
fn read_into(mut from: impl std::io::Read + Send + 'static, log: &Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        let mut part = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut part) {
            log.lock().unwrap().extend_from_slice(&part[..length]);
        }
    })
}
