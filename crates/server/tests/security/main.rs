//! What somebody tries who should not get in, or should not get that far: over the network, against the real binary.
//! No test here may reach behind the surface, except to look through the files for what must not be in them.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod arguments;
mod audit;
mod canaries;
mod cleartext;
mod corpus;
mod forgeries;
mod framing;
mod grants;
mod large_bodies;
mod messages;
mod metadata;
mod origins;
mod privacy;
mod proxies;
mod rates;
mod requests;
mod scopes;
mod spill;
mod storage;
mod tokens;
mod values;
