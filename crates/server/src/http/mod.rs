//! From HTTP to the engine and back. Every request is routed here; nothing here knows a contract.

mod guard;
mod page;
mod receive;
mod route;
mod told;

pub(crate) use receive::most;
pub use route::answer;
