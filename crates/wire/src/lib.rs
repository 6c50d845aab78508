//! The messages of MCP as plain types: strict JSON, JSON-RPC frames, the protocol's versions and
//! eras, and the texts of answers. Nothing here does input or output, knows a business, or waits.

pub mod answer;
pub mod event_stream;
pub mod frame;
pub mod json;
pub mod method;
pub mod peek;
pub mod progress;
pub mod version;
