//! Administration: requests over a socket that only the owner of the data folder can open, and a loopback listener with
//! health checks and metrics.

mod advance;
mod audit_record;
mod client_view;
mod clients;
mod deliveries;
mod description;
mod exports;
mod health;
mod imports;
mod keys;
mod login_clients;
mod maintenance;
mod person;
mod requests;
mod retention;
mod service_level;
mod socket;
mod tenants;
mod tokens;
mod users;

pub use advance::{AdvanceTask, AdvanceView};
pub(crate) use audit_record::{
    client_record, import_record, tenant_record, tenant_update_record, unverified_restore_record,
};
pub use client_view::{ClientList, ClientView};
pub use deliveries::{DeliveryAction, DeliveryReply, DeliveryTask, DeliveryView, TestView};
pub use description::{MountDescription, ServerDescription};
pub use exports::{ExportReply, ExportStep, ExportTask, PersonalData};
pub use health::health;
pub use imports::{ImportReply, ImportStep, ImportTask, ListPosition, ListedIds};
pub use keys::{KeyAction, KeyState, KeyView};
pub use maintenance::{MaintenanceAction, MaintenanceState, MaintenanceView};
pub use person::{PersonFound, PersonReply, PersonStep, PersonTask};
pub use requests::{AdminRequest, AdminResponse, AdminService, UnknownTenants};
pub use service_level::{KindView, LatencyView, ServiceLevelView, StandingView};
pub(crate) use socket::bind_private;
pub use socket::{SocketError, is_served, send_request, serve};
pub use tenants::{TenantField, TenantFields, TenantList, TenantRequest, TenantResponse, TenantView};
pub use tokens::{TokenRequest, TokenResponse, TokenView};
pub(crate) use users::setup_link;
pub use users::{UserRequest, UserResponse, UserRow};
