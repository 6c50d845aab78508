//! The sessions of `frontdesk stdio` beside a running server: a socket in the data folder that only its owner can open. A
//! session begins with one line that names the contract and the caller's credentials; they are checked here as they are
//! at the token endpoint. It has bounds of its own, because it lasts for as long as its client wants.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::lines::{LineReader, LineWriter};
use super::{StdioCredentials, max_line, serve_lines};
use crate::admin::{SocketError, bind_private};
use crate::app::App;
use crate::config::{MountConfig, StdioLogin};
use crate::net::Shutdown;

/// The most sessions at a time.
const MAX_SESSIONS: usize = 64;
/// The most connections that are told so at a time; further ones wait in the queue of the system.
const MAX_REFUSALS: usize = 16;
/// How long a session may take to begin.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);
/// A token and the name of a contract are far shorter.
pub(super) const MAX_OPENING: u64 = 64 * 1024;
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The first line of a session.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionOpening {
    /// Without one, the first that is mounted.
    pub(super) contract: Option<String>,
    pub(super) login: Option<StdioLogin>,
}

/// The answer to it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionAnswer {
    /// Messages may follow, none longer than this.
    Opened { max_line: usize },
    /// The mount needs credentials, and there were none.
    LoginNeeded,
    /// A sentence for the person who set the client up.
    Refused(String),
}

/// The socket, open and not yet served.
pub struct StdioListener {
    listener: UnixListener,
    path: PathBuf,
}

impl StdioListener {
    pub fn bind(path: &Path) -> Result<StdioListener, SocketError> {
        Ok(StdioListener { listener: bind_private(path, "socket of `frontdesk stdio`")?, path: path.to_owned() })
    }

    /// Serves sessions until the shutdown, and finishes what runs then.
    pub async fn serve(self, current: Arc<ArcSwap<App>>, shutdown: Shutdown) {
        let permits = Arc::new(Semaphore::new(MAX_SESSIONS));
        let mut sessions = JoinSet::new();
        loop {
            let has_room = sessions.len() < MAX_SESSIONS.saturating_add(MAX_REFUSALS);
            tokio::select! {
                () = shutdown.requested() => break,
                Some(_ended) = sessions.join_next() => {}
                accepted = self.listener.accept(), if has_room => match accepted {
                    Ok((stream, _)) => {
                        let (current, shutdown) = (Arc::clone(&current), shutdown.clone());
                        sessions.spawn(serve_session(stream, current, Arc::clone(&permits), shutdown));
                    }
                    // Most likely too many files are open; retrying at once would only use CPU.
                    Err(_) => sleep(ACCEPT_RETRY_DELAY).await,
                }
            }
        }
        let _ = fs::remove_file(&self.path);
        drop(self.listener);
        while sessions.join_next().await.is_some() {}
    }
}

async fn serve_session(stream: UnixStream, current: Arc<ArcSwap<App>>, permits: Arc<Semaphore>, shutdown: Shutdown) {
    let (read, mut write) = stream.into_split();
    let mut input = BufReader::new(read);
    let opening = tokio::select! {
        () = shutdown.requested() => return,
        opening = timeout(OPENING_TIMEOUT, read_opening(&mut input)) => opening,
    };
    let Ok(Some(opening)) = opening else { return };
    let opened = match (permits.try_acquire_owned(), opening) {
        (_, Err(refusal)) => Err(refusal),
        (Err(_), Ok(_)) => Err(SessionAnswer::Refused(format!(
            "the server already has {MAX_SESSIONS} sessions of `frontdesk stdio`; end one and try again"
        ))),
        (Ok(permit), Ok(opening)) => open(&current, opening).await.map(|opened| (permit, opened)),
    };
    let (answer, opened) = match opened {
        Ok((permit, (endpoint, credentials))) => {
            let max_line = max_line(&current.load(), &endpoint);
            (SessionAnswer::Opened { max_line }, Some((permit, endpoint, credentials, max_line)))
        }
        Err(refusal) => (refusal, None),
    };
    let Ok(mut text) = serde_json::to_string(&answer) else { return };
    text.push('\n');
    let sent = timeout(OPENING_TIMEOUT, write.write_all(text.as_bytes())).await;
    let (Ok(Ok(())), Some((permit, endpoint, credentials, max_line))) = (sent, opened) else { return };
    let lines = (LineReader::socket(input, max_line), LineWriter::socket(write));
    serve_lines(current, endpoint, credentials, lines, shutdown).await;
    drop(permit);
}

/// None if nothing came.
async fn read_opening(input: &mut BufReader<OwnedReadHalf>) -> Option<Result<SessionOpening, SessionAnswer>> {
    let mut line = Vec::new();
    input.take(MAX_OPENING).read_until(b'\n', &mut line).await.ok().filter(|read| *read > 0)?;
    Some(serde_json::from_slice(&line).map_err(|_| {
        SessionAnswer::Refused("the running server is another version of Frontdesk; use the same one".to_owned())
    }))
}

/// The path of the mount and the caller's credentials, which the token endpoint has accepted.
async fn open(
    current: &Arc<ArcSwap<App>>,
    opening: SessionOpening,
) -> Result<(String, StdioCredentials), SessionAnswer> {
    let app = current.load_full();
    let wanted = opening.contract.as_deref();
    let mut mounts = app.config.mounts.iter();
    let Some(mount) = mounts.find(|mount| wanted.is_none_or(|wanted| mount.contract == wanted)) else {
        return Err(SessionAnswer::Refused(not_mounted(&app.config.mounts)));
    };
    let login = match (mount.needs_no_token(), opening.login) {
        (true, _) => None,
        (false, Some(login)) => Some(login),
        (false, None) => return Err(SessionAnswer::LoginNeeded),
    };
    let endpoint = mount.endpoint();
    let credentials = StdioCredentials::new(Arc::clone(current), endpoint.clone(), login).await;
    credentials.map(|credentials| (endpoint, credentials)).map_err(SessionAnswer::Refused)
}

/// Which contracts could have been named.
pub fn not_mounted(mounts: &[MountConfig]) -> String {
    let mounted: Vec<&str> = mounts.iter().map(|mount| mount.contract.as_str()).collect();
    format!("that contract is not mounted; mounted are: {}", mounted.join(", "))
}
