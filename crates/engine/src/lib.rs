//! The engine: what happens between a request and its answer, in ten named stages (`serve`).
//! It names no published contract, speaks no SQL and opens no socket; those reach it through `ports`.

pub mod archive;
pub mod audit;
pub mod caller;
pub mod contract;
pub mod cursor;
pub mod desk;
pub mod dispatch;
pub mod door;
pub mod fault;
pub mod glob;
pub mod incoming;
pub mod inflight;
pub mod nearest;
pub mod contract_entry;
pub mod page;
pub mod permit;
pub mod plan;
pub mod ports;
pub mod rate;
pub mod reading;
pub mod registry;
pub mod reply;
pub mod schema;
pub mod seal;
pub mod serve;
pub mod stages;
pub mod table;
pub mod tally;
pub mod timestamp;
pub mod tool;
pub mod trace;
pub mod turns;

pub use caller::{Caller, ClientId, Scope, Scopes, TenantId};
pub use contract::{At, Contract, Dialect, Place};
pub use desk::Desk;
pub use dispatch::dispatch;
pub use fault::{Code, Fault, FaultKind};
pub use permit::Permitted;
pub use plan::{Event, Plan, Step};
pub use reply::Reply;
pub use serve::serve;
