//! Signed tokens through the judge's public surface. Names in brackets of a test's comment are the attack it answers.
//! Every refusal is told from the others by its cause, which only the log sees: a test whose guard is gone fails.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise, also in its helpers"
)]

mod audiences;
mod callers;
mod forms;
mod mutations;
mod settings;
mod support;
mod times;
