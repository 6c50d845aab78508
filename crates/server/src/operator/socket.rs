//! The operator's socket: one order a line, one answer a line. It has mode 0600 from its first moment,
//! because it is made inside a folder nobody else can enter and only then moved to its place.

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

use super::orders::{Answer, Order, Registrar};
use crate::net::Shutdown;

const LONGEST_LINE: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);
/// So many at a time.
const CONVERSATIONS: usize = 16;
const BREATHER: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct SocketError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for SocketError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "cannot open the operator's socket {}: {}. A path longer than about 100 characters is not possible; use a shorter --data.",
            self.path.display(),
            self.error
        )
    }
}

impl std::error::Error for SocketError {}

/// Takes orders until the desk closes.
pub async fn attend(path: PathBuf, registrar: Arc<Registrar>, shutdown: Shutdown) -> Result<(), SocketError> {
    let listener = open(&path).map_err(|error| SocketError { path: path.clone(), error })?;
    tokio::spawn(async move {
        tokio::select! {
            () = shutdown.requested() => {}
            () = accept(&listener, &registrar) => {}
        }
        let _ = fs::remove_file(&path);
    });
    Ok(())
}

/// Further callers wait in the system's queue until there is a place.
async fn accept(listener: &UnixListener, registrar: &Arc<Registrar>) {
    let places = Arc::new(Semaphore::new(CONVERSATIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let registrar = Arc::clone(registrar);
                tokio::spawn(async move {
                    let _ = timeout(PATIENCE, converse(stream, &registrar)).await;
                    drop(place);
                });
            }
            // Most likely too many files are open; asking again at once would only keep a processor busy.
            Err(_) => sleep(BREATHER).await,
        }
    }
}

fn open(path: &Path) -> io::Result<UnixListener> {
    let private = path.with_extension("new");
    let _ = fs::remove_dir_all(&private);
    DirBuilder::new().mode(0o700).create(&private)?;
    let draft = private.join("s");
    let listener = UnixListener::bind(&draft)?;
    fs::set_permissions(&draft, Permissions::from_mode(0o600))?;
    fs::rename(&draft, path)?;
    fs::remove_dir(&private)?;
    Ok(listener)
}

async fn converse(stream: UnixStream, registrar: &Registrar) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    BufReader::new(read.take(LONGEST_LINE)).read_line(&mut line).await?;
    let answer: Result<Answer, String> = match serde_json::from_str::<Order>(&line) {
        Ok(order) => registrar.carry_out(order).await,
        Err(_) => Err("this order is not one this version of Frontdesk knows".to_owned()),
    };
    let mut text = serde_json::to_string(&answer).map_err(io::Error::other)?;
    text.push('\n');
    write.write_all(text.as_bytes()).await
}

/// Gives an order to the server that holds this folder; `None` if there is none.
pub async fn ask(path: &Path, order: &Order) -> Option<Result<Answer, String>> {
    let stream = UnixStream::connect(path).await.ok()?;
    let lost = |error: io::Error| format!("the running server did not answer: {error}");
    Some(match timeout(PATIENCE, exchange(stream, order)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Err(lost(error)),
        Err(_) => Err("the running server did not answer in time".to_owned()),
    })
}

async fn exchange(mut stream: UnixStream, order: &Order) -> io::Result<Result<Answer, String>> {
    let mut text = serde_json::to_string(order).map_err(io::Error::other)?;
    text.push('\n');
    stream.write_all(text.as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await?;
    serde_json::from_str(&line).map_err(io::Error::other)
}
