//! Administration: requests over a socket that only the owner of the data folder can open, and a loopback listener with
//! health checks and metrics.

mod audit_record;
mod health;
mod requests;
mod socket;

pub(crate) use audit_record::{client_record, import_record, tenant_record};
pub use health::health;
pub use requests::{AdminRequest, AdminResponse, AdminService, ClientView, UnknownTenants};
pub use socket::{SocketError, send_request, serve};
