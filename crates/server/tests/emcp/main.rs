//! The eMCP toolset over real HTTPS, clause by clause: the shipped binary, a made-up site, and callers whose tokens the
//! site signs. What the tools find is tried row by row in `contracts`; here is what a caller can see of it from outside.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod authentication;
mod databases;
mod dispatch;
mod guide;
mod initialize;
mod limits;
mod order;
mod published;
mod secrets;
mod stage;
mod statements;
mod transport;
