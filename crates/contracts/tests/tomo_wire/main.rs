//! TOMO on the wire: the handshake, the list of tools, envelopes, errors and limits, and what an intent file may say.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod calls;
mod errors;
mod handshake;
mod intent_files;
mod latency;
mod limits;
mod manifest;
mod settings;
mod support;
mod tools_list;
