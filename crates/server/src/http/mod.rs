//! From HTTP to the engine and back. Every request is routed here; no contract is named here.

mod accept;
pub(crate) mod api_page;
mod cleartext;
mod client_address;
mod demo_search;
mod event_body;
mod guard;
mod headers;
mod notifications;
mod page;
mod receive;
mod route;
mod shared;

pub use demo_search::DemoSearch;
pub(crate) use receive::body_limit;
pub use route::respond;
pub(crate) use route::without_trailing_slash;
