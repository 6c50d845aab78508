//! What tests share: database servers, clocks, random numbers, a store in memory and a running application.
//! Only a dev-dependency; nothing here is part of the program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod databases;
