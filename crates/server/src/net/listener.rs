//! The accept loop. An error of one connection does not stop it, and it never answers in cleartext.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::admission::Admission;
use super::body::{IncomingBody, ResponseBody};
use super::connection::{ListenerContext, Peer, serve_connection};
use super::counters::{ConnectionCounters, count};
use super::error::{AddressSource, NetError};
use super::limits::ConnectionLimits;
use super::shutdown::Shutdown;
use super::tls::Tls;

/// The delay after a failed accept; connections that end meanwhile release their file descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// How a shutdown ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrainResult {
    /// Every call was finished.
    Finished,
    /// So many connections were aborted because their calls took longer than the drain deadline.
    Aborted(usize),
}

pub async fn bind(address: SocketAddr, setting: AddressSource) -> Result<Listener, NetError> {
    let socket = TcpListener::bind(address).await.map_err(|cause| refused(address, setting, cause))?;
    let address = socket.local_addr().map_err(|cause| refused(address, setting, cause))?;
    Ok(Listener { socket, address })
}

fn refused(address: SocketAddr, setting: AddressSource, cause: io::Error) -> NetError {
    let kind = cause.kind();
    if kind == io::ErrorKind::AddrInUse {
        NetError::PortTaken(address, setting)
    } else if kind == io::ErrorKind::PermissionDenied {
        NetError::PortForbidden(address, setting)
    } else if kind == io::ErrorKind::AddrNotAvailable {
        NetError::AddressNotLocal(address, setting)
    } else {
        NetError::ListenFailed { address, setting, cause }
    }
}

impl Listener {
    /// The bound address; with port 0, the port that the system chose.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is requested, then stops accepting, closes idle connections at once, and waits for running
    /// calls up to `limits.drain`.
    pub async fn serve<S, F>(
        self,
        tls: Arc<Tls>,
        limits: ConnectionLimits,
        counters: Arc<ConnectionCounters>,
        service: Arc<S>,
        shutdown: Shutdown,
    ) -> DrainResult
    where
        S: Fn(Request<IncomingBody>, Peer) -> F + Send + Sync + 'static,
        F: Future<Output = Response<ResponseBody>> + Send + 'static,
    {
        let admission = Admission::new(&limits, Arc::clone(&counters));
        let context = Arc::new(ListenerContext { tls, limits, counters, service, shutdown });
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = context.shutdown.requested() => break,
                // Collects the results of finished connections.
                Some(_ended) = connections.join_next() => continue,
                accepted = self.socket.accept() => accepted,
            };
            match accepted {
                Ok((socket, from)) => accept(socket, from, &admission, &context, &mut connections),
                Err(error) => {
                    count(&context.counters.accept_errors);
                    recover(&error, &context.shutdown).await;
                }
            }
        }
        drop(self.socket);
        drain(connections, context.limits.drain).await
    }
}

fn accept<S, F>(
    socket: TcpStream,
    from: SocketAddr,
    admission: &Arc<Admission>,
    context: &Arc<ListenerContext<S>>,
    connections: &mut JoinSet<()>,
) where
    S: Fn(Request<IncomingBody>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let address = from.ip().to_canonical();
    // Above a limit, and without another that makes room, the socket is dropped before TLS: an answer would cost what the limit protects.
    let Some(permit) = admission.admit(address) else {
        return;
    };
    // Otherwise a small answer can wait 40 ms for the acknowledgement of the previous one. If it cannot be set, the
    // connection is only slower.
    let _ = socket.set_nodelay(true);
    let context = Arc::clone(context);
    let peer = Peer { address, certificate: None };
    let task = connections.spawn(serve_connection(socket, peer, context, Arc::clone(&permit)));
    permit.served_by(task);
}

/// A connection that was closed in the queue is ignored; any other error means that a resource is exhausted.
async fn recover(error: &io::Error, shutdown: &Shutdown) {
    let closed_in_queue = [io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset];
    if !closed_in_queue.contains(&error.kind()) {
        tokio::select! {
            () = shutdown.requested() => {}
            () = sleep(ACCEPT_RETRY_DELAY) => {}
        }
    }
}

async fn drain(mut connections: JoinSet<()>, deadline: Duration) -> DrainResult {
    let finished = async { while connections.join_next().await.is_some() {} };
    if timeout(deadline, finished).await.is_ok() {
        return DrainResult::Finished;
    }
    let left = connections.len();
    connections.shutdown().await;
    DrainResult::Aborted(left)
}
