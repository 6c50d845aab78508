//! HTTPS over HTTP/1.1: certificates, the accept loop, and the deadlines and caps that keep one client from
//! harming another. It never looks inside a request and never serves plain HTTP.

mod activity;
mod admission;
mod authority;
mod body;
mod caps;
mod certificate;
mod connection;
mod error;
mod files;
mod gauges;
mod listener;
mod shutdown;
mod tls;

pub use authority::{Created, DevCertificate, ensure};
pub use body::{Body, BodyError, ResponseBody};
pub use caps::Caps;
pub use connection::Peer;
pub use error::{NetError, Setting};
pub use gauges::{Gauges, Snapshot};
pub use listener::{Drained, Listener, bind};
pub use shutdown::Shutdown;
pub use tls::{Tls, examine, load, trusting};
