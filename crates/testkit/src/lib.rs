//! What tests share: database servers, a clock, random numbers, a store in memory and a running application.
//! Only a dev-dependency; nothing here is part of the program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]

#[cfg(feature = "app")]
pub mod app;
pub mod callers;
pub mod clock;
pub mod databases;
mod folder;
pub mod memory_store;
pub mod random;
mod replies;
mod scale;
#[cfg(feature = "sites")]
pub mod sites;
pub mod store_suite;
pub mod wait;

#[cfg(feature = "app")]
pub use app::TestApp;
pub use callers::{ObservedCalls, TokenIdentity, automotive_names, signal_figures};
pub use clock::TestClock;
pub use folder::TestFolder;
pub use memory_store::MemoryStore;
pub use random::TestRandom;
pub use replies::{dispatch_reply, reply_text};
pub use scale::test_scale;
pub use wait::eventually;
