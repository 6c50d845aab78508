//! HTTPS over HTTP/1.1: certificates, the accept loop, and the deadlines and limits that keep one client from harming
//! another. It does not interpret requests and never serves plain HTTP.

mod activity;
mod admission;
mod any_certificate;
mod body;
mod cert_info;
mod certificates;
mod connection;
mod counters;
mod dev_ca;
mod error;
mod files;
mod limits;
mod listener;
mod outbound;
mod shutdown;
mod tls;

pub use body::{BodyError, IncomingBody, ResponseBody};
pub use certificates::{
    CertificateEvent, CertificateValidity, CertificateWatcher, LoadedCertificate, prepare_certificate,
};
pub use connection::Peer;
pub use counters::{ConnectionCounters, ConnectionCounts};
pub use dev_ca::{DevCertificate, DevCertificateStatus, ensure};
pub use error::{AddressSource, NetError};
pub use limits::ConnectionLimits;
pub use listener::{DrainResult, Listener, bind};
pub use outbound::OutboundClient;
pub use shutdown::{Shutdown, ShutdownReason, ShutdownRequest};
pub use tls::{ClientCertificates, Tls, certificate_digests, check, client_config, load, load_for};
