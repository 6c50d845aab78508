//! The engine: what happens between a request and its answer, in ten named stages (`serve`).
//! It names no published contract, speaks no SQL and opens no socket; those reach it through `ports`.

pub mod cursor;
pub mod delivery;
pub mod desk;
pub mod dispatch;
pub mod import;
pub mod limits;
pub mod model;
pub mod pipeline;
pub mod ports;
pub mod relay;
pub mod seal;
pub mod serve;

pub use desk::Desk;
pub use dispatch::dispatch;
pub use model::caller::{Caller, ClientId, Scope, Scopes, TenantId};
pub use model::contract::{Contract, Dialect, ReplyContext, RequestTarget};
pub use model::fault::{Code, Fault, FaultKind};
pub use model::plan::{Event, Plan, Step};
pub use model::reply::Reply;
pub use pipeline::permit::Permitted;
pub use serve::{serve, serve_borrowed, serve_route};
