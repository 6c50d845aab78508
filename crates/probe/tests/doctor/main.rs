//! The doctor against a small server that is right in everything, and against the same server broken in one way at a time.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a defect changes one place, and nothing anywhere else")]

mod broken;
mod desk;
mod fake_server;
mod right;
