//! Answers that are streams of events, over real HTTPS: what is sent, and that no reader, closed or asleep, costs more than
//! a little.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod answers;
mod ends;
mod load;
mod stage;
