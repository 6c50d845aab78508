//! The accept loop. It never stops for an error of one connection and never answers in plain text.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::admission::Admission;
use super::body::{Body, ResponseBody};
use super::caps::Caps;
use super::connection::{House, Peer, attend};
use super::error::{NetError, Setting};
use super::gauges::{Gauges, count};
use super::shutdown::Shutdown;
use super::tls::Tls;

/// How long to leave a full machine alone; connections that end meanwhile give their descriptors back.
const BREATHER: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// How a shutdown ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every call was finished.
    Finished,
    /// This many connections were cut because their calls outlived the drain.
    Cut(usize),
}

pub async fn bind(address: SocketAddr, setting: Setting) -> Result<Listener, NetError> {
    let socket = TcpListener::bind(address).await.map_err(|cause| refused(address, setting, cause))?;
    let address = socket.local_addr().map_err(|cause| refused(address, setting, cause))?;
    Ok(Listener { socket, address })
}

fn refused(address: SocketAddr, setting: Setting, cause: io::Error) -> NetError {
    let kind = cause.kind();
    if kind == io::ErrorKind::AddrInUse {
        NetError::PortTaken(address, setting)
    } else if kind == io::ErrorKind::PermissionDenied {
        NetError::PortForbidden(address, setting)
    } else if kind == io::ErrorKind::AddrNotAvailable {
        NetError::AddressNotHere(address, setting)
    } else {
        NetError::NoListener { address, setting, cause }
    }
}

impl Listener {
    /// The address that was bound, with the port the system picked if port 0 was asked for.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is requested, then stops accepting, closes quiet connections at once, and waits for
    /// running calls up to `caps.drain`.
    pub async fn serve<S, F>(
        self,
        tls: Arc<Tls>,
        caps: Caps,
        gauges: Arc<Gauges>,
        service: Arc<S>,
        shutdown: Shutdown,
    ) -> Drained
    where
        S: Fn(Request<Body>, Peer) -> F + Send + Sync + 'static,
        F: Future<Output = Response<ResponseBody>> + Send + 'static,
    {
        let admission = Admission::new(&caps, Arc::clone(&gauges));
        let house = Arc::new(House { tls, caps, gauges, service, shutdown });
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = house.shutdown.requested() => break,
                // Finished connections are collected here, or their results would pile up.
                Some(_ended) = connections.join_next() => continue,
                accepted = self.socket.accept() => accepted,
            };
            match accepted {
                Ok((socket, from)) => welcome(socket, from, &admission, &house, &mut connections),
                Err(error) => {
                    count(&house.gauges.accept_errors);
                    recover(&error, &house.shutdown).await;
                }
            }
        }
        drop(self.socket);
        drain(connections, house.caps.drain).await
    }
}

fn welcome<S, F>(
    socket: TcpStream,
    from: SocketAddr,
    admission: &Arc<Admission>,
    house: &Arc<House<S>>,
    connections: &mut JoinSet<()>,
) where
    S: Fn(Request<Body>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let address = from.ip().to_canonical();
    // Over a cap the socket is dropped before TLS: an answer would cost what the cap protects.
    let Some(place) = admission.admit(address) else {
        return;
    };
    // Without it a small answer can wait 40 ms for the acknowledgement of the one before.
    // Where it cannot be set the connection is slower, not wrong.
    let _ = socket.set_nodelay(true);
    let house = Arc::clone(house);
    connections.spawn(async move {
        attend(socket, Peer { address }, house).await;
        drop(place);
    });
}

/// A connection that died in the queue is nothing; anything else means the machine is short of something.
async fn recover(error: &io::Error, shutdown: &Shutdown) {
    let died_in_the_queue = [io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset];
    if !died_in_the_queue.contains(&error.kind()) {
        tokio::select! {
            () = shutdown.requested() => {}
            () = sleep(BREATHER) => {}
        }
    }
}

async fn drain(mut connections: JoinSet<()>, patience: Duration) -> Drained {
    let finished = async { while connections.join_next().await.is_some() {} };
    if timeout(patience, finished).await.is_ok() {
        return Drained::Finished;
    }
    let left = connections.len();
    connections.shutdown().await;
    Drained::Cut(left)
}
