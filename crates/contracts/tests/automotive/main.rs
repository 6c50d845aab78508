//! The automotive contract from outside: its answers as literal text, its names and vocabularies by
//! the clauses they obey, and its tools driven through the engine over a store in memory.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod errors;
mod failures;
mod leads;
mod manifest;
mod masking;
mod naming;
mod reading;
mod receipts;
mod resources;
mod scoping;
mod sealing;
mod searching;
mod seeding;
mod shape;
mod successes;
mod support;
