//! Server processes: started as an unprivileged user, ended with the process that started them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, mpsc};

use tokio::net::TcpSocket;

type Request = (Command, mpsc::Sender<std::io::Result<Child>>);

/// Starts a process from a thread that lives as long as this process. The kernel sends the signal for a parent's death
/// when the *thread* that started a child ends, and a test's thread ends with its test.
pub(super) fn spawn(command: Command) -> std::io::Result<Child> {
    static SPAWNER: OnceLock<Mutex<mpsc::Sender<Request>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (requests, received) = mpsc::channel::<Request>();
        std::thread::spawn(move || {
            for (mut command, reply) in received {
                let _ = reply.send(command.spawn());
            }
        });
        Mutex::new(requests)
    });
    let (reply, child) = mpsc::channel();
    spawner.lock().unwrap().send((command, reply)).unwrap();
    child.recv().unwrap()
}

/// A command that runs as this user if we are root, which database servers refuse to run as, and that gets this signal
/// when our process dies.
pub(super) fn unprivileged(user: &str, death_signal: &str, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", death_signal]);
    if is_root() {
        command.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).arg("--clear-groups");
    }
    command.arg(program);
    command
}

/// Makes this user the owner of a file or folder if we are root.
pub(super) fn give_to(user: &str, path: &Path) {
    if is_root() {
        let status = Command::new("chown").arg(format!("{user}:{user}")).arg(path).status().unwrap();
        assert!(status.success());
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

pub(super) fn signal(signal: &str, process: u32) {
    let _ = Command::new("kill").arg(format!("-{signal}")).arg(process.to_string()).status();
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

/// An empty folder in the system's temporary folder: a socket's path may have about 100 characters, so it cannot be
/// under the build folder.
pub(super) fn new_folder(prefix: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("{prefix}-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The files of a fresh server, made by whichever process comes first: making them takes seconds, copying them does not.
pub(super) fn template(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let home = crate::folder::build_folder();
    std::fs::create_dir_all(&home).unwrap();
    let lock = std::fs::File::create(home.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let made = home.join(name);
    if !made.exists() {
        let unfinished = home.join(format!("{name}.new"));
        let _ = std::fs::remove_dir_all(&unfinished);
        make(&unfinished);
        std::fs::rename(&unfinished, &made).unwrap();
    }
    made
}

/// A free port of 127.0.0.1 that nobody else is given while the socket lives. The server, which asks for this very
/// port, still gets it.
pub(super) fn reserve_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}
