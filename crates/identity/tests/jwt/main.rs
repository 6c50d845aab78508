//! The verifier of signed tokens through its public API. Ids in brackets in the comment of a test are the attacks that it
//! covers. Each refusal is asserted by its cause, which only the log gets, so that every check has its own test.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise, also in its helpers"
)]

mod audiences;
mod callers;
mod mutations;
mod settings;
mod structure;
mod support;
mod times;
