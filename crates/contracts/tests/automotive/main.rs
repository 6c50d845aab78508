//! The automotive contract from outside: its answers as literal text, its names and vocabularies by
//! the clauses they obey, and its tools driven through the engine over a store in memory.

mod failures;
mod leads;
mod manifest;
mod masking;
mod naming;
mod reading;
mod searching;
mod seeding;
mod successes;
mod support;
