//! The operator's side of the desk: orders over a socket that only the owner of the data folder can
//! open, and a loopback listener that says how the desk is.

mod health;
mod metrics;
mod orders;
mod record;
mod socket;

pub use health::health;
pub use metrics::Doors;
pub use orders::{Answer, ClientView, Order, Registrar, UnknownTenants};
pub(crate) use record::{arrival_record, client_record, tenant_record};
pub use socket::{SocketError, ask, attend};
