//! The simulation of TOMO against a small partner that is right in everything, and against the same partner broken in one
//! way at a time.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a defect changes one place, and nothing anywhere else")]

mod answers;
mod completions;
mod partner;
mod partner_server;
mod right;
mod sender;
