//! MCP over HTTPS, both eras on one endpoint: what each version of the protocol is answered with.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

#[expect(dead_code, reason = "each test binary uses its own part of the support")]
#[path = "../support/mod.rs"]
mod support;

mod batches;
mod catalogue;
mod doors;
mod handshake;
mod headers;
mod modern;
mod speaking;
mod strict;
mod transport;
mod unknown;
