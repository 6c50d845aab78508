//! MCP over HTTPS, both eras on one endpoint: what each version of the protocol is answered with.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod batches;
mod catalogue;
mod handshake;
mod headers;
mod modern;
mod mount_policy;
mod requests;
mod strict;
mod transport;
mod unknown;
