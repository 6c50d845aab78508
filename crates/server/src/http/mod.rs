//! From HTTP to the engine and back. Every request is routed here; no contract is named here.

pub(crate) mod api_page;
mod guard;
mod headers;
mod page;
mod receive;
mod route;

pub(crate) use receive::body_limit;
pub use route::respond;
pub(crate) use route::without_trailing_slash;
