//! The admin socket: one JSON request a line, one JSON response a line. It never has another mode than 0600, because it is
//! created inside a private folder and then moved into place.

use std::fmt;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::requests::{AdminRequest, AdminResponse, AdminService};
use crate::net::Shutdown;

/// A chunk of an import is the longest request; a row of a feed has at most 1 MiB.
const MAX_LINE: u64 = 8 * 1024 * 1024;
/// How long a request or a response may take to come through the socket.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_CONNECTIONS: usize = 16;
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct SocketError {
    purpose: &'static str,
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for SocketError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "cannot open the {} {}: {}. Its path is limited to about 100 characters; use a shorter --data.",
            self.purpose,
            self.path.display(),
            self.error
        )
    }
}

impl std::error::Error for SocketError {}

/// Answers requests until the shutdown.
pub async fn serve(path: PathBuf, service: Arc<AdminService>, shutdown: Shutdown) -> Result<(), SocketError> {
    let listener = bind_private(&path, "admin socket")?;
    tokio::spawn(async move {
        tokio::select! {
            () = shutdown.requested() => {}
            () = accept(&listener, &service) => {}
        }
        let _ = fs::remove_file(&path);
    });
    Ok(())
}

/// Further connections wait in the queue of the system.
async fn accept(listener: &UnixListener, service: &Arc<AdminService>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let service = Arc::clone(service);
                tokio::spawn(async move {
                    let _ = handle_connection(stream, &service).await;
                    drop(permit);
                });
            }
            // Most likely too many files are open; retrying at once would only use CPU.
            Err(_) => sleep(ACCEPT_RETRY_DELAY).await,
        }
    }
}

/// A socket in the data folder that only its owner can connect to; `purpose` is for the error.
pub(crate) fn bind_private(path: &Path, purpose: &'static str) -> Result<UnixListener, SocketError> {
    open(path).map_err(|error| SocketError { purpose, path: path.to_owned(), error })
}

fn open(path: &Path) -> io::Result<UnixListener> {
    let private = path.with_extension("new");
    let _ = fs::remove_dir_all(&private);
    DirBuilder::new().mode(0o700).create(&private)?;
    let temporary = private.join("s");
    let listener = UnixListener::bind(&temporary)?;
    fs::set_permissions(&temporary, Permissions::from_mode(0o600))?;
    fs::rename(&temporary, path)?;
    fs::remove_dir(&private)?;
    Ok(listener)
}

async fn handle_connection(stream: UnixStream, service: &AdminService) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    timeout(REQUEST_TIMEOUT, BufReader::new(read.take(MAX_LINE)).read_line(&mut line)).await??;
    let response: Result<AdminResponse, String> = match serde_json::from_str::<AdminRequest>(&line) {
        Ok(request) => {
            let limit = request.timeout();
            timeout(limit, service.handle(request)).await?
        }
        Err(_) => Err("the running server does not know this request; it is another version of Frontdesk".to_owned()),
    };
    let mut text = serde_json::to_string(&response).map_err(io::Error::other)?;
    text.push('\n');
    timeout(REQUEST_TIMEOUT, write.write_all(text.as_bytes())).await?
}

/// Whether a server answers there.
pub async fn is_served(path: &Path) -> bool {
    UnixStream::connect(path).await.is_ok()
}

/// Sends a request to the server that locks this folder; `None` if no server runs.
pub async fn send_request(path: &Path, request: &AdminRequest) -> Option<Result<AdminResponse, String>> {
    let stream = UnixStream::connect(path).await.ok()?;
    let lost = |error: io::Error| format!("the running server did not answer: {error}");
    Some(match timeout(request.timeout(), exchange(stream, request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => Err(lost(error)),
        Err(_) => Err("the running server did not answer in time".to_owned()),
    })
}

async fn exchange(mut stream: UnixStream, request: &AdminRequest) -> io::Result<Result<AdminResponse, String>> {
    let mut text = serde_json::to_string(request).map_err(io::Error::other)?;
    text.push('\n');
    stream.write_all(text.as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await?;
    serde_json::from_str(&line).map_err(io::Error::other)
}
