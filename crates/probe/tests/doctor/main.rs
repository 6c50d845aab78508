//! The doctor against a small server that is right in everything, and against the same server broken in one way at a time.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod broken;
mod desk;
mod fake_server;
mod right;
