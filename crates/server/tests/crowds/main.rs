//! Many at once, against the real binary: thousands that stall or vanish, tenants interleaved by the ten thousand, and
//! what a clock can learn. A test here may be late on a busy machine; no bound is tighter than such a machine holds.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod crossing;
mod floods;
mod operator;
mod scarcity;
mod stalling;
mod storm;
mod timing;
